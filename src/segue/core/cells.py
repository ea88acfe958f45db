"""How wide a text is on a terminal: East Asian characters and emoji take two cells."""

from __future__ import annotations

from unicodedata import category, east_asian_width

_EMOJI_STYLE = "\ufe0f"
_JOINED = (range(0x1160, 0x1200), range(0xD7B0, 0xD800))  # vowels and finals of a Hangul block


def width(text: str) -> int:
    cells = 0
    before = 0
    for char in text:
        if char == _EMOJI_STYLE:
            cells += 2 - before if before == 1 else 0
            before = 2
            continue
        if category(char) in ("Mn", "Me", "Cf") or any(ord(char) in block for block in _JOINED):
            continue
        before = 2 if east_asian_width(char) in "WF" else 1
        cells += before
    return cells


def pad(text: str, cells: int) -> str:
    """The text with blanks behind it, so that it takes this many cells."""
    return text + " " * max(0, cells - width(text))


def visible(text: str) -> str:
    """Untrusted text in one line: nothing in it can move a terminal's cursor."""
    return "".join(char if char.isprintable() else " " for char in text)


def box(title: str, lines: list[str], *, inner: int = 50) -> str:
    """A frame that is straight whatever the characters in it are."""
    title, lines = visible(title), [visible(line) for line in lines]
    inner = max(inner, width(title) + 20, *(width(line) + 4 for line in lines))
    edge = f"+{'-' * inner}+"
    body = ["", *(f"  {line}" if line else "" for line in lines), ""]
    rows = [f"|{pad(row, inner)}|" for row in body]
    return "\n".join([edge, f"|{pad(' ' * 10 + title, inner)}|", edge, *rows, edge])
