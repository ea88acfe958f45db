"""Agents of a plan that say nothing: `engine/silence.py` says when that matters."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from segue.core.machines import RunState
from segue.engine.silence import Silence
from segue.work.plans.attempts import Attempt

if TYPE_CHECKING:
    from segue.work.plans.plan_run import PlanRun


def next_at(run: PlanRun) -> datetime | None:
    """When the next silence will have lasted too long, if no agent says a word until then."""
    bounds = run.options.silence
    return min((at for a in _working(run) if (at := bounds.due(a)) is not None), default=None)


def look(run: PlanRun) -> None:
    """Deal with every agent whose time has come."""
    now = run.clock.now()
    for attempt in _working(run):
        match run.options.silence.look(attempt, now):
            case Silence.TELL:
                _tell(run, attempt, now)
            case Silence.END:
                run.engine.end_soon(attempt.run.id)


def _working(run: PlanRun) -> list[Attempt]:
    return [
        attempt
        for job, attempt in run.jobs.items()
        if job == attempt.run.id and attempt.run.state is RunState.RUNNING
    ]


def _tell(run: PlanRun, attempt: Attempt, now: datetime) -> None:
    assert attempt.heard_at is not None
    seen = run.engine.look(attempt.run.id)
    run.tell(
        "task_silent",
        task=attempt.task.id,
        run=attempt.run.id,
        seconds=round((now - attempt.heard_at).total_seconds(), 3),
        is_alive=seen is not None,
        processes=list(seen.processes) if seen else [],
        stopped=seen.stopped if seen else 0,
        connections=seen.connections if seen else 0,
    )
