"""Agents that speak one JSON object per line: reading them without trusting them.

Any field may be missing, of a wrong type, huge or hostile. What is read from one goes through
the functions here, each of which gives a harmless value or none; nothing raises.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NoReturn

from segue.dialects.events import Garbled, Said
from segue.dialects.lines import Lines, plain

OBJECT_BYTES_MAX = 8 * 1024 * 1024  # a line holds a whole tool result
TEXT_CHARS_MAX = 64 * 1024
LINE_CHARS_MAX = 120
COUNT_MAX = 2**53
EPOCH_S_MIN, EPOCH_S_MAX = 1_577_836_800, 4_102_444_800  # 2020 and 2100: others are not meant

Object = dict[str, Any]


class Objects:
    """Lines of output → objects; other text is said, and what is broken is garbled."""

    def __init__(self) -> None:
        self._lines = Lines(OBJECT_BYTES_MAX)

    def feed(self, data: bytes) -> Iterator[Object | Said | Garbled]:
        for line, is_whole in self._lines.feed(data):
            yield from _read(line, is_whole)

    def close(self) -> Iterator[Object | Said | Garbled]:
        for line, is_whole in self._lines.close():
            yield from _read(line, is_whole)


def _read(line: bytes, is_whole: bool) -> Iterator[Object | Said | Garbled]:
    if is_whole and line.lstrip()[:1] == b"{" and (told := _object(line)) is not None:
        yield told
    elif not is_whole or b"{" in line or not _is_text(line):
        yield Garbled(len(line))
    else:
        yield from said(line)


def _object(line: bytes) -> Object | None:
    """A line's object. A bad byte in one of its texts does not spoil the rest of it."""
    try:
        told = json.loads(
            line.decode("utf-8", "replace"), parse_constant=_refuse, parse_float=_finite
        )
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)  # NaN and Infinity are no JSON


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError(digits)
    return value


def _is_text(line: bytes) -> bool:
    try:
        return "\0" not in line.decode()
    except UnicodeDecodeError:
        return False


def said(text: str | bytes) -> Iterator[Said]:
    """Each line of a text that has something in it, for people."""
    lines = Lines()
    data = text if isinstance(text, bytes) else encoded(text)
    for line, _is_whole in (*lines.feed(data), *lines.close()):
        if (shown := plain(line)).strip():
            yield Said(shown)


def encoded(text: str) -> bytes:
    """As UTF-8; half of a pair, which JSON can escape and UTF-8 cannot hold, is a `?`."""
    return text.encode("utf-8", "replace")


def text_of(value: object) -> str:
    """A text of any number of lines, harmless and bounded; empty where it is none."""
    if not isinstance(value, str):
        return ""
    lines = encoded(value[:TEXT_CHARS_MAX]).replace(b"\r\n", b"\n").split(b"\n")
    return "\n".join(plain(line) for line in lines)


def one_line(value: object, chars_max: int = LINE_CHARS_MAX) -> str:
    """The first line with something in it; `…` where there is more of it.

    A carriage return ends a line here: nothing may hide what stands before it.
    """
    if not isinstance(value, str):
        return ""
    head = encoded(value[: 8 * chars_max]).replace(b"\r", b"\n").strip().split(b"\n")
    line = plain(head[0]).replace("\t", " ").strip()
    is_cut = len(line) > chars_max or len(value) > 8 * chars_max or len(head) > 1
    return line[: chars_max - 2].rstrip() + " …" if is_cut else line


def object_of(value: object) -> Object:
    return value if isinstance(value, dict) else {}


def objects_of(value: object) -> list[Object]:
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def count_of(value: object) -> int | None:
    """A count of something: whole, not negative, no truth value."""
    return value if type(value) is int and 0 <= value <= COUNT_MAX else None


def amount_of(value: object) -> float | None:
    """A number that is not negative."""
    if type(value) is not int and type(value) is not float:
        return None
    return float(value) if 0 <= value <= COUNT_MAX else None


def instant_of(value: object) -> datetime | None:
    """Seconds since 1970, as UTC."""
    epoch_s = amount_of(value)
    if epoch_s is None or not EPOCH_S_MIN <= epoch_s <= EPOCH_S_MAX:
        return None
    return datetime.fromtimestamp(epoch_s, UTC)
