"""Reading the server's tables."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from segue.core.limits import holds_account
from segue.core.plan import TaskState
from segue.core.serving import AgentState
from segue.engine import records
from segue.engine.records import PARKS, T
from segue.store.changes import instant, stamp
from segue.store.rows import (
    PHASE_TASKS,
    PHASE_TASKS_SHORT,
    SERVER,
    AgentRow,
    GateRow,
    ParkRow,
    PhaseTaskRow,
    RunRow,
    park_row,
)
from segue.store.sqlite import Store
from segue.work.phases.damaged_rows import (
    IntactRows,
    agent_row,
    by_name,
    checked,
    gate_row,
    phase_task_row,
    run_row,
)

USAGE = "coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0), sum(cost_usd)"

TASK = f"SELECT * FROM {PHASE_TASKS} WHERE t.id = ?"  # noqa: S608
TRIES = (
    "WITH RECURSIVE tries (id) AS (VALUES (?) UNION SELECT p.task FROM phase_tasks p"  # noqa: S608
    " JOIN tries ON p.retry_of = tries.id)"
    f" SELECT t.*, p.* FROM tries CROSS JOIN {PHASE_TASKS} WHERE t.id = tries.id"
    " ORDER BY t.created_at, t.rowid"
)
QUEUE = (
    f"SELECT t.id, p.priority, coalesce(p.submitted_at, t.created_at) FROM {PHASE_TASKS_SHORT}"  # noqa: S608
    f" WHERE t.work = '{SERVER}' AND t.state = 'pending'"
)


class Records(records.Records):
    """Of the server's work: a damaged row is an error that names it; lists leave it out."""

    run_row = staticmethod(run_row)
    gate_row = staticmethod(gate_row)

    def __init__(self, store: Store) -> None:
        super().__init__(store, SERVER)
        self.whole = IntactRows()
        self._counted: dict[tuple[object, ...], int] = {}
        self._counted_in: tuple[int, int] | None = None

    def task(self, id: str) -> PhaseTaskRow | None:
        row = self.store.one(TASK, id)
        return phase_task_row(row) if row else None

    def count(self, sql: str, *values: object) -> int:
        """What a query counts; asked once until something changes, for lists are read page after
        page."""
        if (now := self.store.generation) != self._counted_in:
            self._counted.clear()
            self._counted_in = now
        key = (sql, *values)
        if key not in self._counted:
            row = self.store.one(sql, *values)
            self._counted[key] = int(row[0]) if row else 0
        return self._counted[key]

    def agent(self, id: str) -> AgentRow | None:
        row = self.store.one("SELECT * FROM agents WHERE id = ?", id)
        return agent_row(row) if row else None

    def agents(self, ids: Sequence[str]) -> dict[str, AgentRow]:
        """Several, in one go."""
        marks = ", ".join("?" * len(ids))
        rows = self.store.all(f"SELECT * FROM agents WHERE id IN ({marks})", *ids)  # noqa: S608
        return {row.id: row for row in self.whole.of(agent_row, by_name(rows))}

    def gate(self, id: str) -> GateRow | None:
        row = self.store.one("SELECT * FROM gates WHERE id = ?", id)
        return gate_row(row) if row else None

    def _all(self, make: Callable[[sqlite3.Row], T], found: Iterable[sqlite3.Row]) -> list[T]:
        return self.whole.of(make, found)

    def gates_of(self, task: str) -> list[GateRow]:
        """What waits for a person about one task."""
        sql = "SELECT * FROM gates WHERE task = ? AND state = 'pending' ORDER BY created_at"
        return self.whole.of(gate_row, self.store.all(sql, task))

    def gates(self, task: str) -> list[GateRow]:
        """All that people were asked for, in its order."""
        sql = "SELECT * FROM gates WHERE task = ? ORDER BY created_at, rowid"
        return self.whole.of(gate_row, self.store.all(sql, task))

    def rounds(self, task: str, phase: int) -> list[GateRow]:
        """The reviews of a phase, the first one first."""
        sql = "SELECT * FROM gates WHERE task = ? AND kind = 'review' AND phase = ?"
        return self.whole.of(gate_row, self.store.all(f"{sql} ORDER BY round", task, phase))

    def last_work(self, task: str) -> RunRow | None:
        """The newest run that worked on a task itself, not on checking it."""
        sql = "SELECT * FROM runs WHERE task = ? AND role = 'work'"
        row = self.store.one(f"{sql} ORDER BY created_at DESC, rowid DESC LIMIT 1", task)
        return run_row(row) if row else None

    def last_works(self, task: str, most: int) -> list[RunRow]:
        """The newest runs that worked on a task, the newest first."""
        sql = "SELECT * FROM runs WHERE task = ? AND role = 'work'"
        rows = self.store.all(f"{sql} ORDER BY created_at DESC, rowid DESC LIMIT ?", task, most)
        return [run_row(row) for row in rows]

    def park_of(self, task: str) -> ParkRow | None:
        row = self.store.one(f"{PARKS} AND task = ?", SERVER, task)
        return park_row(row, 0) if row else None

    def windows(self, task: str) -> int:
        """How many limits of its account a task has waited through."""
        sql = "SELECT kind FROM parks WHERE task = ? AND state = 'woken'"
        return sum(holds_account(row["kind"]) for row in self.store.all(sql, task))

    def queue(self) -> list[tuple[str, int, datetime]]:
        """The tasks that wait for a slot: id, priority, since when."""
        return self.whole.of(_queued, self.store.all(QUEUE))

    def at_work(self) -> list[str]:
        """The tasks whose agents run, or continue as soon as it is their turn."""
        sql = "SELECT id FROM agents WHERE state = ?"
        return [row["id"] for row in self.store.all(sql, AgentState.RUNNING)]

    def stands_for(self, id: str) -> PhaseTaskRow | None:
        """Who does now what a task was to do: itself, or one that tries it again."""
        found = self.task(id)
        if found is not None and found.state is TaskState.COMPLETED:
            return found
        return newest(self.tries(id))

    def tries(self, id: str) -> list[PhaseTaskRow]:
        """A task and all that try it again, the newest last."""
        return self.whole.of(phase_task_row, self.store.all(TRIES, id))

    def unfinished(self, ids: Collection[str]) -> list[str]:
        """For which tasks one that depends on these waits: the one that stands for each, until
        that is completed. One that is gone never will be."""
        if not ids:
            return []
        standing = {id: self.stands_for(id) for id in ids}
        waited_for = {
            id if task is None else task.id: None
            for id, task in standing.items()
            if task is None or task.state is not TaskState.COMPLETED
        }
        return list(waited_for)

    def usage(self, task: str) -> dict[str, Any]:
        row = self.store.one(f"SELECT {USAGE} FROM runs WHERE task = ?", task)  # noqa: S608
        read, written, cost = tuple(row) if row else (0, 0, None)
        return {"inputTokens": read, "outputTokens": written, "costUsd": cost}

    def usages(self, tasks: Sequence[str]) -> dict[str, dict[str, Any]]:
        """The same for several, in one go."""
        marks = ", ".join("?" * len(tasks))
        sql = f"SELECT task, {USAGE} FROM runs WHERE task IN ({marks}) GROUP BY task"  # noqa: S608
        found = {task: {"inputTokens": 0, "outputTokens": 0, "costUsd": None} for task in tasks}
        for task, read, written, cost in self.store.all(sql, *tasks):
            found[task] = {"inputTokens": read, "outputTokens": written, "costUsd": cost}
        return found

    def settings(self) -> dict[str, Any]:
        """What was changed while it ran."""
        rows = self.store.all("SELECT key, value FROM settings")
        return dict(self.whole.of(_setting, rows))

    def due(self, now: datetime) -> list[dict[str, Any]]:
        sql = "SELECT * FROM timers WHERE work = ? AND at <= ? ORDER BY at"
        return [dict(row) for row in self.store.all(sql, SERVER, stamp(now))]


def _read_queued(row: sqlite3.Row) -> tuple[str, int, datetime]:
    id, priority, since = row
    return id, int(priority), instant(since)


def _read_setting(row: sqlite3.Row) -> tuple[str, Any]:
    return row["key"], json.loads(row["value"])


_queued = checked("tasks", _read_queued)
_setting = checked("settings", _read_setting, "key")


def newest(tries: Sequence[PhaseTaskRow]) -> PhaseTaskRow | None:
    """Of several tries at the same the one that counts: one that is completed; else the newest
    that has not failed; else the newest. None where all of them are gone."""
    done = [task for task in tries if task.state is TaskState.COMPLETED]
    open_ones = [task for task in tries if task.state is not TaskState.FAILED]
    return next(iter((*reversed(done), *reversed(open_ones), *reversed(tries))), None)
