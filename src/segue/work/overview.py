"""Where everything stands under a folder, found from the tables and the files alone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from segue.core.machines import AccountState, GateState, ParkState, PlanState, RunState
from segue.core.plan import MARKS, Resume, Task, TaskState
from segue.core.standing import WorkFacts, state_of
from segue.drivers.living import LivingAgent, living_agents
from segue.engine.question_texts import in_words
from segue.i18n import _
from segue.plans.check import check
from segue.plans.tasklist import Document
from segue.store import lock, usage
from segue.store.rows import IS_OPEN, OPEN_RUNS
from segue.store.sqlite import Store, has_lost_commits
from segue.store.usage import Usage
from segue.work.last_words import last_words
from segue.work.locks import lock_path
from segue.work.project import MEMORY, Project

FOLDERS_MAX = 2_000
NOT_LOOKED_INTO = frozenset({".git", "node_modules", ".venv", "venv", "__pycache__", MEMORY})
BOOK = ("book.toml", "meta/ralph-state.json")  # either makes a folder a book
OF_A_BOOK = frozenset({"chapters", "meta"})  # in it: text, no plans
UNDER_WAY = frozenset({TaskState.PENDING, TaskState.IN_PROGRESS})
PLAN_BYTES_MAX = 16 * 1024 * 1024


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
        """There is something to go on with, and nobody is at it."""
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
    """What the memory of a project knows of its plans."""

    project: Project
    store: Store | None
    rows: dict[str, dict[str, Any]]
    found_alive: list[LivingAgent] | None = None

    @classmethod
    def of(cls, project: Project) -> Known:
        store = Store.open_readonly(project.database)
        rows = store.all("SELECT * FROM works") if store else []
        return cls(project, store, {row["path"]: dict(row) for row in rows})

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
        parks, gates = _waits(self.store, row["id"])
        return [*parks, *json.loads(row["held"] or "[]")], gates

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
        sql = "SELECT * FROM runs WHERE task = ? ORDER BY created_at DESC, rowid DESC LIMIT 1"
        found = [(task, self.store.one(sql, f"{row['id']}/{task}")) for task in tasks]
        return [
            {
                "task": task,
                "since": run["created_at"],
                "agent": run["agent"],
                "said": last_words(self.project, run["id"], run["agent"]),
            }
            for task, run in found
            if run is not None
        ]

    def goes_on(self, path: Path, tasks: Iterable[Task]) -> list[str]:
        """Those that would go on in the conversation in which they were cut off."""
        row = self.rows.get(str(path))
        if self.store is None or row is None:
            return []
        sql = "SELECT * FROM runs WHERE task = ? ORDER BY created_at DESC, rowid DESC LIMIT 1"
        found = []
        for task in tasks:
            last = self.store.one(sql, f"{row['id']}/{task.id}")
            if last and last["resume_id"] and last["state"] in (*OPEN_RUNS, RunState.CUT_OFF):
                found.append(task.id)
        return found

    def usage(self, path: Path) -> Usage:
        row = self.rows.get(str(path))
        return usage.of_plan(self.store, row["id"]) if self.store and row else usage.nothing()

    def usage_by_task(self, path: Path) -> dict[str, Usage]:
        row = self.rows.get(str(path))
        return usage.by_task(self.store, row["id"]) if self.store and row else {}


Looker = Callable[[Path, Known], Standing]


def _book(path: Path, known: Known) -> Standing:
    from segue.work.book.standing import standing  # noqa: PLC0415 - most folders have none

    return standing(path, known)


def _feature(path: Path, known: Known) -> Standing:
    from segue.work.feature.standing import standing  # noqa: PLC0415 - most folders have none

    return standing(path, known)


def _in_memory(known: Known) -> list[Standing]:
    """Tasks of the server, and panes that are watched: they have no file of their own."""
    if known.store is None:
        return []
    sql = "SELECT EXISTS (SELECT 1 FROM phase_tasks) OR EXISTS (SELECT 1 FROM panes)"
    row = known.store.one(sql)
    if row is None or not row[0]:
        return []
    from segue.work.panes.standing import panes  # noqa: PLC0415
    from segue.work.phases import standing  # noqa: PLC0415 - few projects have any

    return [one for one in (standing.tasks(known), panes(known)) if one is not None]


# What makes a folder one of these, and who looks at it
IN_FOLDERS: tuple[tuple[tuple[str, ...], Looker], ...] = (
    (BOOK, _book),
    ((".develop-workflow/state.yaml",), _feature),
)


def look(path: Path) -> list[Standing]:
    """Every plan of the project around this path (or the plan itself)."""
    path = path.resolve()
    part = part_of(path)
    project = Project.containing(part[0] if part else path)
    known = {project.root: Known.of(project)}
    try:
        here = known[project.root]
        if part:
            return [part[1](part[0], here)]
        if path.is_file():
            return [_standing(path, here)]
        found = [_standing(plan, here) for plan in _plans(path, project, here.rows)]
        for folder, _entries in _folders_below(path):
            for marks, looker in IN_FOLDERS:
                if any((folder / mark).exists() for mark in marks):
                    around = Project.containing(folder)
                    if around.root not in known:
                        known[around.root] = Known.of(around)
                    found.append(looker(folder, known[around.root]))
        return [*found, *_in_memory(here)] if path == project.root else found
    finally:
        for one in known.values():
            one.close()


def part_of(path: Path) -> tuple[Path, Looker] | None:
    """The folder of the book or the feature that a path in it stands for: `book.toml`, `meta`,
    `.develop-workflow/state.yaml`; and who looks at it."""
    for marks, looker in IN_FOLDERS:
        for part in (part for mark in marks for part in (Path(mark), *Path(mark).parents)):
            size = len(part.parts)
            if not size or path.parts[-size:] != part.parts:
                continue
            folder = path.parents[size - 1]
            if any((folder / mark).exists() for mark in marks):
                return folder, looker
    return None


def to_json(path: Path) -> dict[str, Any]:
    """The whole answer of `segue status --json`, and of the MCP tool of that name."""
    answer: dict[str, Any] = {"plans": [standing.to_json() for standing in look(path)]}
    if known := accounts(path):
        answer["accounts"] = known
    if lost := damage(path):
        answer["damage"] = lost
    return answer


def damage(path: Path) -> dict[str, str] | None:
    """What was lost of the memory of the project around this path: `file` and `message`."""
    database = _database(path)
    if not has_lost_commits(database):
        return None
    text = _(
        "Segue's memory is damaged ({file}): its newest records are lost; the next run continues"
        " from the plan's files"
    )
    log = f"{database}-wal"
    return {"file": log, "message": text.format(file=log)}


def _database(path: Path) -> Path:
    path = path.resolve()
    part = part_of(path)
    return Project.containing(part[0] if part else path).database


def accounts(path: Path) -> list[dict[str, Any]]:
    """What the accounts of the project around this path have used, and which are parked."""
    store = Store.open_readonly(_database(path))
    if store is None:
        return []
    try:
        used = usage.by_account(store)
        rows = {row["id"]: row for row in store.all("SELECT * FROM accounts")}
        return [
            {
                "account": name,
                "state": rows[name]["state"] if name in rows else AccountState.OPEN,
                "parked_until": rows[name]["parked_until"] if name in rows else None,
                "used": rows[name]["used"] if name in rows else None,
                "usage": used.get(name) or usage.nothing(),
            }
            for name in sorted({*used, *rows})
        ]
    finally:
        store.close()


def _plans(folder: Path, project: Project, known: dict[str, dict[str, Any]]) -> list[Path]:
    """Plans that were run, then Markdown files that are plans: tasks with ids, or begun."""
    found = [
        path
        for text, row in known.items()
        if row["kind"] == "tasklist"
        and (path := Path(text)).is_file()
        and (path.is_relative_to(folder) or folder == project.root)
    ]
    for path in markdown_below(folder):
        if path not in found and is_plan(path):
            found.append(path)
    return found


def markdown_below(folder: Path) -> list[Path]:
    """Markdown files below a folder, breadth first, bounded."""
    return [
        entry
        for _folder, entries in _folders_below(folder)
        for entry in entries
        if entry.suffix.lower() == ".md" and entry.is_file()
    ]


def _folders_below(folder: Path) -> Iterator[tuple[Path, list[Path]]]:
    """The folder and those below it, with what is in each, breadth first, bounded."""
    todo = [folder]
    for number, current in enumerate(todo):
        if number >= FOLDERS_MAX:
            break
        try:
            entries = [entry for entry in sorted(current.iterdir()) if not entry.is_symlink()]
        except OSError:
            continue
        not_plans = OF_A_BOOK if is_book(current) else frozenset()
        skipped = NOT_LOOKED_INTO | not_plans
        todo += [e for e in entries if e.name not in skipped and e.is_dir()]
        yield current, entries


def is_book(folder: Path) -> bool:
    return any((folder / mark).exists() for mark in BOOK)


def is_plan(path: Path) -> bool:
    """A Markdown file whose tasks have ids, or one that was begun; not any checklist."""
    try:
        if path.stat().st_size > PLAN_BYTES_MAX:
            return False
        data = path.read_bytes()
    except OSError:
        return False
    if not any(mark in data for mark in (b"[ ]", b"[~]", b"[!]")):
        return False
    document = Document.parse(data, file=str(path))
    states = {task.state for task in document.tasks}
    begun = states & {TaskState.IN_PROGRESS, TaskState.FAILED}
    return bool(begun) or (document.has_ids and TaskState.PENDING in states)


def _standing(path: Path, known: Known) -> Standing:
    document = Document.parse(path.read_bytes(), file=str(path))
    problems = check(document)
    counts = Counter(str(task.state) for task in document.tasks)
    held_by = known.holder(path)
    parks, gates = known.waits(path)
    done = {task.id for task in document.tasks if task.state not in UNDER_WAY}
    parks = [park for park in parks if park["task"] not in done]  # a person may have seen to it
    in_progress = [task.id for task in document.tasks if task.state is TaskState.IN_PROGRESS]
    at_work = known.at_work(path)
    row = known.rows.get(str(path))
    # nobody could be asked about what failed
    is_asked = bool(counts[TaskState.FAILED] and row and row["state"] == PlanState.WAITING)
    left = counts[TaskState.PENDING] + counts[TaskState.IN_PROGRESS]
    facts = WorkFacts(
        is_owned=held_by is not None,
        is_at_work=bool(at_work),
        is_asked=bool(gates) or (is_asked and not left),
        is_parked=bool(parks),
        is_begun=row is not None or bool(in_progress),
        is_left=bool(left),
        is_done=counts.total() > 0,
        has_failed=bool(counts[TaskState.FAILED] or counts[TaskState.SKIPPED]),
    )
    return Standing(
        path=path,
        kind="tasklist",
        state=state_of(facts),
        counts={str(state): counts[state] for state in MARKS},
        parks=parks,
        gates=gates,
        usage=known.usage(path),
        usage_by_task=known.usage_by_task(path),
        failed=[
            {"task": task.id, "title": task.title, "error": task.previous_error}
            for task in document.tasks
            if task.state is TaskState.FAILED
        ],
        in_progress=in_progress,
        running=at_work,
        runs=known.runs(path, at_work),
        goes_on=known.goes_on(
            path,
            (t for t in document.tasks if t.id in in_progress and t.resume is Resume.CONVERSATION),
        ),
        holder=held_by,
        problem=f"{problems[0].where}: {problems[0].message}" if problems else None,
        is_known=known.has(path),
    )


def _waits(store: Store, plan: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    prefix = f"{plan}/"
    parks = [
        {
            "task": row["task"].removeprefix(prefix),
            "account": row["account"],
            "kind": row["kind"],
            "resets_at": row["resets_at"],
            "wakes_at": row["wakes_at"],
        }
        for row in store.all(
            "SELECT * FROM parks WHERE work = ? AND state = ? ORDER BY wakes_at",
            plan,
            ParkState.WAITING,
        )
    ]
    gates = [
        {
            "id": row["id"],
            "kind": row["kind"],
            "task": (row["task"] or "").removeprefix(prefix) or _about(row).get("checkpoint"),
            "text": in_words(row["category"], _about(row), row["text"]),
            "options": json.loads(row["options"]),
            "default": row["preset"],
            "category": row["category"],
            "deadline": row["deadline"],
            "since": row["created_at"],
        }
        for row in store.all(
            "SELECT * FROM gates WHERE work = ? AND state = ? ORDER BY created_at",
            plan,
            GateState.PENDING,
        )
    ]
    return parks, gates


def _about(row: Any) -> dict[str, Any]:
    """What a question is about: with the checkpoint of a feature's own."""
    about: dict[str, Any] = json.loads(row["about"]) if row["about"] else {}
    return about
