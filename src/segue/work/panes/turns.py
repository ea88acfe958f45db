"""Whose turn it is, by the rules of every kind of work: a pane that waits is a park like any other.

Of an account that was at its limit one goes first, the canary; the others follow when it works.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from segue.core.decide import Decisions, ParkView, Snapshot, decide
from segue.core.leash import Leash
from segue.core.limits import holds_account
from segue.core.machines import PaneState
from segue.engine.accounts import Accounts
from segue.engine.canary import Canaries
from segue.work.panes.workers import Worker


class Turns:
    def __init__(self, leash: Leash, accounts: Accounts, canaries: Canaries) -> None:
        self._leash, self._accounts, self._canaries = leash, accounts, canaries

    def next_of(self, workers: Iterable[Worker], now: datetime, *, is_dry: bool) -> list[Worker]:
        """Who is resumed now, the one that waits longest first."""
        waiting = {worker.id: worker for worker in workers if is_waiting(worker)}
        decisions = self._decide(waiting.values(), now)
        chosen = [waiting[id] for id in decisions.wake]
        return [worker for worker in chosen if is_dry or self._claims(worker, decisions)]

    def next_at(self, workers: Iterable[Worker], now: datetime) -> datetime | None:
        """When it is worth deciding again; None: only something that happens can change it."""
        decisions = self._decide(list(filter(is_waiting, workers)), now)
        return now if decisions.wake else decisions.next_at

    def _decide(self, waiting: Iterable[Worker], now: datetime) -> Decisions:
        parks = [_park(worker) for worker in waiting]
        if not parks:
            return Decisions()
        accounts = self._accounts.view()
        slots = len(parks)  # people started them: nobody bounds how many work at once
        return decide(Snapshot(parks=parks, accounts=accounts, slots=slots, leash=self._leash), now)

    def _claims(self, worker: Worker, decisions: Decisions) -> bool:
        """It gets its account, where it has to be the first or the next one. False: another
        owner's task was faster."""
        if worker.account in decisions.probe:
            return self._canaries.send(worker.account, worker.id)
        return worker.account not in decisions.follow or self._accounts.follow(worker.account)


def is_waiting(worker: Worker) -> bool:
    """Whether it is to be resumed at its instant, by us, and nobody is at it."""
    return (
        worker.state is PaneState.PAUSED
        and worker.wakes_at is not None
        and worker.is_ours
        and not (worker.is_held or worker.is_attended or worker.is_shown)
        and worker.resuming is None
    )


def _park(worker: Worker) -> ParkView:
    assert worker.wakes_at is not None
    is_for_limit = holds_account(worker.kind or "")
    return ParkView(worker.id, worker.id, worker.account, worker.wakes_at, is_for_limit)
