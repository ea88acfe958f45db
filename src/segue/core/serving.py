"""The machines of the server: a task that passes through phases, and the agent that works on it.

Guards ask for facts by name; whoever moves a task gives them. What a person may do is derived
from these tables (`allowed_actions`): the API, the page and the command line use the same.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from segue.core.machine import Facts, Machine, To
from segue.core.machines import RUN


class Stage(StrEnum):
    """Where a task of the server stands."""

    DRAFT = "draft"
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    REVIEW = "review"
    COMPLETED = "completed"
    FAILED = "failed"


class AgentState(StrEnum):
    IDLE = "idle"
    RUNNING = "running"
    PAUSED = "paused"
    WAITING_DEPENDENCY = "waiting_dependency"
    WAITING_QUESTION = "waiting_question"
    WAITING_REVIEW = "waiting_review"
    COMPLETED = "completed"
    FAILED = "failed"


class Cause(StrEnum):
    """What moves a task or its agent."""

    SUBMIT = "submit"
    ASSIGN = "assign"
    PHASE_COMPLETE = "phase_complete"
    REWORK = "rework"
    STEP = "step"
    APPROVE = "approve"
    REQUEST_CHANGES = "request_changes"
    CANCEL = "cancel"
    FAIL = "fail"
    DEPENDENCY_REQUEST = "dependency_request"
    PROVIDE = "provide"
    REJECT = "reject"
    QUESTION = "question"
    ANSWER = "answer"
    PAUSE = "pause"
    LIMIT = "limit"
    RESUME = "resume"
    WAKE = "wake"
    RECOVER = "recover"
    REWIND = "rewind"
    OPEN = "open"
    DELETE = "delete"
    CLOSE = "close"
    GO_WITHOUT = "go_without"


def is_complete(facts: Facts) -> bool:
    """Title, type and description are there."""
    return bool(facts.get("title") and facts.get("type") and facts.get("description"))


def may_start(facts: Facts) -> bool:
    """A slot is free, and every task it depends on is completed."""
    return bool(facts.get("slot_is_free")) and not facts.get("waits_for")


def cannot_begin(facts: Facts) -> bool:
    """A task that it depends on failed or is gone: only a person gets it any further."""
    return bool(facts.get("is_stuck"))


def is_verified(facts: Facts) -> bool:
    """Deliverables there, verification passed."""
    return bool(facts.get("verified"))


def is_ungated(facts: Facts) -> bool:
    """A task without phases has no review."""
    return facts.get("phases_total") == 0


def has_next_phase(facts: Facts) -> bool:
    phase, total = facts.get("phase"), facts.get("phases_total")
    return isinstance(phase, int) and isinstance(total, int) and phase < total


def has_feedback(facts: Facts) -> bool:
    return bool(facts.get("feedback"))


TASK = Machine(
    "server_task",
    Stage,
    {
        (Stage.DRAFT, Cause.SUBMIT): To(Stage.PENDING, when=is_complete),
        (Stage.PENDING, Cause.ASSIGN): To(Stage.IN_PROGRESS, when=may_start),
        (Stage.PENDING, Cause.CANCEL): To(Stage.DRAFT),
        (Stage.PENDING, Cause.GO_WITHOUT): To(Stage.PENDING, when=cannot_begin),
        (Stage.PENDING, Cause.FAIL): To(Stage.FAILED, when=cannot_begin),
        (Stage.IN_PROGRESS, Cause.PHASE_COMPLETE): (
            To(Stage.COMPLETED, when=is_ungated),
            To(Stage.REVIEW, when=is_verified),
        ),
        (Stage.IN_PROGRESS, Cause.REWORK): To(Stage.IN_PROGRESS),
        (Stage.IN_PROGRESS, Cause.FAIL): To(Stage.FAILED),
        (Stage.IN_PROGRESS, Cause.CANCEL): To(Stage.FAILED),
        (Stage.IN_PROGRESS, Cause.REWIND): To(Stage.IN_PROGRESS),
        (Stage.REVIEW, Cause.APPROVE): (
            To(Stage.IN_PROGRESS, when=has_next_phase),
            To(Stage.COMPLETED),
        ),
        (Stage.REVIEW, Cause.REQUEST_CHANGES): To(Stage.IN_PROGRESS, when=has_feedback),
        (Stage.REVIEW, Cause.CANCEL): To(Stage.FAILED),
        (Stage.REVIEW, Cause.REWIND): To(Stage.IN_PROGRESS),
        (Stage.FAILED, Cause.REWIND): To(Stage.IN_PROGRESS),
    },
    finals=(Stage.COMPLETED, Stage.FAILED),
)

_WAITING = (
    AgentState.PAUSED,
    AgentState.WAITING_DEPENDENCY,
    AgentState.WAITING_QUESTION,
    AgentState.WAITING_REVIEW,
)

AGENT = Machine(
    "server_agent",
    AgentState,
    {
        (AgentState.IDLE, Cause.ASSIGN): To(AgentState.RUNNING),
        (AgentState.RUNNING, Cause.DEPENDENCY_REQUEST): To(AgentState.WAITING_DEPENDENCY),
        (AgentState.RUNNING, Cause.QUESTION): To(AgentState.WAITING_QUESTION),
        (AgentState.RUNNING, Cause.PHASE_COMPLETE): (
            To(AgentState.COMPLETED, when=is_ungated),
            To(AgentState.WAITING_REVIEW),
        ),
        (AgentState.RUNNING, Cause.PAUSE): To(AgentState.PAUSED),
        (AgentState.RUNNING, Cause.LIMIT): To(AgentState.PAUSED),
        (AgentState.RUNNING, Cause.RECOVER): To(AgentState.RUNNING),
        (AgentState.RUNNING, Cause.REWORK): To(AgentState.RUNNING),
        (AgentState.RUNNING, Cause.STEP): To(AgentState.RUNNING),
        (AgentState.RUNNING, Cause.FAIL): To(AgentState.FAILED),
        (AgentState.WAITING_DEPENDENCY, Cause.PROVIDE): To(AgentState.RUNNING),
        (AgentState.WAITING_DEPENDENCY, Cause.REJECT): To(AgentState.RUNNING),
        (AgentState.WAITING_QUESTION, Cause.ANSWER): To(AgentState.RUNNING),
        (AgentState.WAITING_REVIEW, Cause.APPROVE): (
            To(AgentState.RUNNING, when=has_next_phase),
            To(AgentState.COMPLETED),
        ),
        (AgentState.WAITING_REVIEW, Cause.REQUEST_CHANGES): To(AgentState.RUNNING),
        (AgentState.PAUSED, Cause.RESUME): To(AgentState.RUNNING),
        (AgentState.PAUSED, Cause.WAKE): To(AgentState.RUNNING),
        **{
            (state, Cause.CANCEL): To(AgentState.FAILED)
            for state in (AgentState.RUNNING, *_WAITING)
        },
        **{
            (state, Cause.REWIND): To(AgentState.RUNNING)
            for state in (AgentState.PAUSED, AgentState.WAITING_REVIEW, AgentState.FAILED)
        },
    },
    finals=(AgentState.COMPLETED, AgentState.FAILED),
)


class Asking(StrEnum):
    """A review, a question or a dependency, as far as people have got with it."""

    PENDING = "pending"
    APPROVED = "approved"
    CHANGES_REQUESTED = "changes_requested"
    ANSWERED = "answered"
    PROVIDED = "provided"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"  # the task ended or was rewound first


GATE = Machine(
    "server_gate",
    Asking,
    {
        (Asking.PENDING, Cause.APPROVE): To(Asking.APPROVED),
        (Asking.PENDING, Cause.REQUEST_CHANGES): To(Asking.CHANGES_REQUESTED),
        (Asking.PENDING, Cause.ANSWER): To(Asking.ANSWERED),
        (Asking.PENDING, Cause.PROVIDE): To(Asking.PROVIDED),
        (Asking.PENDING, Cause.REJECT): To(Asking.REJECTED),
        (Asking.PENDING, Cause.CLOSE): To(Asking.WITHDRAWN),
    },
)

# What a person may ask for besides the moves of the tables: in which states.
_MORE: dict[Stage, tuple[str, ...]] = {
    Stage.DRAFT: ("delete",),
    Stage.COMPLETED: ("archive", "delete"),
    Stage.FAILED: ("retry", "archive", "delete"),
}
# What a person may do with a task that waits for one that failed: that one is tried again, it
# begins without it, or it fails as well. Nothing can be tried again that is gone.
STUCK = ("retry", "go_without", "fail")
_BY_PERSON = (Cause.SUBMIT, Cause.APPROVE, Cause.REQUEST_CHANGES, Cause.CANCEL)


def allowed_actions(
    stage: Stage, agent: AgentState, stuck: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """What a person may do with a task now, in the words of the API. `stuck`: what can be done
    about a task that waits in vain."""
    actions = [str(cause) for cause in TASK.allowed(stage) if cause in _BY_PERSON]
    if stage is Stage.IN_PROGRESS:
        own = AGENT.allowed(agent)
        actions = [str(c) for c in (Cause.PAUSE, Cause.RESUME) if c in own] + actions
    return (*actions, *stuck, *_MORE.get(stage, ()))


MACHINES: dict[str, Machine[Any]] = {
    "server_task": TASK,
    "server_agent": AGENT,
    "server_gate": GATE,
    "server_run": RUN,
}
