"""Bytes that programs print, and the screen that a person would read.

A case is a folder `tests/golden/emulator/<case>/`: `bytes` is what a program really printed into
a tmux pane (`pipe-pane`), or a few sequences made by hand; `screen.txt` is what tmux showed of it
(`capture-pane`), so that a third terminal agrees with both emulators; `facts.json` is the rest.
"""

from __future__ import annotations

import importlib.util
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.dialects import screen as screen_module
from segue.dialects.screen import Emulator, make, plain, screen_of
from segue.dialects.screen_ghostty import Ghostty
from segue.dialects.screen_pyte import Pyte

FOLDER = Path(__file__).parents[2] / "golden" / "emulator"
CASES = sorted(case.name for case in FOLDER.iterdir() if case.is_dir())
Make = Callable[[int, int], Emulator]

no_ghostty = pytest.mark.skipif(
    importlib.util.find_spec("pyghostty") is None, reason="pyghostty is not installed"
)
EMULATORS = [pytest.param(Ghostty, id="ghostty", marks=no_ghostty), pytest.param(Pyte, id="pyte")]
both = pytest.mark.parametrize("new", EMULATORS)


def case_of(name: str) -> tuple[bytes, list[str], dict[str, Any]]:
    facts = json.loads((FOLDER / name / "facts.json").read_text())
    lines = (FOLDER / name / "screen.txt").read_text().split("\n")[:-1]
    lines += [""] * (facts["rows"] - len(lines))
    return (FOLDER / name / "bytes").read_bytes(), lines, facts


def fed(new: Make, data: bytes, rows: int = 4, columns: int = 20) -> Emulator:
    emulator = new(rows, columns)
    emulator.feed(data)
    return emulator


def seen(emulator: Emulator) -> tuple[object, ...]:
    return emulator.text(), emulator.cursor, emulator.title, emulator.is_alternate, emulator.size


@both
@pytest.mark.parametrize("name", CASES)
def test_what_a_program_printed_is_read_as_tmux_shows_it(new: Make, name: str) -> None:
    """Text, cursor, title and which screen, whether the bytes come at once or one by one."""
    data, lines, facts = case_of(name)
    emulator = fed(new, data, facts["rows"], facts["columns"])
    assert emulator.text() == lines
    assert list(emulator.cursor) == facts["cursor"]
    assert emulator.title == facts["title"]
    assert emulator.is_alternate == facts["is_alternate"]
    assert emulator.size == (facts["rows"], facts["columns"])
    dice = random.Random(name)
    for size_max in (1, 7, 300):
        parts = new(facts["rows"], facts["columns"])
        rest = data
        while rest:
            size = dice.randint(1, size_max)
            parts.feed(rest[:size])
            rest = rest[size:]
        assert seen(parts) == seen(emulator), f"in parts of at most {size_max} bytes"


def test_every_agent_with_a_screen_has_a_case() -> None:
    """What claude, codex, gemini and opencode paint is among the cases, each recorded."""
    for agent in ("claude", "codex", "gemini", "opencode"):
        assert any(name.startswith(f"{agent}-") for name in CASES)


@both
@given(
    st.lists(
        st.one_of(
            st.binary(max_size=12),
            st.sampled_from([b"\x1b[", b"\x1b]0;", b"\x1bP", b"\x07", b"\x1b\\", b"?1049h", b"\x1bc"]),
            st.sampled_from([b"?6h", b"?3h", b"9999;0H", b"2J", b"7J", b"b", b"S", b"L", b"\x1b%@"]),
            st.sampled_from(["한".encode(), "e\u0301".encode(), b"\x1b(0", b"\n", b"\r", b"\t"]),
        ),
        max_size=30,
    )
)  # fmt: skip
def test_no_bytes_make_it_fail(new: Make, parts: list[bytes]) -> None:
    """Whatever is fed, there are as many rows as before and the cursor is on the screen."""
    emulator = new(4, 20)
    for part in parts:
        emulator.feed(part)
    emulator.resize(3, 10)
    emulator.feed(b"".join(parts))
    assert len(emulator.text()) == 3
    row, column = emulator.cursor
    assert (0 <= row < 3, 0 <= column < 10) == (True, True)


@both
def test_a_resize_keeps_what_fits(new: Make) -> None:
    """A full-screen program is asked to repaint; until then the text that fits stays."""
    emulator = fed(new, b"\x1b[?1049h\x1b[Hone\r\ntwo")
    emulator.resize(6, 30)
    assert (emulator.size, emulator.text()[:2]) == ((6, 30), ["one", "two"])


@both
def test_a_string_without_an_end_costs_nothing(new: Make) -> None:
    """A title that never ends is not gathered, and what follows its end is shown."""
    emulator = fed(new, b"before\x1b]0;" + b"x" * 2_000_000)
    emulator.feed(b"y" * 2_000_000 + b"\x07 after")
    assert emulator.text()[0] == "before after"
    assert len(emulator.title) < 5_000


def test_the_fast_one_is_taken_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its package, or with one that does not load here, the other one serves."""
    fast = importlib.util.find_spec("pyghostty") is not None
    assert isinstance(make(4, 20), Ghostty if fast else Pyte)
    for error in (ImportError("none"), OSError("made for another machine")):

        def fail(*_size: int, error: Exception = error) -> Emulator:
            raise error

        monkeypatch.setattr(screen_module, "Ghostty", fail)
        emulator = make(4, 20)
        emulator.feed(b"hello")
        assert (type(emulator), emulator.text()[0]) == (Pyte, "hello")


@both
def test_a_screen_of_an_emulator_carries_all(new: Make) -> None:
    """Lines, cursor, size and title in one value that does not change any more."""
    emulator = fed(new, b"\x1b]2;name\x07one\r\ntwo")
    screen = screen_of(emulator)
    emulator.feed(b"\x1b[2J")
    assert screen.lines == screen.joined == ("one", "two", "", "")
    assert (screen.cursor, screen.rows, screen.columns, screen.title) == ((1, 3), 4, 20, "name")
    assert screen.text == "one\ntwo\n\n"


def test_styles_are_taken_off_row_by_row() -> None:
    """Colours, links and blanks at the end go; drawn lines become what they look like."""
    rows = [
        "\x1b[1m\x1b[38:2::1:2:3mbold\x1b[0m  ",
        "\x1b]8;;http://127.0.0.1/\x1b\\link\x1b]8;;\x07",
        "\x0elqk",
        "x\x0f x \x0ex\x0f",
        "",
    ]
    assert plain(rows) == ("bold", "link", "┌─┐", "│ x │", "")
    assert plain([]) == ()


def test_marks_and_letters_are_one_character() -> None:
    """Letters that come apart from their marks, as some systems write Korean, are joined."""
    assert plain(["\u1112\u1161\u11ab e\u0301"]) == ("한 é",)
