"""How the server's tasks of a project stand, from its memory alone."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from typing import Any

from segue.core.machines import GateState
from segue.core.plan import TaskState
from segue.core.serving import AgentState
from segue.core.standing import WorkFacts, state_of
from segue.engine.standing import Known, Standing, parks_of
from segue.i18n import _, ngettext
from segue.store import lock, usage
from segue.store.changes import stamp
from segue.store.rows import IS_OPEN, PHASE_TASKS, SERVER
from segue.work.phases import blocked_tasks
from segue.work.phases.damaged_rows import damaged
from segue.work.phases.records import Records

COUNTED = {
    TaskState.DRAFT: "pending",
    TaskState.PENDING: "pending",
    TaskState.IN_PROGRESS: "in_progress",
    TaskState.REVIEW: "in_progress",
    TaskState.COMPLETED: "completed",
    TaskState.FAILED: "failed",
}
GATES_SHOWN_MAX = 100
UNFINISHED = (TaskState.PENDING, TaskState.IN_PROGRESS, TaskState.REVIEW)


def tasks(known: Known) -> Standing | None:
    """The tasks of `segue serve`; None where there are none."""
    store = known.store
    if store is None:
        return None
    sql = (
        "SELECT state, COUNT(*) AS n FROM tasks WHERE work = 'server' AND is_archived = 0"
        " GROUP BY state"
    )
    found = {TaskState(row["state"]): row["n"] for row in store.all(sql)}
    if not found:
        return None
    counts = dict.fromkeys(("pending", "in_progress", "completed", "failed", "skipped"), 0)
    for stage, n in found.items():
        counts[COUNTED[stage]] += n
    parks, gates = parks_of(store, SERVER), _gates(known)
    holder = lock.holder(known.project.locks / "server.lock")
    at_work = _at_work(known)
    if holder is None:
        at_work = [task for task in at_work if task in known.living()]
    work_facts = WorkFacts(
        is_owned=holder is not None,
        is_at_work=bool(at_work),
        is_asked=bool(gates),
        is_parked=bool(parks),
        is_begun=any(stage is not TaskState.DRAFT for stage in found),
        is_left=any(stage in found for stage in UNFINISHED),
        is_done=counts["completed"] > 0,
        has_failed=counts["failed"] > 0,
    )
    return Standing(
        path=known.project.memory,
        kind="server",
        state=state_of(work_facts),
        counts=counts,
        parks=parks,
        gates=gates,
        usage=usage.of_plan(store, SERVER),  # of archived tasks, too
        usage_by_task=usage.by_task(store, SERVER),
        failed=_failed(known),
        running=at_work,
        holder=holder,
        is_known=True,
        go_on="segue serve",
    )


def _at_work(known: Known) -> list[str]:
    """Tasks whose agents run, and neither wait for a person nor for a time."""
    assert known.store is not None
    of_runs = f"SELECT task FROM runs WHERE work = 'server' AND {IS_OPEN}"  # noqa: S608 - names are ours
    sql = f"SELECT id FROM agents WHERE state = ? AND id IN ({of_runs}) ORDER BY id"  # noqa: S608
    return [row["id"] for row in known.store.all(sql, AgentState.RUNNING)]


def _failed(known: Known) -> list[dict[str, Any]]:
    """Those that were not cancelled, archived or retried."""
    assert known.store is not None
    sql = (
        f"SELECT t.id, t.title, t.error, p.failed_at FROM {PHASE_TASKS}"  # noqa: S608 - names are ours
        " WHERE t.work = 'server' AND t.state = ? AND t.is_archived = 0 AND p.is_cancelled = 0"
        " AND NOT EXISTS (SELECT 1 FROM phase_tasks again WHERE again.retry_of = t.id)"
        " ORDER BY p.failed_at DESC LIMIT ?"
    )
    return [
        {"task": row["id"], "title": row["title"], "error": row["error"], "since": row["failed_at"]}
        for row in known.store.all(sql, TaskState.FAILED, GATES_SHOWN_MAX)
    ]


def _gates(known: Known) -> list[dict[str, Any]]:
    assert known.store is not None
    sql = (
        "SELECT g.*, t.title FROM gates g LEFT JOIN tasks t ON g.task = t.id"
        " WHERE g.work = 'server' AND g.state = ? ORDER BY g.created_at LIMIT ?"
    )
    gates = [
        {
            "id": row["id"],
            "kind": row["kind"],
            "task": row["task"],
            "title": row["title"],
            "text": row["text"] or row["name"] or row["title"],
            "options": _options(row),
            "default": row["preset"],
            "category": row["category"],
            "deadline": row["deadline"],
            "since": row["created_at"],
        }
        for row in known.store.all(sql, GateState.PENDING, GATES_SHOWN_MAX)
    ]
    held = [
        {
            "id": task.id,
            "kind": "stuck",
            "task": task.id,
            "title": task.title,
            "text": "; ".join(one.text for one in missing),
            "options": list(blocked_tasks.acts(missing)),
            "since": stamp(task.submitted_at or task.created_at),
        }
        for task, missing in blocked_tasks.every(Records(known.store))
    ]
    return [*gates, *held][:GATES_SHOWN_MAX]


def _options(row: sqlite3.Row) -> Any:
    try:
        return json.loads(row["options"])
    except (ValueError, TypeError) as error:
        raise damaged("gates", row["id"], error) from error


def facts(standing: Standing) -> dict[str, Any]:
    """What `segue resume` says of it."""
    counts = Counter(standing.counts)
    left = counts["pending"] + counts["in_progress"]
    if standing.holder is not None:
        why = _("process {pid} is running it").format(pid=standing.holder.pid)
    elif standing.gates:
        n = len(standing.gates)
        why = _waits(standing.gates).format(n=n)
    elif left:
        why = _("the server is not running")
    else:
        why = _("everything is done")
    text = ngettext(
        "start the server: {n} task resumes automatically",
        "start the server: {n} tasks resume automatically",
        left,
    )
    return {
        "resumable": standing.holder is None and bool(left),
        "why": why,
        "next": text.format(n=left) if left else _("nothing"),
        "redone": _("the work of its agents since their last checkpoint"),
        "lost": _("nothing"),
    }


def _waits(gates: list[dict[str, Any]]) -> str:
    n = len(gates)
    if {gate["kind"] for gate in gates} == {"question"}:
        return ngettext("{n} question waits for you", "{n} questions wait for you", n)
    return ngettext("{n} item waits for you", "{n} items wait for you", n)
