"""The agent of a task with phases: its machine, and what a person may do with the task.

What a person may do is derived from the tables (`allowed_actions`): the API, the page and the
command line use the same.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from typing import Literal, get_args

from segue.core.guards import has_next_phase, is_ungated
from segue.core.machine import Machine, To
from segue.core.machines import TASK, Trigger
from segue.core.plan import TaskState

# The states that a task with phases passes through, in the order of the board: `status` of the API.
Status = Literal[
    TaskState.DRAFT,
    TaskState.PENDING,
    TaskState.IN_PROGRESS,
    TaskState.REVIEW,
    TaskState.COMPLETED,
    TaskState.FAILED,
]
STAGES: tuple[TaskState, ...] = get_args(Status)


class AgentState(StrEnum):
    IDLE = "idle"
    RUNNING = "running"
    PAUSED = "paused"
    WAITING_DEPENDENCY = "waiting_dependency"
    WAITING_QUESTION = "waiting_question"
    WAITING_REVIEW = "waiting_review"
    COMPLETED = "completed"
    FAILED = "failed"


_WAITING = (
    AgentState.PAUSED,
    AgentState.WAITING_DEPENDENCY,
    AgentState.WAITING_QUESTION,
    AgentState.WAITING_REVIEW,
)

AGENT = Machine(
    "agent",
    AgentState,
    {
        (AgentState.IDLE, Trigger.ASSIGN): To(AgentState.RUNNING),
        (AgentState.RUNNING, Trigger.DEPENDENCY_REQUEST): To(AgentState.WAITING_DEPENDENCY),
        (AgentState.RUNNING, Trigger.QUESTION): To(AgentState.WAITING_QUESTION),
        (AgentState.RUNNING, Trigger.PHASE_COMPLETE): (
            To(AgentState.COMPLETED, when=is_ungated),
            To(AgentState.WAITING_REVIEW),
        ),
        (AgentState.RUNNING, Trigger.PAUSE): To(AgentState.PAUSED),
        (AgentState.RUNNING, Trigger.LIMIT): To(AgentState.PAUSED),
        (AgentState.RUNNING, Trigger.RECOVER): To(AgentState.RUNNING),
        (AgentState.RUNNING, Trigger.REWORK): To(AgentState.RUNNING),
        (AgentState.RUNNING, Trigger.STEP): To(AgentState.RUNNING),
        (AgentState.RUNNING, Trigger.FAIL): To(AgentState.FAILED),
        (AgentState.WAITING_DEPENDENCY, Trigger.PROVIDE): To(AgentState.RUNNING),
        (AgentState.WAITING_DEPENDENCY, Trigger.REJECT): To(AgentState.RUNNING),
        (AgentState.WAITING_QUESTION, Trigger.ANSWER): To(AgentState.RUNNING),
        (AgentState.WAITING_REVIEW, Trigger.APPROVE): (
            To(AgentState.RUNNING, when=has_next_phase),
            To(AgentState.COMPLETED),
        ),
        (AgentState.WAITING_REVIEW, Trigger.REQUEST_CHANGES): To(AgentState.RUNNING),
        (AgentState.PAUSED, Trigger.RESUME): To(AgentState.RUNNING),
        (AgentState.PAUSED, Trigger.WAKE): To(AgentState.RUNNING),
        **{
            (state, Trigger.CANCEL): To(AgentState.FAILED)
            for state in (AgentState.RUNNING, *_WAITING)
        },
        **{
            (state, Trigger.REWIND): To(AgentState.RUNNING)
            for state in (AgentState.PAUSED, AgentState.WAITING_REVIEW, AgentState.FAILED)
        },
    },
    finals=(AgentState.COMPLETED, AgentState.FAILED),
)


# What a person may ask for besides the moves of the tables: in which states.
_MORE: dict[TaskState, tuple[str, ...]] = {
    TaskState.DRAFT: ("delete",),
    TaskState.COMPLETED: ("archive", "delete"),
    TaskState.FAILED: ("retry", "archive", "delete"),
}
# What a person may do with a task that waits for one that failed: that one is tried again, it
# begins without it, or it fails as well. Nothing can be tried again that is gone.
STUCK = ("retry", "go_without", "fail")
_BY_PERSON = (Trigger.SUBMIT, Trigger.APPROVE, Trigger.REQUEST_CHANGES, Trigger.CANCEL)


@cache  # asked for every task of a list
def allowed_actions(
    state: TaskState, agent: AgentState, stuck: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """What a person may do with a task now, in the words of the API. `stuck`: what can be done
    about a blocked task."""
    actions = [str(by) for by in TASK.allowed(state) if by in _BY_PERSON]
    if state is TaskState.IN_PROGRESS:
        own = AGENT.allowed(agent)
        actions = [str(by) for by in (Trigger.PAUSE, Trigger.RESUME) if by in own] + actions
    return (*actions, *stuck, *_MORE.get(state, ()))
