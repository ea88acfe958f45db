"""A time expression in a message → one instant, in UTC.

A wall clock without a date means the occurrence that is at most 15 minutes ago, else the next
one: "resets 1am" seen at 23:00 is tomorrow, "resets 3pm" seen at 15:02 was two minutes ago.
An hour that the clocks skip is taken as the instant after the jump; of an hour that they repeat,
the first occurrence that is not over counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import NamedTuple

from segue.dialects.limits.lazy_regex import Expression
from segue.dialects.limits.time import zones
from segue.dialects.limits.time.days import Clock, Day, clock_at, day_at, weekday_at
from segue.dialects.limits.time.spans import span_at

JUST_PASSED = timedelta(minutes=15)
LONG_PASSED = timedelta(days=60)  # a date without a year that is further back is next year's
UNKNOWN_ZONE = "unknown_zone"
DAY_ONLY = "day_only"
NEXT_PERIOD = "next_period"

_EPOCH = Expression(r"(?P<s>1[5-9]\d{8}|[2-3]\d{9})(?P<ms>\d{3})?(?:\.\d+)?(?!\d)")
_ISO = Expression(
    r"(?P<day>20\d\d-[01]\d-[0-3]\d)(?:T|,? )(?P<clock>[0-2]\d:[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?)"
    r"(?P<zone>Z|\s?[+\-]\d\d:?\d\d)?(?![\d:])"
)
_HTTP = Expression(
    r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+)?(?P<day>\d{1,2})[ -](?P<mon>[a-z]{3})[ -]"
    r"(?P<year>20\d\d)\s+(?P<clock>\d\d:\d\d:\d\d)\s+GMT",
    re.IGNORECASE,
)
# How many days ahead. The longer words come first: one may begin with another.
_DAYS_AHEAD = {
    **dict.fromkeys(("the day after tomorrow", "übermorgen", "pasado mañana", "après-demain"), 2),
    **dict.fromkeys(("모레", "明後日", "后天", "後天"), 2),
    **dict.fromkeys(("tomorrow", "morgen", "mañana", "demain", "내일", "明日", "明天"), 1),
    **dict.fromkeys(("today", "tonight", "heute", "hoy", "aujourd'hui"), 0),
    **dict.fromkeys(("오늘", "今日", "本日", "今天"), 0),
}
_RELATIVE_DAY = Expression(
    rf"(?P<day>{'|'.join(_DAYS_AHEAD)})(?:の)?(?:\s*(?:,|at|um|à|a las?|früh um)?\s+)?",
    re.IGNORECASE,
)
_ISO_BASIC = Expression(r"(?P<day>20\d{6})T(?P<clock>\d{6})(?P<zone>Z|[+-]\d{4})?(?!\d)")
_PERIOD = Expression(
    r"(?:(?:the\s+)?(?:start|beginning|first(?: day)?|1st)\s+of\s+)?(?:the\s+)?next\s+"
    r"(?P<period>month|week|day|hour|billing (?:cycle|period))\b",
    re.IGNORECASE,
)
_BETWEEN = Expression(
    r"\s*(?:,|·|-|at|um|à|às|a las?|on|@|에)?\s*(?:(?:at|um|à|a las?)\s+)?", re.IGNORECASE
)
_SECONDS = Expression(r"(?P<s>\d{1,7}(?:\.\d{1,9})?)(?![\d.]*\s*%|\w)")


class Moment(NamedTuple):
    """An instant, how it was written, and what had to be assumed to read it."""

    at: datetime  # a guess where the zone is unknown: see `resets_at`
    form: str  # epoch, iso, http, date, weekday, day, clock, span, period
    text: str
    end: int
    zone: str = ""  # as printed
    is_minute_rounded: bool = False
    notes: tuple[str, ...] = ()

    @property
    def resets_at(self) -> datetime | None:
        """None where a word beside the time is not understood: better no time than a wrong one."""
        return None if UNKNOWN_ZONE in self.notes else self.at


class Here(NamedTuple):
    """When and where a message is read. `zone` is the one to assume where none is printed."""

    now: datetime
    tz: tzinfo
    zone: tzinfo


def moment_at(text: str, at: int, here: Here, *, is_span_likely: bool = False) -> Moment | None:
    """The time expression that begins here."""
    readers = _BY_DIGIT if text[at : at + 1].isdigit() else _BY_LETTER
    for reader in (_span, *readers) if is_span_likely else (*readers, _span):
        moment = reader(text, at, here)
        if moment is not None:
            shown = text[at : moment.end].strip(" ,.·")
            return Moment(moment.at, moment.form, shown, *moment[3:])  # quicker than _replace()
    return None


def seconds_at(text: str, at: int, here: Here) -> Moment | None:
    """A bare number where seconds are the custom (`retry-after: 30`)."""
    found = _SECONDS.match(text, at)
    if found is None:
        return None
    wait = timedelta(seconds=min(float(found["s"]), 1e7))
    return Moment(here.now + wait, "span", found[0], found.end())


Reader = Callable[[str, int, Here], Moment | None]


def _span(text: str, at: int, here: Here) -> Moment | None:
    span = span_at(text, at)
    if span is None:
        return None
    until = here.now + timedelta(seconds=span.seconds)
    return Moment(until, "span", "", span.end, is_minute_rounded=span.is_coarse)


def _epoch(text: str, at: int, here: Here) -> Moment | None:
    found = _EPOCH.match(text, at)
    if found is None:
        return None
    return Moment(datetime.fromtimestamp(int(found["s"]), UTC), "epoch", "", found.end())


def _iso(text: str, at: int, here: Here) -> Moment | None:
    found = _ISO.match(text, at) or _ISO_BASIC.match(text, at)
    if found is None:
        return None
    try:
        wall = datetime.fromisoformat(f"{found['day']}T{found['clock']}")
    except ValueError:
        return None
    printed, end = (found["zone"] or "").strip(), found.end()
    if not printed:
        printed, end = zones.after(text, end)
    zone, notes = _zone(printed, here)
    rounded = found["clock"].count(":") == 1
    return Moment(_instant(wall, zone, here.now), "iso", "", end, printed, rounded, notes)


def _http(text: str, at: int, here: Here) -> Moment | None:
    found = _HTTP.match(text, at)
    day = day_at(f"{found['day']} {found['mon']} {found['year']}", 0) if found else None
    if found is None or day is None:
        return None
    try:
        wall = datetime.combine(_dated(day, here, UTC), time.fromisoformat(found["clock"]))
    except ValueError:
        return None
    return Moment(wall.replace(tzinfo=UTC), "http", "", found.end(), "GMT")


def _date(text: str, at: int, here: Here) -> Moment | None:
    day = day_at(text, at)
    if day is None:
        return None
    between = _BETWEEN.match(text, day.end)
    clock = clock_at(text, between.end() if between else day.end)
    end = clock.end if clock else day.end
    printed, end = zones.after(text, end)
    zone, notes = _zone(printed, here)
    return _on(day, clock, zone, here, "date", end, printed, notes)


def _on(
    day: Day,
    clock: Clock | None,
    zone: tzinfo,
    here: Here,
    form: str,
    end: int,
    printed: str,
    notes: tuple[str, ...],
) -> Moment | None:
    at = clock.at if clock else time(0)
    try:
        wall = datetime.combine(_dated(day, here, zone, at), at)
    except ValueError:
        return None  # there is no such day
    if clock is None:
        notes = (*notes, DAY_ONLY)
    rounded = clock is not None and not clock.has_seconds
    return Moment(_instant(wall, zone, here.now), form, "", end, printed, rounded, notes)


def _relative_day(text: str, at: int, here: Here) -> Moment | None:
    found = _RELATIVE_DAY.match(text, at)
    if found is None:
        return None
    ahead = _DAYS_AHEAD[found["day"].lower()]
    clock = clock_at(text, found.end())
    if clock is None and ahead == 0:
        return None
    return _ahead(text, here, ahead, clock, clock.end if clock else found.end("day"), "day")


def _ahead(
    text: str, here: Here, days: int, clock: Clock | None, end: int, form: str
) -> Moment | None:
    printed, end = zones.after(text, end)
    zone, notes = _zone(printed, here)
    day = here.now.astimezone(zone).date() + timedelta(days=days)
    fixed = Day(day.month, day.day, day.year, end)
    return _on(fixed, clock, zone, here, form, end, printed, notes)


def _weekday(text: str, at: int, here: Here) -> Moment | None:
    found = weekday_at(text, at)
    if found is None:
        return None
    weekday, end = found
    between = _BETWEEN.match(text, end)
    clock = clock_at(text, between.end() if between else end)
    end = clock.end if clock else end
    printed, _end = zones.after(text, end)
    zone, _notes = _zone(printed, here)
    today = here.now.astimezone(zone)
    days = (weekday - today.weekday()) % 7
    if days == 0 and (clock is None or _passed(today.date(), clock.at, zone, here.now)):
        days = 7
    return _ahead(text, here, days, clock, end, "weekday")


def _passed(day: date, clock: time, zone: tzinfo, now: datetime) -> bool:
    return _instant(datetime.combine(day, clock), zone, now) < now - JUST_PASSED


def _period(text: str, at: int, here: Here) -> Moment | None:
    found = _PERIOD.match(text, at)
    if found is None:
        return None
    printed, end = zones.after(text, found.end())
    zone, notes = _zone(printed, here)
    today = here.now.astimezone(zone).date()
    match found["period"].lower():
        case "month" | "billing cycle" | "billing period":
            day = (today.replace(day=1) + timedelta(days=32)).replace(day=1)
        case "week":
            day = today + timedelta(days=7 - today.weekday())
        case "day":
            day = today + timedelta(days=1)
        case _:
            return None
    wall = datetime.combine(day, time(0))
    notes = (*notes, NEXT_PERIOD)
    return Moment(_instant(wall, zone, here.now), "period", "", end, printed, False, notes)


def _clock(text: str, at: int, here: Here) -> Moment | None:
    clock = clock_at(text, at)
    if clock is None:
        return None
    printed, end = zones.after(text, clock.end)
    zone, notes = _zone(printed, here)
    dated = _clock_of_a_day(text, clock, end, printed, here)
    if dated is not None:
        return dated
    at_ = _next(clock.at, zone, here.now)
    return Moment(at_, "clock", "", end, printed, not clock.has_seconds, notes)


def _clock_of_a_day(text: str, clock: Clock, end: int, printed: str, here: Here) -> Moment | None:
    """`9am tomorrow`, `3pm (UTC) on Oct 9`, `2:59 AM Mon`: the day may come last."""
    between = _BETWEEN.match(text, end)
    start = between.end() if between else end
    relative, day, weekday = (
        _RELATIVE_DAY.match(text, start),
        day_at(text, start),
        weekday_at(text, start),
    )
    stop = day.end if day else relative.end("day") if relative else weekday[1] if weekday else 0
    if not stop:
        return None
    if not printed:
        printed, stop = zones.after(text, stop)
    zone, notes = _zone(printed, here)
    today = here.now.astimezone(zone)
    if day is None:
        if relative:
            ahead = _DAYS_AHEAD[relative["day"].lower()]
        else:
            assert weekday is not None
            ahead = (weekday[0] - today.weekday()) % 7
            if ahead == 0 and _passed(today.date(), clock.at, zone, here.now):
                ahead = 7
        then = today.date() + timedelta(days=ahead)
        day = Day(then.month, then.day, then.year, stop)
    return _on(day, clock, zone, here, "date", stop, printed, notes)


def _zone(printed: str, here: Here) -> tuple[tzinfo, tuple[str, ...]]:
    if not printed:
        return here.zone, ()
    zone = zones.named(printed, here.now, here.tz)
    return (here.tz, (UNKNOWN_ZONE,)) if zone is None else (zone, ())


def _dated(day: Day, here: Here, zone: tzinfo, at: time = time(0)) -> date:
    """The day with its year: the coming one, unless the last was not long ago."""
    if day.year is not None:
        return date(day.year, day.month, day.day)
    year = here.now.astimezone(zone).year
    for candidate in (year - 1, year, year + 1, year + 2, year + 3, year + 4):
        try:
            found = date(candidate, day.month, day.day)
        except ValueError:
            continue  # 29 February
        if _instant(datetime.combine(found, at), zone, here.now) >= here.now - LONG_PASSED:
            return found
    raise ValueError(day)


def _instant(wall: datetime, zone: tzinfo, now: datetime) -> datetime:
    """A wall clock reading in a zone; of a repeated hour the occurrence that is not over."""
    first = wall.replace(tzinfo=zone).astimezone(UTC)
    if first >= now - JUST_PASSED:
        return first
    second = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
    return max(first, second)  # in a gap the second is the earlier one


def _next(clock: time, zone: tzinfo, now: datetime) -> datetime:
    """The occurrence of a time of day from 15 minutes ago on."""
    today = now.astimezone(zone).date()
    for ahead in (-1, 0, 1, 2):
        at = _instant(datetime.combine(today + timedelta(days=ahead), clock), zone, now)
        if at >= now - JUST_PASSED:
            return at
    raise AssertionError(clock)  # the day after tomorrow is not over


_BY_DIGIT: tuple[Reader, ...] = (_epoch, _iso, _http, _date, _clock)
_BY_LETTER: tuple[Reader, ...] = (_http, _period, _date, _relative_day, _weekday, _clock)
