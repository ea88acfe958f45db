"""The end of a run: what came of the plan as a whole, and the exit code that says it."""

from __future__ import annotations

from dataclasses import dataclass

from segue.core.machines import PlanState, Trigger
from segue.core.plan import MARKS, TaskState
from segue.core.rules import dependency_report, is_stuck
from segue.engine.plan.plan_run import PlanRun
from segue.engine.question_texts import BUDGET

ALL_DONE, SOMETHING_FAILED, BAD_INPUT, WAITS, PARKED, INTERRUPTED = 0, 1, 2, 3, 4, 130

OUTCOME = {
    ALL_DONE: (PlanState.FINISHED, Trigger.FINISH),
    SOMETHING_FAILED: (PlanState.FAILED, Trigger.FAIL),
    WAITS: (PlanState.WAITING, Trigger.WAIT),
    PARKED: (PlanState.PARKED, Trigger.PARK),
    INTERRUPTED: (PlanState.INTERRUPTED, Trigger.INTERRUPT),
}


@dataclass(frozen=True, slots=True)
class Result:
    completed: list[str]
    failed: list[str]
    skipped: list[str]
    parked: list[str]
    waiting: list[str]
    exit: int


def end(run: PlanRun, code: int, **counts: int) -> None:
    """The work is over, for now: recorded, and people are notified."""
    run.ledger.note_unread(is_unread=run.agents_could_edit)
    run.ledger.move_plan(*OUTCOME[code])
    if run.notices is not None:
        run.notices.end(run, code, counts)
    run.act()


def finish(run: PlanRun) -> Result:
    """Judge the whole, write it down, tell it."""
    states = run.frontier.states
    parked = run.parked
    waiting = [gate.task for gate in run.ledger.gates.values() if gate.task]
    waiting += run.file.withheld
    is_asked = any(gate.category == BUDGET for gate in run.ledger.gates.values())
    if is_asked or run.budget.is_refused:
        waiting += [task.id for task in run.frontier.ready]
    waiting += [task for task in _to_be_asked(run) if task not in waiting]
    by_state = {state: [id for id, s in states.items() if s is state] for state in MARKS}
    code = _exit_code(run, parked, by_state)
    result = Result(
        completed=by_state[TaskState.COMPLETED],
        failed=by_state[TaskState.FAILED],
        skipped=by_state[TaskState.SKIPPED],
        parked=parked,
        waiting=waiting,
        exit=code,
    )
    counts = {state: len(ids) for state, ids in by_state.items()}
    end(
        run,
        code,
        completed=counts[TaskState.COMPLETED],
        failed=counts[TaskState.FAILED],
        skipped=counts[TaskState.SKIPPED],
        parked=len(parked),
    )
    run.file.sync()
    if code in (ALL_DONE, SOMETHING_FAILED):
        run.engine.sweep()
    if code in (SOMETHING_FAILED, WAITS) and is_stuck(states):
        for holder, held in dependency_report(run.graph, states):
            run.emit("dependency_problem", task=holder, holds=held)
    run.emit(
        "finished",
        completed=result.completed,
        failed=result.failed,
        skipped=result.skipped,
        parked=result.parked,
        waiting=result.waiting,
        usage=run.ledger.usage(),
        exit=code,
    )
    return result


def _exit_code(
    run: PlanRun,
    parked: list[str],
    by_state: dict[TaskState, list[str]],
) -> int:
    if run.stopping:
        return INTERRUPTED
    is_refused = run.budget.is_refused and bool(parked or by_state[TaskState.PENDING])
    if run.ledger.gates or is_refused or _to_be_asked(run):
        return WAITS
    is_stopped = run.options.on_failed == "stop" and bool(by_state[TaskState.FAILED])
    if not is_stopped and (parked or by_state[TaskState.PENDING]):
        return PARKED
    if by_state[TaskState.FAILED] or by_state[TaskState.SKIPPED]:
        return SOMETHING_FAILED
    return ALL_DONE


def _to_be_asked(run: PlanRun) -> list[str]:
    """Failed before this run, and no person was present to decide about them."""
    if run.options.on_failed != "ask":
        return []
    tasks = run.ledger.tasks
    found = (id for id in run.unanswered if id in tasks and tasks[id].state is TaskState.FAILED)
    return list(dict.fromkeys(found))
