"""pyte's emulator: in Python, and wherever Segue is; a hundred times slower than Ghostty's.

It prints what it does not know and fails at what it does not expect, so it gets only the
sequences that it knows, with the numbers that it takes. Agents need two things more: the
alternate screen, and scrolling.
"""

from __future__ import annotations

import codecs
import importlib
import re
from collections.abc import Callable
from copy import copy
from typing import Any

from segue.dialects.screen_strings import Strings, shown

SEQUENCE_BYTES_MAX = 256  # of a sequence that has not ended; no real one is as long

# One without its end is void; ESC % would have pyte read another encoding.
_SEQUENCE = re.compile(rb"\x1b(?:\[([0-?]*)([ -/]*)([@-~])?|%.)", re.DOTALL)
_UNFINISHED = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|[ -/])?\Z")
_C1 = re.compile("[\x80-\x9f]")  # as characters they would begin sequences
_PARAMETERS = re.compile(rb"(\??)([0-9;]*)")
# What pyte knows, and the numbers that each takes.
_KNOWN = dict.fromkeys(b"@ABCDEFGJKLMPSTXabdegsu`", 1) | dict.fromkeys(b"Hfr", 2)
_KNOWN_PRIVATE = dict.fromkeys(b"JK", 1)
_MODES = dict.fromkeys(b"hl", 16)
# One would change the width, the other fails unless margins are set.
_NOT_ASKED = (b"3", b"6")
ALTERNATE = frozenset({47, 1047, 1049})


class Pyte:
    """pyte's emulator, with what agents need and it lacks: the alternate screen, scrolling."""

    def __init__(self, rows: int, columns: int) -> None:
        pyte = importlib.import_module("pyte")
        self._width: Callable[[str], int] = importlib.import_module("wcwidth").wcwidth
        self._screen: Any = _screen_class(pyte)(columns, rows)
        self._stream = _stream_class(pyte)(self._screen)
        self._stream.use_utf8 = False  # or it would know no drawn lines; decoded here instead
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._strings = Strings()
        self._held = b""

    def feed(self, data: bytes) -> None:
        data = self._held + self._strings.feed(data)
        self._held = b""
        if unfinished := _UNFINISHED.search(data):
            data = data[: unfinished.start()]
            self._held = unfinished[0][:SEQUENCE_BYTES_MAX]
        self._stream.feed(_C1.sub("", self._decoder.decode(_SEQUENCE.sub(_known, data))))

    def text(self) -> list[str]:
        screen = self._screen
        columns = range(screen.columns)
        rows = [
            [screen.buffer[row][column].data for column in columns] for row in range(screen.lines)
        ]
        return [shown("".join(self._whole(cells))) for cells in rows]

    def _whole(self, cells: list[str]) -> list[str]:
        """A wide character has an empty cell behind it; a half that is left alone is blank."""
        if all(cell.isascii() and cell for cell in cells):
            return cells
        whole = []
        was_wide = False
        for cell, following in zip(cells, [*cells[1:], ""], strict=True):
            is_wide = bool(cell) and self._width(cell[0]) == 2
            is_broken = (is_wide and following) or (not cell and not was_wide)
            whole.append(" " if is_broken else cell)
            was_wide = is_wide
        return whole

    def resize(self, rows: int, columns: int) -> None:
        self._screen.resize(rows, columns)
        self._screen.ensure_vbounds()
        self._screen.ensure_hbounds()

    @property
    def size(self) -> tuple[int, int]:
        return self._screen.lines, self._screen.columns

    @property
    def cursor(self) -> tuple[int, int]:
        cursor = self._screen.cursor
        # Behind a full row it stands beyond the edge until the next character comes.
        return cursor.y, min(cursor.x, self._screen.columns - 1)

    @property
    def title(self) -> str:
        return self._strings.title

    @property
    def is_alternate(self) -> bool:
        return bool(self._screen.is_alternate)


def _known(found: re.Match[bytes]) -> bytes:
    """A sequence as far as pyte knows it, and nothing else: colours do not show in text."""
    final = found[3]
    parameters = _PARAMETERS.fullmatch(found[1] or b"")
    if final is None or found[2] or parameters is None:
        return b""
    private, text = parameters.groups()
    numbers = text.split(b";")
    if final in (b"h", b"l"):
        numbers = [number for number in numbers if number not in _NOT_ASKED]
    elif final in (b"J", b"K") and numbers[0] not in (b"", b"0", b"1", b"2"):
        return b""
    count = (_MODES | (_KNOWN_PRIVATE if private else _KNOWN)).get(final[0])
    if count is None or not numbers:
        return b""
    return b"\x1b[" + private + b";".join(numbers[:count]) + final


def _screen_class(pyte: Any) -> Any:
    """pyte's screen with an alternate one; made late, so that pyte need not be there."""

    class Alternating(pyte.Screen):  # type: ignore[misc]
        is_alternate = False
        buffer: Any
        cursor: Any
        columns: int
        lines: int

        def reset(self) -> None:
            self.is_alternate = False
            super().reset()

        def set_mode(self, *modes: int, **how: bool) -> None:
            if how.get("private") and ALTERNATE & set(modes) and not self.is_alternate:
                self.is_alternate = True
                cursor = copy(self.cursor)
                self._below = ({row: copy(cells) for row, cells in self.buffer.items()}, cursor)
                self.erase_in_display(2)
            super().set_mode(*modes, **how)

        def reset_mode(self, *modes: int, **how: bool) -> None:
            if how.get("private") and ALTERNATE & set(modes) and self.is_alternate:
                self.is_alternate = False
                rows, cursor = self._below
                self.buffer.clear()
                self.buffer.update(rows)
                self.cursor = cursor
                self.ensure_hbounds()
                self.ensure_vbounds()
            super().reset_mode(*modes, **how)

        def scroll_up(self, count: int = 1) -> None:
            self._scroll(count, self.delete_lines)

        def scroll_down(self, count: int = 1) -> None:
            self._scroll(count, self.insert_lines)

        def _scroll(self, count: int, by: Any) -> None:
            row, column = self.cursor.y, self.cursor.x
            self.cursor.y = self.margins.top if self.margins else 0
            by(min(count or 1, self.lines))
            self.cursor.y, self.cursor.x = row, column

        def keep_cursor(self, *_numbers: int) -> None:
            self.save_cursor()

        def take_cursor(self, *_numbers: int) -> None:
            self.restore_cursor()

        def draw(self, data: str) -> None:
            self._last = data[-1:]
            super().draw(data)

        def repeat(self, count: int = 1) -> None:
            super().draw(getattr(self, "_last", "") * min(count or 1, self.columns * self.lines))

    return Alternating


def _stream_class(pyte: Any) -> Any:
    more = {
        "S": "scroll_up",
        "T": "scroll_down",
        "b": "repeat",
        "s": "keep_cursor",
        "u": "take_cursor",
        "`": "cursor_to_column",
    }

    class Fuller(pyte.Stream):  # type: ignore[misc]
        csi = pyte.Stream.csi | more
        events = pyte.Stream.events | set(more.values())

    return Fuller
