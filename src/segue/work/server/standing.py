"""How the server's tasks and the watched panes of a project stand, from its memory alone."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from segue.core.machines import WorkerState
from segue.core.serving import AgentState, Asking, Stage
from segue.core.standing import Signs, state_of
from segue.i18n import _, ngettext
from segue.store import lock
from segue.work.overview import Known, Standing
from segue.work.server import stuck
from segue.work.server.records import OPEN_RUNS, Records
from segue.work.usage import Usage, nothing

COUNTED = {
    Stage.DRAFT: "pending",
    Stage.PENDING: "pending",
    Stage.IN_PROGRESS: "in_progress",
    Stage.REVIEW: "in_progress",
    Stage.COMPLETED: "completed",
    Stage.FAILED: "failed",
}
GATES_SHOWN_MAX = 100
SUMS = (
    "coalesce(sum(input_tokens), 0) AS input_tokens,"
    " coalesce(sum(output_tokens), 0) AS output_tokens, sum(cost_usd) AS cost_usd"
)
UNFINISHED = (Stage.PENDING, Stage.IN_PROGRESS, Stage.REVIEW)


def tasks(known: Known) -> Standing | None:
    """The tasks of `segue serve`; None where there are none."""
    store = known.store
    if store is None:
        return None
    sql = "SELECT state, COUNT(*) AS n FROM server_tasks WHERE NOT is_archived GROUP BY state"
    found = {Stage(row["state"]): row["n"] for row in store.all(sql)}
    if not found:
        return None
    counts = dict.fromkeys(("pending", "in_progress", "completed", "failed", "skipped"), 0)
    for stage, n in found.items():
        counts[COUNTED[stage]] += n
    parks, gates = _parks(known), _gates(known)
    holder = lock.holder(known.project.locks / "server.lock")
    at_work = _at_work(known)
    if holder is None:
        at_work = [task for task in at_work if task in known.living()]
    signs = Signs(
        is_owned=holder is not None,
        is_at_work=bool(at_work),
        is_asked=bool(gates),
        is_parked=bool(parks),
        is_begun=any(stage is not Stage.DRAFT for stage in found),
        is_left=any(stage in found for stage in UNFINISHED),
        is_done=counts["completed"] > 0,
        has_failed=counts["failed"] > 0,
    )
    return Standing(
        path=known.project.memory,
        kind="server",
        state=state_of(signs),
        counts=counts,
        parks=parks,
        gates=gates,
        usage=_used(known),
        usage_by_task=_used_by_task(known),
        running=at_work,
        holder=holder,
        is_known=True,
        go_on="segue serve",
    )


def _at_work(known: Known) -> list[str]:
    """Tasks whose agents run, and neither wait for a person nor for a time."""
    assert known.store is not None
    of_runs = f"SELECT task FROM server_runs WHERE state IN {OPEN_RUNS}"  # noqa: S608 - names are ours
    sql = f"SELECT id FROM server_agents WHERE state = ? AND id IN ({of_runs}) ORDER BY id"  # noqa: S608
    return [row["id"] for row in known.store.all(sql, AgentState.RUNNING)]


def _parks(known: Known) -> list[dict[str, Any]]:
    assert known.store is not None
    sql = (
        "SELECT id, account, kind, resets_at FROM server_agents"
        " WHERE state = ? AND kind IS NOT NULL ORDER BY resets_at"
    )
    return [
        {
            "task": row["id"],
            "account": row["account"],
            "kind": row["kind"],
            "resets_at": row["resets_at"],
            "wakes_at": row["resets_at"],
        }
        for row in known.store.all(sql, AgentState.PAUSED)
        if row["resets_at"]
    ]


def _used(known: Known) -> Usage:
    """Of all that its agents did, of archived tasks too."""
    assert known.store is not None
    row = known.store.one(f"SELECT {SUMS} FROM server_runs")  # noqa: S608 - names are ours
    return dict(row) if row else nothing()


def _used_by_task(known: Known) -> dict[str, Usage]:
    assert known.store is not None
    sql = f"SELECT task, {SUMS} FROM server_runs WHERE input_tokens IS NOT NULL GROUP BY task"  # noqa: S608
    found = {row["task"]: dict(row) for row in known.store.all(sql)}
    return {task: {key: used[key] for key in nothing()} for task, used in found.items()}


def _gates(known: Known) -> list[dict[str, Any]]:
    assert known.store is not None
    sql = (
        "SELECT g.*, t.title FROM server_gates g JOIN server_tasks t ON g.task = t.id"
        " WHERE g.state = ? ORDER BY g.created_at LIMIT ?"
    )
    gates = [
        {
            "id": row["id"],
            "kind": row["kind"],
            "task": row["task"],
            "text": row["text"] or row["name"] or row["title"],
            "options": json.loads(row["options"]),
        }
        for row in known.store.all(sql, Asking.PENDING, GATES_SHOWN_MAX)
    ]
    held = [
        {
            "id": task.id,
            "kind": "stuck",
            "task": task.id,
            "text": "; ".join(one.text for one in missing),
            "options": list(stuck.acts(missing)),
        }
        for task, missing in stuck.every(Records(known.store))
    ]
    return [*gates, *held][:GATES_SHOWN_MAX]


def facts(standing: Standing) -> dict[str, Any]:
    """What `segue resume` says of it."""
    counts = Counter(standing.counts)
    left = counts["pending"] + counts["in_progress"]
    if standing.holder is not None:
        why = _("it is being run by process {pid}").format(pid=standing.holder.pid)
    elif standing.gates:
        n = len(standing.gates)
        why = _waits(standing.gates).format(n=n)
    elif left:
        why = _("the server does not run")
    else:
        why = _("everything is done")
    text = ngettext(
        "start the server: {n} task goes on by itself",
        "start the server: {n} tasks go on by themselves",
        left,
    )
    return {
        "resumable": standing.holder is None and bool(left),
        "why": why,
        "next": text.format(n=left) if left else _("nothing"),
        "redone": _("what its agents did after their last checkpoint"),
        "lost": _("nothing"),
    }


def _waits(gates: list[dict[str, Any]]) -> str:
    n = len(gates)
    if {gate["kind"] for gate in gates} == {"question"}:
        return ngettext("{n} question waits for you", "{n} questions wait for you", n)
    return ngettext("{n} thing waits for you", "{n} things wait for you", n)


def panes(known: Known) -> Standing | None:
    """Panes that `segue watch` was to wake; None where none waits."""
    if known.store is None:
        return None
    sql = "SELECT * FROM workers WHERE state = ? AND wakes_at IS NOT NULL ORDER BY wakes_at"
    rows = known.store.all(sql, WorkerState.PAUSED)
    if not rows:
        return None
    counts = dict.fromkeys(("pending", "in_progress", "completed", "failed", "skipped"), 0)
    counts["in_progress"] = len(rows)
    return Standing(
        path=known.project.memory,
        kind="watch",
        state=state_of(Signs(is_parked=True, is_begun=True, is_left=True)),
        counts=counts,
        parks=[
            {
                "task": row["pane"],
                "account": row["account"],
                "kind": row["kind"],
                "resets_at": row["resets_at"],
                "wakes_at": row["wakes_at"],
            }
            for row in rows
        ],
        is_known=True,
        go_on="segue watch",
    )


def pane_facts(standing: Standing) -> dict[str, Any]:
    names = ", ".join(park["task"] for park in standing.parks)
    return {
        "resumable": True,
        "why": _("panes wait for a limit's end: {panes}").format(panes=names),
        "next": _("watch them again; each is told to go on once"),
        "redone": _("nothing"),
        "lost": _("nothing"),
    }
