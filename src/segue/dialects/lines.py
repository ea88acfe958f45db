"""Chunks of bytes → whole lines, with bounded memory."""

from __future__ import annotations

import re
from collections.abc import Iterator

LINE_BYTES_MAX = 64 * 1024

# CSI, OSC (with its end), other two-byte escapes; then lone control characters but the tab.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"
    r"|\x1b[PX^_][^\x1b]*(?:\x1b\\)?"
    r"|\x1b[ -/]+[0-~]"
    r"|\x1b."
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# Characters that change the order in which text is shown, or that are invisible.
_UNSEEN = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]")


class Lines:
    """Cuts a stream into lines. A line over the bound comes in pieces, each marked as cut.

    The bound is that of text for people; structured output may set a higher one.
    """

    def __init__(self, bytes_max: int | None = None) -> None:
        self._bytes_max = bytes_max or LINE_BYTES_MAX
        self._rest = bytearray()
        self._in_long_line = False

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bool]]:
        """Each line without its end, and whether it is whole."""
        *ended, begun = data.split(b"\n")
        for part in ended:
            if not self._rest and not self._in_long_line and len(part) <= self._bytes_max:
                yield part, True  # nearly all are like this
                continue
            yield from self._grow(part)
            yield self._line()
        yield from self._grow(begun)

    def _grow(self, part: bytes) -> Iterator[tuple[bytes, bool]]:
        """Add to the line under way; what is over the bound is returned and dropped."""
        self._rest += part
        while len(self._rest) > self._bytes_max:
            piece = bytes(self._rest[: self._bytes_max])
            del self._rest[: self._bytes_max]
            self._in_long_line = True
            yield piece, False

    def _line(self) -> tuple[bytes, bool]:
        line = bytes(self._rest), not self._in_long_line
        self._rest.clear()
        self._in_long_line = False
        return line

    @property
    def rest(self) -> bytes:
        """The line under way, as far as it is there; nothing of one that is over the bound."""
        return b"" if self._in_long_line else bytes(self._rest)

    def flush(self) -> Iterator[bytes]:
        """The line under way, as if it ended here; what may still come of it is not whole."""
        if rest := self.rest:
            self._rest.clear()
            self._in_long_line = True
            yield rest

    def close(self) -> Iterator[tuple[bytes, bool]]:
        if self._rest:
            yield self._line()


# What `plain` takes out of the middle of a line begins with one of these: it joins what stood
# apart. (A carriage return takes away all that is before it, and joins nothing.)
TAKEN_OUT = bytes((*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F, 0xC2))


def last_lines(data: bytes, count: int) -> int:
    """Where the last whole lines begin, so many of them, and what is behind them."""
    at = data.rfind(b"\n")
    for _line in range(count):
        if at < 0:
            return 0
        at = data.rfind(b"\n", 0, at)
    return at + 1


def plain(line: bytes) -> str:
    """A line as harmless text: no escape sequences, no control characters.

    A carriage return rewrites the line on a terminal: what came last is what people saw.
    """
    text = line.decode("utf-8", "replace")
    if text.isprintable():
        return text
    text = _ESCAPES.sub("", text).rstrip("\r")
    return _CONTROLS.sub("", text.rsplit("\r", 1)[-1])


def plain_text(text: str) -> str:
    """Text of any number of lines without anything that acts on a terminal or hides."""
    if text.isprintable():
        return text
    lines = text.replace("\r\n", "\n").replace("\u2028", "\n").replace("\u2029", "\n").split("\n")
    return "\n".join(_UNSEEN.sub("", plain(part.encode("utf-8", "replace"))) for part in lines)
