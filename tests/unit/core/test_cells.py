"""How wide a text is on a terminal, and boxes that are straight."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from wcwidth import wcwidth

from segue.core.cells import box, pad, visible, width

calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # on a busy machine


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("", 0),
        ("abc", 3),
        ("한글", 4),
        ("중단된 세션", 11),
        (unicodedata.normalize("NFD", "한글"), 4),  # as file names of a Mac are written
        ("日本語", 6),
        ("ＡＢ", 4),
        ("ﾊﾝｶｸ", 4),
        ("🦆", 2),
        ("❤️", 2),
        ("👍️", 2),
        ("é", 1),
        ("e\u0301", 1),
        ("a\u200bb", 2),
        ("…", 1),
    ],
)
def test_a_text_is_as_wide_as_a_terminal_shows_it(text: str, cells: int) -> None:
    """Korean, Japanese and emoji take two cells, marks above a letter none."""
    assert width(text) == cells


SCRIPTS = [*range(0x20, 0x7F), *range(0xA1, 0x250), *range(0x1100, 0x1200), *range(0x3041, 0x3097)]
SCRIPTS += [*range(0x4E00, 0x9FFF, 97), *range(0xAC00, 0xD7A4, 89), *range(0x1F600, 0x1F64F)]


def test_the_characters_of_books_are_as_wide_as_terminals_agree() -> None:
    """Latin, Hangul in one piece and in parts, kana, Han, faces: each as wcwidth has it."""
    differing = [
        hex(code)
        for code in SCRIPTS
        if unicodedata.category(chr(code)) not in ("Cn", "Cf")
        and width(chr(code)) != wcwidth(chr(code))
    ]
    assert differing == []


@calm
@given(st.text(max_size=40), st.integers(0, 60))
def test_padding_fills_up_to_the_wanted_width(text: str, cells: int) -> None:
    """A text that is wider already is left as it is."""
    padded = pad(text, cells)
    assert padded.startswith(text)
    assert padded.removeprefix(text).strip(" ") == ""
    assert width(padded) == max(cells, width(text))


@calm
@given(st.text(max_size=60))
def test_nothing_in_a_shown_text_moves_the_cursor(text: str) -> None:
    """No escape, no new line, nothing that is not printed."""
    shown = visible(text)
    assert len(shown) == len(text)
    assert all(char.isprintable() for char in shown)


@calm
@given(st.text(max_size=120), st.lists(st.text(max_size=120), max_size=8))
def test_a_box_is_straight_whatever_is_in_it(title: str, lines: list[str]) -> None:
    """Each row has the same width, begins and ends with the frame, and every line is there."""
    rows = box(title, lines).split("\n")
    assert len({width(row) for row in rows}) == 1
    assert len(rows) == len(lines) + 6
    assert all(row[0] == row[-1] and row[0] in "+|" for row in rows)
    assert visible(title) in rows[1]
    for line, row in zip(lines, rows[4:], strict=False):
        assert visible(line) in row


def test_a_box_looks_as_the_original_draws_it() -> None:
    """A title, an empty line, the lines two cells in, an empty line."""
    assert box("제목", ["a"], inner=30).split("\n") == [
        "+------------------------------+",
        "|          제목                |",
        "+------------------------------+",
        "|                              |",
        "|  a                           |",
        "|                              |",
        "+------------------------------+",
    ]
