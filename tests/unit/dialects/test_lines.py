"""Chunks of bytes become lines, with bounded memory and no control characters."""

from __future__ import annotations

import pytest

from segue.dialects.lines import LINE_BYTES_MAX, Lines, plain


def cut(*chunks: bytes) -> list[tuple[bytes, bool]]:
    lines = Lines()
    return [line for chunk in chunks for line in lines.feed(chunk)] + list(lines.close())


def test_lines_come_whole_whatever_the_chunks() -> None:
    """A line is told once its end came; the last one when no more bytes come."""
    assert cut(b"on", b"e\ntw", b"o", b"\n", b"\nend") == [
        (b"one", True),
        (b"two", True),
        (b"", True),
        (b"end", True),
    ]


def test_nothing_comes_of_nothing() -> None:
    """An empty stream, and one that ends with a line's end, have no line at the end."""
    assert cut() == cut(b"") == []
    assert cut(b"x\n") == [(b"x", True)]


def test_a_line_at_the_bound_is_whole() -> None:
    """The bound itself is not over the bound."""
    line = b"x" * LINE_BYTES_MAX
    assert cut(line + b"\n") == [(line, True)]


@pytest.mark.parametrize("size", [1000, LINE_BYTES_MAX, 10 * LINE_BYTES_MAX])
def test_a_line_over_the_bound_comes_in_pieces(size: int) -> None:
    """However it arrives, no piece is over the bound, none is called whole, no byte is lost,
    and the line behind it is whole again."""
    line = bytes(65 + n % 26 for n in range(2 * LINE_BYTES_MAX + 7))
    data = line + b"\nnext\n"
    pieces = cut(*(data[n : n + size] for n in range(0, len(data), size)))
    assert pieces[-1] == (b"next", True)
    assert b"".join(piece for piece, _whole in pieces[:-1]) == line
    assert max(len(piece) for piece, _whole in pieces) <= LINE_BYTES_MAX
    assert not any(whole for _piece, whole in pieces[:-1])


def test_what_is_kept_is_bounded() -> None:
    """A stream without line ends does not pile up."""
    lines = Lines()
    for _n in range(100):
        for _line in lines.feed(b"x" * 10_000):
            pass
        assert len(lines._rest) <= LINE_BYTES_MAX


def test_structured_lines_may_have_a_higher_bound() -> None:
    """A line over the bound of text is whole where more is allowed; over that it is cut."""
    lines = Lines(3 * LINE_BYTES_MAX)
    line = b"x" * (3 * LINE_BYTES_MAX)
    assert list(lines.feed(line + b"\n")) == [(line, True)]
    assert list(lines.feed(line + b"y\nz\n")) == [(line, False), (b"y", False), (b"z", True)]


def test_a_line_under_way_can_be_taken() -> None:
    """It is given as far as it is there, once; the rest of it is not whole, the next line is."""
    lines = Lines()
    assert lines.rest == b""
    assert list(lines.flush()) == []
    assert list(lines.feed(b"one\ntw")) == [(b"one", True)]
    assert lines.rest == b"tw"
    assert list(lines.flush()) == [b"tw"]
    assert lines.rest == b""
    assert list(lines.flush()) == []
    assert list(lines.feed(b"o\nthree\n")) == [(b"o", False), (b"three", True)]


def test_a_line_over_the_bound_is_not_taken() -> None:
    """Its pieces are no lines."""
    lines = Lines(4)
    assert list(lines.feed(b"12345")) == [(b"1234", False)]
    assert lines.rest == b""
    assert list(lines.flush()) == []
    assert list(lines.feed(b"\n")) == [(b"5", False)]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b"plain", "plain"),
        (b"dos\r", "dos"),
        (b"a\tb", "a\tb"),
        ("한글 ✓".encode(), "한글 ✓"),
        (b"\x1b[1;31mred\x1b[0m", "red"),
        (b"\x1b[38:2::255:0:0mred\x1b[m", "red"),
        (b"\x1b[?25l\x1b[2K\x1b[1Gshown", "shown"),
        (b"\x1b]0;title\x07text", "text"),
        (b"\x1b]8;;http://example.com\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"\x1bP1$r0m\x1b\\text", "text"),
        (b"\x1b7text\x1b8\x1b=", "text"),
        (b"text\x1b(B\x1b[m", "text"),  # what `tput sgr0` prints
        (b"10%\r50%\r100%", "100%"),
        (b"bell\x07 back\x08 null\x00", "bell back null"),
        (b"\xc2\x9b31mred", "31mred"),
        (b"\x1b", ""),
        (b"text\x1b[31", "text31"),
        (b"\xff\xfe", "\ufffd\ufffd"),
    ],
)
def test_a_line_is_harmless_text(line: bytes, text: str) -> None:
    """Escape sequences and control characters are gone; what people saw is there."""
    assert plain(line) == text


def test_a_carriage_return_before_an_escape_hides_nothing() -> None:
    """A line that ends with a return and a change of colour was seen, and is told."""
    assert plain(b"done\r\x1b[0m") == "done"
