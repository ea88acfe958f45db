"""Agents that say nothing: looked at and told of; ended only past a bound that somebody set.

A long silence may be a long thought, a long build or a stream that died without a word.
Which one it is cannot be known from outside, so nothing is ended by guess.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from segue.core.machines import RunState
from segue.work.attempts import Attempt

if TYPE_CHECKING:
    from segue.work.plan_run import PlanRun

FINISHED_S = 30.0  # an agent that has said its last word may take so long to end


def next_at(run: PlanRun) -> datetime | None:
    """When somebody will have been silent for too long, if nobody says a word until then."""
    return min((at for a in _working(run) if (at := _due(run, a)) is not None), default=None)


def look(run: PlanRun) -> None:
    """Deal with everyone whose time has come."""
    now = run.clock.now()
    for attempt in _working(run):
        due = _due(run, attempt)
        if due is None or now < due:
            continue
        if attempt.finished is not None:
            attempt.is_silent = True
            run.engine.end_soon(attempt.run.id)
        elif not attempt.is_silent:
            attempt.is_silent = True
            _tell(run, attempt, now)
        else:
            attempt.was_too_silent = True
            run.engine.end_soon(attempt.run.id)


def _working(run: PlanRun) -> list[Attempt]:
    return [
        attempt
        for job, attempt in run.jobs.items()
        if job == attempt.run.id
        and attempt.run.state is RunState.RUNNING
        and not (attempt.was_too_silent or attempt.is_dropped)
    ]


def _due(run: PlanRun, attempt: Attempt) -> datetime | None:
    """The next instant at which this one's silence matters."""
    if attempt.heard_at is None:
        return None
    if attempt.finished is not None:
        return None if attempt.is_silent else attempt.heard_at + timedelta(seconds=FINISHED_S)
    settings, general = attempt.profile.settings, run.options
    after_s = settings.silence_after_s or general.silence_after_s
    most_s = settings.silence_max_s or general.silence_max_s
    if not attempt.is_silent:
        return attempt.heard_at + timedelta(seconds=min(after_s, most_s or after_s))
    return None if most_s is None else attempt.heard_at + timedelta(seconds=most_s)


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
