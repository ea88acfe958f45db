"""What happened since a time, from the tables: what is done with its evidence, what failed and why,
what waits, limits and the time they cost, usage, commits. Reading changes nothing."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from segue.core.limits import MANUAL
from segue.core.plan import TaskState
from segue.engine.question_texts import in_words
from segue.store.changes import instant, stamp
from segue.store.sqlite import Store
from segue.work.project import Project
from segue.work.report.commits import Commit, commits_since

Json = dict[str, Any]
WORKS = "SELECT id, kind, path, state FROM works ORDER BY created_at, rowid"
TASKS = "SELECT id, key, title, state, error, updated_at FROM tasks WHERE work = ?"
RUNS = (
    "SELECT id, task, role, agent, account, attempt, state, error, input_tokens, output_tokens,"
    " cost_usd, created_at, updated_at FROM runs WHERE work = ? AND updated_at >= ?"
    " ORDER BY created_at, rowid"
)
PARKS = (
    "SELECT task, account, kind, state, wakes_at, created_at, updated_at FROM parks"
    " WHERE work = ? AND (updated_at >= ? OR state = 'waiting') ORDER BY created_at, rowid"
)
GATES = (
    "SELECT id, task, kind, category, about, text, answer, state, created_at, settled_at FROM gates"
    " WHERE work = ? AND (state = 'pending' OR settled_at >= ?) ORDER BY created_at, rowid"
)
OPEN = ("intended", "running", "verifying", "merging")


@dataclass(frozen=True, slots=True)
class Span:
    """What a task did for a while: `run`, `check`, `park` (a limit), `gate` (a person)."""

    what: str
    begin: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Row:
    """A task in the picture of the night."""

    name: str
    title: str
    spans: tuple[Span, ...]


@dataclass(slots=True)
class Used:
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None

    def add(self, run: sqlite3.Row) -> None:
        self.input_tokens += run["input_tokens"] or 0
        self.output_tokens += run["output_tokens"] or 0
        if run["cost_usd"] is not None:
            self.cost_usd = round((self.cost_usd or 0.0) + run["cost_usd"], 6)


@dataclass(slots=True)
class WorkReport:
    """One work. Done, failed and waiting are what happened to its tasks, as JSON has it."""

    kind: str
    path: str
    state: str
    done: list[Json] = field(default_factory=list)
    failed: list[Json] = field(default_factory=list)
    skipped: list[Json] = field(default_factory=list)
    waiting: list[Json] = field(default_factory=list)
    answered: list[Json] = field(default_factory=list)
    limits: list[Json] = field(default_factory=list)
    used: Used = field(default_factory=Used)
    rows: list[Row] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not (
            self.done or self.failed or self.skipped or self.waiting or self.limits or self.rows
        )


@dataclass(slots=True)
class Report:
    since: datetime
    until: datetime
    works: list[WorkReport] = field(default_factory=list)
    by_agent: dict[str, Used] = field(default_factory=dict)
    by_account: dict[str, Json] = field(default_factory=dict)  # limits: count, seconds
    costs: list[tuple[datetime, float]] = field(default_factory=list)  # each run at its end
    commits: list[Commit] = field(default_factory=list)  # the riskiest first

    @property
    def used(self) -> Used:
        total = Used()
        for work in self.works:
            total.input_tokens += work.used.input_tokens
            total.output_tokens += work.used.output_tokens
            if work.used.cost_usd is not None:
                total.cost_usd = round((total.cost_usd or 0.0) + work.used.cost_usd, 6)
        return total

    def count(self, what: str) -> int:
        return sum(len(getattr(work, what)) for work in self.works)

    @property
    def lost_s(self) -> float:
        """The time for which tasks waited for limits, one after the other."""
        return float(round(sum(each["seconds"] for each in self.by_account.values()), 1))

    def to_json(self) -> Json:
        return {
            "since": stamp(self.since),
            "until": stamp(self.until),
            "works": [
                {
                    "kind": work.kind,
                    "path": work.path,
                    "state": work.state,
                    "done": work.done,
                    "failed": work.failed,
                    "skipped": work.skipped,
                    "waiting": work.waiting,
                    "answered": work.answered,
                    "limits": work.limits,
                    "usage": asdict(work.used),
                }
                for work in self.works
            ],
            "limits": {
                "count": self.count("limits"),
                "seconds": self.lost_s,
                "by_account": [{"account": n, **each} for n, each in self.by_account.items()],
            },
            "usage": asdict(self.used),
            "by_agent": [{"agent": n, **asdict(used)} for n, used in self.by_agent.items()],
            "commits": [commit.to_json() for commit in self.commits],
        }


def gather(project: Project, since: datetime, now: datetime) -> Report:
    report = Report(since, now, commits=commits_since(project.root, since))
    store = Store.open_readonly(project.database)
    if store is None:
        return report
    try:
        with store.reading():
            for row in store.all(WORKS):
                work = _Work(store, row, project, report).read()
                if not work.is_empty:
                    report.works.append(work)
    finally:
        store.close()
    return report


class _Work:
    """Reads one work into a report."""

    def __init__(self, store: Store, row: sqlite3.Row, project: Project, report: Report) -> None:
        self._store, self._project, self._report = store, project, report
        self._id = str(row["id"])
        self._since = stamp(report.since)
        shown = project.relative(Path(row["path"]))
        self._work = WorkReport(str(row["kind"]), shown, str(row["state"]))
        self._spans: dict[str, list[Span]] = defaultdict(list)

    def read(self) -> WorkReport:
        tasks = {row["id"]: row for row in self._store.all(TASKS, self._id)}
        runs: dict[str, list[sqlite3.Row]] = defaultdict(list)
        for run in self._store.all(RUNS, self._id, self._since):
            runs[run["task"]].append(run)
            self._count(run)
        for park in self._store.all(PARKS, self._id, self._since):
            self._park(park, tasks)
        for gate in self._store.all(GATES, self._id, self._since):
            self._gate(gate, tasks)
        for id, task in tasks.items():
            if task["updated_at"] >= self._since:
                self._task(task, runs.get(id, []))
        for id, spans in self._spans.items():
            if id in tasks:
                ordered = tuple(sorted(spans, key=lambda span: span.begin))
                self._work.rows.append(Row(tasks[id]["key"], tasks[id]["title"], ordered))
        self._work.rows.sort(key=lambda row: row.spans[0].begin)
        return self._work

    def _span(self, task: str, what: str, begin: str, end: str | None) -> None:
        first = max(instant(begin), self._report.since)
        last = self._report.until if end is None else instant(end)
        if last > self._report.since:
            self._spans[task].append(Span(what, first, max(first, last)))

    def _count(self, run: sqlite3.Row) -> None:
        is_open = run["state"] in OPEN
        what = "check" if run["role"] != "work" else "run"
        self._span(run["task"], what, run["created_at"], None if is_open else run["updated_at"])
        self._work.used.add(run)
        self._report.by_agent.setdefault(run["agent"], Used()).add(run)
        if run["cost_usd"]:
            self._report.costs.append((instant(run["updated_at"]), run["cost_usd"]))

    def _park(self, park: sqlite3.Row, tasks: Mapping[str, sqlite3.Row]) -> None:
        is_over = park["state"] != "waiting"
        end = park["updated_at"] if is_over else None
        self._span(park["task"], "park", park["created_at"], end)
        begin = max(instant(park["created_at"]), self._report.since)
        last = instant(end) if end else self._report.until
        seconds = round(max(0.0, (last - begin).total_seconds()), 1)
        limit = {
            "task": _key(tasks, park["task"]),
            "account": park["account"],
            "kind": park["kind"],
            "from": park["created_at"],
            "until": end or park["wakes_at"],
            "seconds": seconds,
            "is_over": is_over,
        }
        self._work.limits.append(limit)
        if park["kind"] == MANUAL:
            return
        known = self._report.by_account.setdefault(park["account"], {"count": 0, "seconds": 0.0})
        known["count"] += 1
        known["seconds"] = round(known["seconds"] + seconds, 1)

    def _gate(self, gate: sqlite3.Row, tasks: Mapping[str, sqlite3.Row]) -> None:
        about = json.loads(gate["about"]) if gate["about"] else {}
        told = {
            "id": gate["id"],
            "kind": gate["kind"],
            "task": _key(tasks, gate["task"]),
            "text": in_words(gate["category"], about, gate["text"]),
            "since": gate["created_at"],
        }
        if gate["task"]:
            self._span(gate["task"], "gate", gate["created_at"], gate["settled_at"])
        if gate["state"] == "pending":
            self._work.waiting.append(told)
        elif gate["answer"] is not None:
            self._work.answered.append({**told, "answer": gate["answer"], "at": gate["settled_at"]})

    def _task(self, task: sqlite3.Row, runs: Iterable[sqlite3.Row]) -> None:
        runs = list(runs)
        used = Used()
        for run in runs:
            used.add(run)
        works = [run for run in runs if run["role"] == "work"]
        told: Json = {
            "task": task["key"],
            "title": task["title"],
            "at": task["updated_at"],
            "attempts": max((run["attempt"] for run in works), default=0),
            "usage": asdict(used),
        }
        match task["state"]:
            case TaskState.COMPLETED:
                seconds = sum(_seconds(run) for run in works)
                evidence = self._evidence(runs[-1]["id"]) if runs else None
                self._work.done.append({**told, "seconds": seconds, "evidence": evidence})
            case TaskState.FAILED:
                log = self._log(works[-1]["id"]) if works else None
                self._work.failed.append({**told, "error": task["error"], "log": log})
            case TaskState.SKIPPED:
                self._work.skipped.append(told)

    def _evidence(self, run: str) -> Json | None:
        """What Segue checked itself; None where nothing was checked."""
        try:
            known = json.loads((self._project.evidence / f"{run}.json").read_bytes())
            return {key: known[key] for key in ("command", "exit_code", "at")}
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _log(self, run: str) -> str | None:
        path = self._project.logs / f"{run}.log"
        return self._project.relative(path) if path.exists() else None


def _key(tasks: Mapping[str, sqlite3.Row], id: str | None) -> str | None:
    task = tasks.get(id) if id else None
    return task["key"] if task is not None else None


def _seconds(run: sqlite3.Row) -> float:
    took = instant(run["updated_at"]) - instant(run["created_at"])
    return round(took.total_seconds(), 3)
