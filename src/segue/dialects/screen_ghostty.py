"""The emulator of the Ghostty terminal, by the package `pyghostty`: fast, and complete."""

from __future__ import annotations

import importlib
from typing import Any

from segue.dialects.screen_strings import Strings, shown


class Ghostty:
    """The emulator of the Ghostty terminal, by the package `pyghostty`."""

    def __init__(self, rows: int, columns: int) -> None:
        module = importlib.import_module("pyghostty")
        self._terminal: Any = module.Terminal(columns, rows, scrollback=0)
        self._strings = Strings()
        self._rows = rows

    def feed(self, data: bytes) -> None:
        self._terminal.feed(self._strings.feed(data))

    def text(self) -> list[str]:
        # A row holds no line break, and blank rows at the end are left out.
        lines = [shown(line) for line in self._terminal.text().split("\n")]
        return lines + [""] * (self._rows - len(lines))

    def resize(self, rows: int, columns: int) -> None:
        self._rows = rows
        self._terminal.resize(columns, rows)

    @property
    def size(self) -> tuple[int, int]:
        columns, rows = self._terminal.size
        return rows, columns

    @property
    def cursor(self) -> tuple[int, int]:
        column, row = self._terminal.cursor
        return row, column

    @property
    def title(self) -> str:
        return self._strings.title

    @property
    def is_alternate(self) -> bool:
        return bool(self._terminal.get("active_screen", "GhosttyTerminalScreen"))
