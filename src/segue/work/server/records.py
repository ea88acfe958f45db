"""Reading the server's tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from segue.core.serving import AgentState, Stage
from segue.store.changes import instant, stamp
from segue.store.sqlite import Store
from segue.work.server.rows import (
    AgentRow,
    GateRow,
    RunRow,
    TaskRow,
    agent_row,
    gate_row,
    run_row,
    task_row,
)

OPEN_RUNS = "('intended', 'running')"
USAGE = "coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0), sum(cost_usd)"

TRIES = (
    "WITH RECURSIVE tries (id) AS (VALUES (?) UNION SELECT t.id FROM server_tasks t"
    " JOIN tries ON t.retry_of = tries.id)"
    " SELECT t.* FROM server_tasks t JOIN tries ON t.id = tries.id ORDER BY t.created_at, t.rowid"
)


class Records:
    def __init__(self, store: Store) -> None:
        self.store = store

    def task(self, id: str) -> TaskRow | None:
        row = self.store.one("SELECT * FROM server_tasks WHERE id = ?", id)
        return task_row(row) if row else None

    def agent(self, id: str) -> AgentRow | None:
        row = self.store.one("SELECT * FROM server_agents WHERE id = ?", id)
        return agent_row(row) if row else None

    def agents(self, ids: Sequence[str]) -> dict[str, AgentRow]:
        """Several, in one go."""
        marks = ", ".join("?" * len(ids))
        rows = self.store.all(f"SELECT * FROM server_agents WHERE id IN ({marks})", *ids)  # noqa: S608
        return {row["id"]: agent_row(row) for row in rows}

    def gate(self, id: str) -> GateRow | None:
        row = self.store.one("SELECT * FROM server_gates WHERE id = ?", id)
        return gate_row(row) if row else None

    def pending_gates(self, task: str) -> list[GateRow]:
        sql = "SELECT * FROM server_gates WHERE task = ? AND state = 'pending' ORDER BY created_at"
        return [gate_row(row) for row in self.store.all(sql, task)]

    def gates(self, task: str) -> list[GateRow]:
        """All that people were asked for, in its order."""
        sql = "SELECT * FROM server_gates WHERE task = ? ORDER BY created_at, rowid"
        return [gate_row(row) for row in self.store.all(sql, task)]

    def rounds(self, task: str, phase: int) -> list[GateRow]:
        """The reviews of a phase, the first one first."""
        sql = "SELECT * FROM server_gates WHERE task = ? AND kind = 'review' AND phase = ?"
        return [gate_row(row) for row in self.store.all(f"{sql} ORDER BY round", task, phase)]

    def run(self, id: str) -> RunRow | None:
        row = self.store.one("SELECT * FROM server_runs WHERE id = ?", id)
        return run_row(row) if row else None

    def open_runs(self, task: str | None = None) -> list[RunRow]:
        sql = f"SELECT * FROM server_runs WHERE state IN {OPEN_RUNS}"  # noqa: S608 - names are ours
        if task is None:
            return [run_row(row) for row in self.store.all(f"{sql} ORDER BY created_at")]
        found = self.store.all(f"{sql} AND task = ? ORDER BY created_at", task)
        return [run_row(row) for row in found]

    def last_work(self, task: str) -> RunRow | None:
        """The newest run that worked on a task itself, not on checking it."""
        sql = "SELECT * FROM server_runs WHERE task = ? AND purpose = 'work'"
        row = self.store.one(f"{sql} ORDER BY created_at DESC, rowid DESC LIMIT 1", task)
        return run_row(row) if row else None

    def queue(self) -> list[tuple[str, int, datetime]]:
        """The tasks that wait for a slot: id, priority, since when."""
        sql = "SELECT id, priority, coalesce(submitted_at, created_at) FROM server_tasks"
        rows = self.store.all(f"{sql} WHERE state = ?", Stage.PENDING)
        return [(id, priority, instant(since)) for id, priority, since in rows]

    def at_work(self) -> list[str]:
        """The tasks whose agents run, or go on as soon as it is their turn."""
        sql = "SELECT id FROM server_agents WHERE state = ?"
        return [row["id"] for row in self.store.all(sql, AgentState.RUNNING)]

    def stands_for(self, id: str) -> TaskRow | None:
        """Who does now what a task was to do: itself, or one that tries it again."""
        found = self.task(id)
        if found is not None and found.state is Stage.COMPLETED:
            return found
        return newest(self.tries(id))

    def tries(self, id: str) -> list[TaskRow]:
        """A task and all that try it again, the newest last."""
        return [task_row(row) for row in self.store.all(TRIES, id)]

    def unfinished(self, ids: Iterable[str]) -> list[str]:
        """Which tasks are waited for by one that depends on these: whoever stands for each, until
        that is completed. One that is gone never will be."""
        standing = {id: self.stands_for(id) for id in ids}
        waited_for = {
            id if task is None else task.id: None
            for id, task in standing.items()
            if task is None or task.state is not Stage.COMPLETED
        }
        return list(waited_for)

    def usage(self, task: str) -> dict[str, Any]:
        row = self.store.one(f"SELECT {USAGE} FROM server_runs WHERE task = ?", task)  # noqa: S608
        read, written, cost = tuple(row) if row else (0, 0, None)
        return {"inputTokens": read, "outputTokens": written, "costUsd": cost}

    def usages(self, tasks: Sequence[str]) -> dict[str, dict[str, Any]]:
        """The same for several, in one go."""
        marks = ", ".join("?" * len(tasks))
        sql = f"SELECT task, {USAGE} FROM server_runs WHERE task IN ({marks}) GROUP BY task"  # noqa: S608
        found = {task: {"inputTokens": 0, "outputTokens": 0, "costUsd": None} for task in tasks}
        for task, read, written, cost in self.store.all(sql, *tasks):
            found[task] = {"inputTokens": read, "outputTokens": written, "costUsd": cost}
        return found

    def settings(self) -> dict[str, Any]:
        """What was changed while it ran."""
        rows = self.store.all("SELECT key, value FROM server_settings")
        return {row["key"]: json.loads(row["value"]) for row in rows}

    def due(self, now: datetime) -> list[dict[str, Any]]:
        rows = self.store.all("SELECT * FROM server_timers WHERE at <= ? ORDER BY at", stamp(now))
        return [dict(row) for row in rows]

    def next_due(self) -> str | None:
        row = self.store.one("SELECT min(at) FROM server_timers")
        return row[0] if row else None


def newest(tries: Sequence[TaskRow]) -> TaskRow | None:
    """Of several tries at the same the one that counts: one that is completed; else the newest
    that has not failed; else the newest. None where all of them are gone."""
    done = [task for task in tries if task.state is Stage.COMPLETED]
    open_ones = [task for task in tries if task.state is not Stage.FAILED]
    return next(iter((*reversed(done), *reversed(open_ones), *reversed(tries))), None)
