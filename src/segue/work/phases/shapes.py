"""Rows → the JSON shapes of the API. Pure; names as the API has them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from segue.core.plan import TaskState
from segue.core.serving import AgentState, allowed_actions
from segue.store.rows import AgentRow, GateRow, PhaseTaskRow
from segue.work.phases import progress
from segue.work.phases.blocked_tasks import Missing, acts
from segue.work.phases.damaged_rows import damaged

Json = dict[str, Any]

STATELESS = ("refusal", "evidence")  # rows of the journal that move nothing

SLOT = "slot"  # in `waitsFor`: nothing else is missing
SAVE_EVERY_MS = 600_000
BLOCKED_BY = {
    AgentState.WAITING_DEPENDENCY: "dependency",
    AgentState.WAITING_QUESTION: "question",
    AgentState.WAITING_REVIEW: "review",
}
ACTS = {
    "review": ("approve", "request_changes"),
    "question": ("answer",),
    "dependency": ("provide", "reject"),
}


def text(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def task(
    row: PhaseTaskRow,
    worker: AgentRow,
    waits_for: Sequence[str],
    usage: Json,
    more: tuple[str, ...] = (),
) -> Json:
    """`more`: what can be done about a blocked one."""
    return {
        "id": row.id,
        "status": row.state,
        "type": row.type,
        "title": row.title,
        "description": row.description,
        "agent": row.agent,
        "priority": row.priority,
        "dependsOn": list(row.depends_on),
        "waitsFor": list(waits_for),
        "currentPhase": row.phase if row.phases else None,
        "totalPhases": len(row.phases),
        "progress": progress.of_task(row, worker.steps_done, worker.steps_total),
        "currentStep": progress.current_step(row, worker),
        "createdAt": text(row.created_at),
        "submittedAt": text(row.submitted_at),
        "startedAt": text(row.started_at),
        "completedAt": text(row.completed_at),
        "failedAt": text(row.failed_at),
        "updatedAt": text(row.updated_at),
        "workspace": row.workspace,
        "retryOf": row.retry_of,
        "forkedFrom": row.forked_from,
        "error": row.error,
        "outcome": outcome(row),
        "archived": row.is_archived,
        "agentStatus": worker.state,
        "pausedBy": None,
        "limitKind": None,
        "wakesAt": None,
        "allowedActions": list(allowed_actions(row.state, worker.state, more)),
        "usage": usage,
    }


def outcome(row: PhaseTaskRow) -> str | None:
    """How it came out; None while it is open. What a person cancelled has not failed by itself."""
    if row.state not in (TaskState.COMPLETED, TaskState.FAILED):
        return None
    return "cancelled" if row.is_cancelled else str(row.state)


def agent(row: AgentRow, owner: PhaseTaskRow, tokens: int) -> Json:
    return {
        "taskId": row.id,
        "status": row.state,
        "currentPhase": owner.phase if owner.phases else None,
        "currentStep": progress.current_step(owner, row),
        "progress": progress.of_phase(owner, row.steps_done, row.steps_total),
        "tokensUsed": tokens,
        "blockedBy": BLOCKED_BY.get(row.state),
        "limit": row.kind,
        "resetsAt": text(row.resets_at),
        "lastUpdate": text(row.updated_at),
        "checkpoint": {"lastSaved": text(row.saved_at), "autoSaveInterval": SAVE_EVERY_MS},
    }


def gate(row: GateRow, owner: PhaseTaskRow | None = None) -> Json:
    match row.kind:
        case "question":
            return question(row)
        case "dependency":
            return dependency(row)
        case _:
            return review(row, owner)


def stuck(row: PhaseTaskRow, missing: Sequence[Missing]) -> Json:
    """A blocked task, as something that waits for a person."""
    return {
        "kind": "stuck",
        "taskTitle": row.title,
        "id": row.id,
        "taskId": row.id,
        "task": row.id,
        "title": row.title,
        "text": "; ".join(one.text for one in missing),
        "missing": [
            {
                "id": one.task.id if one.task else one.id,
                "title": one.task.title if one.task else None,
                "status": one.task.state if one.task else "deleted",
                "error": one.task.error if one.task else None,
            }
            for one in missing
        ],
        "acts": list(acts(missing)),
        "status": "pending",
        "createdAt": text(row.submitted_at or row.created_at),
    }


def question(row: GateRow) -> Json:
    return {
        "id": row.id,
        "taskId": row.task,
        "category": row.category,
        "question": row.text,
        "options": list(row.options),
        "default": row.preset,
        "required": row.is_required,
        "priority": row.priority,
        "deadline": text(row.deadline),
        "status": row.state,
        "answer": row.answer,
        "createdAt": text(row.created_at),
        "answeredAt": text(row.settled_at),
    }


def dependency(row: GateRow) -> Json:
    """Never what was provided."""
    return {
        "id": row.id,
        "taskId": row.task,
        "type": row.category,
        "name": row.name,
        "description": row.text,
        "required": row.is_required,
        "default": row.preset,
        "status": row.state,
        "reason": row.answer,
        "createdAt": text(row.created_at),
        "settledAt": text(row.settled_at),
    }


def review(row: GateRow, owner: PhaseTaskRow | None) -> Json:
    names = [phase.name for phase in owner.phases] if owner else []
    number = row.phase or 0
    return {
        "id": row.id,
        "taskId": row.task,
        "phase": row.phase,
        "phaseName": names[number - 1] if 0 < number <= len(names) else None,
        "round": row.round,
        "status": row.state,
        "deliverables": row.about.get("deliverables", []),
        "verification": row.about.get("verification", {}),
        "feedback": row.answer,
        "comments": row.about.get("comments", []),
        "reminders": row.about.get("reminders", 0),
        "createdAt": text(row.created_at),
        "decidedAt": text(row.settled_at),
    }


def journal(row: sqlite3.Row) -> Json:
    try:
        data: Mapping[str, Any] = json.loads(row["data"]) if row["data"] else {}
    except ValueError as error:
        raise damaged("journal", row["seq"], error) from error
    return {
        "seq": row["seq"],
        "timestamp": row["at"],
        "taskId": data.get("task") or row["entity_id"],
        "type": row["entity"] if row["entity"] in STATELESS else "state_transition",
        "entity": row["entity"],
        "entityId": row["entity_id"],
        "from": row["from_state"],
        "to": row["to_state"],
        "trigger": row["cause"],
        "actor": row["actor"],
        "via": row["via"],
        "metadata": {key: value for key, value in data.items() if key != "task"},
    }


def page(items: list[Json], total: int, number: int, size: int) -> Json:
    return {"items": items, "total": total, "page": number, "pageSize": size}
