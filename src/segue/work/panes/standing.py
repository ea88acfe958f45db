"""How the watched panes of a project stand, from its memory alone."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from segue.core.machines import PaneState, PlanState
from segue.core.standing import WorkFacts, state_of
from segue.engine.standing import Known, Standing
from segue.i18n import _
from segue.store import lock
from segue.store.rows import PANES, key_of
from segue.work.panes.pane_gates import ASKS
from segue.work.panes.pane_records import is_alive

COUNTED = {
    PaneState.DONE: "completed",
    PaneState.IDLE: "completed",
    PaneState.ERROR: "failed",
}
LIVING = (
    "SELECT panes.id, panes.state, tasks.key AS name, parks.account, parks.kind,"
    " parks.resets_at, parks.wakes_at,"
    " EXISTS (SELECT 1 FROM runs WHERE runs.task = tasks.id AND runs.state = 'intended') AS is_sent"
    " FROM panes JOIN tasks ON tasks.id = panes.task"
    " LEFT JOIN parks ON parks.task = tasks.id AND parks.state = 'waiting'"
    " WHERE panes.state NOT IN (?, ?) ORDER BY panes.created_at"
)
GATES = "SELECT * FROM gates WHERE work = ? AND state = 'pending' ORDER BY created_at"


def panes(known: Known) -> Standing | None:
    """All that live while a process watches them; else those that wait. None: there are none."""
    if known.store is None:
        return None
    holder = lock.holder(known.project.locks / f"{PANES}.lock")
    gates = {row["name"]: _gate(row) for row in known.store.all(GATES, PANES)}
    rows = [
        row
        for row in known.store.all(LIVING, PaneState.DEAD, PaneState.DONE)
        if is_alive(row["id"])
        and (holder is not None or row["wakes_at"] or row["is_sent"] or row["id"] in gates)
    ]
    if not rows:
        return None
    asked = [gates[row["id"]] for row in rows if row["id"] in gates]
    parks = [_park(row) for row in rows if row["wakes_at"]]
    busy = [row["name"] for row in rows if row["state"] == PaneState.BUSY]
    counts = dict.fromkeys(("pending", "in_progress", "completed", "failed", "skipped"), 0)
    for row in rows:
        counts[COUNTED.get(PaneState(row["state"]), "in_progress")] += 1
    facts = WorkFacts(
        is_owned=holder is not None,
        is_at_work=bool(busy),
        is_asked=bool(asked),
        is_parked=bool(parks),
        is_begun=True,
        is_left=any(row["is_sent"] for row in rows),
        is_done=True,
    )
    return Standing(
        path=known.project.memory,
        kind=PANES,
        state=state_of(facts),
        counts=counts,
        parks=sorted(parks, key=lambda park: str(park["wakes_at"])),
        gates=asked,
        running=busy if holder is not None else [],
        holder=holder,
        is_known=True,
        go_on="segue watch",
    )


def _park(row: sqlite3.Row) -> dict[str, Any]:
    return {
        "task": row["name"],
        "account": row["account"],
        "kind": row["kind"],
        "resets_at": row["resets_at"],
        "wakes_at": row["wakes_at"],
    }


def _gate(row: sqlite3.Row) -> dict[str, Any]:
    about = json.loads(row["about"] or "{}")
    pane, agent = about.get("pane"), about.get("agent") or "?"
    return {
        "id": row["id"],
        "kind": row["kind"],
        "task": key_of(row["task"], PANES),
        "title": _("pane {pane} ({agent})").format(pane=pane, agent=agent),
        "text": row["text"],
        "options": [],
        "default": None,
        "category": row["category"],
        "deadline": None,
        "since": row["created_at"],
        "acts": [] if row["category"] == ASKS else ["wake"],
    }


def pane_facts(standing: Standing) -> dict[str, Any]:
    names = ", ".join(park["task"] for park in standing.parks)
    why = _("panes waiting for a limit to end: {panes}").format(panes=names)
    if standing.holder is not None:
        why = _("process {pid} is running it").format(pid=standing.holder.pid)
    return {
        "resumable": standing.holder is None
        and (bool(standing.parks) or standing.state is PlanState.INTERRUPTED),
        "why": why,
        "next": _("watch them again; Segue tells each one once to continue"),
        "redone": _("nothing"),
        "lost": _("nothing"),
    }
