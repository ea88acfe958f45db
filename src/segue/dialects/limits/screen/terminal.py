"""A small terminal: what a stream of text and cursor moves leaves on the screen.

Only what agents use to place words is known: columns, rows, erasing, carriage returns. Colours
and modes are skipped. Rows and columns are bounded, whatever numbers the stream names.
"""

from __future__ import annotations

from unicodedata import east_asian_width

from segue.dialects.limits.lazy_regex import Expression

ROWS_MAX = 2_000
COLUMNS_MAX = 1_000

_CSI = r"\x1b\[(?P<args>[0-9;:]*)[<=>?]?[0-9;:]*[ -/]*(?P<final>[@-~])"
_OTHER = (
    r"\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)?|\x1b[PX^_][^\x1b]{0,4096}(?:\x1b\\)?"
    r"|\x1b[ -/]*[0-~]|\x1b"
)
ESCAPE = Expression(rf"\x1b\[[0-?]*[ -/]*[@-~]|{_OTHER}")
MOVE = Expression(r"\x1b\[[0-9;]*[A-HJKSTXdfsu`a]|[\r\x08](?!\n)")
_TOKEN = Expression(
    rf"{_CSI}|(?P<other>{_OTHER})|(?P<control>[\x00-\x1f\x7f])|(?P<text>[^\x00-\x1f\x7f]+)"
)

# Rows down, columns right, and whether to the left edge.
_STEPS = {
    "A": (-1, 0, False),
    "B": (1, 0, False),
    "C": (0, 1, False),
    "a": (0, 1, False),
    "D": (0, -1, False),
    "E": (1, 0, True),
    "F": (-1, 0, True),
}


class Terminal:
    """Cells by row; the cursor never leaves the bounds."""

    def __init__(self) -> None:
        self._rows: list[list[str]] = [[]]
        self._row = self._column = 0
        self._saved = (0, 0)

    def feed(self, text: str) -> None:
        for token in _TOKEN.finditer(text):
            if token["text"]:
                self._write(token["text"])
            elif token["control"]:
                self._control(token["control"])
            elif token["final"]:
                self._move(token["final"], token["args"])

    def rows(self) -> list[str]:
        return ["".join(row).rstrip() for row in self._rows]

    def _write(self, text: str) -> None:
        row = self._rows[self._row]
        if len(row) < self._column:
            row.extend(" " * (self._column - len(row)))
        cells: list[str] = []
        for char in text:
            cells.append(char)
            if char > "\u10ff" and east_asian_width(char) in "WF":
                cells.append("")  # the second half of a wide character
        room = COLUMNS_MAX - self._column
        row[self._column : self._column + len(cells)] = cells[:room]
        self._column = min(self._column + len(cells), COLUMNS_MAX)

    def _control(self, char: str) -> None:
        match char:
            case "\n" | "\x0b" | "\x0c":
                self._scroll()
                self._to(self._row + 1, 0)
            case "\r":
                self._column = 0
            case "\x08":
                self._column = max(0, self._column - 1)
            case "\t":
                self._column = min((self._column // 8 + 1) * 8, COLUMNS_MAX)

    def _move(self, final: str, args: str) -> None:
        numbers = [int(part[:6]) if part.isdigit() else 0 for part in args.split(";")]
        n = max(1, numbers[0])
        step = _STEPS.get(final)
        if step is not None:
            rows, columns, is_to_edge = step
            self._to(self._row + rows * n, 0 if is_to_edge else self._column + columns * n)
            return
        match final:
            case "G" | "`":
                self._to(self._row, n - 1)
            case "d":
                self._to(n - 1, self._column)
            case "H" | "f":
                column = max(1, numbers[1]) if len(numbers) > 1 else 1
                self._to(n - 1, column - 1)
            case "J":
                self._erase_screen(numbers[0])
            case "K":
                self._erase_line(numbers[0])
            case "s":
                self._saved = (self._row, self._column)
            case "u":
                self._to(*self._saved)

    def _scroll(self) -> None:
        """Make room below the last row; many at a time, so that long streams stay cheap."""
        if self._row == ROWS_MAX - 1:
            del self._rows[: ROWS_MAX // 2]
            self._row -= ROWS_MAX // 2

    def _to(self, row: int, column: int) -> None:
        self._row = min(max(row, 0), ROWS_MAX - 1)
        self._column = min(max(column, 0), COLUMNS_MAX)
        while len(self._rows) <= self._row:
            self._rows.append([])

    def _erase_screen(self, what: int) -> None:
        if what == 0:
            del self._rows[self._row][self._column :]
            del self._rows[self._row + 1 :]
        elif what == 1:
            for row in self._rows[: self._row]:
                row.clear()
            self._erase_line(1)
        else:
            for row in self._rows:
                row.clear()

    def _erase_line(self, what: int) -> None:
        row = self._rows[self._row]
        if what == 0:
            del row[self._column :]
        elif what == 1:
            row[: self._column] = " " * min(self._column, len(row))
        else:
            row.clear()


def rendered(text: str) -> list[str]:
    """The rows that a stream leaves on a screen."""
    terminal = Terminal()
    terminal.feed(text)
    return terminal.rows()
