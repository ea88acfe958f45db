"""The tables, spelled out once more by hand."""

from __future__ import annotations

import pytest

from segue.core.machine import IllegalMove
from segue.core.machines import ACCOUNT, GATE, MACHINES, PARK, RUN, TASK, WORK, Trigger
from segue.core.plan import MARKS, TaskState

TABLES = {
    "task": """
        draft: submit pending
        pending: start in_progress, skip skipped, complete completed
        pending: assign in_progress, cancel draft, go_without pending, fail failed
        in_progress: complete completed, fail failed, try_again in_progress, park in_progress
        in_progress: wake in_progress, ask in_progress, answer in_progress
        in_progress: restart pending, skip skipped
        in_progress: phase_complete completed, phase_complete review, rework in_progress
        in_progress: cancel failed, rewind in_progress
        review: approve in_progress, approve completed, request_changes in_progress
        review: cancel failed, rewind in_progress
        failed: retry pending, skip skipped, rewind in_progress
        completed: reopen pending, fail failed
        skipped: reopen pending
    """,
    "run": """
        intended: started running, revoke revoked, fail failed, cut_off cut_off
        running: verify verifying, merge merging, complete completed, fail failed
        running: park parked, ask asked, cut_off cut_off
        verifying: merge merging, complete completed, fail failed, cut_off cut_off
        merging: complete completed, fail failed, cut_off cut_off
    """,
    "park": "waiting: wake woken, cancel cancelled",
    "gate": """
        pending: approve approved, request_changes changes_requested, answer answered
        pending: provide provided, reject rejected, close withdrawn
    """,
    "act": "waiting: take taken, refuse refused",
    "account": """
        open: park parked, follow open
        parked: park parked, probe probing, open open
        probing: probe probing, open open, park parked
    """,
    "work": """
        pending: start running
        parked: start running
        waiting: start running
        interrupted: start running
        failed: start running
        finished: start running
        running: finish finished, fail failed, park parked, wait waiting
        running: interrupt interrupted, recover running
    """,
    "pane": """
        idle: see busy, see blocked, see done, park paused
        idle: ask blocked, lose dead
        busy: see idle, see blocked, see done, park paused
        busy: ask blocked, lose dead
        paused: see idle, see busy, see blocked, see done
        paused: park paused, ask blocked, lose dead, send paused, fail error
        error: see idle, see busy, see blocked, see done
        error: park paused, ask blocked, lose dead
        blocked: see idle, see busy, see done, park paused
        blocked: ask blocked, lose dead
        done: see idle, see busy, see blocked, park paused
        done: ask blocked, lose dead
        dead: see idle
    """,
}


def rows(text: str) -> set[tuple[str, str, str]]:
    found = set()
    for line in text.strip().splitlines():
        state, moves = line.strip().split(": ")
        for move in moves.split(", "):
            trigger, to = move.split()
            found.add((state, trigger, to))
    return found


@pytest.mark.parametrize("name", MACHINES)
def test_each_table_has_these_moves_and_no_others(name: str) -> None:
    """A table that gains or loses a row fails here, so that nobody changes one by accident."""
    table = {
        (str(state), str(trigger), str(to.state))
        for state, trigger, to in MACHINES[name].moves()
        if trigger is not Trigger.EDIT
    }
    assert table == rows(TABLES[name])


def test_where_machines_begin_and_end() -> None:
    """The first state and the last ones of every machine."""
    assert {name: str(machine.initial) for name, machine in MACHINES.items()} == {
        "task": "pending",
        "run": "intended",
        "park": "waiting",
        "gate": "pending",
        "act": "waiting",
        "account": "open",
        "work": "pending",
        "pane": "idle",
    }
    assert TASK.begins == ("pending", "draft")
    assert TASK.finals == {"completed", "failed", "skipped"}
    assert RUN.finals == {"completed", "failed", "parked", "asked", "cut_off", "revoked"}
    assert PARK.finals == {"woken", "cancelled"}
    assert GATE.finals == set(GATE.states) - {"pending"}
    assert ACCOUNT.finals == set()
    assert WORK.finals == {"finished", "failed"}


@pytest.mark.parametrize("state", MARKS)
@pytest.mark.parametrize("mark", MARKS)
def test_a_person_may_change_any_mark_to_any_other(state: TaskState, mark: TaskState) -> None:
    """An edit in the file leads to the state that its mark says; no change is no edit."""
    if state is mark:
        with pytest.raises(IllegalMove):
            TASK.target(state, Trigger.EDIT, mark=mark)
    else:
        assert TASK.target(state, Trigger.EDIT, mark=mark) is mark
        assert TASK.allows(state, mark, Trigger.EDIT)
