"""Whose turn it is: of an account that was at its limit one goes first, the others follow.

Kept in memory only: whoever watches next sends a first one again, which is on the safe side.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from segue.core.leash import Leash, quiet_ends
from segue.core.limits import holds_account
from segue.core.machines import WorkerState
from segue.work.watch.workers import Worker

SPACING = timedelta(seconds=2)


class Turns:
    def __init__(self, leash: Leash) -> None:
        self._leash = leash
        self._open: dict[str, datetime] = {}  # when the next of an open account may go

    def park(self, worker: Worker) -> None:
        """The account is at its limit (again)."""
        if worker.kind and holds_account(worker.kind):
            self._open.pop(worker.account, None)

    def opened(self, account: str, now: datetime) -> None:
        """One of the account works again: the others may follow."""
        self._open[account] = now + SPACING

    def next_of(self, workers: Iterable[Worker], now: datetime) -> list[Worker]:
        """Who may be resumed now, the one that waits longest first."""
        if self.barred_until(now) is not None:
            return []
        workers = list(workers)
        at_it = _accounts_at_it(workers)
        chosen = []
        for worker in sorted(filter(is_waiting, workers), key=_wakes_at):
            if _wakes_at(worker) > now:
                break
            if holds_account(worker.kind or ""):
                account = worker.account
                if account in at_it or self._open.get(account, now) > now:
                    continue
                at_it.add(account)
            chosen.append(worker)
        return chosen

    def next_at(self, workers: Iterable[Worker], now: datetime) -> datetime | None:
        """When it is worth looking again. Whoever waits for another one of its account is looked at
        when that one is through."""
        workers = list(workers)
        at_it = _accounts_at_it(workers)
        waiting = [
            worker
            for worker in filter(is_waiting, workers)
            if worker.account not in at_it or not holds_account(worker.kind or "")
        ]
        if not waiting:
            return None
        if (until := self.barred_until(now)) is not None:
            return until
        return min(
            max(_wakes_at(worker), self._open.get(worker.account, _wakes_at(worker)))
            for worker in waiting
        )

    def barred_until(self, now: datetime) -> datetime | None:
        """Until when nothing is woken, if that is so now."""
        if self._leash.until is not None and now >= self._leash.until:
            return now + timedelta(days=1)
        return quiet_ends(now, self._leash.quiet, self._leash.tz)


def is_waiting(worker: Worker) -> bool:
    """Whether it is to be resumed at its instant, by us, and nobody is at it."""
    return (
        worker.state is WorkerState.PAUSED
        and worker.wakes_at is not None
        and worker.is_ours
        and not (worker.is_held or worker.is_attended or worker.is_shown)
        and worker.resuming is None
    )


def _accounts_at_it(workers: Iterable[Worker]) -> set[str]:
    return {worker.account for worker in workers if worker.resuming}


def _wakes_at(worker: Worker) -> datetime:
    assert worker.wakes_at is not None
    return worker.wakes_at
