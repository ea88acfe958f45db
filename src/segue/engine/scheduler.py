"""Carrying out a decision, for every kind of work: each one whose turn it is gets its account, then
starts or wakes.

Of an account that was at its limit one goes first, the canary; the others follow when it works. All
owners of a project share the accounts, so another one may be faster: this one looks again soon.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain

from segue.core.decide import CANARY_LOOK, Decisions, ParkView, Snapshot, decide
from segue.core.limits import holds_account
from segue.engine.canary import Canaries
from segue.store.rows import ParkRow


@dataclass(frozen=True, slots=True)
class Turn:
    """Somebody who may begin now. `task`: its id among the tasks of all works; `account`: empty
    where it needs none."""

    task: str
    account: str
    begin: Callable[[], object]


def carry_out(
    snapshot: Snapshot,
    now: datetime,
    canaries: Canaries,
    *,
    wake: Callable[[str], Turn | None],
    start: Callable[[str], Turn | None] = lambda task: None,
) -> Decisions:
    """Decide, and let those begin whose turn it is. `wake` says who a park's id is about, `start`
    who a task's; None: it is gone by now."""
    decisions = decide(snapshot, now)
    again_at = decisions.next_at
    for turn in chain(map(wake, decisions.wake), map(start, decisions.start)):
        if turn is None:
            continue
        if _claims(turn, decisions, canaries):
            turn.begin()
        else:
            again_at = nearest(again_at, now + CANARY_LOOK)
    return replace(decisions, next_at=again_at)


def _claims(turn: Turn, decisions: Decisions, canaries: Canaries) -> bool:
    """Whether it gets its account, where it has to be the first or the next one. False: another
    owner's task was faster."""
    if turn.account in decisions.probe:
        return canaries.send(turn.account, turn.task)
    if turn.account and canaries.accounts.canary(turn.account) == turn.task:
        canaries.adopt(turn.account, turn.task)  # it was sent before its owner died
        return True
    return turn.account not in decisions.follow or canaries.accounts.follow(turn.account)


def park_view(park: ParkRow) -> ParkView:
    """A park as a decision sees it."""
    return ParkView(park.id, park.task, park.account, park.wakes_at, holds_account(park.kind))


def nearest(*instants: datetime | None) -> datetime | None:
    return min((at for at in instants if at is not None), default=None)
