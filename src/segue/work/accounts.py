"""Accounts: what a limit applies to. Shared by all plans of a project, so never mirrored."""

from __future__ import annotations

from datetime import datetime

from segue.core.decide import AccountView
from segue.core.machines import AccountState, Trigger
from segue.engine.clock import Clock
from segue.store.changes import Add, Move, instant, stamp
from segue.store.sqlite import Store


class Accounts:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def view(self) -> dict[str, AccountView]:
        """Every account that is not simply open."""
        found = {}
        for row in self._store.all("SELECT * FROM accounts WHERE state != 'open' OR used > 0"):
            until = instant(row["parked_until"]) if row["parked_until"] else None
            is_parked = row["state"] == AccountState.PARKED
            found[row["id"]] = AccountView(
                parked_until=until if is_parked else None,
                probing=row["state"] == AccountState.PROBING,
                used=row["used"],
            )
        return found

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

    def probe(self, name: str) -> None:
        """One run goes first; the others wait until it is seen at work."""
        self._swap(name, AccountState.PARKED, AccountState.PROBING, Trigger.PROBE)

    def open(self, name: str) -> None:
        self._swap(name, AccountState.PROBING, AccountState.OPEN, Trigger.OPEN)

    def _swap(self, name: str, state: AccountState, to: AccountState, cause: Trigger) -> None:
        row = self._store.one("SELECT state FROM accounts WHERE id = ?", name)
        if row is not None and row["state"] == state:
            self._store.move(Move("account", name, state, to, cause), at=self._clock.now())
