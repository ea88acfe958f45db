"""A limit: its run, task and account are parked, another agent continues meanwhile, or a person is
asked. Parking uses up no retry.

What follows is decided here, for every kind of work (`limits.py` has the rules). Whoever asks
commits it with `account_parked`, so that the run's, the task's and the account's park are one
transaction.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic

from segue.core.limits import family
from segue.core.machines import PARK, ParkState, Trigger
from segue.dialects.events import LimitHit
from segue.engine import limits
from segue.engine.agent import Agent
from segue.engine.attempt import Attempt
from segue.engine.canary import Canaries
from segue.engine.clock import Clock
from segue.engine.fallback import AnAgent, Named, fallback
from segue.engine.limits import AFRESH, COMPACT, Before, Park, Policy, Verdict
from segue.store.changes import Add, Change, Move, stamp
from segue.store.rows import ParkRow, RunRow, new_id
from segue.store.sqlite import Store

LAST = (
    "SELECT kind, refusals FROM parks WHERE task = ? ORDER BY created_at DESC, rowid DESC LIMIT 1"
)


@dataclass(frozen=True, slots=True)
class HandOver(Generic[AnAgent]):
    """Another agent continues the task while the account is parked."""

    park: Park
    to: AnAgent


@dataclass(frozen=True, slots=True)
class Parking(Generic[AnAgent]):
    """`named`: an agent by its name, where it can be had."""

    store: Store
    clock: Clock
    canaries: Canaries
    policy: Policy
    named: Named[AnAgent]

    def judge(self, attempt: Attempt, limit: LimitHit, windows: int) -> Verdict | HandOver[AnAgent]:
        """What follows from the limit that an attempt is at. `windows`: how many its work has
        waited through."""
        run, now = attempt.run, self.clock.now()
        before = Before(self._refusals(attempt, limit), windows, run.purpose)
        jitter = random.random()  # noqa: S311 - it only spreads
        verdict = limits.judge(limit, run.agent, now, self.policy, before, jitter)
        if not isinstance(verdict, Park) or not verdict.holds_account:
            self.canaries.ended(run.account, run.task_id)
            return verdict
        self.canaries.parked(run.account)
        lasts = verdict.wakes_at - now
        other = fallback(attempt.profile, lasts, self.named, self.canaries.accounts)
        return verdict if other is None else HandOver(verdict, other)

    def _refusals(self, attempt: Attempt, limit: LimitHit) -> int:
        """How many of its family came directly before. An agent that worked before this limit was
        not refused again: it hit a new one."""
        last = None if attempt.proof.works else self.store.one(LAST, attempt.run.task_id)
        is_again = last is not None and family(last["kind"]) == family(limit.kind)
        return last["refusals"] + 1 if last is not None and is_again else 0

    def account_parked(self, account: str, park: Park) -> Callable[[], Iterable[Change]]:
        """The account's part of the transaction: asked for within it."""
        if not park.holds_account:
            return tuple
        return lambda: self.canaries.accounts.parked(account, park.kind, park.wakes_at)


def add_park(work: str, run: RunRow, park: Park) -> tuple[ParkRow, Add]:
    """The row of a park: the task of a run waits."""
    row = ParkRow(
        new_id("park"), run.task, run.id, run.account, park.kind, park.resets_at, park.wakes_at
    )
    values = {
        "work": work,
        "task": run.task_id,
        "run": run.id,
        "account": run.account,
        "kind": park.kind,
        "resets_at": stamp(park.resets_at) if park.resets_at else None,
        "wakes_at": stamp(park.wakes_at),
        "refusals": park.refusals,
    }
    return row, Add("park", row.id, ParkState.WAITING, values, Trigger.PARK, park.data() or None)


def end_park(park: ParkRow, cause: Trigger) -> Move:
    to = PARK.target(ParkState.WAITING, cause)
    return Move("park", park.id, ParkState.WAITING, to, cause, data={"task": park.task})


def remedy(
    agent: Agent | None, full: RunRow, before: RunRow | None, conversation: str | None
) -> str:
    """What is tried with a run whose context is full: the agent's own compaction, once; then a new
    conversation with a summary. `before`: the run that it continued. Nothing where the agent keeps
    no context: it is simply started again."""
    if agent is None or not agent.has_context:
        return ""
    was_compacted = COMPACT in (full.purpose, before.purpose if before else "")
    if agent.compact is None or conversation is None or was_compacted:
        return AFRESH
    return COMPACT
