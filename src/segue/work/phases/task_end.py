"""The end of a task with phases: complete or failed; and what its run used."""

from __future__ import annotations

from segue.core.machines import RunState, Trigger
from segue.engine import budget
from segue.store.changes import Change, Move, Value, stamp
from segue.store.rows import AgentRow, PhaseTaskRow
from segue.work.phases import (
    blocked_tasks,
    moves,
)
from segue.work.phases.attempt import Attempt
from segue.work.phases.supervisor import Supervisor


def used_by(supervisor: Supervisor, attempt: Attempt) -> dict[str, Value]:
    """What this run used; of a program that counts over its conversation, what it used more."""
    used = budget.used_by(attempt, supervisor.records.usage_before)
    if used is None:
        return {}
    return {
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
        "cost_usd": used.cost_usd,
    }


def complete(
    supervisor: Supervisor, task: PhaseTaskRow, agent: AgentRow, also: list[Change]
) -> None:
    """A task without phases is done."""
    now = supervisor.clock.now()
    none = {"phases_total": 0}
    supervisor.commit(
        *also,
        moves.move_task(task, Trigger.PHASE_COMPLETE, sets={"completed_at": stamp(now)}),
        moves.move_agent(agent, Trigger.PHASE_COMPLETE, facts=none, sets={"step": None}),
        moves.no_timer("save", task.id),
        moves.notice(task.id, "completed", task.title, now),
    )
    supervisor.saving.save(task.id, "final")


def fail(
    supervisor: Supervisor, task: PhaseTaskRow, error: str, also: list[Change] | None = None
) -> None:
    _task, agent = supervisor.rows(task.id)
    now = supervisor.clock.now()
    changes: list[Change] = [*(also or [])]
    changes.append(
        moves.move_task(task, Trigger.FAIL, sets={"error": error, "failed_at": stamp(now)},
                        data={"error": error})
    )  # fmt: skip
    if agent.state == "running":
        changes.append(moves.move_agent(agent, Trigger.FAIL, sets={"step": None}))
    done = {change.id for change in changes if isinstance(change, Move)}
    changes += [
        moves.end_run(run, RunState.CUT_OFF, Trigger.CUT_OFF)
        for run in supervisor.records.open_runs(task.id)
        if run.id not in done
    ]
    changes += [moves.no_timer("save", task.id), moves.notice(task.id, "failed", error, now)]
    changes += blocked_tasks.failed(supervisor.records, task.id, now)
    supervisor.commit(*changes)
    supervisor.saving.save(task.id, "final")
    supervisor.reconcile(task.id)
