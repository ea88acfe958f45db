"""Chunks of bytes → whole lines, with bounded memory."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator

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


class Lines:
    """Cuts a stream into lines. A line over the bound comes in pieces, each told as cut."""

    def __init__(self) -> None:
        self._rest = b""
        self._in_long_line = False

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bool]]:
        """Each line without its end, and whether it is whole."""
        data = self._rest + data
        *whole, self._rest = data.split(b"\n")
        for line in whole:
            last = yield from self._cut(line)
            yield last, not self._in_long_line
            self._in_long_line = False
        self._rest = yield from self._cut(self._rest)

    def _cut(self, line: bytes) -> Generator[tuple[bytes, bool], None, bytes]:
        """The pieces of an over-long line; what is left of it is returned."""
        while len(line) > LINE_BYTES_MAX:
            yield line[:LINE_BYTES_MAX], False
            line = line[LINE_BYTES_MAX:]
            self._in_long_line = True
        return line

    def close(self) -> Iterator[tuple[bytes, bool]]:
        if self._rest:
            yield self._rest, not self._in_long_line
        self._rest = b""


def plain(line: bytes) -> str:
    """A line as harmless text: no escape sequences, no control characters.

    A carriage return rewrites the line on a terminal: what came last is what people saw.
    """
    text = _ESCAPES.sub("", line.decode("utf-8", "replace")).rstrip("\r")
    return _CONTROLS.sub("", text.rsplit("\r", 1)[-1])
