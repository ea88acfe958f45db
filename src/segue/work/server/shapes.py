"""Rows → the JSON shapes of the API. Pure; names as the API has them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from segue.core.serving import AgentState, Stage, allowed_actions
from segue.work.server.rows import AgentRow, GateRow, TaskRow

Json = dict[str, Any]

SAVE_EVERY_MS = 600_000
BLOCKED_BY = {
    AgentState.WAITING_DEPENDENCY: "dependency",
    AgentState.WAITING_QUESTION: "question",
    AgentState.WAITING_REVIEW: "review",
}
ENTITIES = {"server_task": "task", "server_agent": "agent", "server_gate": "gate"}


def text(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def progress(task: TaskRow) -> int:
    """Percent: the phases that are done; a task without phases is done or not."""
    if task.state is Stage.COMPLETED:
        return 100
    if not task.phases or not task.phase:
        return 0
    done = task.phase - 1 + (0.9 if task.state is Stage.REVIEW else 0.0)
    return int(100 * done / len(task.phases))


def task(row: TaskRow, agent: AgentState, waits_for: Sequence[str], usage: Json) -> Json:
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
        "progress": progress(row),
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
        "archived": row.is_archived,
        "agentStatus": agent,
        "allowedActions": list(allowed_actions(row.state, agent)),
        "usage": usage,
    }


def agent(row: AgentRow, owner: TaskRow, tokens: int) -> Json:
    return {
        "taskId": row.id,
        "status": row.state,
        "currentPhase": owner.phase if owner.phases else None,
        "currentStep": row.step,
        "progress": progress(owner),
        "tokensUsed": tokens,
        "blockedBy": BLOCKED_BY.get(row.state),
        "limit": row.kind,
        "resetsAt": text(row.resets_at),
        "lastUpdate": text(row.updated_at),
        "checkpoint": {"lastSaved": text(row.saved_at), "autoSaveInterval": SAVE_EVERY_MS},
    }


def gate(row: GateRow, owner: TaskRow | None = None) -> Json:
    match row.kind:
        case "question":
            return question(row)
        case "dependency":
            return dependency(row)
        case _:
            return review(row, owner)


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


def review(row: GateRow, owner: TaskRow | None) -> Json:
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
    data: Mapping[str, Any] = json.loads(row["data"]) if row["data"] else {}
    return {
        "seq": row["seq"],
        "timestamp": row["at"],
        "taskId": data.get("task") or row["entity_id"],
        "type": "state_transition",
        "entity": ENTITIES.get(row["entity"], row["entity"]),
        "entityId": row["entity_id"],
        "from": row["from_state"],
        "to": row["to_state"],
        "trigger": row["cause"],
        "metadata": {key: value for key, value in data.items() if key != "task"},
    }


def page(items: list[Json], total: int, number: int, size: int) -> Json:
    return {"items": items, "total": total, "page": number, "pageSize": size}
