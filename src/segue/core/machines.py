"""The tables of everything that has a state: tasks, runs, parks, gates, accounts, plans."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from segue.core.machine import Facts, Guard, Machine, To
from segue.core.plan import FINISHED, TaskState


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
    OPEN = "open"
    ANSWERED = "answered"
    DELIVERED = "delivered"
    WITHDRAWN = "withdrawn"


class AccountState(StrEnum):
    OPEN = "open"
    PARKED = "parked"
    PROBING = "probing"


class WorkerState(StrEnum):
    """An agent in a pane that a person started, as far as its screen tells."""

    IDLE = "idle"
    BUSY = "busy"
    PAUSED = "paused"  # by a limit
    ERROR = "error"  # could not be resumed: somebody must look
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
    DELIVER = "deliver"
    WITHDRAW = "withdraw"
    CUT_OFF = "cut_off"
    REVOKE = "revoke"
    PROBE = "probe"
    OPEN = "open"
    FINISH = "finish"
    WAIT = "wait"
    INTERRUPT = "interrupt"
    RECOVER = "recover"
    SEE = "see"
    SEND = "send"
    LOSE = "lose"


def _is_seen(state: WorkerState) -> Guard:
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
        To(mark, when=_is_marked(mark)) for mark in TaskState if mark is not state
    )
    for state in TaskState
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
        **_EDITS,
    },
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
        (GateState.OPEN, Trigger.ANSWER): To(GateState.ANSWERED),
        (GateState.OPEN, Trigger.WITHDRAW): To(GateState.WITHDRAWN),
        (GateState.ANSWERED, Trigger.DELIVER): To(GateState.DELIVERED),
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
        (AccountState.PROBING, Trigger.OPEN): To(AccountState.OPEN),
        (AccountState.PROBING, Trigger.PARK): To(AccountState.PARKED),
    },
)

PLAN = Machine(
    "plan",
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

_LIVING = tuple(state for state in WorkerState if state is not WorkerState.DEAD)
_SEEN = (WorkerState.IDLE, WorkerState.BUSY, WorkerState.BLOCKED, WorkerState.DONE)

WORKER = Machine(
    "worker",
    WorkerState,
    {
        **{
            (state, Trigger.SEE): tuple(
                To(seen, when=_is_seen(seen)) for seen in _SEEN if seen is not state
            )
            for state in _LIVING
        },
        **{(state, Trigger.PARK): To(WorkerState.PAUSED) for state in _LIVING},
        **{(state, Trigger.ASK): To(WorkerState.BLOCKED) for state in _LIVING},
        (WorkerState.PAUSED, Trigger.SEND): To(WorkerState.PAUSED),
        (WorkerState.PAUSED, Trigger.FAIL): To(WorkerState.ERROR),
        **{(state, Trigger.LOSE): To(WorkerState.DEAD) for state in _LIVING},
        (WorkerState.DEAD, Trigger.SEE): To(WorkerState.IDLE),  # its host was only out of reach
    },
)

MACHINES: dict[str, Machine[Any]] = {
    machine.name: machine for machine in (TASK, RUN, PARK, GATE, ACCOUNT, PLAN, WORKER)
}
