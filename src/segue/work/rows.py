"""What the tables hold of a plan, as values: its tasks, runs, parks and gates."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from segue.core.machines import RunState
from segue.core.plan import TaskState
from segue.store.changes import instant
from segue.work.own_questions import in_words

OPEN_RUNS = (RunState.INTENDED, RunState.RUNNING, RunState.VERIFYING, RunState.MERGING)


@dataclass(slots=True)
class TaskRow:
    id: str
    key: str
    state: TaskState
    mark: str | None
    retries_used: int
    error: str | None
    summary: str | None


@dataclass(slots=True)
class RunRow:
    id: str
    task: str  # its id in the plan
    attempt: int
    agent: str
    account: str
    state: RunState
    conversation: str
    nonce: str
    resumes: str | None
    created_at: datetime
    verify_job: str | None = None
    resume_id: str | None = None  # what its program calls the conversation
    purpose: str = ""  # to make its context smaller, or to begin a full one afresh
    answer: str | None = None  # what a person said that it is told


@dataclass(frozen=True, slots=True)
class ParkRow:
    id: str
    task: str
    run: str
    account: str
    kind: str
    resets_at: datetime | None
    wakes_at: datetime


@dataclass(frozen=True, slots=True)
class GateRow:
    id: str
    task: str | None
    run: str | None
    kind: str
    text: str
    options: tuple[str, ...]
    preset: str | None
    category: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)  # what it is about beyond its words
    deadline: datetime | None = None  # then its preset is taken


# There may be very many tasks and parks: their rows are read by place, not by name.

TASK = "id, key, state, mark, retries_used, error, summary"
PARK = "id, task, run, account, kind, resets_at, wakes_at"


def task_row(row: sqlite3.Row) -> TaskRow:
    id_, key, state, mark, retries_used, error, summary = row
    return TaskRow(id_, key, TaskState(state), mark, retries_used, error, summary)


def run_row(row: sqlite3.Row, task: str) -> RunRow:
    return RunRow(
        row["id"], task, row["attempt"], row["agent"], row["account"], RunState(row["state"]),
        row["conversation"], row["nonce"], row["resumes"], instant(row["created_at"]),
        row["verify_job"], row["resume_id"], row["purpose"], row["answer"],
    )  # fmt: skip


def park_row(row: sqlite3.Row, prefix: int) -> ParkRow:
    """`prefix`: how much of a task's id names its plan."""
    id_, task, run, account, kind, resets, wakes = row
    resets_at = instant(resets) if resets else None
    return ParkRow(id_, task[prefix:], run, account, kind, resets_at, instant(wakes))


def gate_row(row: sqlite3.Row, task: str) -> GateRow:
    about = json.loads(row["about"]) if row["about"] else {}
    text = in_words(row["category"], about, row["text"])
    return GateRow(
        row["id"], task or None, row["run"], row["kind"], text,
        tuple(json.loads(row["options"])), row["preset"], row["category"], about,
        instant(row["deadline"]) if row["deadline"] else None,
    )  # fmt: skip
