"""What a plan says: its tasks, with everything a person wrote about each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum


class TaskState(StrEnum):
    """Where a task stands, of whatever kind its work is."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"
    DRAFT = "draft"  # with phases only: not submitted yet
    REVIEW = "review"  # with phases only: a person looks at what a phase delivered


# The states that a mark in a file can show.
MARKS = (
    TaskState.PENDING,
    TaskState.IN_PROGRESS,
    TaskState.COMPLETED,
    TaskState.FAILED,
    TaskState.SKIPPED,
)
FINISHED = frozenset({TaskState.COMPLETED, TaskState.FAILED, TaskState.SKIPPED})


class Priority(IntEnum):
    """Lower starts first."""

    CRITICAL = 0
    HIGH = 1
    NORMAL = 2
    LOW = 3


RETRIES_DEFAULT = 2


class Resume(StrEnum):
    """How a task that was cut off is taken up again."""

    RESTART = "restart"  # from its beginning, in its conversation where there is one
    CONVERSATION = "conversation"  # where it was
    FRESH = "fresh"  # from its beginning, in a new conversation


@dataclass(frozen=True, slots=True)
class Step:
    """A sub-step of a task: a marked item below it."""

    text: str
    state: TaskState
    line: int


@dataclass(frozen=True, slots=True)
class Task:
    """One task as its plan states it. `order` is its place in the file, from 0."""

    id: str
    title: str
    state: TaskState = TaskState.PENDING
    line: int = 0
    order: int = 0
    wave: int | None = None  # as declared by a heading; None in a plan without wave headings
    blocked_by: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    priority: Priority = Priority.NORMAL
    agent: str | None = None
    run: str | None = None
    verify: str | None = None
    timeout_s: float | None = None
    retries: int = RETRIES_DEFAULT
    resume: Resume = Resume.RESTART
    body: str = ""
    steps: tuple[Step, ...] = ()
    previous_error: str | None = None
    retries_used: int = 0
    env: tuple[tuple[str, str], ...] = ()  # what its agent finds in the environment besides

    @property
    def is_past_limit(self) -> bool:
        """More retries stand in the plan than it allows: a person must see to it."""
        return self.retries_used > self.retries
