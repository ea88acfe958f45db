"""How the database keeps an instant."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from segue.store.changes import Move, instant, stamp

ZONES = st.timedeltas(timedelta(hours=-14), timedelta(hours=14)).map(
    lambda offset: timezone(timedelta(minutes=offset // timedelta(minutes=1)))
)
INSTANTS = st.datetimes(datetime(1970, 1, 2), datetime(9000, 1, 1), timezones=ZONES)  # noqa: DTZ001


@given(INSTANTS)
def test_an_instant_comes_back_as_it_was(at: datetime) -> None:
    """To the microsecond, whatever zone it was given in."""
    assert instant(stamp(at)) == at
    assert instant(stamp(at)).utcoffset() == timedelta()


@given(INSTANTS, INSTANTS)
def test_stamps_sort_as_their_instants_do(one: datetime, other: datetime) -> None:
    """So the database can compare them as texts."""
    assert (stamp(one) < stamp(other)) == (one < other)


def test_a_stamp_is_utc() -> None:
    """Readable by a person, too."""
    seoul = timezone(timedelta(hours=9))
    assert stamp(datetime(2026, 3, 1, 9, 0, tzinfo=seoul)) == "2026-03-01T00:00:00.000000Z"
    assert stamp(datetime(2026, 3, 1, tzinfo=UTC)) == "2026-03-01T00:00:00.000000Z"


def test_moves_share_no_values() -> None:
    """What one sets is not set by another."""
    one, other = (Move("task", id, "pending", "running", "start") for id in ("a", "b"))
    assert one.sets == {} and one.sets is not other.sets
