"""Control strings of terminals: out of the stream, before an emulator sees them.

They never show, their size has no limit, and some would have a terminal store pictures. Only the
title is of use.
"""

from __future__ import annotations

import re
import unicodedata

STRING_BYTES_MAX = 4096  # what comes after it is dropped until the string ends

_BEGIN = re.compile(rb"\x1b[P\]_^X]")
_END = re.compile(rb"\x1b.|[\x18\x1a]", re.DOTALL)
_END_OSC = re.compile(rb"\x1b.|[\x07\x18\x1a]", re.DOTALL)
_TITLE = re.compile(rb"[02];(.*)", re.DOTALL)
_HIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Strings:
    """Takes control strings (OSC, DCS, APC, PM, SOS) out of a stream, and keeps the title.

    Programs inside tmux wrap strings for the terminal outside (`ESC P tmux;`): in there every
    ESC is doubled.
    """

    def __init__(self) -> None:
        self.title = ""
        self._held = b""  # an ESC whose next byte has not come
        self._string: bytearray | None = None
        self._kind = b""

    def feed(self, data: bytes) -> bytes:
        if self._string is None and not self._held and b"\x1b" not in data:
            return data
        data, self._held = self._held + data, b""
        if data.endswith(b"\x1b"):
            data, self._held = data[:-1], b"\x1b"
        shown = []
        at = 0
        while at < len(data):
            if self._string is not None:
                at = self._within(data, at)
            elif begin := _BEGIN.search(data, at):
                shown.append(data[at : begin.start()])
                self._kind, self._string = begin[0][1:], bytearray()
                at = begin.end()
            else:
                shown.append(data[at:])
                break
        return b"".join(shown)

    def _within(self, data: bytes, at: int) -> int:
        """Take a string's bytes; where the text continues after it."""
        assert self._string is not None
        end = (_END_OSC if self._kind == b"]" else _END).search(data, at)
        room = STRING_BYTES_MAX - len(self._string)
        self._string += data[at : end.start() if end else len(data)][:room]
        if end is None:
            return len(data)
        if end[0] == b"\x1b\x1b" and self._string.startswith(b"tmux;"):
            return end.end()
        if end[0] in (b"\x1b\\", b"\x07"):
            self._finish(bytes(self._string))
        self._string = None
        # Any other ESC begins a sequence of its own; the string is void.
        return end.start() if end[0][:1] == b"\x1b" and end[0] != b"\x1b\\" else end.end()

    def _finish(self, string: bytes) -> None:
        if self._kind == b"]" and (title := _TITLE.fullmatch(string)):
            self.title = _HIDDEN.sub("", title[1].decode("utf-8", "replace")).strip()


def shown(row: str) -> str:
    """A row as it is compared and read: no blanks at its end, marks and letters as one."""
    return (row if row.isascii() else unicodedata.normalize("NFC", row)).rstrip()
