"""Rows of a block → the lines that were meant, before a terminal wrapped them."""

from __future__ import annotations

from segue.dialects.limits.lazy_regex import Expression
from segue.dialects.limits.screen import chrome
from segue.dialects.limits.wording.languages import eastern_in

ROWS_MAX = 40
LONG_WORD = 24
_JSON = Expression(r"(?i)\{\s*\\*\"\w+\\*\"\s*:|\bapi error\b.*\{$")
_ENDS = Expression(r"[.!?:;…)}\]\"']\s*$")
_FRESH = Expression(
    r"\s*(?:[\[({<]|/[a-z]|https?://|\d+[.)]\s|[-*]\s|\d\d:\d\d|20\d\d-\d\d-\d\d|retrying in \d)"
)


def lines(rows: tuple[str, ...], width: int) -> list[str]:
    """Each line in one piece, without the mark and the indent of its rows."""
    bodies = [body_of(row) for row in rows[-ROWS_MAX:]]
    if is_cut(rows, width):
        return ["".join(_glued(rows))]
    if bodies[0] == "{" and bodies[-1] == "}":
        return [" ".join(bodies)]
    found: list[str] = []
    rows = rows[-ROWS_MAX:]
    widest = max(map(size_of, rows))
    for at, body in enumerate(bodies):
        is_inside = bool(found) and _is_open(found[-1])
        if is_inside or (at and not _is_new(rows[at - 1], bodies[at - 1], body, width, widest)):
            gap = "" if _is_broken(rows[at - 1], width) else " "
            found[-1] = f"{found[-1]}{gap}{body}"
        elif body:
            found.append(body)
    return found


def body_of(row: str) -> str:
    """A row without the mark and the elbow before it."""
    body = row.strip()
    while body[:1] in chrome.MARKS and body[1:2] in ("", " "):
        body = body[1:].lstrip()
    return body.strip("*") if body.startswith("**") else body


def _is_new(above: str, above_body: str, body: str, width: int, widest: int) -> bool:
    """Whether a row begins a line of its own: the one above had room for its first word."""
    if not body or not above_body:
        return True
    if had_room(above, body, widest):
        return True
    has_room = len(above) + 1 + len(body.split(" ", 1)[0]) <= width
    return has_room and (
        _ENDS.search(above_body) is not None or _FRESH.match(body) is not None or body[:1].isupper()
    )


def _is_open(line: str) -> bool:
    """Whether a line ends within JSON."""
    return "{" in line and line.count("{") > line.count("}") and _JSON.search(line) is not None


def had_room(above: str, body: str, widest: int) -> bool:
    """Whether another row here is as long as this one would be with the next word: then nothing
    was wrapped here."""
    return size_of(above) + 1 + size_of(body.split(" ", 1)[0]) <= widest


def size_of(text: str) -> int:
    """How many columns a text takes."""
    return len(text) if text.isascii() else len(text) + eastern_in(text)


def _is_broken(above: str, width: int) -> bool:
    """Whether a row ends within a word that was too long for it, such as an address or JSON."""
    return len(above) >= width and len(above) - above.rfind(" ") > LONG_WORD


def is_cut(rows: tuple[str, ...], width: int) -> bool:
    """Cut at the last column, in the middle of words: all rows but the last are of one length."""
    if len(rows) < 3:
        return False
    sizes = [len(row) for row in rows[:-1]]
    return (
        max(sizes) >= width - 2
        and min(sizes) >= max(sizes) - 1
        and sizes.count(max(sizes)) >= 2
        and len(rows[-1]) <= max(sizes)
    )


def _glued(rows: tuple[str, ...]) -> list[str]:
    size = max(len(row) for row in rows[:-1])
    later = [len(row) - len(row.lstrip()) for row in rows[1:]]
    indent = min(later)
    pieces = [body_of(rows[0])]
    for row, above in zip(rows[1:], rows, strict=False):
        gap = " " if len(above) < size else ""
        pieces.append(gap + row[indent:])
    return pieces
