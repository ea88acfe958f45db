"""Watched panes: each a row that outlives the process that watches it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from segue.core.machines import PaneState, Trigger
from segue.engine.clock import Clock
from segue.store import works
from segue.store.changes import Add, Change, Move, Note, Value, stamp
from segue.store.rows import PANES, pane_row
from segue.store.sqlite import Store
from segue.work.panes import pane_gates
from segue.work.panes.pane_notices import People
from segue.work.panes.watched_pane import WatchedPane

Also = Callable[[], Iterable[Change]]
STOP = ("kind", "evidence", "resets_at", "wakes_at", "sends", "sent_at", "step")


class PaneRecords:
    """Every change of a pane, with its journal row; False where another watcher was faster."""

    def __init__(self, store: Store, clock: Clock, people: People | None = None) -> None:
        """`people`: those outside get to know that one needs them."""
        self._store, self._clock, self._people = store, clock, people
        works.enrol(store, PANES, store.path.parent, clock.now())

    def adopt(self, id: str, place: str, agent: str, account: str) -> WatchedPane:
        """The pane as it was left, or new."""
        found = self._store.one("SELECT * FROM panes WHERE id = ?", id)
        if found is None:
            values: dict[str, Value] = {"pane": place, "agent": agent, "account": account}
            add = Add("pane", id, PaneState.IDLE, values, cause=Trigger.SEE)
            self._store.move(add, at=self._clock.now())
            return WatchedPane(id, place, agent, account, PaneState.IDLE, 1)
        row = pane_row(found)
        pane = WatchedPane(
            id, place, agent, account, row.state, row.version, kind=row.kind,
            evidence=row.evidence, resets_at=row.resets_at, wakes_at=row.wakes_at, sends=row.sends,
            sent_at=row.sent_at, step=row.step, windows=row.windows, is_held=row.is_held,
        )  # fmt: skip
        if pane.state is PaneState.DEAD:  # its host was only out of reach
            self.see(pane, PaneState.IDLE)
        return pane

    def see(self, pane: WatchedPane, state: PaneState, evidence: str = "") -> bool:
        """Its screen shows that it is not stopped (any more). `evidence`: what it asks."""
        values: dict[str, Any] = dict.fromkeys(STOP) | {"sends": 0, "step": ""}
        if state is PaneState.BLOCKED:
            values["evidence"] = evidence
        return pane.state is state or self._move(pane, state, Trigger.SEE, **values)

    def park(
        self, pane: WatchedPane, *, cause: Trigger = Trigger.PARK, also: Also = tuple, **values: Any
    ) -> bool:
        """A new stop: it waits for a time, or (cause ASK) for a person. `also`: what changes in the
        same transaction."""
        to = PaneState.BLOCKED if cause is Trigger.ASK else PaneState.PAUSED
        values = {"sends": 0, "sent_at": None, "step": "", **values}
        return self._move(pane, to, cause, also, **values)

    def sending(self, pane: WatchedPane, step: str, *, is_new: bool) -> bool:
        """Written before anything is sent. `is_new`: not the rest of a try that was cut off."""
        sends, now = pane.sends + is_new, self._clock.now()
        to = PaneState.PAUSED
        return self._move(pane, to, Trigger.SEND, sends=sends, sent_at=now, step=step)

    def give_up(self, pane: WatchedPane) -> bool:
        return self._move(pane, PaneState.ERROR, Trigger.FAIL, wakes_at=None, step="")

    def lose(self, pane: WatchedPane) -> bool:
        if pane.state is PaneState.DEAD:
            return True
        return self._move(pane, PaneState.DEAD, Trigger.LOSE, wakes_at=None, step="")

    def note(self, pane: WatchedPane, *, also: Also = tuple, **values: Any) -> None:
        """A fact that changes no state: a later time, a person's wish."""
        _set(pane, values)
        note = Note("pane", pane.id, _stored(values))
        self._store.move(note, at=self._clock.now(), then=also)

    def _move(
        self, pane: WatchedPane, to: PaneState, cause: Trigger, also: Also = tuple, **values: Any
    ) -> bool:
        data = {name: value for name, value in _stored(values).items() if value}
        move = Move("pane", pane.id, pane.state, to, cause, _stored(values), pane.version, data)
        now, told = self._clock.now(), []
        evidence = values.get("evidence") or pane.evidence
        kind = values.get("kind", pane.kind)
        if self._people is not None:
            told = self._people.told(pane, to, cause, evidence, now)
        gate = pane_gates.changes(self._store, pane, to, kind, evidence, now)
        if not self._store.move(move, *told, at=now, then=lambda: (*also(), *gate)):
            return False
        pane.state, pane.version = to, pane.version + 1
        _set(pane, values)
        if told and self._people is not None:
            self._people.wake()
        return True


def _set(pane: WatchedPane, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(pane, name, "" if name in ("evidence", "step") and not value else value)


def _stored(values: dict[str, Any]) -> dict[str, Value]:
    return {
        name: stamp(value) if isinstance(value, datetime) else value
        for name, value in values.items()
    }
