"""How often something that costs time may be done again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from segue.core.pace import REST_S_MAX, Pace

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def test_the_first_time_is_at_once() -> None:
    """Nothing was done yet: nothing is waited for."""
    assert Pace(0.25).left_s(NOON) == 0.0


def test_then_it_waits() -> None:
    """Not more often than it was made for."""
    pace = Pace(0.25)
    pace.done(NOON, NOON)
    assert pace.left_s(NOON) == 0.25
    assert pace.left_s(after(0.2)) == pytest.approx(0.05)
    assert pace.left_s(after(0.25)) == 0.0


def test_what_takes_long_is_done_less_often() -> None:
    """It takes a tenth of the time at most: one second of ten."""
    pace = Pace(0.25)
    pace.done(NOON, after(1))
    assert pace.left_s(after(1)) == pytest.approx(9)


@pytest.mark.parametrize("took_s", [3600.0, -3600.0])
def test_a_clock_that_was_set_stops_nothing(took_s: float) -> None:
    """While it was done, forward or back: the rest is bounded."""
    pace = Pace(0.25)
    pace.done(NOON, after(took_s))
    assert 0.25 <= pace.left_s(after(took_s)) <= REST_S_MAX
    assert pace.left_s(after(took_s - 7200)) == 0.0
