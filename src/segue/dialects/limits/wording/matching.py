"""Which pattern of the table a line has, and where: the weightiest, at the first place.

Quick looks come first: the words that a pattern needs, once for a line, and how it begins, at each
place. What they leave is looked at closely.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from segue.dialects.limits.wording.pattern import Pattern
from segue.dialects.limits.wording.patterns import PATTERNS
from segue.dialects.limits.wording.phrases import SLOT, Led, Slotted
from segue.dialects.limits.wording.words import has_any, plain_lower

BEGIN_CHARS = 16  # more than any `begins` has


class Found(NamedTuple):
    """The words of a limit: by which pattern, from where to where."""

    rule: str
    kind: str
    start: int
    end: int
    trust: int = 0
    language: str = ""  # empty: English


class Row(NamedTuple):
    """Phrases that are tried in one go. `weights` and `owners` by their number."""

    phrases: Led | Slotted
    weights: tuple[int, ...]
    owners: tuple[Pattern, ...]
    begins: tuple[str, ...]
    needs: tuple[str, ...]


@cache
def rows() -> tuple[Row, ...]:
    """Made when first needed: most commands never read a screen."""
    led: dict[Pattern, list[tuple[int, str]]] = {}
    slotted: list[tuple[int, Pattern, str]] = []
    weight = 0
    for pattern in PATTERNS:
        for phrase in pattern.phrases:
            weight += 1
            if phrase.startswith(SLOT):
                assert not (pattern.never or pattern.trust or pattern.agents), pattern.id
                slotted.append((weight, pattern, phrase))
            else:
                led.setdefault(pattern, []).append((weight, phrase))
    made = [_row(Led([text for _weight, text in of]), of, p) for p, of in led.items()]
    named = tuple(pattern for _weight, pattern, _phrase in slotted)
    weights = tuple(weight for weight, _pattern, _phrase in slotted)
    needs = tuple(word for pattern in named for word in pattern.needs)
    sources = [phrase for _weight, _pattern, phrase in slotted]
    made.append(Row(Slotted(sources), weights, named, (), needs))
    return tuple(sorted(made, key=lambda row: row.weights[0]))


def _row(phrases: Led, weighed: Sequence[tuple[int, str]], pattern: Pattern) -> Row:
    weights = tuple(weight for weight, _phrase in weighed)
    owners = (pattern,) * len(weights)
    return Row(phrases, weights, owners, pattern.begins, pattern.needs)


def first(line: str, places: Iterable[int], brand: str, trust: int) -> Found | None:
    """The words of a limit at the first of the places that has any."""
    lower = plain_lower(line)
    has_needed: dict[int, bool] = {}
    for at in places:
        char = line[at : at + 1]
        if char.isalnum() or char == "[":
            found = _at(line, lower, at, _rows_of(brand, trust, char.lower()), has_needed)
            if found is not None:
                return found
    return None


@lru_cache(maxsize=1024)
def _rows_of(brand: str, trust: int, letter: str) -> tuple[Row, ...]:
    """The rows that count from this speaker and may begin with this letter."""
    return tuple(
        row
        for row in rows()
        if row.owners[0].trust <= trust
        and row.owners[0].holds_for(brand)
        and (not row.begins or any(word.startswith(letter) for word in row.begins))
    )


def _at(
    line: str, lower: str, at: int, counting: Sequence[Row], has_needed: dict[int, bool]
) -> Found | None:
    """The weightiest words here. `has_needed`: of which rows the line has a needed word."""
    begin = line[at : at + BEGIN_CHARS].lower()
    best: tuple[int, Pattern, int] | None = None
    for phrases, weights, owners, begins, needs in counting:
        row = weights[0]
        if best is not None and best[0] < row:
            break  # the rows are in the order of their weight
        if begins and not begin.startswith(begins):
            continue
        if needs:
            if row not in has_needed:
                has_needed[row] = has_any(lower, needs)
            if not has_needed[row]:
                continue
        found = phrases.match(line, at)
        if found is None:
            continue
        number, end = found
        weight, pattern = weights[number], owners[number]
        if best is not None and best[0] < weight:
            continue
        if pattern.never is None or pattern.never.search(line) is None:
            best = weight, pattern, end
    if best is None:
        return None
    _weight, pattern, end = best
    return Found(pattern.id, pattern.kind, at, end, pattern.trust)
