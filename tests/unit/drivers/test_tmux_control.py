"""tmux's control mode: what its lines mean, and how commands are written."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.drivers import tmux_control
from segue.drivers.panes import PaneError, PaneGoneError
from segue.drivers.tmux_answers import is_typed, panes_of, screen_of
from segue.drivers.tmux_control import ControlReader, Heard, Notice, Output, Printed, Reply, quoted
from segue.drivers.tmux_rooms import rooms_of, version_of

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
    monkeypatch.setattr(tmux_control, "LINE_BYTES_MAX", 1000)
    monkeypatch.setattr(tmux_control, "REPLY_BYTES_MAX", 1000)
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


FACTS = "10 3 2 1 5 0 0 0\ta title"


def screen_replies(*lines: str, facts: str = FACTS) -> list[Reply]:
    rows = Reply(tuple(lines), is_error=False)
    return [Reply((facts,), is_error=False), rows, rows]


def test_an_answer_that_does_not_fit_is_refused() -> None:
    """Fewer or more rows than the pane has, or facts that are none: not a screen."""
    assert screen_of(screen_replies("a", "b", "c"), "%1", 0).lines == ("a", "b", "c")
    assert screen_of(screen_replies(*"abcde"), "%1", 2).history == 2
    for replies in (
        screen_replies("a", "b"),
        screen_replies("a", "b", "c", "d"),
        screen_replies("a", "b", "c", facts="nonsense"),
        screen_replies("a", "b", "c", facts="10 3 2 1"),
        screen_replies("a", "b", "c")[:2],
        [*screen_replies("a", "b", "c"), Reply((), is_error=False)],
        [],
    ):
        with pytest.raises(PaneError, match="makes no sense"):
            screen_of(replies, "%1", 0)
    with pytest.raises(PaneGoneError):
        screen_of(screen_replies("a", "b", "c", facts="10 3 2 1 5 0 0 1\tx"), "%1", 0)


def test_a_line_that_a_strange_name_has_torn_is_passed_over() -> None:
    """A program may be called anything; its pane's neighbours are listed all the same."""
    lines = (
        "%1 77 80 24 0 $0\t/dev/pts/1\ttitle\tstrange\tname",
        "torn",
        "%2 78 80 24 1 $0\t/dev/pts/2\tdead\tsh",
        "%3 79 80 24 0 $1\t/dev/pts/3\t\tsh",
    )
    found = panes_of([Reply(lines, is_error=False)], "/s")
    assert [(pane.id, pane.command, room) for pane, room in found.values()] == [
        ("%1", "strange\tname", "$0"),
        ("%3", "sh", "$1"),
    ]


def test_typed_is_only_what_tmux_says_it_typed() -> None:
    """No word of it is not a yes."""
    assert is_typed([Reply((), is_error=False), Reply(("sent",), is_error=False)], "%1")
    assert not is_typed([Reply((), is_error=False)], "%1")
    with pytest.raises(PaneGoneError):
        is_typed([Reply(("refused 1",), is_error=False)], "%1")
    with pytest.raises(PaneError):
        is_typed([Reply(("refused 0",), is_error=False)], "%1")
    with pytest.raises(PaneGoneError):
        is_typed([Reply(("can't find pane: %1",), is_error=True)], "%1")


@pytest.mark.parametrize(
    ("text", "version"),
    [("3.3a", (3, 3)), ("next-3.7", (3, 7)), ("3.4-rc2", (3, 4)), ("3.10", (3, 10)), ("", (0, 0))],
)
def test_versions_are_compared_as_numbers(text: str, version: tuple[int, int]) -> None:
    """Letters and words around them do not matter."""
    assert version_of(text) == version


def test_a_room_is_used_by_those_who_do_not_only_listen() -> None:
    """Watchers do not count, whoever's they are; a person's control client does."""
    rooms, used = rooms_of(
        [
            "S $0 1700000000 0 0 3.3a 77:1700000000",
            "S $1 1700000001 1 0 3.3a 77:1700000000",
            "S $2 1700000002 off on 3.3a 77:1700000000",
            "S $3  keep-last off 3.4 77:1",
            "nonsense",
            "C $0 attached,focused,control-mode,ignore-size,pause-after=1,UTF-8",
            "C $1 attached,focused,UTF-8",
            "C $2 attached,control-mode,UTF-8",
        ]
    )
    assert [(room.id, room.used_at, room.is_for_users) for room in rooms] == [
        ("$0", 1700000000, False),
        ("$1", 1700000001, True),
        ("$2", 1700000002, True),
        ("$3", 0, True),
    ]
    assert used == {"$1", "$2"}
