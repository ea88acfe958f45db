"""tmux's control mode: what its lines mean, and how commands are written."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.drivers.panes import PaneError
from segue.drivers.tmux import control_mode
from segue.drivers.tmux.control_mode import (
    ControlReader,
    Heard,
    Notice,
    Output,
    Printed,
    Reply,
    quoted,
)

STREAM = (
    "%begin 1794794804 278 0\n%end 1794794804 278 0\n%session-changed $1 b\n"
    "%extended-output %2 0 : echo hi\\015\\012\n%output %13 x\n%extended-output %2 7 : y\n"
    "%begin 1794794805 285 1\none\n\n%end 1794794805 284 1\n%error 1794794805 285 0 x\n"
    "%output %77 not output\n%begin 1 2 1\n한글\n%end 1794794805 285 1\n"
    "%begin 1794794805 286 0\nfrom a hook\n%end 1794794805 286 0\n"
    "%begin 1794794806 318 1\ncan't find pane: %99\n%error 1794794806 318 1\n"
    "stray\n%pause %4\n%exit\n"
).encode()
MEANT = [
    Notice("session-changed", "$1 b"),
    Reply(
        (
            "one",
            "",
            "%end 1794794805 284 1",
            "%error 1794794805 285 0 x",
            "%output %77 not output",
            "%begin 1 2 1",
            "한글",
        ),
        is_error=False,
    ),
    Reply(("can't find pane: %99",), is_error=True),
    Notice("pause", "%4"),
    Notice("exit", ""),
]


def told(heard: list[Heard]) -> tuple[list[Heard], set[str]]:
    """All but the output, and the panes that printed."""
    panes = {pane for event in heard if isinstance(event, Output) for pane in event.panes}
    return [event for event in heard if not isinstance(event, Output)], panes


def test_lines_become_events() -> None:
    """Replies are told by their number, whatever stands in them; hooks' are passed over."""
    assert told(ControlReader().feed(STREAM)) == (MEANT, {"%2", "%13"})


def test_any_chunks_mean_the_same() -> None:
    """Byte by byte, or cut anywhere."""
    for seed in range(50):
        dice = random.Random(seed)
        reader, heard, rest = ControlReader(), list[Heard](), STREAM
        while rest:
            size = dice.randint(1, 1 + seed)
            heard += reader.feed(rest[:size])
            rest = rest[size:]
        assert told(heard) == (MEANT, {"%2", "%13"}), seed


@given(st.lists(st.binary(max_size=40)))
def test_no_bytes_make_it_fail(chunks: list[bytes]) -> None:
    """Whatever comes, it is taken for something or for nothing."""
    reader = ControlReader()
    for chunk in chunks:
        reader.feed(chunk)


def test_each_pane_is_named_once_for_a_chunk() -> None:
    """A flood of output is one event."""
    assert ControlReader().feed(b"%output %1 x\n" * 500 + b"%output %2 x\n" * 500) == [
        Output({"%1": Printed(12 * 500, False), "%2": Printed(12 * 500, False)})
    ]


def test_words_about_limits_are_noticed() -> None:
    """Whoever prints one is looked at soon."""
    (heard,) = ControlReader().feed(b"%output %1 done\n%output %2 \\033[1musage Limit reached\n")
    assert isinstance(heard, Output)
    assert {pane: printed.has_clue for pane, printed in heard.panes.items()} == {
        "%1": False,
        "%2": True,
    }


def test_what_does_not_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line or a reply beyond all measure is not gathered."""
    monkeypatch.setattr(control_mode, "LINE_BYTES_MAX", 1000)
    monkeypatch.setattr(control_mode, "REPLY_BYTES_MAX", 1000)
    with pytest.raises(PaneError):
        ControlReader().feed(b"%output %1 " + b"x" * 1000)
    reader = ControlReader()
    reader.feed(b"%begin 1 2 1\n")
    with pytest.raises(PaneError):
        for _n in range(200):
            reader.feed(b"123456789\n")


def test_words_are_quoted() -> None:
    """Nothing in a word means anything to tmux."""
    assert quoted("a b") == '"a b"'
    assert quoted("한글") == '"한글"'
    assert quoted("\"$x\\;'#~\n") == '"\\042\\044x\\134\\073\\047\\043\\176\\012"'
    with pytest.raises(PaneError):
        quoted("a\0b")
