"""The rows of one work, read as values: the same reads for every kind of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from typing import TypeVar

from segue.dialects.events import Used
from segue.engine.gates import PENDING
from segue.store import rows, usage
from segue.store.rows import IS_OPEN, LAST_RUN, GateRow, ParkRow, RunRow
from segue.store.sqlite import Store

T = TypeVar("T")
OPEN = f"SELECT * FROM runs WHERE work = ? AND {IS_OPEN}"  # noqa: S608 - names are ours
PARKS = f"SELECT {rows.PARK} FROM parks WHERE work = ? AND state = 'waiting'"  # noqa: S608
ANSWERED = "SELECT * FROM gates WHERE task = ? AND category = ? AND answer IS NOT NULL"


class Records:
    """`work`: its id. A kind may read rows with more care (`run_row`, `gate_row`, `_all`)."""

    run_row: Callable[[sqlite3.Row], RunRow] = staticmethod(rows.run_row)
    gate_row: Callable[[sqlite3.Row], GateRow] = staticmethod(rows.gate_row)

    def __init__(self, store: Store, work: str) -> None:
        self.store = store
        self.work = work

    def _all(self, make: Callable[[sqlite3.Row], T], found: Iterable[sqlite3.Row]) -> list[T]:
        return [make(row) for row in found]

    def task_id(self, task: str) -> str:
        """Its id among the tasks of all works."""
        return task

    def run(self, id: str) -> RunRow | None:
        row = self.store.one("SELECT * FROM runs WHERE id = ?", id)
        return self.run_row(row) if row else None

    def last_run(self, task: str) -> RunRow | None:
        """The newest run of a task."""
        row = self.store.one(LAST_RUN, self.task_id(task))
        return self.run_row(row) if row else None

    def open_runs(self, task: str | None = None) -> list[RunRow]:
        if task is None:
            found = self.store.all(f"{OPEN} ORDER BY created_at", self.work)
        else:
            sql = f"{OPEN} AND task = ? ORDER BY created_at"
            found = self.store.all(sql, self.work, self.task_id(task))
        return self._all(self.run_row, found)

    def waiting_parks(self) -> list[ParkRow]:
        """All that waits for the end of a limit, the next one first."""
        prefix = len(self.task_id(""))
        found = self.store.all(f"{PARKS} ORDER BY wakes_at", self.work)
        return [rows.park_row(row, prefix) for row in found]

    def pending_gates(self) -> list[GateRow]:
        """All that waits for a person, the oldest first."""
        return self._all(self.gate_row, self.store.all(PENDING, self.work))

    def answered_gates(self, task: str, category: str) -> list[GateRow]:
        """What people said about such questions of a task, the newest answer last."""
        sql = f"{ANSWERED} ORDER BY created_at"
        return [self.gate_row(row) for row in self.store.all(sql, self.task_id(task), category)]

    def usage_before(self, run: RunRow) -> Used:
        """What the conversation of a run had used before it."""
        return Used(**usage.of_conversation(self.store, run.resume_id or "", but=run.id))
