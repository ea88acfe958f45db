"""Times of day on a wall clock that jumps twice a year."""

from __future__ import annotations

from datetime import UTC, datetime, time
from zoneinfo import ZoneInfo

import pytest

from segue.core.leash import next_instant, parse_clock, parse_quiet, quiet_ends, quiet_now

SEOUL = ZoneInfo("Asia/Seoul")
BERLIN = ZoneInfo("Europe/Berlin")  # 2026: 29 March 02:00 → 03:00, 25 October 03:00 → 02:00


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def at(text: str, tz: ZoneInfo, fold: int = 0) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=tz, fold=fold).astimezone(UTC)


def test_times_and_spans_are_read() -> None:
    """Hours and minutes, with some freedom in what stands between."""
    assert parse_clock(" 8:05 ") == time(8, 5)
    assert parse_quiet("12:00-13:00") == (time(12), time(13))
    assert parse_quiet("23:30 ~ 06:00") == (time(23, 30), time(6))
    assert parse_quiet("20:00-24:00") == (time(20), time(0))


@pytest.mark.parametrize("text", ["", "8", "24:00", "08:60", "8am", "-1:00", "08:00:00"])
def test_a_bad_time_is_refused_in_words(text: str) -> None:
    """The message quotes what was written and shows how it should look."""
    with pytest.raises(ValueError, match="is not a time of day like 08:00") as caught:
        parse_clock(text)
    assert f'"{text}"' in str(caught.value)


@pytest.mark.parametrize(
    "text", ["", "12:00", "12:00-", "12:00-25:00", "1:00-2:00-3:00", "9:00-9:00"]
)
def test_a_bad_span_is_refused_in_words(text: str) -> None:
    """One end, three ends, a bad end, or none in between."""
    with pytest.raises(ValueError, match='"'):
        parse_quiet(text)


@pytest.mark.parametrize(
    ("clock", "is_quiet"),
    [("11:59", False), ("12:00", True), ("12:59", True), ("13:00", False)],
)
def test_quiet_hours_hold_from_their_start_to_before_their_end(clock: str, is_quiet: bool) -> None:
    """The local wall clock decides."""
    now = at(f"2026-05-01T{clock}", SEOUL)
    assert quiet_now(now, (time(12), time(13)), SEOUL) is is_quiet


@pytest.mark.parametrize(
    ("now", "ends"),
    [
        ("2026-05-01T22:30", "2026-05-02T06:00"),
        ("2026-05-02T00:00", "2026-05-02T06:00"),
        ("2026-05-02T05:59", "2026-05-02T06:00"),
        ("2026-05-02T06:00", None),
        ("2026-05-02T21:59", None),
    ],
)
def test_quiet_hours_may_span_midnight(now: str, ends: str | None) -> None:
    """The end is that of the night, whichever side of midnight it is."""
    found = quiet_ends(at(now, SEOUL), (time(22), time(6)), SEOUL)
    assert found == (at(ends, SEOUL) if ends else None)


def test_without_quiet_hours_nothing_is_quiet() -> None:
    """No hours, no quiet."""
    assert not quiet_now(utc("2026-05-01T00:00"), None, SEOUL)


def test_a_night_in_which_the_clock_jumps_ends_on_the_wall_clock() -> None:
    """The same end by the wall clock is an hour sooner or later in truth."""
    night = (time(22), time(6))
    assert quiet_ends(utc("2026-03-28T22:00"), night, BERLIN) == utc("2026-03-29T04:00")
    assert quiet_ends(utc("2026-10-24T22:00"), night, BERLIN) == utc("2026-10-25T05:00")


def test_an_end_that_the_clock_jumps_over_is_the_jump() -> None:
    """Quiet until 02:30 on the day that has no 02:30 ends when the clock jumps."""
    ends = quiet_ends(utc("2026-03-29T00:30"), (time(1), time(2, 30)), BERLIN)
    assert ends == utc("2026-03-29T01:00")
    assert not quiet_now(utc("2026-03-29T01:00"), (time(1), time(2, 30)), BERLIN)


def test_an_hour_shown_twice_is_quiet_once() -> None:
    """A period begins at the first showing of its start and ends at the first of its end."""
    span = (time(2, 15), time(2, 45))
    assert quiet_now(at("2026-10-25T02:30", BERLIN, fold=0), span, BERLIN)
    assert not quiet_now(at("2026-10-25T02:30", BERLIN, fold=1), span, BERLIN)
    long = (time(2, 30), time(5))
    assert quiet_now(at("2026-10-25T02:10", BERLIN, fold=1), long, BERLIN)


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("2026-05-01T22:00", "2026-05-02T08:00"),
        ("2026-05-02T07:59", "2026-05-02T08:00"),
        ("2026-05-02T08:00", "2026-05-03T08:00"),
    ],
)
def test_the_next_instant_is_after_the_start(start: str, expected: str) -> None:
    """08:00 is today's if it is still to come, else tomorrow's."""
    assert next_instant("08:00", at(start, SEOUL), SEOUL) == at(expected, SEOUL)


def test_the_next_instant_on_a_day_that_skips_it_is_the_jump() -> None:
    """A time that the clock jumps over counts as the jump."""
    assert next_instant("02:30", utc("2026-03-28T12:00"), BERLIN) == utc("2026-03-29T01:00")
    assert next_instant(time(2, 30), utc("2026-03-29T01:00"), BERLIN) == utc("2026-03-30T00:30")
