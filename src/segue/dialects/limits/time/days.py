"""Days and times of day as messages print them: `Oct 9, 2026`, `10 de jul.`, `3:30pm`, `15:02`."""

from __future__ import annotations

import re
from datetime import time
from typing import NamedTuple

from segue.dialects.limits.lazy_regex import Expression

# Three letters are enough to tell a month in the languages that agents print.
_MONTHS = (
    "jan|ene", "feb|fev|fév", "mar|mär|mrz", "apr|abr|avr", "may|mai", "jun|juin",
    "jul|juil", "aug|ago|aoû|aou", "sep|set", "oct|okt|out", "nov", "dec|dez|dic|déc",
)  # fmt: skip
_MONTH = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split("|")}
_MON = rf"(?P<mon>{'|'.join(sorted(_MONTH, key=len, reverse=True))})[a-zà-ÿ]{{0,7}}\.?"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th|º|ª)?(?![\d:])"
_YEAR = r"(?P<year>20\d\d)"
# Monday first; English may be cut to three letters, the others are written out.
_WEEKDAYS = (
    r"mon(?:day)?s?|montags?|lunes|lundi", r"tue(?:s|sday)?s?|dienstags?|martes|mardi",
    r"wed(?:nesday)?s?|mittwochs?|mi[eé]rcoles|mercredi",
    r"thu(?:rs?|rsday)?s?|donnerstags?|jueves|jeudi", r"fri(?:day)?s?|freitags?|viernes|vendredi",
    r"sat(?:urday)?s?|samstags?|sonnabends?|s[aá]bado|samedi",
    r"sun(?:day)?s?|sonntags?|domingo|dimanche",
)  # fmt: skip
_WEEKDAY = rf"(?:{'|'.join(_WEEKDAYS)})\b\.?,?\s+"


def _compiled(*patterns: str) -> tuple[Expression, ...]:
    return tuple(Expression(pattern, re.IGNORECASE) for pattern in patterns)


_BY_LETTER = _compiled(
    rf"(?:{_WEEKDAY})?{_MON}\s+{_DAY}(?:(?:,\s*|\s+){_YEAR}(?!\d|:))?",
    rf"(?:{_WEEKDAY}){_DAY}\.?\s+(?:(?:de|of)\s+)?{_MON}(?:,?\s+(?:de\s+)?{_YEAR}(?!\d|:))?",
)
_BY_DIGIT = _compiled(
    rf"{_DAY}\.?\s+(?:(?:de|of)\s+)?{_MON}(?:,?\s+(?:de\s+)?{_YEAR}(?!\d|:))?",
    rf"{_YEAR}[-/.](?P<month>[01]?\d)[-/.](?P<day>[0-3]?\d)(?!\d)",
    rf"(?P<month>1[0-2]|0?[1-9])/(?P<day>[0-3]?\d)(?:/(?:{_YEAR}|(?P<yy>\d\d)))?(?![\d/])",
    rf"(?P<day>[0-3]?\d)/(?P<month>1[0-2]|0?[1-9])(?:/(?:{_YEAR}|(?P<yy>\d\d)))?(?![\d/])",
    rf"(?P<day>[0-3]?\d)\.(?P<month>1[0-2]|0?[1-9])\.(?:{_YEAR})?(?!\d)",
    rf"(?:{_YEAR}\s*[年년]\s*)?(?P<month>1[0-2]|0?[1-9])\s*[月월]\s*(?P<day>[0-3]?\d)\s*[日일号號]",
)
_WEEKDAY_ALONE = Expression(
    r"(?:(?:next|this|coming|on|nächsten|am|el|próximo|ce|le)\s+)?(?:"
    + "|".join(f"(?P<d{n}>{names})" for n, names in enumerate(_WEEKDAYS))
    + r")\b\.?",
    re.IGNORECASE,
)
# The same in Korean, Japanese and Chinese.
_EASTERN_DAYS = ("월月一", "화火二", "수水三", "목木四", "금金五", "토土六", "일日天")
_WEEKDAY_EAST = Expression(
    r"(?:다음 ?주|이번 ?주|来週の?|次の|下)?\s*(?:(?P<ko>[월화수목금토일])요일"
    r"|(?P<ja>[月火水木金土日])曜日?"
    r"|(?:周|星期|礼拜|週)(?P<zh>[一二三四五六日天]))(?:の|的)?"
)
_TWELVE = Expression(
    r"(?P<h>1[0-2]"
    r"|0?[1-9])(?:[:.](?P<m>[0-5]\d)(?::(?P<s>[0-5]\d))?)?\s?(?P<half>[ap])\.?\s?m\b\.?",
    re.IGNORECASE,
)
_TWENTY_FOUR = Expression(
    r"(?P<h>[01]?\d|2[0-4])(?::(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d)(?:\.\d+)?)?|h(?P<hm>[0-5]\d))"
    r"(?![\d:]|[hms]\b)(?:\s*(?:uhr|hrs?)\b)?",
    re.IGNORECASE,
)
_EASTERN = Expression(
    r"(?P<half>오전|오후|새벽|아침|저녁|밤|낮|午前|午後|上午|下午|晚上|早上|凌晨|中午|深夜|夜)?\s*"
    r"(?P<h>\d{1,2})\s*(?:시(?!간)|時(?!間)|点(?!钟?前)|點|:)"
    r"\s*(?:(?P<m>[0-5]?\d)\s*(?:분|分)?|(?P<half_past>반|半))?"
)
# `8 Uhr`, `18.05 Uhr`; behind a word for "at" also `18.05`, `14 h 35` and `8 h`.
_OCLOCK = Expression(r"(?P<h>[01]?\d|2[0-4])(?:[:.](?P<m>[0-5]\d))?\s*uhr\b", re.IGNORECASE)
_AT = Expression(
    r"(?:\bat|\bum|\bab|\bbis|à|\bdès|\bvers|\balle|\bore|\blas|\bkl\.?|\bkello)\s+$", re.IGNORECASE
)
_AT_THAT = Expression(
    r"(?P<h>[01]?\d|2[0-3])(?:\.(?P<m>[0-5]\d)(?!\d)|\s?h(?:\s?(?P<hm>[0-5]\d))?)(?![a-z\d])", re.I
)
_NAMED = Expression(
    r"(?P<name>midnight|noon|midi|minuit|mitternacht|medianoche|mediodía|mittag)\b"
    r"|(?P<east>자정|정오|正午|午夜|零点|零時)",
    re.IGNORECASE,
)
_NOON = frozenset({"noon", "midi", "mediodía", "mittag", "정오", "正午"})
_AFTERNOON = frozenset({"오후", "午後", "下午", "晚上", "저녁", "밤", "낮", "中午", "夜"})
AT_CHARS = 8


class Day(NamedTuple):
    """A calendar day; the year is missing more often than not."""

    month: int
    day: int
    year: int | None
    end: int


class Clock(NamedTuple):
    """A time of day, and whether it names seconds."""

    at: time
    end: int
    has_seconds: bool


def day_at(text: str, at: int) -> Day | None:
    """The date that stands here."""
    for pattern in _BY_DIGIT if text[at : at + 1].isdigit() else _BY_LETTER:
        found = pattern.match(text, at)
        if found is None:
            continue
        parts = found.groupdict()
        month = _MONTH[parts["mon"].lower()] if parts.get("mon") else int(parts["month"])
        year = parts.get("year") or (f"20{parts['yy']}" if parts.get("yy") else None)
        day = int(parts["day"])
        is_clock = "." in found[0] and year is None and "mon" not in parts
        if is_clock and _AT.search(text[max(0, at - AT_CHARS) : at]):
            continue  # at 18.05
        if 1 <= day <= 31:
            return Day(month, day, int(year) if year else None, found.end())
    return None


def weekday_at(text: str, at: int) -> tuple[int, int] | None:
    """The day of the week that stands here (Monday is 0), and where it ends."""
    if found := _WEEKDAY_ALONE.match(text, at):
        return next(n for n in range(7) if found[f"d{n}"]), found.end()
    if found := _WEEKDAY_EAST.match(text, at):
        char = found["ko"] or found["ja"] or found["zh"]
        return next(n for n, days in enumerate(_EASTERN_DAYS) if char in days), found.end()
    return None


def clock_at(text: str, at: int) -> Clock | None:
    """The time of day that stands here."""
    if found := _OCLOCK.match(text, at):
        return _clock(int(found["h"]) % 24, found["m"], None, found.end())
    if (found := _AT_THAT.match(text, at)) and _AT.search(text[max(0, at - AT_CHARS) : at]):
        return _clock(int(found["h"]), found["m"] or found["hm"], None, found.end())
    if found := _TWELVE.match(text, at):
        hour = int(found["h"]) % 12 + (12 if found["half"].lower() == "p" else 0)
        return _clock(hour, found["m"], found["s"], found.end())
    if found := _TWENTY_FOUR.match(text, at):
        return _clock(int(found["h"]) % 24, found["m"] or found["hm"], found["s"], found.end())
    if found := _NAMED.match(text, at):
        is_noon = (found["name"] or found["east"]).lower() in _NOON
        return Clock(time(12 if is_noon else 0), found.end(), False)
    if (found := _EASTERN.match(text, at)) and int(found["h"]) <= 24:
        hour = int(found["h"]) % 24
        if found["half"]:
            hour = hour % 12 + (12 if found["half"] in _AFTERNOON else 0)
        return _clock(hour, "30" if found["half_past"] else found["m"], None, found.end())
    return None


def _clock(hour: int, minute: str | None, second: str | None, end: int) -> Clock:
    return Clock(time(hour, int(minute or 0), int(second or 0)), end, second is not None)
