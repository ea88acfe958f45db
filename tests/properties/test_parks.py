"""Of very many parks only a few matter: what is decided is the same without the others."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta

from hypothesis import given
from hypothesis import strategies as st

from segue.core.decide import AccountView, Candidate, Decisions, Leash, ParkView, Snapshot, decide
from segue.engine.waiting_parks import WaitingParks
from segue.store.rows import ParkRow

NOW = datetime(2026, 3, 1, 0, 30, tzinfo=UTC)
ACCOUNTS = ["a", "b", "c"]

instants = st.integers(-90, 90).map(lambda minutes: NOW + timedelta(minutes=minutes))
accounts = st.dictionaries(
    st.sampled_from(ACCOUNTS),
    st.builds(AccountView, parked_until=st.none() | instants, probing=st.booleans()),
)
leashes = st.builds(
    Leash,
    max_windows=st.none() | st.integers(0, 3),
    until=st.none() | instants,
    quiet=st.none() | st.sampled_from([(time(0), time(1)), (time(22), time(3))]),
)
rows = st.lists(st.tuples(st.sampled_from(ACCOUNTS), instants), max_size=12).map(
    lambda drawn: [
        ParkRow(f"park-{n}", f"P-{n}", f"run-{n}", account, "session_limit", None, at)
        for n, (account, at) in enumerate(drawn)
    ]
)


def decided(
    parks: Sequence[ParkRow], known: dict[str, AccountView], leash: Leash, held: str | None
) -> Decisions:
    return decide(
        Snapshot(
            ready=[Candidate(f"T-{name}", name) for name in ACCOUNTS],
            parks=[ParkView(park.id, park.task, park.account, park.wakes_at) for park in parks],
            accounts=known,
            slots=4,
            leash=leash,
            windows_used=2,
            held=held,
        ),
        NOW,
    )


@given(rows, accounts, leashes, st.sampled_from([None, None, "broken"]))
def test_a_decision_does_not_depend_on_parks_behind_the_next(
    parks: list[ParkRow], known: dict[str, AccountView], leash: Leash, held: str | None
) -> None:
    """What wakes, what starts, who goes first, when to look again: all as with every park."""
    waiting = WaitingParks()
    for park in parks:
        waiting[park.id] = park
    few = waiting.that_matter(NOW)
    whole, short = decided(parks, known, leash, held), decided(few, known, leash, held)
    assert (short.wake, short.start, short.probe) == (whole.wake, whole.start, whole.probe)
    assert (short.next_at, short.stopped) == (whole.next_at, whole.stopped)
    due = sum(park.wakes_at <= NOW for park in parks)
    assert len(few) <= due + len(ACCOUNTS)
