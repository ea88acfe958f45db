"""Lengths of time as messages print them: `2h 13m`, `3 days 4 hours`, `21.8s`, `3시간 20분`."""

from __future__ import annotations

import re
from typing import NamedTuple

from segue.dialects.limits.lazy_regex import Expression

SPAN_S_MAX = 400 * 86_400.0  # longer ones are no wait that anybody means

_UNITS_S = (
    ("ms", 0.001, r"milliseconds?|millis|ms"),
    ("s", 1.0, r"seconds?|secs?|s|segundos?|sekunden?|secondes?|초|秒(?:钟|鐘)?"),
    ("m", 60.0, r"minutes?|mins?|m|minutos?|minuten?|분|分(?:钟|鐘|間)?"),
    ("h", 3600.0, r"hours?|hrs?|h|horas?|stunden?|heures?|std|시간|小时|小時|時間|时"),
    ("d", 86_400.0, r"days?|d|d[ií]as?|dias?|tag(?:en?)?|jours?|일|天|日"),
    ("w", 604_800.0, r"weeks?|wks?|w|semanas?|wochen?|semaines?|주|周|週間?"),
    ("mo", 2_592_000.0, r"months?|meses|m[eê]s|monaten?|mois|개월|个月"),
)
_NUMBERS = {
    **{"half an": 0.5, "half a": 0.5, "an": 1.0, "a": 1.0, "one": 1.0},
    **{"two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0},
}
_NUMBER = rf"\d{{1,7}}(?:[.,]\d{{1,12}})?|{'|'.join(_NUMBERS)}"
_UNIT = "|".join(f"(?P<u_{name}>{words})" for name, _s, words in _UNITS_S)
_PART = Expression(
    rf"(?P<n>{_NUMBER})(?:\s|-)*(?:{_UNIT})(?![a-zà-ÿ])\.?(?:\s*(?:,|and|und|et|y|e)\s+|\s*)",
    re.IGNORECASE,
)
_ABOUT = Expression(
    r"\s*(?:~|≈|<|about|around|approximately|approx\.?|roughly|another|less than|at least"
    r"|up to)?\s*",
    re.IGNORECASE,
)
_COUNTDOWN = Expression(r"(?P<h>\d{1,3}):(?P<m>[0-5]\d):(?P<s>[0-5]\d)(?![\d:])")
_ISO = Expression(
    r"P(?:(?P<d>\d{1,3})D)?T(?:(?P<h>\d{1,3})H)?(?:(?P<m>\d{1,4})M)?(?:(?P<s>\d{1,6}(?:\.\d+)?)S)?"
)


class Span(NamedTuple):
    """How long, where it ends in the text, and whether it names whole minutes at best."""

    seconds: float
    end: int
    is_coarse: bool


def span_at(text: str, at: int) -> Span | None:
    """The length of time that stands here."""
    begun = _ABOUT.match(text, at)
    start = begun.end() if begun else at
    if counted := _COUNTDOWN.match(text, start):
        seconds = int(counted["h"]) * 3600 + int(counted["m"]) * 60 + int(counted["s"])
        return Span(float(seconds), counted.end(), False)
    if (iso := _ISO.match(text, start)) and iso.end() > iso.start() + 2:
        given = {name: float(value) for name, value in iso.groupdict(default="0").items()}
        total = given["d"] * 86_400 + given["h"] * 3600 + given["m"] * 60 + given["s"]
        return Span(total, iso.end(), given["s"] == 0)
    return _parts(text, start)


def _parts(text: str, at: int) -> Span | None:
    total, end, finest = 0.0, at, ""
    last = len(_UNITS_S)
    while part := _PART.match(text, end):
        rank, name = next(
            (rank, name) for rank, (name, _s, _w) in enumerate(_UNITS_S) if part[f"u_{name}"]
        )
        if rank >= last:  # from long to short, each once: what follows is another matter
            break
        word = part["n"].lower()
        number = _NUMBERS.get(word)
        total += (float(word.replace(",", ".")) if number is None else number) * _UNITS_S[rank][1]
        end, last, finest = part.end(), rank, name
    if not finest or total > SPAN_S_MAX:
        return None
    return Span(total, end, finest not in ("s", "ms"))
