"""Whether two globs could name the same path.

Theory: a glob is a list of segments, a segment a list of characters to accept. In both
lists some entries stand for any number of others (`**` among segments, `*` among
characters). So one walk answers both questions: step through the two lists side by side
and see whether both ends can be reached together.

Matching is by text alone; nothing is looked up on a disk. A last segment without wildcards
may be a folder: it covers what is under it. One with an ending (`api.py`) is taken for a
file, or `**/conftest.py` would meet every file there is; unless the other glob itself goes
on below it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeVar

Ranges = tuple[tuple[int, int], ...]  # of code points, ascending, both ends included
Segment = tuple[Ranges | None, ...]  # None stands for `*`
Glob = tuple[Segment | None, ...]  # None stands for `**`

T = TypeVar("T")

_LAST = 0x10FFFF
_SLASH = ord("/")
_ANY: Ranges = ((0, _SLASH - 1), (_SLASH + 1, _LAST))
_WILD = frozenset("*?[")


def overlaps(files_a: Sequence[str], files_b: Sequence[str]) -> bool:
    """Whether some path could match a glob of each."""
    return any(globs_meet(a, b) for a in files_a for b in files_b)


def globs_meet(a: str, b: str) -> bool:
    """Whether some path could match both globs."""
    return _meet_cached(a, b) if a <= b else _meet_cached(b, a)


@lru_cache(maxsize=65_536)
def _meet_cached(a: str, b: str) -> bool:
    return (
        _can_end_together(parse_glob(a), parse_glob(b), _segments_meet)
        or _is_above(a, b)
        or _is_above(b, a)
    )


def _is_above(a: str, b: str) -> bool:
    """Whether a is a plain path and b names something below it."""
    path = tuple(_split(a))
    return literal_prefix(a) == path == literal_prefix(b)[: len(path)]


@lru_cache(maxsize=65_536)
def literal_prefix(glob: str) -> tuple[str, ...]:
    """The leading segments without wildcards: globs whose prefixes part ways never meet."""
    prefix: list[str] = []
    for segment in _split(glob):
        if _WILD & set(segment):
            break
        prefix.append(segment)
    return tuple(prefix)


@lru_cache(maxsize=16_384)
def parse_glob(glob: str) -> Glob:
    segments = _split(glob)
    parsed = [None if text == "**" else _parse_segment(text) for text in segments]
    if not segments or glob.rstrip().endswith("/") or _may_be_folder(segments[-1]):
        parsed.append(None)
    return tuple(parsed)


def _may_be_folder(name: str) -> bool:
    return not _WILD & set(name) and "." not in name[1:]


def _split(glob: str) -> list[str]:
    """The segments, without `.` and empty ones; `..` takes back the one before it."""
    segments: list[str] = []
    for segment in unicodedata.normalize("NFC", glob.strip()).split("/"):
        if segment == ".." and segments and segments[-1] not in ("..", "**"):
            segments.pop()
        elif segment not in ("", "."):
            segments.append(segment)
    return segments


def _parse_segment(text: str) -> Segment:
    parsed: list[Ranges | None] = []
    at = 0
    while at < len(text):
        char = text[at]
        at += 1
        if char == "*":
            parsed.append(None)
        elif char == "?":
            parsed.append(_ANY)
        elif char == "[" and (end := text.find("]", _first_member(text, at) + 1)) != -1:
            parsed.append(_parse_class(text[at:end]))
            at = end + 1
        else:
            parsed.append(((ord(char), ord(char)),))
    return tuple(parsed)


def _first_member(text: str, at: int) -> int:
    """Where a class begins after its negation: a `]` there is a member, not the end."""
    return at + 1 if text[at : at + 1] in ("!", "^") else at


def _parse_class(text: str) -> Ranges:
    is_negated = text[0] in "!^"
    members = text[1:] if is_negated else text
    ranges: list[tuple[int, int]] = []
    at = 0
    while at < len(members):
        if at + 2 < len(members) and members[at + 1] == "-":
            first, last = ord(members[at]), ord(members[at + 2])
            at += 3
        else:
            first = last = ord(members[at])
            at += 1
        if first <= last:
            ranges.append((first, last))
    ranges.sort()
    return _complement(ranges) if is_negated else tuple(ranges)


def _complement(ranges: list[tuple[int, int]]) -> Ranges:
    left: list[tuple[int, int]] = []
    start = 0
    for first, last in sorted([*ranges, (_SLASH, _SLASH)]):
        if start < first:
            left.append((start, first - 1))
        start = max(start, last + 1)
    if start <= _LAST:
        left.append((start, _LAST))
    return tuple(left)


def _ranges_meet(a: Ranges, b: Ranges) -> bool:
    return any(a1 <= b2 and b1 <= a2 for a1, a2 in a for b1, b2 in b)


@lru_cache(maxsize=16_384)
def _segments_meet(a: Segment, b: Segment) -> bool:
    return _can_end_together(a, b, _ranges_meet)


def _can_end_together(
    a: Sequence[T | None], b: Sequence[T | None], meet: Callable[[T, T], bool]
) -> bool:
    """Whether both lists can be walked to their ends on the same items; None is any number."""
    row = {0}  # places in b that can be reached together with the present place in a
    for item in a:
        row = _skip_stars(row, b)
        row = set(range(min(row), len(b) + 1)) if item is None else _step(item, row, b, meet)
        if not row:
            return False
    return len(b) in _skip_stars(row, b)


def _skip_stars(row: set[int], b: Sequence[T | None]) -> set[int]:
    """A star may stand for nothing: the place after it is reached as well."""
    reached = set(row)
    for place in row:
        after = place
        while after < len(b) and b[after] is None:
            after += 1
            reached.add(after)
    return reached


def _step(item: T, row: set[int], b: Sequence[T | None], meet: Callable[[T, T], bool]) -> set[int]:
    stepped: set[int] = set()
    for place in row:
        if place < len(b):
            other = b[place]
            if other is None:
                stepped.add(place)
            elif meet(item, other):
                stepped.add(place + 1)
    return stepped
