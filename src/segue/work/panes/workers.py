"""The workers: agents in panes, each a row that outlives whoever watches it."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from segue.core.machines import PaneState, Trigger
from segue.drivers.pane_lock import PaneLock, Watcher
from segue.drivers.panes import Pane, Panes
from segue.engine.canary import Proof
from segue.engine.clock import Clock
from segue.store import works
from segue.store.changes import Add, Change, Move, Note, Value, stamp
from segue.store.rows import PANES, pane_row
from segue.store.sqlite import Store
from segue.work.panes import pane_gates
from segue.work.panes.pane_notices import People

Also = Callable[[], Iterable[Change]]
STOP = ("kind", "evidence", "resets_at", "wakes_at", "sends", "sent_at", "step")


@dataclass(slots=True, eq=False)
class Worker:
    """An agent in a pane. What is behind the blank line is not remembered."""

    id: str
    pane: Pane
    host: Panes
    agent: str
    account: str
    state: PaneState
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
    proof: Proof | None = None  # whether it works for real, once it was resumed
    resumed_at: datetime | None = None  # when the text was sent that it reacted to
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
        works.enrol(store, PANES, store.path.parent, clock.now())

    def adopt(self, pane: Pane, host: Panes, agent: str, account: str) -> Worker:
        """The worker of this pane, as it was left or new."""
        id = row_id(pane)
        found = self._store.one("SELECT * FROM panes WHERE id = ?", id)
        if found is None:
            values: dict[str, Value] = {"pane": pane.id, "agent": agent, "account": account}
            self._store.move(
                Add("pane", id, PaneState.IDLE, values, cause=Trigger.SEE),
                at=self._clock.now(),
            )
            return Worker(id, pane, host, agent, account, PaneState.IDLE, 1)
        row = pane_row(found)
        worker = Worker(
            id,
            pane,
            host,
            agent,
            account,
            row.state,
            row.version,
            kind=row.kind,
            evidence=row.evidence,
            resets_at=row.resets_at,
            wakes_at=row.wakes_at,
            sends=row.sends,
            sent_at=row.sent_at,
            step=row.step,
            windows=row.windows,
            is_held=row.is_held,
        )
        if worker.state is PaneState.DEAD:  # its host was only out of reach
            self.see(worker, PaneState.IDLE)
        return worker

    def see(self, worker: Worker, state: PaneState, evidence: str = "") -> bool:
        """Its screen shows that it is not stopped (any more). `evidence`: what it asks."""
        values: dict[str, Any] = dict.fromkeys(STOP) | {"sends": 0, "step": ""}
        if state is PaneState.BLOCKED:
            values["evidence"] = evidence
        return worker.state is state or self._move(worker, state, Trigger.SEE, **values)

    def park(
        self, worker: Worker, *, cause: Trigger = Trigger.PARK, also: Also = tuple, **values: Any
    ) -> bool:
        """A new stop: it waits for an instant, or (cause ASK) for a person. `also`: what changes
        in the same transaction."""
        to = PaneState.BLOCKED if cause is Trigger.ASK else PaneState.PAUSED
        values = {"sends": 0, "sent_at": None, "step": "", **values}
        return self._move(worker, to, cause, also, **values)

    def sending(self, worker: Worker, step: str, *, is_new: bool) -> bool:
        """Written before anything is sent. `is_new`: not the rest of a try that was cut off."""
        sends = worker.sends + is_new
        return self._move(
            worker,
            PaneState.PAUSED,
            Trigger.SEND,
            sends=sends,
            sent_at=self._clock.now(),
            step=step,
        )

    def give_up(self, worker: Worker) -> bool:
        return self._move(worker, PaneState.ERROR, Trigger.FAIL, wakes_at=None, step="")

    def lose(self, worker: Worker) -> bool:
        if worker.state is PaneState.DEAD:
            return True
        return self._move(worker, PaneState.DEAD, Trigger.LOSE, wakes_at=None, step="")

    def note(self, worker: Worker, *, also: Also = tuple, **values: Any) -> None:
        """A fact that changes no state: a later instant, a step, a person's wish."""
        self._set(worker, values)
        note = Note("pane", worker.id, _stored(values))
        self._store.move(note, at=self._clock.now(), then=also)

    def _move(
        self, worker: Worker, to: PaneState, cause: Trigger, also: Also = tuple, **values: Any
    ) -> bool:
        move = Move(
            "pane", worker.id, worker.state, to, cause, _stored(values), worker.version,
            {name: value for name, value in _stored(values).items() if value},
        )  # fmt: skip
        now, told = self._clock.now(), []
        evidence = values.get("evidence") or worker.evidence
        kind = values.get("kind", worker.kind)
        if self._people is not None:
            told = self._people.told(worker, to, cause, evidence, now)
        gate = pane_gates.changes(self._store, worker, to, kind, evidence)
        if not self._store.move(move, *told, at=now, then=lambda: (*also(), *gate)):
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
