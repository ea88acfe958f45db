"""A limit of any kind of work: who is parked, who takes over, who is asked; a full context."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from kit.clock import HandClock
from kit.plain_agent import COMMAND, STRUCTURED, PlainAgent, attempt_of, run_row
from segue.core.limits import Waits
from segue.core.machines import RunState, Trigger
from segue.core.plan import TaskState
from segue.dialects.events import LimitHit, ToolUsed
from segue.engine.accounts import Accounts
from segue.engine.canary import Canaries
from segue.engine.limits import AFRESH, COMPACT, AskPerson, Park, Policy
from segue.engine.parking import HandOver, Parking, add_park, end_park, remedy
from segue.store.changes import Add, Value
from segue.store.sqlite import Store

HOURS = timedelta(hours=1)
OTHER = PlainAgent(name="other", account="theirs")
RUN: dict[str, Value] = {"work": "plan", "task": "plan/T-1", "attempt": 1, "agent": "mine", "account": "mine",
    "conversation": "c", "nonce": "n"}  # fmt: skip


class Limits:
    def __init__(self, store: Store) -> None:
        self.store, self.clock = store, HandClock()
        self.accounts = Accounts(store, self.clock)
        self.canaries = Canaries(self.accounts)
        policy = Policy(Waits(), windows_max=2)
        named = {"other": OTHER}.get
        self.parking = Parking(store, self.clock, self.canaries, policy, named)
        row: dict[str, Value] = {"work": "plan", "key": "T-1", "title": "one"}
        store.move(
            Add("work", "plan", "running", {"path": "/plan", "kind": "tasklist"}),
            Add("task", "plan/T-1", TaskState.IN_PROGRESS, row),
            Add("run", "run-1", RunState.RUNNING, RUN),
            at=self.clock.now(),
        )

    def in_hours(self, hours: int = 2) -> LimitHit:
        return LimitHit("session_limit", self.clock.now() + hours * HOURS)

    def parked(self, park: Park) -> None:
        """As a kind of work commits it."""
        _row, add = add_park("plan", run_row(), park)
        then = self.parking.account_parked("mine", park)
        assert self.store.move(add, at=self.clock.now(), then=then)
        self.clock.pass_s(1)


@pytest.fixture
def limits(tmp_path: Path) -> Iterator[Limits]:
    store = Store.open(tmp_path / "segue.db")
    yield Limits(store)
    store.close()


def test_a_limit_parks_the_run_and_its_account_in_one_transaction(limits: Limits) -> None:
    """Its canary is none any more."""
    limits.accounts.park("mine", "session_limit", limits.clock.now())
    limits.canaries.send("mine", "plan/T-1")
    park = limits.parking.judge(attempt_of(), limits.in_hours(), 0)
    assert isinstance(park, Park)
    assert not limits.canaries.is_canary("mine", "plan/T-1")
    limits.parked(park)
    (row,) = limits.store.all("SELECT task, run, account, state, kind, refusals FROM parks")
    assert tuple(row) == ("plan/T-1", "run-1", "mine", "waiting", "session_limit", 0)
    assert limits.accounts.parked_until("mine") == park.wakes_at


def test_a_limit_that_is_no_accounts_parks_none(limits: Limits) -> None:
    """A full context is the run's own trouble; of a canary it proves nothing."""
    limits.accounts.park("mine", "session_limit", limits.clock.now())
    limits.canaries.send("mine", "plan/T-1")
    park = limits.parking.judge(attempt_of(), LimitHit("context_limit"), 0)
    assert isinstance(park, Park)
    assert list(limits.parking.account_parked("mine", park)()) == []
    assert limits.accounts.canary("mine") is None


def test_one_that_is_refused_again_waits_longer(limits: Limits) -> None:
    """Unless it worked in between: then it hit a new limit."""
    waits, vague = [], LimitHit("rate_limit")
    for _n in range(3):
        park = limits.parking.judge(attempt_of(), vague, 0)
        assert isinstance(park, Park)
        waits.append(park.refusals)
        limits.parked(park)
    assert waits == [0, 1, 2]
    other = limits.parking.judge(attempt_of(), limits.in_hours(), 0)
    assert isinstance(other, Park)
    assert other.refusals == 0, "of another family"
    attempt = attempt_of()
    attempt.hear(ToolUsed("Bash", "ls"), limits.clock.now())
    worked = limits.parking.judge(attempt, vague, 0)
    assert isinstance(worked, Park)
    assert worked.refusals == 0


def test_another_agent_takes_over_for_a_long_limit(limits: Limits) -> None:
    """Where its account is open, and the wait is longer than the settings allow."""
    mine = replace(COMMAND, fallback="other", fallback_after_s=3600.0)
    over = limits.parking.judge(attempt_of(mine), limits.in_hours(), 0)
    assert isinstance(over, HandOver)
    assert (over.to, over.park.kind) == (OTHER, "session_limit")
    assert isinstance(limits.parking.judge(attempt_of(mine), limits.in_hours(0), 0), Park)
    limits.accounts.park("theirs", "session_limit", limits.clock.now() + HOURS)
    assert isinstance(limits.parking.judge(attempt_of(mine), limits.in_hours(), 0), Park)


def test_a_person_is_asked_after_too_many_windows(limits: Limits) -> None:
    """Nobody takes over either: the leash is the work's, not the agent's."""
    asked = limits.parking.judge(attempt_of(), limits.in_hours(), 2)
    assert isinstance(asked, AskPerson)


def test_a_park_that_woke_is_over(limits: Limits) -> None:
    """Once: whoever is second changes nothing."""
    park = limits.parking.judge(attempt_of(), limits.in_hours(), 0)
    assert isinstance(park, Park)
    row, add = add_park("plan", run_row(), park)
    assert limits.store.move(add, at=limits.clock.now())
    assert limits.store.move(end_park(row, Trigger.WAKE), at=limits.clock.now())
    assert not limits.store.move(end_park(row, Trigger.CANCEL), at=limits.clock.now())


@pytest.mark.parametrize(
    ("has_context", "compact", "conversation", "purposes", "expected"),
    [
        (False, "/compact", "c-1", ("", ""), ""),
        (True, "/compact", "c-1", ("", ""), COMPACT),
        (True, "/compact", "c-1", ("", COMPACT), AFRESH),
        (True, "/compact", "c-1", (COMPACT, ""), AFRESH),
        (True, None, "c-1", ("", ""), AFRESH),
        (True, "/compact", None, ("", ""), AFRESH),
    ],
)
def test_a_full_context_is_compacted_once_then_begun_afresh(
    has_context: bool,
    compact: str | None,
    conversation: str | None,
    purposes: tuple[str, str],
    expected: str,
) -> None:
    """An agent that keeps no context is simply started again."""
    agent = replace(STRUCTURED, has_context=has_context, compact=compact)
    full, before = (replace(run_row(), purpose=purpose) for purpose in purposes)
    assert remedy(agent, full, before, conversation) == expected


def test_an_agent_that_cannot_be_had_is_simply_started_again() -> None:
    """Whoever does its task then has another context."""
    assert remedy(None, run_row(), None, "c-1") == ""
