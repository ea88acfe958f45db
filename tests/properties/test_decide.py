"""Promises of every decision, whatever the snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from segue.core.decide import (
    AccountView,
    Candidate,
    Decisions,
    Leash,
    ParkView,
    Reason,
    Snapshot,
    decide,
)
from segue.core.globs import overlaps
from segue.core.leash import quiet_now
from segue.core.plan import Priority

NOW = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)
ACCOUNTS = ["a", "b", "c"]
FILES = ["src/", "src/x.py", "src/*.py", "docs/**", "lib/y"]

instants = st.integers(-90, 90).map(lambda minutes: NOW + timedelta(minutes=minutes))
files = st.lists(st.sampled_from(FILES), max_size=2).map(tuple)
accounts = st.dictionaries(
    st.sampled_from(ACCOUNTS),
    st.builds(
        AccountView,
        parked_until=st.none() | instants,
        probing=st.booleans(),
        used=st.none() | st.floats(0, 1),
        used_until=st.none() | instants,
        follows_at=st.none() | instants,
    ),
)
leashes = st.builds(
    Leash,
    max_windows=st.none() | st.integers(0, 3),
    until=st.none() | instants,
    quiet=st.none()
    | st.sampled_from([(time(0), time(3)), (time(22), time(1)), (time(9), time(8))]),
    tz=st.sampled_from([UTC, ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Seoul")]),
)


@st.composite
def candidates(draw: st.DrawFn, prefix: str, size: int) -> list[Candidate]:
    count = draw(st.integers(0, size))
    return [
        Candidate(
            f"{prefix}-{n}",
            draw(st.sampled_from(ACCOUNTS)),
            draw(files),
            draw(st.floats(0, 5_000)),
            n,
            draw(st.sampled_from(Priority)),
        )
        for n in range(count)
    ]


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    parks = [
        ParkView(f"park-{n}", f"P-{n}", draw(st.sampled_from(ACCOUNTS)), draw(instants))
        for n in range(draw(st.integers(0, 4)))
    ]
    running: dict[str, Candidate] = {}
    for candidate in draw(candidates("R", 3)):
        if not any(overlaps(candidate.files, other.files) for other in running.values()):
            running[candidate.id] = candidate
    return Snapshot(
        ready=sorted(draw(candidates("T", 6)), key=lambda candidate: candidate.rank),
        running=running,
        parks=parks,
        accounts=draw(accounts),
        slots=draw(st.integers(0, 6)),
        leash=draw(leashes | st.just(Leash())),
        windows_used=draw(st.integers(0, 3)),
        held=draw(st.sampled_from([None, None, None, "broken plan"])),
        claims={park.task: draw(files) for park in parks if draw(st.booleans())},
    )


def moved(snapshot: Snapshot, decision: Decisions) -> list[tuple[str, str, tuple[str, ...]]]:
    """(id, account, files) of all that this decision sets going."""
    parks = [park for park in snapshot.parks if park.id in decision.wake]
    starts = [candidate for candidate in snapshot.ready if candidate.id in decision.start]
    return [(p.task, p.account, snapshot.claims.get(p.task, ())) for p in parks] + [
        (c.id, c.account, c.files) for c in starts
    ]


def account(snapshot: Snapshot, name: str) -> AccountView:
    return snapshot.accounts.get(name, AccountView())


@given(snapshots())
def test_slots_are_never_exceeded(snapshot: Snapshot) -> None:
    """What runs and what is set going fit into the slots, each thing once."""
    decision = decide(snapshot, NOW)
    count = len(decision.start) + len(decision.wake)
    assert count == 0 or count + len(snapshot.running) <= snapshot.slots
    assert len({*decision.start, *decision.wake}) == count


@given(snapshots())
def test_overlapping_tasks_are_never_side_by_side(snapshot: Snapshot) -> None:
    """Neither beside what runs, nor beside half-done work, nor among what is set going."""
    going = moved(snapshot, decide(snapshot, NOW))
    running = [(id, c.account, c.files) for id, c in snapshot.running.items()]
    for n, (id, _, own) in enumerate(going):
        for other, _, theirs in [*running, *going[:n]]:
            assert not overlaps(own, theirs), (id, other)
        if id.startswith("T"):
            assert not any(overlaps(own, theirs) for theirs in snapshot.claims.values())


@given(snapshots())
def test_a_limited_account_sets_nothing_going_but_one_canary(snapshot: Snapshot) -> None:
    """Parked or probing: nothing. Due: one alone, a park if it has one that can wake."""
    decision = decide(snapshot, NOW)
    going = moved(snapshot, decision)
    for name in ACCOUNTS:
        view = account(snapshot, name)
        own = [id for id, account_name, _ in going if account_name == name]
        if view.probing or (view.parked_until is not None and view.parked_until > NOW):
            assert own == []
        elif view.parked_until is not None:
            assert len(own) <= 1
            assert decision.probe.count(name) == len(own)
    assert set(decision.probe) <= {name for _, name, _ in going}


@given(snapshots())
def test_nothing_moves_when_everything_is_held(snapshot: Snapshot) -> None:
    """A hold, `until` and quiet hours stop all; too many windows stop all parks."""
    decision = decide(snapshot, NOW)
    leash = snapshot.leash
    is_over = leash.until is not None and leash.until <= NOW
    if snapshot.held or is_over or quiet_now(NOW, leash.quiet, leash.tz):
        assert decision.stopped is not None
        assert (decision.start, decision.wake) == ((), ())
    else:
        assert decision.stopped is None
    if leash.max_windows is not None and snapshot.windows_used > leash.max_windows:
        assert decision.wake == ()
    due = {park.id for park in snapshot.parks if park.wakes_at <= NOW}
    assert set(decision.wake) <= due


def is_true(reason: Reason, id: str, snapshot: Snapshot, decision: Decisions) -> bool:
    """Whether the reason given for holding a ready task is one."""
    candidate = next(c for c in snapshot.ready if c.id == id)
    view = account(snapshot, candidate.account)
    taken = {
        **{id: c.files for id, c in snapshot.running.items()},
        **{id: files for id, _, files in moved(snapshot, decision)},
        **snapshot.claims,
    }
    parked_until = view.parked_until or NOW
    leash = snapshot.leash
    going = len(decision.start) + len(decision.wake)
    checks: Mapping[Reason, bool] = {
        Reason.SLOTS: going + len(snapshot.running) >= snapshot.slots,
        Reason.ACCOUNT: parked_until > NOW,
        Reason.PROBING: view.probing
        or candidate.account in decision.probe
        or (
            view.parked_until is not None
            and any(park.account == candidate.account for park in snapshot.parks)
        ),
        Reason.SPACING: view.follows_at is not None
        and (view.follows_at > NOW or candidate.account in decision.follow),
        Reason.DRAIN: (view.used or 0) >= leash.drain_at,
        Reason.FILES: any(overlaps(candidate.files, f) for f in taken.values()),
        Reason.UNTIL: leash.until is not None and parked_until > NOW,
        Reason.WINDOWS: leash.max_windows is not None
        and snapshot.windows_used > leash.max_windows
        and view.parked_until is not None,
    }
    return checks[reason]


@given(snapshots())
def test_those_that_follow_a_canary_start_one_at_a_time(snapshot: Snapshot) -> None:
    """At most one new task of an account in one decision, and none before its turn."""
    decision = decide(snapshot, NOW)
    started = [c.account for c in snapshot.ready if c.id in decision.start]
    for name in {*started}:
        follows_at = account(snapshot, name).follows_at
        if follows_at is not None:
            assert started.count(name) == 1
            assert follows_at <= NOW
            assert name in decision.follow


@given(snapshots())
def test_nobody_is_passed_over_without_a_rule(snapshot: Snapshot) -> None:
    """While a slot is free, each ready task starts or is held by a rule that truly holds it."""
    decision = decide(snapshot, NOW)
    if decision.stopped is not None:
        return
    going = len(decision.start) + len(decision.wake)
    if going + len(snapshot.running) < snapshot.slots:
        ready = {candidate.id for candidate in snapshot.ready}
        assert ready <= {*decision.start, *decision.held}
        due = {park for park in snapshot.parks if park.wakes_at <= NOW}
        assert all(park.id in decision.wake or park.task in decision.held for park in due)
    for id, reason in decision.held.items():
        assert id.startswith("P") or is_true(reason, id, snapshot, decision), (id, reason)


@given(snapshots())
def test_order_is_respected(snapshot: Snapshot) -> None:
    """Starts and wakes go by rank and by age; who is behind a start was let pass by a rule."""
    decision = decide(snapshot, NOW)
    place = {candidate.id: n for n, candidate in enumerate(snapshot.ready)}
    starts = [place[id] for id in decision.start]
    assert starts == sorted(starts)
    for candidate in list(snapshot.ready)[: max(starts, default=0)]:
        assert candidate.id in decision.start or candidate.id in decision.held
    wakes_at = {park.id: park.wakes_at for park in snapshot.parks}
    wakes = [wakes_at[id] for id in decision.wake]
    assert wakes == sorted(wakes)


@given(snapshots())
def test_the_same_snapshot_gives_the_same_decision(snapshot: Snapshot) -> None:
    """Deciding leaves no trace."""
    assert decide(snapshot, NOW) == decide(snapshot, NOW)


@settings(max_examples=300)
@given(snapshots())
def test_the_next_instant_is_in_the_future_and_within_the_leash(snapshot: Snapshot) -> None:
    """It is an instant at which something may happen: not now, not past `until`, not quiet."""
    next_at = decide(snapshot, NOW).next_at
    if next_at is not None:
        leash = snapshot.leash
        assert next_at > NOW
        assert leash.until is None or next_at < leash.until
        assert not quiet_now(next_at, leash.quiet, leash.tz)


@settings(max_examples=300)
@given(snapshots(), instants)
def test_no_change_comes_before_the_next_instant(snapshot: Snapshot, later: datetime) -> None:
    """With nothing else happening, deciding again earlier sets nothing new going."""
    first = decide(snapshot, NOW)
    if (first.start or first.wake) or later <= NOW:
        return
    if first.next_at is None or later < first.next_at:
        again = decide(snapshot, later)
        assert (again.start, again.wake) == ((), ())
