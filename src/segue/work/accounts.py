"""Accounts: what a limit applies to. Shared by all plans of a project, so never mirrored."""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta

from segue.core.decide import AccountView
from segue.core.machines import AccountState, Trigger
from segue.engine.clock import Clock
from segue.store.changes import Add, Move, Note, Value, instant, stamp
from segue.store.sqlite import Store

BELIEVED = timedelta(hours=1)
CANARY_MAX = timedelta(minutes=10)  # a run at work says something long before


class Accounts:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def view(self) -> dict[str, AccountView]:
        """Every account that is not simply open."""
        found = {}
        for row in self._store.all("SELECT * FROM accounts WHERE state != 'open' OR used > 0"):
            until = instant(row["parked_until"]) if row["parked_until"] else None
            is_probing = row["state"] == AccountState.PROBING and not self._is_lost(row)
            is_open = row["state"] == AccountState.OPEN
            found[row["id"]] = AccountView(
                parked_until=None if is_open or is_probing else until,
                probing=is_probing,
                used=row["used"],
                used_until=instant(row["used_until"]) if row["used_until"] else None,
            )
        return found

    def _is_lost(self, row: sqlite3.Row) -> bool:
        """Whether its canary can be given up: whoever sent it may have died."""
        return self._clock.now() - instant(row["updated_at"]) > CANARY_MAX

    def park(self, name: str, kind: str, until: datetime) -> None:
        """Nothing of this account starts before then. A longer park stays."""
        row = self._store.one("SELECT * FROM accounts WHERE id = ?", name)
        values = {"kind": kind, "parked_until": stamp(until)}
        if row is None:
            self._store.move(
                Add("account", name, AccountState.PARKED, values, cause=Trigger.PARK),
                at=self._clock.now(),
            )
            return
        if row["state"] == AccountState.PARKED and instant(row["parked_until"]) >= until:
            return
        move = Move("account", name, row["state"], AccountState.PARKED, Trigger.PARK, values)
        self._store.move(move, at=self._clock.now())

    def wake(self, name: str) -> None:
        """By hand: its limit is taken to be over now; one run tries it first."""
        row = self._store.one("SELECT state FROM accounts WHERE id = ?", name)
        if row is not None and row["state"] == AccountState.PARKED:
            now = self._clock.now()
            self._store.move(Note("account", name, {"parked_until": stamp(now)}), at=now)

    def parked_until(self, name: str) -> datetime | None:
        """Until when it is parked, if that is still to come."""
        row = self._store.one("SELECT state, parked_until FROM accounts WHERE id = ?", name)
        if row is None or row["state"] != AccountState.PARKED or not row["parked_until"]:
            return None
        until = instant(row["parked_until"])
        return until if until > self._clock.now() else None

    def kind(self, name: str) -> str:
        """Of the limit that parked it."""
        row = self._store.one("SELECT kind FROM accounts WHERE id = ?", name)
        return str(row["kind"] or "unknown") if row is not None else "unknown"

    def is_parked(self, name: str) -> bool:
        return self.parked_until(name) is not None

    def note_used(self, name: str, share: float, until: datetime | None) -> None:
        """How much of its window an account has used, as the agent tells; where it names no end of
        the window, that is believed for a while."""
        until = until or self._clock.now() + BELIEVED
        row = self._store.one("SELECT used, used_until FROM accounts WHERE id = ?", name)
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

    def probe(self, name: str) -> None:
        """One run goes first; the others wait until it is seen at work."""
        self._swap(name, AccountState.PARKED, AccountState.PROBING, Trigger.PROBE)

    def open(self, name: str) -> None:
        self._swap(name, AccountState.PROBING, AccountState.OPEN, Trigger.OPEN)

    def reopen(self, name: str) -> None:
        """Its limit is seen to be over, by whoever works on it."""
        self._swap(name, AccountState.PARKED, AccountState.OPEN, Trigger.OPEN)

    def _swap(self, name: str, state: AccountState, to: AccountState, cause: Trigger) -> None:
        row = self._store.one("SELECT state FROM accounts WHERE id = ?", name)
        if row is not None and row["state"] == state:
            self._store.move(Move("account", name, state, to, cause), at=self._clock.now())
