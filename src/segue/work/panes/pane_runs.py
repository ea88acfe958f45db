"""The task, the runs and the parks of a pane, which follow from its moves.

A pane is a run whose driver types instead of spawning. The agent that a person started is the first
run of its task. A limit parks it; what Segue types to resume it is the next run, intended before a
key is pressed and running once the agent reacts. The changes are asked for within the transaction
of the pane's own move, one after the other: each sees what those before it did.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from segue.core.machines import PARK, RUN, TASK, PaneState, ParkState, RunState, Trigger
from segue.core.plan import TaskState
from segue.engine import limits
from segue.engine.parking import add_park
from segue.store.changes import Add, Change, Move, Note, Value, stamp
from segue.store.rows import OPEN_RUNS, PANES, RunRow, new_id, run_row
from segue.store.sqlite import Store
from segue.work.panes.watched_pane import WatchedPane

TASK_STATE = "SELECT state FROM tasks WHERE id = ?"
LAST_RUN = (
    "SELECT * FROM runs WHERE task = ? AND conversation = ? ORDER BY created_at DESC, rowid DESC"
    " LIMIT 1"
)
ATTEMPTS = "SELECT coalesce(max(attempt), 0) FROM runs WHERE task = ?"
WAITING = "SELECT * FROM parks WHERE task = ? AND state = 'waiting'"
# What brings a task into progress, by how it stands.
BEGINNINGS = {
    TaskState.PENDING: (Trigger.START,),
    TaskState.FAILED: (Trigger.RETRY, Trigger.START),
    TaskState.COMPLETED: (Trigger.REOPEN, Trigger.START),
}


@dataclass(frozen=True, slots=True)
class PaneRuns:
    """Of one pane. `pane`: as it was before its move."""

    store: Store
    pane: WatchedPane

    # Reading

    def last_run(self) -> RunRow | None:
        found = self.store.one(LAST_RUN, self.pane.task, self.pane.id)
        return None if found is None else run_row(found)

    def open_run(self) -> RunRow | None:
        run = self.last_run()
        return run if run is not None and run.state in OPEN_RUNS else None

    def park(self) -> sqlite3.Row | None:
        """What it waits for."""
        return self.store.one(WAITING, self.pane.task)

    # What follows from a move

    def added(self) -> Iterator[Change]:
        """A pane with an agent was found: the task of its name may be known."""
        task = self.pane.task
        if self.store.one(TASK_STATE, task) is None:
            row: dict[str, Value] = {
                "work": PANES,
                "key": self.pane.name,
                "title": self.pane.agent or self.pane.place,
            }
            yield Add("task", task, TaskState.PENDING, row, Trigger.SEE)

    def moved(self, to: PaneState) -> Iterator[Change]:
        """It stands otherwise than parked."""
        yield from self._end_park(Trigger.CANCEL)
        match to:
            case PaneState.BLOCKED:
                yield from self._begin()
                yield from self._end_run(Trigger.ASK)
                yield self._move_task(Trigger.ASK)
            case PaneState.DONE:
                yield from self._begin_task()
                if self.open_run() is not None:
                    yield from self._begin()
                    yield from self._end_run(Trigger.COMPLETE)
                yield self._move_task(Trigger.COMPLETE)
            case PaneState.ERROR:
                yield from self._end_run(Trigger.FAIL)
                yield self._move_task(Trigger.FAIL, error=self.pane.evidence)
            case PaneState.DEAD:
                yield from self._end_run(Trigger.CUT_OFF)
                if self._task_state() is TaskState.IN_PROGRESS:
                    yield self._move_task(Trigger.RESTART)
            case _:
                yield from self._begin()

    def parked(self, limit: limits.Park | None) -> Iterator[Change]:
        """A limit stopped it. None: it is left alone, because it resumes by itself."""
        yield from self._end_park(Trigger.CANCEL)
        yield from self._begin_task()
        yield from self._park_run()
        yield self._move_task(Trigger.PARK)
        yield from self._add_park(limit)

    def sending(self, *, is_new: bool) -> Iterator[Change]:
        """Something is about to be typed. `is_new`: not the rest of a try that was cut off."""
        if self.park() is not None:
            yield from self._end_park(Trigger.WAKE)
            yield self._move_task(Trigger.WAKE)
        if is_new:
            yield from self._end_run(Trigger.CUT_OFF)
        if self.open_run() is None:
            yield self._add_run()

    def waits_until(self, limit: limits.Park, *, is_refused: bool) -> Iterator[Change]:
        """It waits for another time; a try in vain has ended then. `is_refused`: the agent answered
        it with its limit."""
        park = self.park()
        if park is not None:
            yield Note("park", park["id"], {"wakes_at": stamp(limit.wakes_at)})
            return
        if is_refused:
            yield from self._park_run()
        else:
            yield from self._end_run(Trigger.FAIL)
        yield from self._add_park(limit)

    # Each row

    def _task_state(self) -> TaskState:
        found = self.store.one(TASK_STATE, self.pane.task)
        assert found is not None  # it was added with the pane
        return TaskState(found["state"])

    def _move_task(self, cause: Trigger, **sets: Value) -> Move:
        state = self._task_state()
        return Move("task", self.pane.task, state, TASK.target(state, cause), cause, sets)

    def _begin_task(self) -> Iterator[Change]:
        for cause in BEGINNINGS.get(self._task_state(), ()):
            yield self._move_task(cause, error=None)

    def _begin(self) -> Iterator[Change]:
        """Its agent runs: the run that was intended, or one that was already under way."""
        yield from self._begin_task()
        if self.open_run() is None:
            yield self._add_run()
        run = self.open_run()
        if run is not None and run.state is RunState.INTENDED:
            yield _move_run(run, Trigger.STARTED)

    def _park_run(self) -> Iterator[Change]:
        if (run := self.open_run()) is None:
            return
        if run.state is RunState.INTENDED:
            yield _move_run(run, Trigger.STARTED)
        yield from self._end_run(Trigger.PARK)

    def _end_run(self, cause: Trigger) -> Iterator[Change]:
        if (run := self.open_run()) is not None:
            yield _move_run(run, cause)

    def _add_run(self) -> Add:
        pane, before = self.pane, self.last_run()
        attempts = self.store.one(ATTEMPTS, pane.task)
        row: dict[str, Value] = {
            "work": PANES,
            "task": pane.task,
            "attempt": attempts[0] + 1 if attempts else 1,
            "agent": pane.agent,
            "account": pane.account,
            "conversation": pane.id,
            "nonce": "",
            "resumes": before.id if before else None,
        }
        return Add("run", new_id("run"), RunState.INTENDED, row, Trigger.START)

    def _add_park(self, limit: limits.Park | None) -> Iterator[Change]:
        run = self.last_run()
        if limit is not None and run is not None:
            _row, add = add_park(PANES, run, limit)
            yield add

    def _end_park(self, cause: Trigger) -> Iterator[Change]:
        if (park := self.park()) is not None:
            to = PARK.target(ParkState.WAITING, cause)
            yield Move("park", park["id"], ParkState.WAITING, to, cause)


def _move_run(run: RunRow, cause: Trigger) -> Move:
    return Move("run", run.id, run.state, RUN.target(run.state, cause), cause, {}, run.version)


def park_for(pane: WatchedPane, at: datetime) -> limits.Park:
    """The wait of a pane for its limit until a time."""
    kind = pane.kind or "unknown"
    return limits.Park(kind, pane.resets_at, at, pane.evidence, refusals=pane.refusals)
