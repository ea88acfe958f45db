"""The parks that wait: of very many, those that a decision depends on."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from segue.engine.waiting_parks import WaitingParks
from segue.store.rows import ParkRow

NOW = datetime(2026, 3, 1, 0, 30, tzinfo=UTC)
ACCOUNTS = ["a", "b", "c"]

instants = st.integers(-90, 90).map(lambda minutes: NOW + timedelta(minutes=minutes))
acts = st.tuples(
    st.sampled_from(["park", "park", "delay", "end", "look"]),
    st.sampled_from(ACCOUNTS),
    st.integers(0, 5),
    instants,
)


@given(st.lists(acts, max_size=30))
def test_those_that_matter_are_found_whatever_happened_before(
    drawn: list[tuple[str, str, int, datetime]],
) -> None:
    """Parks come, are put off and go, the clock is set forward and back: always those that are due
    and the next one of each account, each once."""
    waiting = WaitingParks()
    for what, account, n, at in drawn:
        id = f"park-{n}"
        match what:
            case "park":
                waiting[id] = ParkRow(id, f"P-{n}", f"run-{n}", account, "x", None, at)
            case "delay" if id in waiting:
                waiting[id] = replace(waiting[id], wakes_at=at)
            case "end" if id in waiting:
                del waiting[id]
            case _:
                pass
        found = sorted(waiting.that_matter(at), key=lambda park: park.id)
        due = [park for park in waiting.values() if park.wakes_at <= at]
        later = [park for park in waiting.values() if park.wakes_at > at]
        next_at = {
            account: min(park.wakes_at for park in later if park.account == account)
            for account in {park.account for park in later}
        }
        assert [park for park in found if park.wakes_at <= at] == sorted(due, key=lambda p: p.id)
        assert {park.account: park.wakes_at for park in found if park.wakes_at > at} == next_at
        assert len(found) == len(due) + len(next_at)
