"""Which work, task, gate or pane a person means by a name, and who owns that work now.

Names are those that `status --json` shows: `T-003`, `ch1.write.1`, `cp-1`, the id of a task of the
server, `%0`; gates have ids of their own.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from segue.core.plan import TaskState
from segue.engine import acts
from segue.engine.locks import lock_path
from segue.errors import UserError
from segue.i18n import _
from segue.store import lock
from segue.store.lock import Holder
from segue.store.rows import HAS_FILE, PANES, SERVER, GateRow, gate_row
from segue.store.sqlite import Store
from segue.work.folders import markdown_below
from segue.work.project import Project

TASKS = (
    "SELECT works.id AS work, works.kind, works.path, tasks.id AS task, tasks.state"
    " FROM tasks"
    " JOIN works ON tasks.work = works.id WHERE tasks.key = ?"
    # A pane that is gone may come back; until then nothing can be done with it.
    " AND (works.kind != 'panes' OR EXISTS"
    " (SELECT 1 FROM panes WHERE panes.task = tasks.id AND panes.state != 'dead'))"
)


@dataclass(frozen=True, slots=True)
class Work:
    """A work as the tables have it. `path`: of its file, or of its folder."""

    id: str
    kind: str
    path: Path

    def lock(self, project: Project) -> Path:
        """Held by its owner."""
        if self.id in (SERVER, PANES):
            return project.locks / f"{self.id}.lock"
        return lock_path(project, self.path)

    def owner(self, project: Project) -> Holder | None:
        return lock.holder(self.lock(project))


@dataclass(frozen=True, slots=True)
class Target:
    """A task of a work. `task`: its id among the tasks of all works; `state`: as the tables have
    it."""

    work: Work
    name: str
    task: str
    state: TaskState


def find_task(store: Store, project: Project, name: str, plan: Path | None) -> Target | None:
    """The task of this name; None: there is none. UserError: there are several."""
    found = [
        Target(
            Work(row["work"], row["kind"], Path(row["path"])),
            name,
            row["task"],
            TaskState(row["state"]),
        )
        for row in store.all(TASKS, name)
    ]
    if plan is not None:
        real = plan.resolve()
        found = [one for one in found if real in (one.work.path, *one.work.path.parents)]
    if len(found) > 1:
        plans = ", ".join(project.relative(one.work.path) for one in found)
        raise UserError(
            "ambiguous",
            _("several plans have a {name}: {plans}").format(name=name, plans=plans),
            hint=_("choose one: --plan PATH"),
        )
    return found[0] if found else None


def works_that_wait_for(store: Store, account: str) -> list[Work]:
    """Plans with a task that hit the account's limit, or that was held back by it."""
    sql = (
        f"SELECT id, kind, path FROM works WHERE {HAS_FILE} AND (held IS NOT NULL"  # noqa: S608
        " OR id IN (SELECT work FROM parks WHERE account = ? AND state = 'waiting'))"
    )
    return [_work(row) for row in store.all(sql, account)]


def has_account(store: Store, name: str) -> bool:
    if store.one("SELECT 1 FROM accounts WHERE id = ?", name) is not None:
        return True
    return store.one("SELECT 1 FROM runs WHERE account = ? LIMIT 1", name) is not None


def find_gate(root: Project, id: str) -> tuple[Project, Work, GateRow]:
    """A gate of this project, or of one inside of it that has a memory of its own."""
    for project in _projects(root):
        store = Store.open_readonly(project.database)
        if store is None:
            continue
        try:
            row = store.one("SELECT * FROM gates WHERE id = ?", id)
            if row is not None:
                sql = "SELECT id, kind, path FROM works WHERE id = ?"
                work = store.one(sql, row["work"])
                assert work is not None
                return project, _work(work), gate_row(row)
        finally:
            store.close()
    raise acts.unknown_gate(id)


def _work(row: sqlite3.Row) -> Work:
    return Work(row["id"], row["kind"], Path(row["path"]))


def _projects(root: Project) -> Iterator[Project]:
    yield root
    seen = {root.root}
    for path in markdown_below(root.root):
        inner = Project.containing(path)
        if inner.root not in seen and inner.root.is_relative_to(root.root):
            yield inner
        seen.add(inner.root)
