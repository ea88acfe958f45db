"""One line of a task list at a time."""

from __future__ import annotations

import pytest

from segue.core.plan import MARKS
from segue.plans.grammar import (
    CONFLICT,
    FENCE,
    HEADING,
    ITEM,
    MARK_OF_STATE,
    RULE,
    STATE_OF_MARK,
    column_of,
    content_column,
    decode,
    dedent,
    is_script,
    is_utf8,
    line_end,
    wave_of,
    without_end,
)


def test_every_state_of_a_file_has_a_mark_that_is_read_as_itself() -> None:
    """What Segue writes, it reads."""
    assert {STATE_OF_MARK[MARK_OF_STATE[state]] for state in MARKS} == set(MARKS)
    assert all(STATE_OF_MARK[mark] is state for state, mark in MARK_OF_STATE.items())


@pytest.mark.parametrize("marker", [b"-", b"*", b"+", b"1.", b"27)"])
@pytest.mark.parametrize("mark", list(STATE_OF_MARK))
def test_an_item_has_a_marker_and_a_mark(marker: bytes, mark: bytes) -> None:
    """Any of Markdown's list markers, any of the marks."""
    found = ITEM.match(marker + b" [" + mark + b"] T-1")
    assert found is not None
    assert (found[1], found[3]) == (marker, mark)


@pytest.mark.parametrize("line", [b"- [x]text", b"- [y] T-1", b"- [ ](link)", b"- text", b"-\n"])
def test_an_item_may_have_no_mark(line: bytes) -> None:
    """A link, a footnote and an unknown letter are none."""
    found = ITEM.match(line)
    assert found is not None
    assert found[3] is None


@pytest.mark.parametrize("space", ["\u00a0", "\u3000", "\t"])
def test_white_space_of_any_kind_ends_a_mark(space: str) -> None:
    """An editor puts a no-break or an ideographic space there."""
    found = ITEM.match(f"- [x]{space}T-1".encode())
    assert found is not None
    assert found[3] == b"x"


@pytest.mark.parametrize("line", [b"text", b"-text", b"1234567890. x", b"--- "])
def test_what_is_no_item(line: bytes) -> None:
    """A rule, a word behind a hyphen, a number that is too long."""
    assert ITEM.match(line) is None


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        (RULE, [b"---", b"* * *\n", b"___  \r\n"], [b"--", b"-*-", b"--- x"]),
        (HEADING, [b"# x", b"######\n"], [b"#x", b"####### x"]),
        (FENCE, [b"```sh", b"~~~ a`b"], [b"``", b"```a`b", b"~~"]),
        (CONFLICT, [b"<<<<<<< HEAD", b">>>>>>>\n"], [b"<<<<<<", b"<<<<<<<<"]),
    ],
)
def test_lines_of_a_meaning(pattern: object, good: list[bytes], bad: list[bytes]) -> None:
    """And those that look nearly so."""
    match = pattern.match  # type: ignore[attr-defined]
    assert all(match(line) for line in good)
    assert not any(match(line) for line in bad)


@pytest.mark.parametrize(
    ("space", "start", "column"),
    [(b"", 3, 3), (b"   ", 0, 3), (b"\t", 0, 4), (b" \t", 0, 4), (b"\t", 3, 4), (b"\t ", 2, 5)],
)
def test_a_tab_reaches_to_the_next_stop(space: bytes, start: int, column: int) -> None:
    """From wherever it begins."""
    assert column_of(space, start) == column


@pytest.mark.parametrize(
    ("space", "content"), [(b" ", 2), (b"   ", 4), (b"    ", 5), (b"     ", 2), (b"", 2)]
)
def test_the_text_of_an_item_begins_behind_its_space(space: bytes, content: int) -> None:
    """Five columns or more are an indented code block, one column behind the marker."""
    assert content_column(0, b"-", space) == content


@pytest.mark.parametrize(
    ("text", "columns", "expected"),
    [("  x", 2, "x"), ("    x", 2, "  x"), ("\tx", 2, "  x"), (" x", 4, "x"), ("  ", 1, " ")],
)
def test_a_line_loses_its_indent_as_far_as_it_has_one(
    text: str, columns: int, expected: str
) -> None:
    """Half a tab becomes blanks."""
    assert dedent(text, columns) == expected


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n", b""])
def test_a_line_is_its_text_and_its_end(end: bytes) -> None:
    """Both together are the line again."""
    line = b"text" + end
    assert (without_end(line), line_end(line)) == (b"text", end)


def test_what_is_not_utf8_can_be_shown() -> None:
    """As a sign that something is there."""
    assert decode(b"a\xffb\r\n") == "a\ufffdb"
    assert is_utf8("한".encode()) and not is_utf8(b"\xff")


@pytest.mark.parametrize(
    ("heading", "wave"),
    [
        (b"## Wave 3: later", 3),
        (b"## **Wave** #2", 2),
        (b"# wave", 5),
        ("## 웨이브 7".encode(), 7),
        (b"## Waves of change", None),
        (b"## Wavelength 3", None),
        (b"## The wave 3", None),
    ],
)
def test_a_heading_opens_a_wave(heading: bytes, wave: int | None) -> None:
    """With its number, or with the next one."""
    assert wave_of(heading, 4) == wave


@pytest.mark.parametrize(
    ("info", "expected"),
    [(b"sh", True), (b"Bash -e\n", True), (b"{.shell}", True), (b"python", False), (b"", False)],
)
def test_a_fence_says_whether_a_shell_can_run_it(info: bytes, expected: bool) -> None:
    """By the first word of its info string."""
    assert is_script(info) is expected
