"""Everything that waits for a person, in every kind of work of a project: `segue inbox`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from segue.engine.question_texts import BUDGET
from segue.engine.standing import Standing
from segue.store.changes import instant
from segue.store.rows import PANES, SERVER, key_of
from segue.store.sqlite import Store
from segue.work import overview
from segue.work.kinds import KINDS
from segue.work.project import Project

Json = dict[str, Any]

PLACE_FILE = "server.json"
WAITING = (
    "SELECT work, task, gate FROM acts WHERE state = 'waiting'"
    " AND verb NOT IN ('park', 'wake', 'message')"
)


def items(path: Path, now: datetime) -> list[Json]:
    """What waits under a path, work by work, the oldest first. What a person has answered already,
    and no owner has taken in yet, does not wait any more."""
    project = Project.containing(path.resolve())
    ids, answered = _known(project)
    url = _url(project)
    return [
        item
        for standing in overview.look(path)
        for item in _of(standing, ids.get(str(standing.path)), now, url)
        if item["id"] not in answered and (item["work"]["id"], item["task"]) not in answered
    ]


def _known(project: Project) -> tuple[dict[str, str], set[object]]:
    """The works by their path; gates, and tasks of works, for which an act waits for an owner."""
    store = Store.open_readonly(project.database)
    if store is None:
        return {}, set()
    try:
        works = {row["path"]: row["id"] for row in store.all("SELECT id, path FROM works")}
        acts = store.all(WAITING)
        tasks = {(row["work"], key_of(row["task"], row["work"])) for row in acts if row["task"]}
        return works, {*tasks, *(row["gate"] for row in acts if row["gate"])}
    finally:
        store.close()


def _url(project: Project) -> str | None:
    """Where the server of this project listens, if one does."""
    with suppress(OSError, ValueError, KeyError):
        return str(json.loads((project.keys / PLACE_FILE).read_text("utf-8"))["url"])
    return None


def _of(standing: Standing, id: str | None, now: datetime, url: str | None) -> Iterator[Json]:
    if standing.kind in (SERVER, PANES):
        id = standing.kind
    work = {"id": id, "kind": standing.kind, "path": str(standing.path)}
    for gate in standing.gates:
        kind = BUDGET if gate.get("category") == BUDGET else gate["kind"]
        acts = list(gate["acts"] if "acts" in gate else KINDS[standing.kind].gate_acts(kind))
        yield {
            "id": gate["id"],
            "kind": kind,
            "task": gate["task"],
            "title": gate.get("title") or gate["task"] or standing.path.name,
            "text": gate["text"],
            "options": gate["options"],
            "default": gate.get("default"),
            "age_s": _age_s(gate.get("since"), now),
            "error": None,
            "work": work,
            "acts": acts,
            "url": _link(url, standing.kind, kind, gate["id"], gate["task"], id),
        }
    asked = {gate["task"] for gate in standing.gates}
    for failed in standing.failed:
        if failed["task"] in asked:
            continue
        yield {
            "id": failed["task"],
            "kind": "failed",
            "task": failed["task"],
            "title": failed["title"] or failed["task"],
            "text": failed["error"] or "",
            "options": [],
            "default": None,
            "age_s": _age_s(failed.get("since"), now),
            "error": failed["error"],
            "work": work,
            "acts": list(KINDS[standing.kind].failed_acts),
            "url": _link(url, standing.kind, "failed", "", failed["task"], id),
        }


def _age_s(since: str | None, now: datetime) -> float | None:
    return None if since is None else max(0.0, round((now - instant(since)).total_seconds(), 1))


def _link(
    url: str | None, work: str, kind: str, gate: str, task: str | None, id: str | None
) -> str | None:
    """The page on which it can be settled."""
    if url is None or (work != SERVER and id is None):
        return None
    if work != SERVER:
        return f"{url}/works/{id}"
    return f"{url}/reviews/{gate}" if kind == "review" else f"{url}/tasks/{task}"
