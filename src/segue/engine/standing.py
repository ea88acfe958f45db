"""How one piece of work stands, and what the memory of a project knows of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from segue.core.machines import PlanState, RunState
from segue.core.plan import Task
from segue.drivers.living import LivingAgent, living_agents
from segue.engine.gates import PENDING
from segue.engine.locks import lock_path
from segue.engine.question_texts import asked_about, in_words
from segue.engine.records import PARKS
from segue.engine.run_files import Folders
from segue.store import lock, usage
from segue.store.rows import IS_OPEN, LAST_RUN, OPEN_RUNS
from segue.store.sqlite import Store
from segue.store.usage import Usage


@dataclass(frozen=True, slots=True)
class Standing:
    """How one plan stands."""

    path: Path
    kind: str
    state: PlanState
    counts: dict[str, int]
    parks: list[dict[str, Any]] = field(default_factory=list)
    gates: list[dict[str, Any]] = field(default_factory=list)
    usage: Usage = field(default_factory=usage.nothing)
    usage_by_task: dict[str, Usage] = field(default_factory=dict)
    failed: list[dict[str, Any]] = field(default_factory=list)
    in_progress: list[str] = field(default_factory=list)  # by its marks: at work, or half done
    running: list[str] = field(default_factory=list)  # living agents work on these now
    runs: list[dict[str, Any]] = field(default_factory=list)  # since when, and their last words
    goes_on: list[str] = field(default_factory=list)  # of these: in its conversation, if cut off
    holder: lock.Holder | None = None
    problem: str | None = None
    is_known: bool = False  # Segue has run it before
    go_on: str = ""  # the command for it, if that is not `segue run`

    @property
    def is_interrupted(self) -> bool:
        """There is something to continue, and no process runs it."""
        return self.holder is None and self.state in {
            PlanState.INTERRUPTED,
            PlanState.PARKED,
            PlanState.WAITING,
            PlanState.FAILED,
        }

    def to_json(self) -> dict[str, Any]:
        return {
            "path": str(self.path),
            "kind": self.kind,
            "state": self.state,
            "counts": self.counts,
            "parks": self.parks,
            "gates": self.gates,
            "usage": self.usage,
            "usage_by_task": self.usage_by_task,
            "failed": self.failed,
            "running": self.running,
            "runs": self.runs,
            "holder": None if self.holder is None else self.holder.pid,
            "problem": self.problem,
        }


@dataclass(slots=True)
class Known:
    """What the memory of a project knows of its plans. `said`: the last words of a run's agent."""

    project: Folders
    store: Store | None
    rows: dict[str, dict[str, Any]]
    said: Callable[[str, str], str | None]
    found_alive: list[LivingAgent] | None = None

    @classmethod
    def of(
        cls, project: Folders, said: Callable[[str, str], str | None] = lambda run, agent: None
    ) -> Known:
        store = Store.open_readonly(project.database)
        rows = store.all("SELECT * FROM works") if store else []
        return cls(project, store, {row["path"]: dict(row) for row in rows}, said)

    def close(self) -> None:
        if self.store:
            self.store.close()

    def has(self, path: Path) -> bool:
        return str(path) in self.rows

    def holder(self, path: Path) -> lock.Holder | None:
        return lock.holder(lock_path(self.project, path))

    def waits(self, path: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Its parks and its open gates."""
        row = self.rows.get(str(path))
        if self.store is None or row is None:
            return [], []
        parks = [*parks_of(self.store, row["id"]), *json.loads(row["held"] or "[]")]
        return parks, gates_of(self.store, row["id"])

    def skipped(self, path: Path) -> set[str]:
        """The tasks of a plan that the tables say are skipped."""
        row = self.rows.get(str(path))
        if self.store is None or row is None:
            return set()
        sql = "SELECT key FROM tasks WHERE work = ? AND state = 'skipped'"
        return {task["key"] for task in self.store.all(sql, row["id"])}

    def living(self, plan: str = "") -> list[str]:
        """Tasks of a plan (or of the server) whose agents live, whatever is remembered of them."""
        if self.found_alive is None:
            self.found_alive = living_agents(str(self.project.root))
        ours = [one for one in self.found_alive if one.says("SEGUE_PLAN") == plan]
        return list(dict.fromkeys(one.says("SEGUE_TASK") for one in ours))

    def at_work(self, path: Path) -> list[str]:
        """The tasks of whose agents the owner has not yet seen the end; without an owner those
        whose agents live on."""
        if self.holder(path) is None:
            return self.living(str(path))
        row = self.rows.get(str(path))
        if self.store is None or row is None:
            return []
        sql = f"SELECT task FROM runs WHERE work = ? AND {IS_OPEN} ORDER BY created_at"  # noqa: S608
        found = self.store.all(sql, row["id"])
        return list(dict.fromkeys(one["task"].removeprefix(f"{row['id']}/") for one in found))

    def runs(self, path: Path, tasks: Iterable[str]) -> list[dict[str, Any]]:
        """Since when these tasks are worked on, and what was last said."""
        row = self.rows.get(str(path))
        if self.store is None or row is None:
            return []
        found = [(task, self.store.one(LAST_RUN, f"{row['id']}/{task}")) for task in tasks]
        return [
            {
                "task": task,
                "since": run["created_at"],
                "agent": run["agent"],
                "said": self.said(run["id"], run["agent"]),
            }
            for task, run in found
            if run is not None
        ]

    def goes_on(self, path: Path, tasks: Iterable[Task]) -> list[str]:
        """Those that would continue the conversation in which they were interrupted."""
        row = self.rows.get(str(path))
        if self.store is None or row is None:
            return []
        found = []
        for task in tasks:
            last = self.store.one(LAST_RUN, f"{row['id']}/{task.id}")
            if last and last["resume_id"] and last["state"] in (*OPEN_RUNS, RunState.CUT_OFF):
                found.append(task.id)
        return found

    def usage(self, path: Path) -> Usage:
        row = self.rows.get(str(path))
        return usage.of_plan(self.store, row["id"]) if self.store and row else usage.nothing()

    def usage_by_task(self, path: Path) -> dict[str, Usage]:
        row = self.rows.get(str(path))
        return usage.by_task(self.store, row["id"]) if self.store and row else {}


def parks_of(store: Store, work: str) -> list[dict[str, Any]]:
    """What waits for a time, as `status --json` shows it."""
    return [
        {
            "task": row["task"].removeprefix(f"{work}/"),
            "account": row["account"],
            "kind": row["kind"],
            "resets_at": row["resets_at"],
            "wakes_at": row["wakes_at"],
        }
        for row in store.all(f"{PARKS} ORDER BY wakes_at", work)
    ]


def gates_of(store: Store, work: str) -> list[dict[str, Any]]:
    """What waits for a person, as `status --json` shows it."""
    return [
        {
            "id": row["id"],
            "kind": row["kind"],
            "task": (row["task"] or "").removeprefix(f"{work}/") or asked_about(_about(row)),
            "text": in_words(row["category"], _about(row), row["text"]),
            "options": json.loads(row["options"]),
            "default": row["preset"],
            "category": row["category"],
            "deadline": row["deadline"],
            "since": row["created_at"],
        }
        for row in store.all(PENDING, work)
    ]


def _about(row: Any) -> dict[str, Any]:
    """What a question is about: with the checkpoint of a feature's own."""
    about: dict[str, Any] = json.loads(row["about"]) if row["about"] else {}
    return about
