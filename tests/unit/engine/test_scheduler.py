"""Carrying out a decision: who gets the account, who starts or wakes, when to look again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from kit.clock import HandClock
from segue.core.decide import CANARY_LOOK, Candidate, ParkView, Snapshot
from segue.engine.accounts import Accounts
from segue.engine.canary import Canaries
from segue.engine.scheduler import Turn, carry_out, nearest, park_view
from segue.store.rows import ParkRow
from segue.store.sqlite import Store


class Owner:
    """One owner of works of a project: whoever it lets begin is in `begun`."""

    def __init__(self, store: Store, clock: HandClock) -> None:
        self.accounts, self.clock = Accounts(store, clock), clock
        self.canaries = Canaries(self.accounts)
        self.begun: list[str] = []

    def snapshot(self, *parks: str, ready: tuple[str, ...] = ()) -> Snapshot:
        now = self.clock.now()
        return Snapshot(
            ready=[Candidate(task, "work", order=n) for n, task in enumerate(ready)],
            parks=[ParkView(f"park-{task}", task, "work", now) for task in parks],
            accounts=self.accounts.view(),
            slots=9,
        )

    def carry_out(self, snapshot: Snapshot) -> timedelta | None:
        """How long until it looks again."""
        now = self.clock.now()
        decisions = carry_out(
            snapshot,
            now,
            self.canaries,
            wake=lambda id: self._turn(id.removeprefix("park-")),
            start=self._turn,
        )
        return None if decisions.next_at is None else decisions.next_at - now

    def _turn(self, task: str) -> Turn | None:
        if task == "gone":
            return None
        return Turn(task, "work", lambda: self.begun.append(task))


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store.open(tmp_path / "segue.db")
    yield store
    store.close()


def test_of_a_parked_account_one_begins_alone(store: Store, clock: HandClock) -> None:
    """It is the account's canary from then on; the others stay."""
    owner = Owner(store, clock)
    owner.accounts.park("work", "rate_limit", clock.now())
    owner.carry_out(owner.snapshot("a", "b", ready=("c",)))
    assert owner.begun == ["a"]
    assert owner.canaries.is_canary("work", "a")


def test_whoever_lost_the_race_for_an_account_looks_again_soon(
    store: Store, clock: HandClock
) -> None:
    """Both owners saw the account free to try; one of them got it."""
    first, second = Owner(store, clock), Owner(store, clock)
    first.accounts.park("work", "rate_limit", clock.now())
    seen = second.snapshot("b")
    first.carry_out(first.snapshot("a"))
    assert second.carry_out(seen) == CANARY_LOOK
    assert (first.begun, second.begun) == (["a"], [])


def test_those_that_follow_a_canary_are_spaced(store: Store, clock: HandClock) -> None:
    """The next one begins two seconds after the one before, whichever owner starts it."""
    owner, other = Owner(store, clock), Owner(store, clock)
    owner.accounts.park("work", "rate_limit", clock.now())
    owner.carry_out(owner.snapshot("a"))
    owner.canaries.works("work", "a")
    clock.pass_s(2)
    seen = other.snapshot("c")
    owner.carry_out(owner.snapshot("b"))
    assert other.carry_out(seen) == CANARY_LOOK
    assert (owner.begun, other.begun) == (["a", "b"], [])


def test_a_canary_whose_owner_died_goes_on_as_one(store: Store, clock: HandClock) -> None:
    """The account's row names it: nobody has to try the account a second time."""
    dead, owner = Owner(store, clock), Owner(store, clock)
    dead.accounts.park("work", "rate_limit", clock.now())
    dead.carry_out(dead.snapshot("a"))
    owner.carry_out(owner.snapshot("a"))
    assert owner.begun == ["a"]
    assert owner.canaries.is_canary("work", "a")


def test_one_that_is_gone_by_now_takes_no_account(store: Store, clock: HandClock) -> None:
    """Nothing begins for it, and the account stays as it is."""
    owner = Owner(store, clock)
    owner.accounts.park("work", "rate_limit", clock.now())
    owner.carry_out(owner.snapshot("gone"))
    assert owner.begun == []
    assert owner.accounts.canary("work") is None


def test_a_park_for_a_limit_is_told_from_one_of_its_own(clock: HandClock) -> None:
    """Only the former waits for its account."""
    seen = {
        kind: park_view(ParkRow("p", "a", None, "work", kind, None, clock.now())).is_for_limit
        for kind in ("rate_limit", "context_limit")
    }
    assert seen == {"rate_limit": True, "context_limit": False}


def test_the_nearest_of_several_instants(clock: HandClock) -> None:
    """None where none is named."""
    now = clock.now()
    assert nearest(None, now + CANARY_LOOK, now) == now
    assert nearest(None, None) is None
