"""Accounts: what a limit applies to.

All owners of a project share them, so nothing here is mirrored: the row is read when it is needed,
and what must win a race compares and swaps. A limit parks the account. When it should be over, one
task tries it alone, the canary; its row names it (`canary`). Once the canary works for real the
account is open, and for a while (`follows_until`) its other tasks start one by one, the next not
before `follows_at`, whichever owner starts them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from datetime import datetime, timedelta

from segue.core.decide import SPACING, AccountView
from segue.core.machines import AccountState, Trigger
from segue.engine.clock import Clock
from segue.store.changes import Add, Change, Move, Note, Value, instant, stamp
from segue.store.sqlite import Store

BELIEVED = timedelta(hours=1)
CANARY_MAX = timedelta(minutes=10)  # an agent at work is heard long before
CLAIMED = timedelta(seconds=10)  # a canary's run is written down at once
FOLLOWING_MIN = timedelta(seconds=30)
OPEN_RUN = "('intended', 'running', 'verifying', 'merging')"
CANARY_RUNS = (
    f"SELECT count(*), coalesce(sum(state IN {OPEN_RUN}), 0) FROM runs"  # noqa: S608 - names are ours
    " WHERE task = ? AND created_at >= ?"
)
WAITING = "SELECT count(*) FROM parks WHERE account = ? AND state = 'waiting'"


class Accounts:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    # Reading

    def view(self) -> dict[str, AccountView]:
        """Every account that is not simply open."""
        found = {}
        sql = "SELECT * FROM accounts WHERE state != 'open' OR used > 0 OR follows_until > ?"
        for row in self._store.all(sql, stamp(self._clock.now())):
            until = instant(row["parked_until"]) if row["parked_until"] else None
            is_probing = row["state"] == AccountState.PROBING and not self._is_canary_lost(row)
            is_open = row["state"] == AccountState.OPEN
            found[row["id"]] = AccountView(
                parked_until=None if is_open or is_probing else until,
                probing=is_probing,
                canary=row["canary"] if is_probing else None,
                used=row["used"],
                used_until=instant(row["used_until"]) if row["used_until"] else None,
                follows_at=self._follows_at(row) if is_open else None,
            )
        return found

    def _follows_at(self, row: sqlite3.Row) -> datetime | None:
        if row["follows_until"] is None or instant(row["follows_until"]) <= self._clock.now():
            return None
        return instant(row["follows_at"])

    def _is_canary_lost(self, row: sqlite3.Row) -> bool:
        """Whether another may try: the canary's owner died before it was heard, or its run has
        ended and that was not processed."""
        age = self._clock.now() - instant(row["updated_at"])
        if age > CANARY_MAX:
            return True
        found = self._store.one(CANARY_RUNS, row["canary"] or "", row["updated_at"])
        begun, still_open = tuple(found) if found else (0, 0)
        return not still_open and (begun > 0 or age > CLAIMED)

    def parked_until(self, name: str) -> datetime | None:
        """Until when it is parked, if that is still to come."""
        row = self._row(name)
        if row is None or row["state"] != AccountState.PARKED or not row["parked_until"]:
            return None
        until = instant(row["parked_until"])
        return until if until > self._clock.now() else None

    def is_parked(self, name: str) -> bool:
        return self.parked_until(name) is not None

    def kind(self, name: str) -> str:
        """Of the limit that parked it."""
        row = self._row(name)
        return str(row["kind"] or "unknown") if row is not None else "unknown"

    def canary(self, name: str) -> str | None:
        """The task that tries it now."""
        row = self._row(name)
        if row is None or row["state"] != AccountState.PROBING:
            return None
        return None if row["canary"] is None else str(row["canary"])

    def _row(self, name: str) -> sqlite3.Row | None:
        return self._store.one("SELECT * FROM accounts WHERE id = ?", name)

    # Limits

    def parked(self, name: str, kind: str, until: datetime) -> Iterable[Change]:
        """The changes of a limit: nothing of this account starts before then. A longer park stays.
        To be committed with the run's own: asked for within that transaction."""
        row = self._row(name)
        values: dict[str, Value] = {"kind": kind, "parked_until": stamp(until)}
        if row is None:
            yield Add("account", name, AccountState.PARKED, values, cause=Trigger.PARK)
        elif row["state"] != AccountState.PARKED or instant(row["parked_until"]) < until:
            values |= {"canary": None, "follows_until": None}
            yield Move("account", name, row["state"], AccountState.PARKED, Trigger.PARK, values)

    def park(self, name: str, kind: str, until: datetime) -> None:
        """The same by itself: nothing else changes with it."""
        self._store.move(at=self._clock.now(), then=lambda: self.parked(name, kind, until))

    def woken(self, name: str) -> Iterable[Change]:
        """The changes of a person who takes its limit to be over: one task tries it first."""
        row = self._row(name)
        if row is not None and row["state"] == AccountState.PARKED:
            yield Note("account", name, {"parked_until": stamp(self._clock.now())})

    def wake(self, name: str) -> None:
        """The same by itself."""
        self._store.move(at=self._clock.now(), then=lambda: self.woken(name))

    # The canary, and those that follow it

    def probe(self, name: str, task: str) -> bool:
        """This task goes first, the others wait until it works. False: another was faster."""
        row = self._row(name)
        if row is None or row["state"] == AccountState.OPEN:
            return False
        if row["state"] == AccountState.PROBING and not self._is_canary_lost(row):
            return bool(row["canary"] == task)
        return self._swap(row, AccountState.PROBING, Trigger.PROBE, canary=task)

    def follow(self, name: str) -> bool:
        """One more of an account that has just opened starts now. False: another was faster."""
        row, now = self._row(name), self._clock.now()
        if row is None or row["state"] != AccountState.OPEN:
            return False
        follows_at = self._follows_at(row)
        if follows_at is None:
            return True  # that time is over
        if follows_at > now:
            return False
        return self._swap(row, AccountState.OPEN, Trigger.FOLLOW, follows_at=stamp(now + SPACING))

    def opened(self, name: str) -> None:
        """Its canary works, so the limit is over: the others follow one by one."""
        row, now = self._row(name), self._clock.now()
        if row is None or row["state"] == AccountState.OPEN:
            return
        found = self._store.one(WAITING, name)
        waiting = int(found[0]) if found else 0
        following = max(FOLLOWING_MIN, (waiting + 1) * SPACING)
        self._swap(
            row,
            AccountState.OPEN,
            Trigger.OPEN,
            canary=None,
            parked_until=None,
            follows_at=stamp(now + SPACING),
            follows_until=stamp(now + following),
        )

    def unproven(self, name: str) -> None:
        """Its canary ended and showed neither that the limit is over nor that it is not: another
        one tries."""
        row, now = self._row(name), self._clock.now()
        if row is not None and row["state"] == AccountState.PROBING:
            self._swap(row, AccountState.PARKED, Trigger.PARK, canary=None, parked_until=stamp(now))

    def _swap(self, row: sqlite3.Row, to: AccountState, cause: Trigger, **sets: Value) -> bool:
        """The row as it was read becomes this; False where it has changed since."""
        move = Move("account", row["id"], row["state"], to, cause, sets, row["version"])
        return self._store.move(move, at=self._clock.now())

    # How full its window is

    def note_used(self, name: str, share: float, until: datetime | None) -> None:
        """How much of its window an account has used, as the agent reports; where it names no end
        of the window, that is believed for a while."""
        until = until or self._clock.now() + BELIEVED
        row = self._row(name)
        values: dict[str, Value] = {"used": share, "used_until": stamp(until)}
        if row is None:
            change: Add | Note = Add("account", name, AccountState.OPEN, values, cause=Trigger.OPEN)
        elif (row["used"], row["used_until"]) == (share, stamp(until)) or self._is_fuller(
            row, share, stamp(until)
        ):
            return
        else:
            change = Note("account", name, values)
        self._store.move(change, at=self._clock.now())

    def _is_fuller(self, row: sqlite3.Row, share: float, until: str) -> bool:
        """Whether another window of the account counts: it is fuller, and not over yet."""
        if row["used"] is None or row["used_until"] is None or row["used_until"] == until:
            return False
        return bool(row["used"] > share and instant(row["used_until"]) > self._clock.now())
