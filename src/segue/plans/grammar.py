"""One line of a task list at a time: marks, items, fences, headings, columns.

Lines are looked at as bytes, because the bytes are what is kept; everything that
gives a line its meaning (indent, list marker, mark, fence) is ASCII.
"""

from __future__ import annotations

import re

from segue.core.plan import TaskState

BOM = b"\xef\xbb\xbf"
INDENT = b" \t"
TAB_STOP = 4
NEST_COLUMNS_MIN = 2  # an item this much deeper than another is nested in it
CODE_COLUMNS_MIN = 4  # with no open list, a line this deep is an indented code block

STATE_OF_MARK = {
    b" ": TaskState.PENDING,
    b"x": TaskState.COMPLETED,
    b"X": TaskState.COMPLETED,
    b"~": TaskState.IN_PROGRESS,
    b"!": TaskState.FAILED,
    b"-": TaskState.SKIPPED,
}
MARK_OF_STATE = {
    TaskState.PENDING: b" ",
    TaskState.COMPLETED: b"x",
    TaskState.IN_PROGRESS: b"~",
    TaskState.FAILED: b"!",
    TaskState.SKIPPED: b"-",
}

# Marker, the space after it, and the mark if there is one. A mark must be followed by
# white space (also the no-break and the ideographic one) or the end of the line.
ITEM = re.compile(
    rb"([-*+]|[0-9]{1,9}[.)])"
    rb"(?:([ \t]+)(?:\[([ xX~!-])\](?=\s|\xc2\xa0|\xe3\x80\x80|$))?|(?=[\r\n]|$))"
)
RULE = re.compile(rb"([-*_])(?:[ \t]*\1){2,}[ \t]*[\r\n]*$")
UNDERLINE = re.compile(rb"(?:=+|-+)[ \t]*[\r\n]*$")  # below a text: that is a heading
HEADING = re.compile(rb"#{1,6}(?=[ \t\r\n]|$)")
FENCE = re.compile(rb"(`{3,})([^`]*)$|(~{3,})(.*)$", re.DOTALL)
CONFLICT = re.compile(rb"(<{7}|>{7})(?=[ \r\n]|$)")

COMMENT_OPEN = b"<!--"
COMMENT_CLOSE = b"-->"
SCRIPT_LANGUAGES = frozenset({"sh", "bash", "shell", "zsh"})

_WAVE = re.compile(r"[*_`\s]*(?:wave(?![a-z])|웨이브)[\s*_`#:.\-]*([0-9]{1,9})?", re.IGNORECASE)


def column_of(prefix: bytes, start: int = 0) -> int:
    """The column after this white space, which begins at column `start`."""
    if b"\t" not in prefix:
        return start + len(prefix)
    column = start
    for byte in prefix:
        column += TAB_STOP - column % TAB_STOP if byte == 9 else 1
    return column


def content_column(column: int, marker: bytes, space: bytes) -> int:
    """Where the text of an item begins, given its marker's column."""
    after_marker = column + len(marker)
    if space == b" ":
        return after_marker + 1
    content = column_of(space, after_marker)
    return content if after_marker < content <= after_marker + 4 else after_marker + 1


def dedent(text: str, columns: int) -> str:
    """The line without its first `columns` columns of white space, as far as it has them."""
    column = 0
    for at, char in enumerate(text):
        if column >= columns:
            return " " * (column - columns) + text[at:]
        if char == " ":
            column += 1
        elif char == "\t":
            column += TAB_STOP - column % TAB_STOP
        else:
            return text[at:]
    return " " * (column - columns)


def line_end(line: bytes) -> bytes:
    """The bytes that end the line; none for a last line without an end."""
    if line.endswith(b"\r\n"):
        return b"\r\n"
    return line[-1:] if line[-1:] in (b"\n", b"\r") else b""


def without_end(line: bytes) -> bytes:
    return line.rstrip(b"\r\n")  # a line has one line end, so no more than that is taken


def decode(line: bytes) -> str:
    """The text of a line for reading; what is not UTF-8 is shown as U+FFFD."""
    return line.rstrip(b"\r\n").decode("utf-8", "replace")


def is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def wave_of(heading: bytes, previous: int) -> int | None:
    """The wave that this heading opens; None if it is not a wave heading."""
    match = _WAVE.match(decode(heading.lstrip(b"#")))
    if match is None:
        return None
    return int(match[1]) if match[1] else previous + 1


def is_script(info: bytes) -> bool:
    """Does this info string of a fence say that its text can be given to a shell?"""
    words = decode(info).lower().split()
    return bool(words) and words[0].strip("{}.") in SCRIPT_LANGUAGES
