"""Until when: every form of time that messages use, and what must not be taken for one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest

from segue.dialects.limits.time.moments import Here, Moment
from segue.dialects.limits.time.when import when

NEW_YORK = ZoneInfo("America/New_York")
NOW = datetime(2026, 3, 16, 13, 19, tzinfo=NEW_YORK)  # a Monday, 17:19 UTC


def read(text: str, now: datetime = NOW, tz: tzinfo = NEW_YORK) -> Moment | None:
    return when(text, Here(now.astimezone(UTC), tz, tz))


def at(text: str, now: datetime = NOW, tz: tzinfo = NEW_YORK) -> str | None:
    moment = read(text, now, tz)
    return moment.at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S") if moment else None


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        # times of day
        ("limit reached · resets 3pm", "2026-03-16 19:00:00"),
        ("resets 3:30pm (Europe/London)", "2026-03-16 15:30:00".replace("16", "17")),
        ("resets 11 p.m.", "2026-03-17 03:00:00"),
        ("resets 12am", "2026-03-17 04:00:00"),
        ("resets 12pm (UTC)", "2026-03-17 12:00:00"),
        ("try again at 7:27 PM.", "2026-03-16 23:27:00"),
        ("Next window opens at 18:30.", "2026-03-16 22:30:00"),
        ("resets at midnight UTC", "2026-03-17 00:00:00"),
        ("usage limit reached until 1:08 AM", "2026-03-17 05:08:00"),
        # dates
        ("Weekly limit reached · resets Oct 9 at 10:30am", "2026-10-09 14:30:00"),
        ("resets Oct 6, 1pm", "2026-10-06 17:00:00"),
        ("reset at Oct 6, 1pm", "2026-10-06 17:00:00"),
        ("try again after March 20, 2026 at 07:51.", "2026-03-20 11:51:00"),
        ("try again at May 11th, 2026 1:36 PM.", "2026-05-11 17:36:00"),
        ("try again at 10 de jul. de 2026, 11:52.", "2026-07-10 15:52:00"),
        ("resets on 15 Nov 2026 07:00 UTC", "2026-11-15 07:00:00"),
        ("The limits reset on 08/01", "2026-08-01 04:00:00"),
        ("cycle ends on 8/12/2026", "2026-08-12 04:00:00"),
        ("available again at 3pm (UTC) on Oct 9", "2026-10-09 15:00:00"),
        # days of the week, today and tomorrow
        ("resets Mon 2:59 AM", "2026-03-23 06:59:00"),
        ("resets Mon 1:10 PM", "2026-03-16 17:10:00"),
        ("Access returns on Wednesday at 9:00 AM.", "2026-03-18 13:00:00"),
        ("resets tomorrow at 9am", "2026-03-17 13:00:00"),
        ("resets at 9am tomorrow", "2026-03-17 13:00:00"),
        ("Please try again tomorrow.", "2026-03-17 04:00:00"),
        ("try again next month", "2026-04-01 04:00:00"),
        ("목요일 오전 9시에 초기화됩니다", "2026-03-19 13:00:00"),
        ("木曜日の9:00にリセットされます", "2026-03-19 13:00:00"),
        ("周四上午9:00重置", "2026-03-19 13:00:00"),
        ("Please return tomorrow to continue building.", "2026-03-17 04:00:00"),
        # the announcement comes last
        ("In 3 Stunden erneut möglich", "2026-03-16 20:19:00"),
        ("um 18:30 Uhr wieder verfügbar", "2026-03-16 22:30:00"),
        # keys of an answer
        ('"resets_at":1773687600,', "2026-03-16 19:00:00"),
        ('"resets_in_seconds":840}', "2026-03-16 17:33:00"),
        ("resets at epoch 1773687600", "2026-03-16 19:00:00"),
        # lengths
        ("reset after 11h7m1s.", "2026-03-17 04:26:01"),
        ("try again in 5 days 22 hours 11 minutes.", "2026-03-22 15:30:00"),
        ("resets in 2 hr 13 min", "2026-03-16 19:32:00"),
        ("Please retry in 21.817176639s.", "2026-03-16 17:19:21"),
        ("try again in a minute", "2026-03-16 17:20:00"),
        ("2h 13m until reset", "2026-03-16 19:32:00"),
        ("Auto-resuming in 1:12:30", "2026-03-16 18:31:30"),
        ("stream error; retrying 1/5 in 200ms…", "2026-03-16 17:19:00"),
        # machines
        ("usage limit reached|1767243600", "2026-01-01 05:00:00"),
        ("resets_at: 1767243600000", "2026-01-01 05:00:00"),
        ("resets 2026-03-17T09:00:00Z", "2026-03-17 09:00:00"),
        ("resets 2026-03-17T09:00:00+09:00", "2026-03-17 00:00:00"),
        ("Retry-After: 120", "2026-03-16 17:21:00"),
        ("retry-after: Wed, 18 Mar 2026 07:28:00 GMT", "2026-03-18 07:28:00"),
        ('"retryDelay": "34s"', "2026-03-16 17:19:34"),
        ("It will reset at 2026-10-21 09:05:32 +0800 CST.", "2026-10-21 01:05:32"),
        ("regain access on 2026-07-01 at 00:00 UTC.", "2026-07-01 00:00:00"),
        # other languages
        ("오후 3시 30분에 초기화됩니다", "2026-03-16 19:30:00"),
        ("10월 9일 오전 10:30에 초기화됩니다", "2026-10-09 14:30:00"),
        ("5시간 한도를 모두 사용했습니다 · 오후 3시에 재설정", "2026-03-16 19:00:00"),
        ("30초 후 다시 시도하세요", "2026-03-16 17:19:30"),
        ("10月9日 10:30にリセットされます", "2026-10-09 14:30:00"),
        ("将于 10月9日 10:30 重置", "2026-10-09 14:30:00"),
        ("Versuchen Sie es in 3 Stunden erneut.", "2026-03-16 20:19:00"),
    ],
)
def test_a_time_is_read_in_every_form(text: str, instant: str) -> None:
    """Clock, date, weekday, length, epoch, ISO, HTTP date: one instant, in UTC."""
    assert at(text) == instant


@pytest.mark.parametrize(
    "text",
    [
        "Usage limit reached for 5 hour",
        "wait for limits to reset (every 5h and every week.)",
        "Your quota will reset when the current 7-day window ends",
        "Please try again later. See error-code-429 for details",
        "Limit 30000, Used 22999, Requested 12206",
        "attempt 3/10",
        "resets soon",
    ],
)
def test_a_number_that_is_no_time_is_none(text: str) -> None:
    """The length of a window, a count, a code: no reset is made of them."""
    assert at(text) is None


@pytest.mark.parametrize(
    ("zone", "hour"),
    [
        ("Etc/GMT+5", 20),  # counts westwards
        ("GMT-3", 18),
        ("UTC+8", 7),
        ("KST", 6),
        ("PST", 22),  # the place's clock, which is on summer time
        ("Asia/Seoul", 6),
        ("america/new_york", 19),
    ],
)
def test_zones_by_every_kind_of_name(zone: str, hour: int) -> None:
    """IANA names, POSIX ones, offsets and abbreviations say where 3pm is meant."""
    moment = read(f"resets 3pm ({zone})")
    assert moment is not None
    assert moment.at.hour == hour
    assert moment.zone == zone


@pytest.mark.parametrize("zone", ["(Mars/Olympus)", "(America/Nowhere)", "XQT.", "ZZZ"])
def test_a_time_in_an_unknown_zone_is_no_time(zone: str) -> None:
    """Better no time than a wrong one, and a note says why."""
    moment = read(f"resets 3pm {zone}")
    assert moment is not None
    assert (moment.notes, moment.resets_at) == (("unknown_zone",), None)


@pytest.mark.parametrize("rest", ["PLEASE wait", "AND no earlier", ""])
def test_other_capitals_behind_a_time_are_no_zone(rest: str) -> None:
    moment = read(f"resets 3pm {rest}")
    assert moment is not None
    assert moment.resets_at is not None


def test_an_abbreviation_of_the_machine_is_its_own() -> None:
    """CST is China's where the machine stands there, Chicago's elsewhere."""
    shanghai = ZoneInfo("Asia/Shanghai")
    now = datetime(2026, 3, 16, 9, 0, tzinfo=shanghai)
    assert at("resets 3pm CST", now, shanghai) == "2026-03-16 07:00:00"
    assert at("resets 3pm CST") == "2026-03-16 20:00:00"


@pytest.mark.parametrize(
    ("now", "text", "wait"),
    [
        ("2026-06-10 23:00", "resets 1am", timedelta(hours=2)),
        ("2026-06-10 15:02", "resets 3pm", timedelta(minutes=-2)),
        ("2026-06-10 00:05", "resets 11:55pm", timedelta(minutes=-10)),
        ("2026-06-10 15:16", "resets 3pm", timedelta(hours=23, minutes=44)),
        ("2026-12-31 23:30", "resets 12:10am", timedelta(minutes=40)),
        ("2026-12-30 10:00", "resets Jan 2 at 10am", timedelta(days=3)),
        ("2026-03-16 10:02", "resets Mar 16, 10am", timedelta(minutes=-2)),
    ],
)
def test_midnight_and_the_year_both_ways(now: str, text: str, wait: timedelta) -> None:
    """Just past stays in the past, up to 15 minutes; else the next occurrence is meant."""
    here = datetime.fromisoformat(now).replace(tzinfo=UTC)
    moment = read(text, here, UTC)
    assert moment is not None
    assert moment.at - here == wait


def test_an_hour_that_the_clocks_skip() -> None:
    """2:30 in the night that has none is the instant after the jump."""
    now = datetime(2026, 3, 8, 0, 30, tzinfo=NEW_YORK)
    assert at("resets 2:30am", now) == "2026-03-08 07:30:00"


def test_an_hour_that_the_clocks_repeat() -> None:
    """Of 1:30 twice, the first that is not over counts."""
    first = datetime(2026, 11, 1, 0, 50, tzinfo=NEW_YORK)
    assert at("resets 1:30am", first) == "2026-11-01 05:30:00"
    between = datetime(2026, 11, 1, 6, 10, tzinfo=UTC)  # 1:10 for the second time
    assert at("resets 1:30am", between) == "2026-11-01 06:30:00"


def test_a_minute_may_be_rounded_and_a_second_is_not() -> None:
    """What names whole minutes only is told as such."""
    rounded = {text: read(text) for text in ("resets 3pm", "resets in 41 minutes", "resets in 90s")}
    assert [m.is_minute_rounded for m in rounded.values() if m] == [True, True, False]


def test_only_a_day() -> None:
    """A date without a time is its beginning, and that is told."""
    moment = read("resets Jun 17")
    assert moment is not None
    assert moment.notes == ("day_only",)
    assert moment.at == datetime(2026, 6, 17, 4, 0, tzinfo=UTC)


def test_a_service_that_prints_its_own_clock() -> None:
    """z.ai's times have no zone and are those of China."""
    text = "[1308][Usage limit reached for 5 hour. Your limit will reset at 2026-05-24 22:37:22][x]"
    assert at(text) == "2026-05-24 14:37:22"


def test_days_that_do_not_exist_are_none() -> None:
    """31 June is no date; 29 February is that of the next leap year, or nothing."""
    assert at("resets Jun 31, 3pm") is None
    assert at("resets 2026-13-45 10:00") is None
