"""The server's machines: exactly these moves, and what people may do in each state."""

from __future__ import annotations

import pytest

from segue.core.machine import IllegalMove, Machine
from segue.core.machines import TASK, Trigger
from segue.core.plan import TaskState
from segue.core.serving import AGENT, AgentState, allowed_actions

TABLES = {
    AGENT: """
        idle: assign running
        running: dependency_request waiting_dependency, question waiting_question
        running: phase_complete completed, phase_complete waiting_review
        running: pause paused, limit paused, recover running, rework running, step running
        running: fail failed, cancel failed
        waiting_dependency: provide running, reject running, cancel failed
        waiting_question: answer running, cancel failed
        waiting_review: approve running, approve completed, request_changes running
        waiting_review: cancel failed, rewind running
        paused: resume running, wake running, cancel failed, rewind running
        failed: rewind running
    """,
}


@pytest.mark.parametrize("machine", TABLES, ids=lambda machine: machine.name)
def test_each_table_has_these_moves_and_no_others(machine: Machine[AgentState]) -> None:
    """A table that gains or loses a row fails here."""
    wanted = set()
    for line in TABLES[machine].strip().splitlines():
        state, moves = line.strip().split(": ")
        for move in moves.split(", "):
            cause, to = move.split()
            wanted.add((state, cause, to))
    found = {(str(s), str(c), str(to.state)) for s, c, to in machine.moves()}
    assert found == wanted


@pytest.mark.parametrize(
    ("stage", "agent", "actions"),
    [
        (TaskState.DRAFT, AgentState.IDLE, "submit delete"),
        (TaskState.PENDING, AgentState.IDLE, "cancel"),
        (TaskState.IN_PROGRESS, AgentState.RUNNING, "pause cancel"),
        (TaskState.IN_PROGRESS, AgentState.PAUSED, "resume cancel"),
        (TaskState.IN_PROGRESS, AgentState.WAITING_QUESTION, "cancel"),
        (TaskState.REVIEW, AgentState.WAITING_REVIEW, "approve request_changes cancel"),
        (TaskState.COMPLETED, AgentState.COMPLETED, "archive delete"),
        (TaskState.FAILED, AgentState.FAILED, "retry archive delete"),
    ],
)
def test_what_people_may_do(stage: TaskState, agent: AgentState, actions: str) -> None:
    """Derived from the tables, in the words of the API."""
    assert allowed_actions(stage, agent) == tuple(actions.split())


@pytest.mark.parametrize("missing", ["title", "type", "description"])
def test_a_draft_that_is_not_complete_cannot_be_submitted(missing: str) -> None:
    """Title, type and description must be there."""
    facts = {"title": "a", "type": "b", "description": "c", missing: ""}
    with pytest.raises(IllegalMove):
        TASK.target(TaskState.DRAFT, Trigger.SUBMIT, **facts)


def test_what_a_task_waits_for_keeps_it_from_starting() -> None:
    """It needs a slot, and every task it depends on completed."""
    start = TASK.target
    assert (
        start(TaskState.PENDING, Trigger.ASSIGN, slot_is_free=True, waits_for=[])
        is TaskState.IN_PROGRESS
    )
    for facts in (
        {"slot_is_free": False, "waits_for": []},
        {"slot_is_free": True, "waits_for": ["x"]},
    ):
        with pytest.raises(IllegalMove):
            start(TaskState.PENDING, Trigger.ASSIGN, **facts)


def test_an_approval_leads_on_or_ends() -> None:
    """To the next phase, or after the last one to the end; unverified work is not reviewed."""
    approve = Trigger.APPROVE
    assert TASK.target(TaskState.REVIEW, approve, phase=1, phases_total=2) is TaskState.IN_PROGRESS
    assert TASK.target(TaskState.REVIEW, approve, phase=2, phases_total=2) is TaskState.COMPLETED
    assert AGENT.target(AgentState.WAITING_REVIEW, approve, phase=2, phases_total=2) == "completed"
    with pytest.raises(IllegalMove):
        TASK.target(TaskState.IN_PROGRESS, Trigger.PHASE_COMPLETE, phases_total=2, verified=False)
    with pytest.raises(IllegalMove):
        TASK.target(TaskState.REVIEW, Trigger.REQUEST_CHANGES, feedback="")
