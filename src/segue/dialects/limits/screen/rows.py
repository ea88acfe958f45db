"""Text of a screen → rows without colours, odd blanks and typographic variants.

Only the end of a text is looked at: what stops an agent is the last thing on its screen. The
work is bounded by that, whatever is fed.
"""

from __future__ import annotations

from segue.dialects.limits.lazy_regex import Expression
from segue.dialects.limits.screen.terminal import COLUMNS_MAX, ESCAPE, MOVE, rendered
from segue.dialects.limits.wording import words

TEXT_CHARS_MAX = 64 * 1024
ROWS_MAX = 400
ROW_CHARS_MAX = 8_000

_VARIANTS = {
    **dict.fromkeys([0xA0, 0x202F, 0x205F, 0x3000, *range(0x2000, 0x200B)], " "),
    **dict.fromkeys([0xAD, 0x2060, 0xFEFF, 0xFE0E, 0xFE0F, *range(0x200B, 0x2010)], None),
    **dict.fromkeys([0x2018, 0x2019, 0x201B, 0x02BC, 0x00B4], "'"),
    **dict.fromkeys([0x201C, 0x201D, 0x201E, 0x201F], '"'),
    **dict.fromkeys([*range(0x2010, 0x2016), 0x2212, 0xFF0D], "-"),
    **{wide: chr(wide - 0xFEE0) for wide in range(0xFF01, 0xFF5F) if wide != 0xFF0D},
}
_VARIANT = Expression(f"[{''.join(map(chr, _VARIANTS))}]")
_USUAL_CONTROLS = ("\x1b", "\r", "\t", "\x08", "\x9b", "\x07", "\x00", "\x0e", "\x0f")
_ODD = Expression(f"[{''.join((*map(chr, _VARIANTS), *_USUAL_CONTROLS))}]")
_CONTROLS = Expression(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def normalise(text: str) -> list[str]:
    """The last rows of a screen, top to bottom, without trailing blanks."""
    if len(text) > TEXT_CHARS_MAX:
        text = text[-TEXT_CHARS_MAX:]
        text = text[text.find("\n") + 1 :]
    if "\r\n" in text:
        text = text.replace("\r\n", "\n")
    is_usual = not text.isascii() and _ODD.search(text) is None  # one look instead of ten
    if is_usual or not words.has_any(text, _USUAL_CONTROLS):
        rows = (text if is_usual else _usual(text)).rsplit("\n", ROWS_MAX)[-ROWS_MAX:]
    else:
        rows = _rendered_rows(text)
    while rows and not rows[-1].strip():
        rows.pop()
    indent = _margin(rows)
    if not indent and len(text) <= ROW_CHARS_MAX:
        return [row.rstrip() for row in rows]
    return [row[indent : indent + ROW_CHARS_MAX].rstrip() for row in rows]


def _usual(text: str) -> str:
    """Without odd blanks and typographic variants."""
    is_odd = not text.isascii() and _VARIANT.search(text) is not None
    return text.translate(_VARIANTS) if is_odd else text


def _rendered_rows(text: str) -> list[str]:
    """What a text with cursor moves or colours leaves on the screen."""
    if MOVE.search(text):
        return rendered(_usual(text))[-ROWS_MAX:]
    if text.count("\n") > ROWS_MAX:
        text = "\n".join(text.rsplit("\n", ROWS_MAX)[1:])
    plain = _CONTROLS.sub("", ESCAPE.sub("", _usual(text)))
    return (plain.expandtabs(4) if "\t" in plain else plain).split("\n")[-ROWS_MAX:]


def _margin(rows: list[str]) -> int:
    """How far everything is indented."""
    margin = COLUMNS_MAX
    for row in rows:
        if row[:1] == " ":
            body = row.lstrip()
            margin = min(margin, len(row) - len(body)) if body else margin
        elif row:
            return 0
    return margin
