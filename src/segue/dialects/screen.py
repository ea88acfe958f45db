"""What a terminal shows: the screen as text, and the port to what makes it out of bytes.

Programs place words by cursor moves, repaint in pieces and wrap at the edge, so the bytes they
print are not what a person reads. Whoever hosts the pane may know its screen already (tmux,
WezTerm); of a recording or a pty only the bytes are there, and an emulator is fed with them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from segue.dialects.screen_ghostty import Ghostty
from segue.dialects.screen_pyte import Pyte
from segue.dialects.screen_strings import shown

# Line-drawing letters between SO and SI, as VT100 has them: `q` is a horizontal line.
DRAWN = str.maketrans(
    "`afgjklmnopqrstuvwxyz{|}~", "◆▒°±┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·"
)  # fmt: skip
_STYLING = re.compile(r"\x1b\[[0-9;:]*m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_SHIFTED = re.compile(r"\x0e([^\x0f]*)\x0f?")


@dataclass(frozen=True, slots=True)
class Screen:
    """What a pane shows at one moment.

    `lines` are its rows from top to bottom without blanks at their ends, after `history` rows
    that have scrolled off. `joined` are the same with rows that the terminal wrapped made whole
    again (a program that wraps by itself looks like one that ends its lines). `styled`
    has the rows of `lines` with their colours as SGR sequences, which hold until changed, also
    in the next row; empty where the host does not tell. `cursor` is a row of `lines` and a
    column, from 0.
    """

    lines: tuple[str, ...]
    joined: tuple[str, ...]
    styled: tuple[str, ...]
    cursor: tuple[int, int] | None
    rows: int
    columns: int
    title: str = ""
    history: int = 0
    is_alternate: bool = False
    is_scrolled: bool = False  # a person reads what is above: copy mode and the like

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


class Emulator(Protocol):
    """Bytes in, a screen out; any chunking, bounded memory, and no bytes make it fail."""

    def feed(self, data: bytes) -> None: ...

    def text(self) -> list[str]:
        """Every row of the screen from the top, without blanks at their ends."""
        ...

    def resize(self, rows: int, columns: int) -> None:
        """What is on the screen stays as far as it fits; whether long lines are laid out again
        differs, and the program behind it repaints anyway."""
        ...

    @property
    def size(self) -> tuple[int, int]: ...

    @property
    def cursor(self) -> tuple[int, int]:
        """Row and column, from 0, always on the screen."""
        ...

    @property
    def title(self) -> str: ...

    @property
    def is_alternate(self) -> bool: ...


def make(rows: int, columns: int) -> Emulator:
    """An emulator: the fast one where it is installed, else the one in Python."""
    try:
        return Ghostty(rows, columns)
    except (ImportError, OSError):  # not installed, or not for this machine
        return Pyte(rows, columns)


def screen_of(emulator: Emulator) -> Screen:
    """What an emulator shows now."""
    rows, columns = emulator.size
    lines = tuple(emulator.text())
    return Screen(
        lines=lines,
        joined=lines,
        styled=(),
        cursor=emulator.cursor,
        rows=rows,
        columns=columns,
        title=emulator.title,
        is_alternate=emulator.is_alternate,
    )


def plain(styled: Sequence[str]) -> tuple[str, ...]:
    """Rows without their colours and links, with drawn lines as the characters they look like.

    What was switched on in one row holds in the next, as it does for a terminal.
    """
    if not styled:
        return ()
    text = _STYLING.sub("", "\n".join(styled))
    if "\x0e" in text:
        text = _SHIFTED.sub(lambda found: found[1].translate(DRAWN), text)
    return tuple(shown(row) for row in text.replace("\x0f", "").split("\n"))


def is_faint(screen: Screen, text: str) -> bool:
    """Whether a text of the last rows is shown faintly: a suggestion that was not typed."""
    head = text.split("\n", maxsplit=1)[0][:20]
    for styled in reversed(screen.styled):
        faint, strong = _by_strength(styled)
        if head in strong:
            return False
        if head in faint:
            return True
    return False


def _by_strength(styled: str) -> tuple[str, str]:
    """The faint and the other text of a row."""
    faint: list[str] = []
    strong: list[str] = []
    is_faint_now = False
    at = 0
    for found in _STYLING.finditer(styled):
        (faint if is_faint_now else strong).append(styled[at : found.start()])
        at = found.end()
        if found[0].endswith("m"):
            is_faint_now = _faint_after(found[0][2:-1], is_faint_now)
    (faint if is_faint_now else strong).append(styled[at:])
    return "".join(faint), "".join(strong)


def _faint_after(codes: str, is_faint_now: bool) -> bool:
    values = iter(codes.split(";") if codes else ["0"])
    for code in values:
        if code in ("38", "48", "58"):  # a colour: its numbers are no codes
            kind = next(values, "")
            for _n in range(3 if kind == "2" else 1):
                next(values, "")
        elif code == "2":
            is_faint_now = True
        elif code in ("", "0", "22"):
            is_faint_now = False
    return is_faint_now
