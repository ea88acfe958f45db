"""Watched panes: each a row that outlives the process that watches it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

from segue.core.machines import PaneState, Trigger
from segue.engine.clock import Clock
from segue.store import works
from segue.store.changes import Add, Change, Move, Note, Value, instant, stamp
from segue.store.rows import PANES, id_of, pane_row
from segue.store.sqlite import Store
from segue.work.panes import pane_gates
from segue.work.panes.pane_notices import People
from segue.work.panes.pane_runs import PaneRuns, park_for
from segue.work.panes.watched_pane import WatchedPane

Also = Callable[[], Iterable[Change]]
STOP = ("kind", "evidence", "resets_at", "wakes_at", "sends", "sent_at", "step")
OF_PARKS = ("wakes_at", "refusals")  # what a pane knows of its wait is in the row of its park
SERVER_CHARS = 6  # of a server's name in a task's, where two have a pane of one number
OTHERS = "SELECT * FROM panes WHERE task = ? AND id != ? AND state NOT IN (?, ?)"


class PaneRecords:
    """Every change of a pane, with its journal row; False where another watcher was faster."""

    def __init__(self, store: Store, clock: Clock, people: People | None = None) -> None:
        """`people`: those outside get to know that one needs them."""
        self._store, self._clock, self._people = store, clock, people
        works.enrol(store, PANES, store.path.parent, clock.now())

    def adopt(self, id: str, place: str, agent: str, account: str) -> WatchedPane:
        """The pane as it was left, or new."""
        found = self._store.one("SELECT * FROM panes WHERE id = ?", id)
        if found is None or found["state"] == PaneState.DEAD:
            task = self._free_task(id, place)
        else:
            task = found["task"]
        pane = WatchedPane(id, place, agent, account, PaneState.IDLE, 1, task)
        if found is None:
            if self._add(pane):
                return pane
            found = self._store.one("SELECT * FROM panes WHERE id = ?", id)  # another was faster
            assert found is not None
        pane = self._read(found, pane)
        if pane.state is PaneState.DEAD:  # its host was only out of reach
            if pane.task != task:
                self._rename(pane, task)
            self.see(pane, PaneState.IDLE)
        return pane

    def _add(self, pane: WatchedPane) -> bool:
        runs = PaneRuns(self._store, pane)
        row: dict[str, Value] = {"task": pane.task, "pane": pane.place}
        add = Add("pane", pane.id, PaneState.IDLE, row, cause=Trigger.SEE)

        def changes() -> Iterator[Change]:
            yield from runs.added()
            yield add
            yield from runs.moved(PaneState.IDLE)

        return self._store.move(at=self._clock.now(), then=changes)

    def _rename(self, pane: WatchedPane, task: str) -> None:
        """Another pane has its name by now."""
        pane.task = task
        runs, note = PaneRuns(self._store, pane), Note("pane", pane.id, {"task": task})
        self._store.move(at=self._clock.now(), then=lambda: chain(runs.added(), [note]))

    def _read(self, row: Any, pane: WatchedPane) -> WatchedPane:
        """What the tables know of a pane."""
        known = pane_row(row)
        pane = replace(
            pane, task=known.task, state=known.state, version=known.version, kind=known.kind,
            evidence=known.evidence, resets_at=known.resets_at, sends=known.sends,
            sent_at=known.sent_at, step=known.step, windows=known.windows, is_held=known.is_held,
        )  # fmt: skip
        if pane.state is PaneState.PAUSED:
            runs = PaneRuns(self._store, pane)
            park = runs.park()
            if park is not None:
                pane.wakes_at, pane.refusals = instant(park["wakes_at"]), park["refusals"]
            elif runs.open_run() is not None:  # a try was cut off
                pane.wakes_at = pane.sent_at
        return pane

    def _free_task(self, id: str, place: str) -> str:
        """The task of a pane that is new. Its name may be that of one that is gone, which is lost
        then, or of a living one on another server."""
        task = id_of(place, PANES)
        for row in self._store.all(OTHERS, task, id, PaneState.DEAD, PaneState.DONE):
            if is_alive(row["id"]) and _server(row["id"]) != _server(id):
                return f"{task}@{_server(id)[:SERVER_CHARS]}"
            other = WatchedPane(row["id"], place, "", "", PaneState.IDLE, 1, task)
            self.lose(self._read(row, other))
        return task

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
        """A fact that changes no state: a person's wish."""
        _set(pane, values)
        note = Note("pane", pane.id, _stored(values))
        self._store.move(note, at=self._clock.now(), then=also)

    def wait_until(
        self,
        pane: WatchedPane,
        at: datetime,
        *,
        is_refused: bool = False,
        also: Also = tuple,
        **values: Any,
    ) -> None:
        """It stays paused and waits for another time. `is_refused`: what was sent was answered with
        the limit."""
        _set(pane, {**values, "wakes_at": at})
        limit, runs = park_for(pane, at), PaneRuns(self._store, pane)
        notes = [Note("pane", pane.id, _stored(values))] if values else []

        def changes() -> Iterator[Change]:
            yield from runs.waits_until(limit, is_refused=is_refused)
            yield from also()

        self._store.move(*notes, at=self._clock.now(), then=changes)

    def _move(
        self, pane: WatchedPane, to: PaneState, cause: Trigger, also: Also = tuple, **values: Any
    ) -> bool:
        data = {name: value for name, value in _stored(values).items() if value}
        sets = {name: value for name, value in _stored(values).items() if name not in OF_PARKS}
        move = Move("pane", pane.id, pane.state, to, cause, sets, pane.version, data)
        now, told = self._clock.now(), []
        evidence = values.get("evidence") or pane.evidence
        kind = values.get("kind", pane.kind)
        if self._people is not None:
            told = self._people.told(pane, to, cause, evidence, now)
        gate = pane_gates.changes(self._store, pane, to, kind, evidence, now)
        runs = self._runs(pane, to, cause, values)
        if not self._store.move(move, *told, at=now, then=lambda: chain(runs, also(), gate)):
            return False
        pane.state, pane.version = to, pane.version + 1
        _set(pane, values)
        if told and self._people is not None:
            self._people.wake()
        return True

    def _runs(
        self, pane: WatchedPane, to: PaneState, cause: Trigger, values: dict[str, Any]
    ) -> Iterator[Change]:
        """What follows for the task, the run and the park of a pane."""
        runs = PaneRuns(self._store, pane)
        if to is not PaneState.PAUSED:
            return runs.moved(to)
        if cause is Trigger.SEND:
            return runs.sending(is_new=values["sends"] > pane.sends)
        after = replace(pane)
        _set(after, values)
        return runs.parked(park_for(after, after.wakes_at) if after.wakes_at else None)


def is_alive(row_id: str) -> bool:
    """Whether the process that a pane began with is there: its watcher may have been killed. Where
    the host names no process, the row is believed."""
    pid = row_id.rpartition(":")[2]
    return not pid.isdecimal() or Path(f"/proc/{pid}").exists()


def _server(row_id: str) -> str:
    """Which server has a pane, by its id (`job_id` of the pane executor)."""
    return ":".join(row_id.split(":")[1:2])


def _set(pane: WatchedPane, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(pane, name, "" if name in ("evidence", "step") and not value else value)


def _stored(values: dict[str, Any]) -> dict[str, Value]:
    return {
        name: stamp(value) if isinstance(value, datetime) else value
        for name, value in values.items()
    }
