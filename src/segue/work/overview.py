"""Where everything stands under a folder, found from the tables and the files alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from segue.core.machines import AccountState
from segue.engine.kind import Kind
from segue.engine.standing import Standing
from segue.i18n import _
from segue.store import usage
from segue.store.sqlite import Store, has_lost_commits
from segue.work import last_words
from segue.work.folders import folders_below, markdown_below
from segue.work.kinds import KINDS
from segue.work.project import Project
from segue.work.tasklist.kind import TasklistKind
from segue.work.tasklist.standing import is_plan

TASKLIST = KINDS[TasklistKind.name]


def look(path: Path) -> list[Standing]:
    """Every plan of the project around this path (or the plan itself)."""
    path = path.resolve()
    part = part_of(path)
    project = Project.containing(part[0] if part else path)
    known = {project.root: last_words.known(project)}
    try:
        here = known[project.root]
        if part:
            return [part[1].standing(part[0], here)]
        if path.is_file():
            return [TASKLIST.standing(path, here)]
        found = [TASKLIST.standing(plan, here) for plan in _plans(path, project, here.rows)]
        for folder, _entries in folders_below(path):
            for kind in _kinds_in(folder):
                around = Project.containing(folder)
                if around.root not in known:
                    known[around.root] = last_words.known(around)
                found.append(kind.standing(folder, known[around.root]))
        if path != project.root:
            return found
        unfiled = (kind.in_memory(here) for kind in KINDS.values())
        return [*found, *(one for one in unfiled if one is not None)]
    finally:
        for one in known.values():
            one.close()


def _kinds_in(folder: Path) -> list[Kind]:
    """The kinds of work that a folder is."""
    return [kind for kind in KINDS.values() if any((folder / mark).exists() for mark in kind.marks)]


def part_of(path: Path) -> tuple[Path, Kind] | None:
    """The folder of the book or the feature that a path in it stands for: `book.toml`, `meta`,
    `.develop-workflow/state.yaml`; and its kind."""
    for kind in KINDS.values():
        for part in (part for mark in kind.marks for part in (Path(mark), *Path(mark).parents)):
            size = len(part.parts)
            if not size or path.parts[-size:] != part.parts:
                continue
            folder = path.parents[size - 1]
            if kind in _kinds_in(folder):
                return folder, kind
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
        "Segue's database is damaged ({file}). The newest records are lost; the next "
        "run continues from the plan's files"
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
        if row["kind"] == TASKLIST.name
        and (path := Path(text)).is_file()
        and (path.is_relative_to(folder) or folder == project.root)
    ]
    for path in markdown_below(folder):
        if path not in found and is_plan(path):
            found.append(path)
    return found
