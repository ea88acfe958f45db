"""How far Segue may go alone: windows, an end, quiet hours, how close to a limit.

People give times of day on their own wall clock; here they become instants. Each day's
quiet period begins and ends once, whatever the clock does in between: an hour that is
shown twice counts the first time, a time that the clock jumps over counts as the jump.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from segue.i18n import _

Quiet = tuple[time, time]  # from the first (included) to the second (not); may span midnight

_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})")
_BETWEEN = re.compile(r"\s*[-–~]\s*")


@dataclass(frozen=True, slots=True)
class Leash:
    """The limits of unattended work. `until` is a time: nothing starts or wakes after it."""

    max_windows: int | None = None
    until: datetime | None = None
    quiet: Quiet | None = None
    tz: tzinfo = UTC
    drain_at: float = 0.95  # share of a limit's window from which on nothing new starts


def parse_clock(text: str) -> time:
    """`08:00` as a time of day; ValueError says in words what is wrong."""
    match = _CLOCK.fullmatch(text.strip())
    if match is not None:
        hour, minute = int(match[1]), int(match[2])
        if hour < 24 and minute < 60:
            return time(hour, minute)
    raise ValueError(_('"{text}" is not a time of day like 08:00').format(text=text))


def parse_quiet(text: str) -> Quiet:
    """`12:00-13:00` as a pair of times; ValueError says in words what is wrong."""
    ends = _BETWEEN.split(text.strip())
    if len(ends) != 2:
        raise ValueError(_('"{text}" is not a time range like 12:00-13:00').format(text=text))
    start = parse_clock(ends[0])
    end = time(0) if ends[1] == "24:00" else parse_clock(ends[1])
    if start == end:
        raise ValueError(_('"{text}" starts and ends at the same time').format(text=text))
    return start, end


def quiet_now(now: datetime, quiet: Quiet | None, tz: tzinfo) -> bool:
    return quiet_ends(now, quiet, tz) is not None


def quiet_ends(now: datetime, quiet: Quiet | None, tz: tzinfo) -> datetime | None:
    """When the quiet period that holds now ends, in UTC; None if now is not quiet."""
    if quiet is None:
        return None
    start, end = quiet
    nights = timedelta(days=1 if end <= start else 0)
    today = now.astimezone(tz).date()
    for days in (-1, 0, 1):
        day = today + timedelta(days=days)
        ends_at = _instant(day + nights, end, tz)
        if _instant(day, start, tz) <= now < ends_at:
            return ends_at
    return None


def after_quiet(instant: datetime, quiet: Quiet | None, tz: tzinfo) -> datetime:
    """This instant, or the end of the quiet period it falls into."""
    return quiet_ends(instant, quiet, tz) or instant


def next_instant(clock: str | time, start: datetime, tz: tzinfo) -> datetime:
    """The first instant after `start` at which the wall clock shows this time, in UTC."""
    at = parse_clock(clock) if isinstance(clock, str) else clock
    today = start.astimezone(tz).date()
    instants = (_instant(today + timedelta(days=days), at, tz) for days in (-1, 0, 1, 2))
    return next(instant for instant in instants if instant > start)


def _instant(day: date, at: time, tz: tzinfo) -> datetime:
    """When the wall clock first shows this time on this day, or jumps over it."""
    local = datetime.combine(day, at, tzinfo=tz)
    instant = local.astimezone(UTC)
    if instant.astimezone(tz).replace(tzinfo=None) == local.replace(tzinfo=None):
        return instant
    # The clock jumps over it: the two readings of the time lie on either side of the jump.
    before = local.replace(fold=1).astimezone(UTC)
    after = instant
    offset_before = before.astimezone(tz).utcoffset()
    while after - before > timedelta(seconds=1):
        middle = (before + (after - before) / 2).replace(microsecond=0)
        if middle.astimezone(tz).utcoffset() == offset_before:
            before = middle
        else:
            after = middle
    return after
