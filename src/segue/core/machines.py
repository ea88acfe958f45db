"""The tables of everything that has a state: works, tasks, runs, parks, gates, acts, …"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from segue.core import guards
from segue.core.machine import Facts, Guard, Machine, To
from segue.core.plan import FINISHED, MARKS, TaskState


class RunState(StrEnum):
    """One execution of a task by an agent. Written down before it starts: `intended`."""

    INTENDED = "intended"
    RUNNING = "running"
    VERIFYING = "verifying"
    MERGING = "merging"
    COMPLETED = "completed"
    FAILED = "failed"
    PARKED = "parked"
    ASKED = "asked"
    CUT_OFF = "cut_off"
    REVOKED = "revoked"


class ParkState(StrEnum):
    WAITING = "waiting"
    WOKEN = "woken"
    CANCELLED = "cancelled"


class GateState(StrEnum):
    """A review, a question or a dependency, as far as people have got with it."""

    PENDING = "pending"
    APPROVED = "approved"
    CHANGES_REQUESTED = "changes_requested"
    ANSWERED = "answered"
    PROVIDED = "provided"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"  # no decision is needed any more


class ActState(StrEnum):
    """What a person wants: waits for the owner of the work, who takes it in once."""

    WAITING = "waiting"
    TAKEN = "taken"
    REFUSED = "refused"


class AccountState(StrEnum):
    OPEN = "open"
    PARKED = "parked"
    PROBING = "probing"


class PaneState(StrEnum):
    """An agent in a pane that a person started, as far as its screen tells."""

    IDLE = "idle"
    BUSY = "busy"
    PAUSED = "paused"  # by a limit
    ERROR = "error"  # could not be resumed: a person must look
    BLOCKED = "blocked"  # asks something
    DONE = "done"  # the agent has ended, the pane is still there
    DEAD = "dead"  # the pane is gone


class PlanState(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    PARKED = "parked"
    WAITING = "waiting"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    FINISHED = "finished"


class Trigger(StrEnum):
    """What moves things. One vocabulary: the same word means the same in every machine."""

    START = "start"
    STARTED = "started"
    VERIFY = "verify"
    MERGE = "merge"
    COMPLETE = "complete"
    FAIL = "fail"
    TRY_AGAIN = "try_again"
    RETRY = "retry"
    RESTART = "restart"
    SKIP = "skip"
    REOPEN = "reopen"
    EDIT = "edit"
    PARK = "park"
    WAKE = "wake"
    CANCEL = "cancel"
    ASK = "ask"
    ANSWER = "answer"
    CUT_OFF = "cut_off"
    REVOKE = "revoke"
    PROBE = "probe"
    FOLLOW = "follow"
    OPEN = "open"
    FINISH = "finish"
    WAIT = "wait"
    INTERRUPT = "interrupt"
    RECOVER = "recover"
    SEE = "see"
    SEND = "send"
    LOSE = "lose"
    TAKE = "take"
    REFUSE = "refuse"
    # Of tasks with phases and their agents: these are words of the API.
    SUBMIT = "submit"
    ASSIGN = "assign"
    PHASE_COMPLETE = "phase_complete"
    REWORK = "rework"
    STEP = "step"
    APPROVE = "approve"
    REQUEST_CHANGES = "request_changes"
    DEPENDENCY_REQUEST = "dependency_request"
    PROVIDE = "provide"
    REJECT = "reject"
    QUESTION = "question"
    PAUSE = "pause"
    LIMIT = "limit"
    RESUME = "resume"
    REWIND = "rewind"
    DELETE = "delete"
    CLOSE = "close"
    GO_WITHOUT = "go_without"


def _is_seen(state: PaneState) -> Guard:
    """The guard of a look at a pane: the fact `seen` says what its screen shows."""

    def guard(facts: Facts) -> bool:
        return facts.get("seen") == state

    guard.__name__ = f"is_seen_{state}"
    return guard


def _is_marked(mark: TaskState) -> Guard:
    """The guard of a person's edit: the fact `mark` says what the file shows now."""

    def guard(facts: Facts) -> bool:
        return facts.get("mark") == mark

    guard.__name__ = f"is_marked_{mark}"
    return guard


_EDITS: dict[tuple[TaskState, StrEnum], tuple[To[TaskState], ...]] = {
    (state, Trigger.EDIT): tuple(
        To(mark, when=_is_marked(mark)) for mark in MARKS if mark is not state
    )
    for state in MARKS
}
_PHASES: dict[tuple[TaskState, StrEnum], To[TaskState] | tuple[To[TaskState], ...]] = {
    (TaskState.DRAFT, Trigger.SUBMIT): To(TaskState.PENDING, when=guards.is_complete),
    (TaskState.PENDING, Trigger.ASSIGN): To(TaskState.IN_PROGRESS, when=guards.may_start),
    (TaskState.PENDING, Trigger.CANCEL): To(TaskState.DRAFT),
    (TaskState.PENDING, Trigger.GO_WITHOUT): To(TaskState.PENDING, when=guards.cannot_begin),
    (TaskState.PENDING, Trigger.FAIL): To(TaskState.FAILED, when=guards.cannot_begin),
    (TaskState.IN_PROGRESS, Trigger.PHASE_COMPLETE): (
        To(TaskState.COMPLETED, when=guards.is_ungated),
        To(TaskState.REVIEW, when=guards.is_verified),
    ),
    (TaskState.IN_PROGRESS, Trigger.REWORK): To(TaskState.IN_PROGRESS),
    (TaskState.IN_PROGRESS, Trigger.CANCEL): To(TaskState.FAILED),
    (TaskState.IN_PROGRESS, Trigger.REWIND): To(TaskState.IN_PROGRESS),
    (TaskState.REVIEW, Trigger.APPROVE): (
        To(TaskState.IN_PROGRESS, when=guards.has_next_phase),
        To(TaskState.COMPLETED),
    ),
    (TaskState.REVIEW, Trigger.REQUEST_CHANGES): To(
        TaskState.IN_PROGRESS, when=guards.has_feedback
    ),
    (TaskState.REVIEW, Trigger.CANCEL): To(TaskState.FAILED),
    (TaskState.REVIEW, Trigger.REWIND): To(TaskState.IN_PROGRESS),
    (TaskState.FAILED, Trigger.REWIND): To(TaskState.IN_PROGRESS),
}

# What happens within a run (tried again, parked, asked) leaves the task in progress: its
# mark stays, and the journal has the row.
TASK = Machine(
    "task",
    TaskState,
    {
        (TaskState.PENDING, Trigger.START): To(TaskState.IN_PROGRESS),
        (TaskState.PENDING, Trigger.SKIP): To(TaskState.SKIPPED),
        (TaskState.PENDING, Trigger.COMPLETE): To(TaskState.COMPLETED),  # ticked by a person
        (TaskState.IN_PROGRESS, Trigger.COMPLETE): To(TaskState.COMPLETED),
        (TaskState.IN_PROGRESS, Trigger.FAIL): To(TaskState.FAILED),
        (TaskState.IN_PROGRESS, Trigger.TRY_AGAIN): To(TaskState.IN_PROGRESS),
        (TaskState.IN_PROGRESS, Trigger.PARK): To(TaskState.IN_PROGRESS),
        (TaskState.IN_PROGRESS, Trigger.WAKE): To(TaskState.IN_PROGRESS),
        (TaskState.IN_PROGRESS, Trigger.ASK): To(TaskState.IN_PROGRESS),
        (TaskState.IN_PROGRESS, Trigger.ANSWER): To(TaskState.IN_PROGRESS),
        (TaskState.IN_PROGRESS, Trigger.RESTART): To(TaskState.PENDING),  # it was cut off
        (TaskState.IN_PROGRESS, Trigger.SKIP): To(TaskState.SKIPPED),  # by a person
        (TaskState.FAILED, Trigger.RETRY): To(TaskState.PENDING),
        (TaskState.FAILED, Trigger.SKIP): To(TaskState.SKIPPED),
        (TaskState.COMPLETED, Trigger.REOPEN): To(TaskState.PENDING),  # its evidence is gone
        (TaskState.COMPLETED, Trigger.FAIL): To(TaskState.FAILED),  # and it had its last try
        (TaskState.SKIPPED, Trigger.REOPEN): To(TaskState.PENDING),
        **_PHASES,
        **_EDITS,
    },
    begins=(TaskState.PENDING, TaskState.DRAFT),
    finals=FINISHED,
)

RUN = Machine(
    "run",
    RunState,
    {
        (RunState.INTENDED, Trigger.STARTED): To(RunState.RUNNING),
        (RunState.INTENDED, Trigger.REVOKE): To(RunState.REVOKED),
        (RunState.INTENDED, Trigger.FAIL): To(RunState.FAILED),  # could not be started
        (RunState.INTENDED, Trigger.CUT_OFF): To(RunState.CUT_OFF),
        (RunState.RUNNING, Trigger.VERIFY): To(RunState.VERIFYING),
        (RunState.RUNNING, Trigger.MERGE): To(RunState.MERGING),
        (RunState.RUNNING, Trigger.COMPLETE): To(RunState.COMPLETED),
        (RunState.RUNNING, Trigger.FAIL): To(RunState.FAILED),
        (RunState.RUNNING, Trigger.PARK): To(RunState.PARKED),
        (RunState.RUNNING, Trigger.ASK): To(RunState.ASKED),
        (RunState.RUNNING, Trigger.CUT_OFF): To(RunState.CUT_OFF),
        (RunState.VERIFYING, Trigger.MERGE): To(RunState.MERGING),
        (RunState.VERIFYING, Trigger.COMPLETE): To(RunState.COMPLETED),
        (RunState.VERIFYING, Trigger.FAIL): To(RunState.FAILED),
        (RunState.VERIFYING, Trigger.CUT_OFF): To(RunState.CUT_OFF),
        (RunState.MERGING, Trigger.COMPLETE): To(RunState.COMPLETED),
        (RunState.MERGING, Trigger.FAIL): To(RunState.FAILED),
        (RunState.MERGING, Trigger.CUT_OFF): To(RunState.CUT_OFF),
    },
)

PARK = Machine(
    "park",
    ParkState,
    {
        (ParkState.WAITING, Trigger.WAKE): To(ParkState.WOKEN),
        (ParkState.WAITING, Trigger.CANCEL): To(ParkState.CANCELLED),
    },
)

GATE = Machine(
    "gate",
    GateState,
    {
        (GateState.PENDING, Trigger.APPROVE): To(GateState.APPROVED),
        (GateState.PENDING, Trigger.REQUEST_CHANGES): To(GateState.CHANGES_REQUESTED),
        (GateState.PENDING, Trigger.ANSWER): To(GateState.ANSWERED),
        (GateState.PENDING, Trigger.PROVIDE): To(GateState.PROVIDED),
        (GateState.PENDING, Trigger.REJECT): To(GateState.REJECTED),
        (GateState.PENDING, Trigger.CLOSE): To(GateState.WITHDRAWN),
    },
)

ACT = Machine(
    "act",
    ActState,
    {
        (ActState.WAITING, Trigger.TAKE): To(ActState.TAKEN),
        (ActState.WAITING, Trigger.REFUSE): To(ActState.REFUSED),
    },
)

ACCOUNT = Machine(
    "account",
    AccountState,
    {
        (AccountState.OPEN, Trigger.PARK): To(AccountState.PARKED),
        (AccountState.PARKED, Trigger.PARK): To(AccountState.PARKED),  # a longer one
        (AccountState.PARKED, Trigger.PROBE): To(AccountState.PROBING),
        (AccountState.PARKED, Trigger.OPEN): To(AccountState.OPEN),
        (AccountState.OPEN, Trigger.FOLLOW): To(AccountState.OPEN),  # one by one, at first
        (AccountState.PROBING, Trigger.PROBE): To(AccountState.PROBING),  # the first one was lost
        (AccountState.PROBING, Trigger.OPEN): To(AccountState.OPEN),
        (AccountState.PROBING, Trigger.PARK): To(AccountState.PARKED),
    },
)

WORK = Machine(
    "work",
    PlanState,
    {
        **{
            (state, Trigger.START): To(PlanState.RUNNING)
            for state in PlanState
            if state is not PlanState.RUNNING
        },
        (PlanState.RUNNING, Trigger.FINISH): To(PlanState.FINISHED),
        (PlanState.RUNNING, Trigger.FAIL): To(PlanState.FAILED),
        (PlanState.RUNNING, Trigger.PARK): To(PlanState.PARKED),
        (PlanState.RUNNING, Trigger.WAIT): To(PlanState.WAITING),
        (PlanState.RUNNING, Trigger.INTERRUPT): To(PlanState.INTERRUPTED),
        (PlanState.RUNNING, Trigger.RECOVER): To(PlanState.RUNNING),  # its supervisor died
    },
    finals=(PlanState.FINISHED, PlanState.FAILED),
)

_LIVING = tuple(state for state in PaneState if state is not PaneState.DEAD)
_SEEN = (PaneState.IDLE, PaneState.BUSY, PaneState.BLOCKED, PaneState.DONE)

PANE = Machine(
    "pane",
    PaneState,
    {
        **{
            (state, Trigger.SEE): tuple(
                To(seen, when=_is_seen(seen)) for seen in _SEEN if seen is not state
            )
            for state in _LIVING
        },
        **{(state, Trigger.PARK): To(PaneState.PAUSED) for state in _LIVING},
        **{(state, Trigger.ASK): To(PaneState.BLOCKED) for state in _LIVING},
        (PaneState.PAUSED, Trigger.SEND): To(PaneState.PAUSED),
        (PaneState.PAUSED, Trigger.FAIL): To(PaneState.ERROR),
        **{(state, Trigger.LOSE): To(PaneState.DEAD) for state in _LIVING},
        (PaneState.DEAD, Trigger.SEE): To(PaneState.IDLE),  # its host was only out of reach
    },
)

MACHINES: dict[str, Machine[Any]] = {
    machine.name: machine for machine in (WORK, TASK, RUN, PARK, GATE, ACT, ACCOUNT, PANE)
}
