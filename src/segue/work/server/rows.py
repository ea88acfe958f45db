"""The rows of the server's tables, as values."""

from __future__ import annotations

import json
import secrets
import sqlite3
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from segue.core.machines import RunState
from segue.core.serving import AgentState, Asking, Stage
from segue.store.changes import instant
from segue.work.server.types import Phase, from_text


@dataclass(frozen=True, slots=True)
class TaskRow:
    id: str
    title: str
    description: str
    type: str
    agent: str
    priority: int
    depends_on: tuple[str, ...]
    state: Stage
    version: int
    phase: int | None
    phases: tuple[Phase, ...]
    reworks: int
    reminders: int
    workspace: str | None
    retry_of: str | None
    forked_from: str | None
    error: str | None
    is_archived: bool
    submitted_at: datetime | None
    started_at: datetime | None
    completed_at: datetime | None
    failed_at: datetime | None
    created_at: datetime
    updated_at: datetime
    is_cancelled: bool = False
    before: str | None = None  # a fork: what was done up to there

    @property
    def now_at(self) -> Phase | None:
        """The phase it is in."""
        return self.phases[self.phase - 1] if self.phase and self.phases else None


@dataclass(frozen=True, slots=True)
class AgentRow:
    id: str
    state: AgentState
    version: int
    step: str | None
    conversation: str
    resume_id: str | None
    account: str
    kind: str | None
    resets_at: datetime | None
    is_by_person: bool
    saved_at: datetime | None
    updated_at: datetime
    steps_done: int = 0  # within the phase, by its own word
    steps_total: int | None = None


@dataclass(frozen=True, slots=True)
class GateRow:
    id: str
    task: str
    run: str | None
    kind: str
    phase: int | None
    round: int
    category: str
    name: str
    text: str
    options: tuple[str, ...]
    preset: str | None
    is_required: bool
    priority: int
    deadline: datetime | None
    about: dict[str, Any] = field(hash=False)
    answer: str | None
    state: Asking
    version: int
    settled_at: datetime | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class RunRow:
    id: str
    task: str
    phase: int
    purpose: str
    attempt: int
    agent: str
    account: str
    state: RunState
    version: int
    conversation: str
    resume_id: str | None
    nonce: str
    resumes: str | None
    prompt: str | None
    queued: int | None
    heard: int
    created_at: datetime


def new_id(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(6)}"


def task_row(row: sqlite3.Row) -> TaskRow:
    return TaskRow(
        row["id"], row["title"], row["description"], row["type"], row["agent"], row["priority"],
        tuple(json.loads(row["depends_on"])), Stage(row["state"]), row["version"], row["phase"],
        from_text(row["phases"]), row["reworks"], row["reminders"], row["workspace"],
        row["retry_of"], row["forked_from"], row["error"], bool(row["is_archived"]),
        _at(row["submitted_at"]), _at(row["started_at"]), _at(row["completed_at"]),
        _at(row["failed_at"]), instant(row["created_at"]), instant(row["updated_at"]),
        bool(row["is_cancelled"]), row["before"],
    )  # fmt: skip


def agent_row(row: sqlite3.Row) -> AgentRow:
    return AgentRow(
        row["id"], AgentState(row["state"]), row["version"], row["step"], row["conversation"],
        row["resume_id"], row["account"], row["kind"], _at(row["resets_at"]),
        bool(row["is_by_person"]), _at(row["saved_at"]), instant(row["updated_at"]),
        row["steps_done"], row["steps_total"],
    )  # fmt: skip


def gate_row(row: sqlite3.Row) -> GateRow:
    return GateRow(
        row["id"], row["task"], row["run"], row["kind"], row["phase"], row["round"],
        row["category"], row["name"], row["text"], tuple(json.loads(row["options"])),
        row["preset"], bool(row["is_required"]), row["priority"], _at(row["deadline"]),
        json.loads(row["about"]), row["answer"], Asking(row["state"]), row["version"],
        _at(row["settled_at"]), instant(row["created_at"]),
    )  # fmt: skip


def run_row(row: sqlite3.Row) -> RunRow:
    return RunRow(
        row["id"], row["task"], row["phase"], row["purpose"], row["attempt"], row["agent"],
        row["account"], RunState(row["state"]), row["version"], row["conversation"],
        row["resume_id"], row["nonce"], row["resumes"], row["prompt"], row["queued"],
        row["heard"],
        instant(row["created_at"]),
    )  # fmt: skip


def _at(text: str | None) -> datetime | None:
    return instant(text) if text else None
