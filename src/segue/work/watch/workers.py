"""The workers: agents in panes, each a row that outlives whoever watches it."""

from __future__ import annotations

import asyncio
import hashlib
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from segue.core.machines import Trigger, WorkerState
from segue.drivers.pane_lock import PaneLock, Watcher
from segue.drivers.panes import Pane, Panes
from segue.engine.clock import Clock
from segue.store.changes import Add, Move, Note, Value, instant, stamp
from segue.store.sqlite import Store
from segue.work.watch.people import People

STOP = ("kind", "evidence", "resets_at", "wakes_at", "sends", "sent_at", "step")


@dataclass(slots=True, eq=False)
class Worker:
    """An agent in a pane. What is behind the blank line is not remembered."""

    id: str
    pane: Pane
    host: Panes
    agent: str
    account: str
    state: WorkerState
    version: int
    kind: str | None = None
    evidence: str = ""
    resets_at: datetime | None = None
    wakes_at: datetime | None = None
    sends: int = 0
    sent_at: datetime | None = None
    step: str = ""
    windows: int = 0
    is_held: bool = False

    is_by_screen: bool = False  # no process shows the agent, only what it draws
    is_framed: bool = True  # and it was drawn there at the last look
    is_at_shell: bool = False  # or a shell waited there
    is_told: bool = False  # an event said how it stands
    is_woken: bool = False  # by hand, before the reset of its account
    held_by: Watcher | None = None  # another watcher has it
    is_attended: bool = False  # a person is typing
    is_shown: bool = False  # a dry run has said what it would do
    refusals: int = 0  # in a row, each with a time of its own
    doubts: int = 0  # looks that showed no stop where one was
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    resuming: asyncio.Task[None] | None = None
    lock: PaneLock = field(init=False)

    def __post_init__(self) -> None:
        self.lock = PaneLock(self.pane)

    @property
    def number(self) -> str:
        """What people call it: the number of its pane."""
        found = re.search(r"\d+", self.pane.id)
        return found[0] if found else self.pane.id

    @property
    def is_ours(self) -> bool:
        return self.held_by is None


def row_id(pane: Pane) -> str:
    """The same for the same pane, and for no other: numbers are given again by a new server."""
    server = hashlib.sha256(pane.socket.encode()).hexdigest()[:12]
    return f"{pane.host}:{server}:{pane.id}:{pane.pid or pane.tty}"


class Workers:
    """Every change of a worker, with its journal row; False where somebody was faster."""

    def __init__(self, store: Store, clock: Clock, people: People | None = None) -> None:
        """`people`: those outside get to know that one needs them."""
        self._store, self._clock, self._people = store, clock, people
        self.now = clock.now

    def adopt(self, pane: Pane, host: Panes, agent: str, account: str) -> Worker:
        """The worker of this pane, as it was left or new."""
        id = row_id(pane)
        row = self._store.one("SELECT * FROM workers WHERE id = ?", id)
        if row is None:
            values: dict[str, Value] = {"pane": pane.id, "agent": agent, "account": account}
            self._store.move(
                Add("worker", id, WorkerState.IDLE, values, cause=Trigger.SEE),
                at=self._clock.now(),
            )
            return Worker(id, pane, host, agent, account, WorkerState.IDLE, 1)
        worker = Worker(
            id,
            pane,
            host,
            agent,
            account,
            WorkerState(row["state"]),
            row["version"],
            kind=row["kind"],
            evidence=row["evidence"] or "",
            resets_at=_instant(row["resets_at"]),
            wakes_at=_instant(row["wakes_at"]),
            sends=row["sends"],
            sent_at=_instant(row["sent_at"]),
            step=row["step"],
            windows=row["windows"],
            is_held=bool(row["is_held"]),
        )
        if worker.state is WorkerState.DEAD:  # its host was only out of reach
            self.see(worker, WorkerState.IDLE)
        return worker

    def see(self, worker: Worker, state: WorkerState) -> bool:
        """Its screen shows that it is not stopped (any more)."""
        values: dict[str, Any] = dict.fromkeys(STOP) | {"sends": 0, "step": ""}
        return worker.state is state or self._move(worker, state, Trigger.SEE, **values)

    def park(self, worker: Worker, *, cause: Trigger = Trigger.PARK, **values: Any) -> bool:
        """A new stop: it waits for an instant, or (cause ASK) for a person."""
        to = WorkerState.BLOCKED if cause is Trigger.ASK else WorkerState.PAUSED
        return self._move(worker, to, cause, sends=0, sent_at=None, step="", **values)

    def sending(self, worker: Worker, step: str, *, is_new: bool) -> bool:
        """Written before anything is sent. `is_new`: not the rest of a try that was cut off."""
        sends = worker.sends + is_new
        return self._move(
            worker,
            WorkerState.PAUSED,
            Trigger.SEND,
            sends=sends,
            sent_at=self._clock.now(),
            step=step,
        )

    def give_up(self, worker: Worker) -> bool:
        return self._move(worker, WorkerState.ERROR, Trigger.FAIL, wakes_at=None, step="")

    def lose(self, worker: Worker) -> bool:
        if worker.state is WorkerState.DEAD:
            return True
        return self._move(worker, WorkerState.DEAD, Trigger.LOSE, wakes_at=None, step="")

    def note(self, worker: Worker, **values: Any) -> None:
        """A fact that changes no state: a later instant, a step, a person's wish."""
        self._set(worker, values)
        self._store.move(Note("worker", worker.id, _stored(values)), at=self._clock.now())

    def _move(self, worker: Worker, to: WorkerState, cause: Trigger, **values: Any) -> bool:
        move = Move(
            "worker", worker.id, worker.state, to, cause, _stored(values), worker.version,
            {name: value for name, value in _stored(values).items() if value},
        )  # fmt: skip
        now, told = self._clock.now(), []
        if self._people is not None:
            evidence = values.get("evidence") or worker.evidence
            told = self._people.told(worker, cause, evidence, now)
        if not self._store.move(move, *told, at=now):
            return False
        worker.state, worker.version = to, worker.version + 1
        self._set(worker, values)
        if told and self._people is not None:
            self._people.wake()
        return True

    @staticmethod
    def _set(worker: Worker, values: dict[str, Any]) -> None:
        for name, value in values.items():
            setattr(worker, name, "" if name in ("evidence", "step") and not value else value)


def _stored(values: dict[str, Any]) -> dict[str, Value]:
    return {
        name: stamp(value) if isinstance(value, datetime) else value
        for name, value in values.items()
    }


def _instant(text: str | None) -> datetime | None:
    return instant(text) if text else None
