"""What the tables hold, as values: one for each kind of row, whatever the kind of work."""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

from segue.core.machines import ActState, GateState, PaneState, RunState
from segue.core.phases import Phase, from_text
from segue.core.plan import TaskState
from segue.core.serving import AgentState
from segue.errors import Bug
from segue.store.changes import instant

# Works without a file of their own; a query for the others.
SERVER, PANES = "server", "panes"
HAS_FILE = f"works.kind NOT IN ('{SERVER}', '{PANES}')"

ANSWER_CHARS_MAX = 200  # of an answer in the journal; the gate has all of it

OPEN_RUNS = (RunState.INTENDED, RunState.RUNNING, RunState.VERIFYING, RunState.MERGING)
# The same for a query, spelled as the index of the open runs spells it.
IS_OPEN = "state IN ('intended', 'running', 'verifying', 'merging')"
# The newest run of a task.
LAST_RUN = "SELECT * FROM runs WHERE task = ? ORDER BY created_at DESC, rowid DESC LIMIT 1"

# What only tasks with phases have: columns of `phase_tasks`, beside their row in `tasks`.
OF_PHASES = frozenset(
    {
        "description", "type", "agent", "priority", "depends_on", "phase", "phases", "reworks",
        "reminders", "workspace", "retry_of", "forked_from", "before", "is_cancelled",
        "submitted_at", "started_at", "completed_at", "failed_at",
    }
)  # fmt: skip
# Both rows of such a task. The order of a CROSS JOIN stands: the lists are read by the indexes of
# `tasks`.
PHASE_TASKS = "tasks t CROSS JOIN phase_tasks p ON p.task = t.id"
# The same for queries that need only the columns of `phase_tasks` in this index.
PHASE_TASKS_SHORT = "tasks t CROSS JOIN phase_tasks p INDEXED BY phase_tasks_short ON p.task = t.id"


@dataclass(slots=True)
class TaskRow:
    """A task of a file."""

    id: str
    key: str
    state: TaskState
    mark: str | None
    retries_used: int
    error: str | None
    summary: str | None
    unwritten: str | None = None  # what the plan is to show of it besides its mark
    pinned: str | None = None  # what it runs, as a person accepted it
    refused: str | None = None  # what a person refused that the plan says instead


@dataclass(frozen=True, slots=True)
class PhaseTaskRow:
    """A task that passes through phases."""

    id: str
    title: str
    description: str
    type: str
    agent: str
    priority: int
    depends_on: tuple[str, ...]
    state: TaskState
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
    """The agent of a task with phases."""

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
    steps_done: int = 0  # within the phase, as it reports
    steps_total: int | None = None


@dataclass(slots=True)
class RunRow:
    """One execution of a task by an agent."""

    id: str
    task: str  # its key within its work
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
    answer: str | None = None  # what a person said, for its prompt
    role: str = "work"  # or check (a command), review (another agent)
    phase: int = 0
    prompt: str | None = None  # until it was sent
    queued: int | None = None  # bytes that were unread when the prompt was about to be sent
    heard: int = 0  # how many of its reports were acted on
    version: int = 1
    task_id: str = ""  # its task's, among those of all works


@dataclass(frozen=True, slots=True)
class ParkRow:
    """A wait for a time. `run`: the one that hit the limit."""

    id: str
    task: str
    run: str | None
    account: str
    kind: str
    resets_at: datetime | None
    wakes_at: datetime


@dataclass(frozen=True, slots=True)
class GateRow:
    """Something that waits for a person: a review, a question, a dependency."""

    id: str
    task: str | None  # its key within its work; None: the work as a whole
    run: str | None
    kind: str
    text: str
    options: tuple[str, ...] = ()
    preset: str | None = None
    category: str = ""
    about: Mapping[str, Any] = field(default_factory=dict, hash=False)  # beyond its words
    deadline: datetime | None = None  # then its preset is taken
    phase: int | None = None
    round: int = 1
    name: str = ""
    is_required: bool = True
    priority: int = 0
    answer: str | None = None
    state: GateState = GateState.PENDING
    version: int = 1
    settled_at: datetime | None = None
    created_at: datetime | None = None
    work: str = ""

    @property
    def task_id(self) -> str:
        """Its task, for callers that know that it has one."""
        if self.task is None:
            raise Bug(f"gate {self.id} is of no task")
        return self.task


@dataclass(frozen=True, slots=True)
class PaneRow:
    """What only a pane has, beside its task."""

    id: str
    task: str
    state: PaneState
    version: int
    kind: str | None
    evidence: str
    resets_at: datetime | None
    sends: int
    sent_at: datetime | None
    step: str
    windows: int
    is_held: bool


@dataclass(frozen=True, slots=True)
class ActRow:
    """What a person wants, until the owner of the work took it in."""

    id: str
    work: str
    task: str | None
    gate: str | None
    verb: str
    data: Mapping[str, Any] = field(hash=False)
    actor: str
    via: str
    state: ActState
    reason: str | None
    version: int
    created_at: datetime


def answer_told(answer: str | None) -> dict[str, str]:
    """What was decided, as the journal keeps it."""
    return {} if answer is None else {"answer": answer[:ANSWER_CHARS_MAX]}


def new_id(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(6)}"


def key_of(task: str | None, work: str) -> str | None:
    """What a task is called within its work."""
    return None if task is None else task.removeprefix(f"{work}/")


def id_of(task: str, work: str) -> str:
    """A task's id among the tasks of all works; the server's own have no other."""
    return task if work == SERVER else f"{work}/{task}"


# There may be very many tasks and parks of a plan: their rows are read by place, not by name.

TASK = "id, key, state, mark, retries_used, error, summary, unwritten, pinned, refused"
PARK = "id, task, run, account, kind, resets_at, wakes_at"


def task_row(row: sqlite3.Row) -> TaskRow:
    id_, key, state, *rest = row
    return TaskRow(id_, key, TaskState(state), *rest)


def phase_task_row(row: sqlite3.Row) -> PhaseTaskRow:
    return PhaseTaskRow(
        row["id"], row["title"], row["description"], row["type"], row["agent"], row["priority"],
        _texts(row["depends_on"]), TaskState(row["state"]), row["version"],
        row["phase"], from_text(row["phases"]), row["reworks"], row["reminders"],
        row["workspace"], row["retry_of"], row["forked_from"], row["error"],
        bool(row["is_archived"]), _at(row["submitted_at"]), _at(row["started_at"]),
        _at(row["completed_at"]), _at(row["failed_at"]), instant(row["created_at"]),
        instant(row["updated_at"]), bool(row["is_cancelled"]), row["before"],
    )  # fmt: skip


def agent_row(row: sqlite3.Row) -> AgentRow:
    return AgentRow(
        row["id"], AgentState(row["state"]), row["version"], row["step"], row["conversation"],
        row["resume_id"], row["account"], row["kind"], _at(row["resets_at"]),
        bool(row["is_by_person"]), _at(row["saved_at"]), instant(row["updated_at"]),
        row["steps_done"], row["steps_total"],
    )  # fmt: skip


def run_row(row: sqlite3.Row) -> RunRow:
    return RunRow(
        row["id"], row["task"].removeprefix(f"{row['work']}/"), row["attempt"], row["agent"],
        row["account"], RunState(row["state"]), row["conversation"], row["nonce"],
        row["resumes"], instant(row["created_at"]), row["verify_job"], row["resume_id"],
        row["purpose"], row["answer"], row["role"], row["phase"], row["prompt"], row["queued"],
        row["heard"], row["version"], row["task"],
    )  # fmt: skip


def park_row(row: sqlite3.Row, prefix: int) -> ParkRow:
    """`prefix`: how much of a task's id names its work."""
    id_, task, run, account, kind, resets, wakes = row
    resets_at = instant(resets) if resets else None
    return ParkRow(id_, task[prefix:], run, account, kind, resets_at, instant(wakes))


def gate_row(row: sqlite3.Row) -> GateRow:
    return GateRow(
        row["id"], key_of(row["task"], row["work"]), row["run"], row["kind"], row["text"],
        _texts(row["options"]), row["preset"], row["category"],
        json.loads(row["about"]) if row["about"] else {}, _at(row["deadline"]), row["phase"],
        row["round"], row["name"], bool(row["is_required"]), row["priority"], row["answer"],
        GateState(row["state"]), row["version"], _at(row["settled_at"]),
        instant(row["created_at"]), row["work"],
    )  # fmt: skip


def pane_row(row: sqlite3.Row) -> PaneRow:
    return PaneRow(
        row["id"], row["task"], PaneState(row["state"]), row["version"], row["kind"],
        row["evidence"] or "", _at(row["resets_at"]), row["sends"], _at(row["sent_at"]),
        row["step"], row["windows"], bool(row["is_held"]),
    )  # fmt: skip


def act_row(row: sqlite3.Row) -> ActRow:
    return ActRow(
        row["id"], row["work"], key_of(row["task"], row["work"]), row["gate"], row["verb"],
        json.loads(row["data"]), row["actor"], row["via"], ActState(row["state"]),
        row["reason"], row["version"], instant(row["created_at"]),
    )  # fmt: skip


def _at(text: str | None) -> datetime | None:
    return instant(text) if text else None


@lru_cache(maxsize=256)  # most rows have the same few
def _texts(text: str) -> tuple[str, ...]:
    found = json.loads(text)
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise ValueError(f"not a list of texts: {text:.100}")
    return tuple(found)
