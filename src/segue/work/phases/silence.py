"""Agents of the server that say nothing: `engine/silence.py` says when that matters."""

from __future__ import annotations

import logging
from datetime import datetime
from typing import TYPE_CHECKING

from segue.core.durations import format_duration
from segue.core.machines import RunState
from segue.engine.silence import Silence
from segue.i18n import _
from segue.work.phases.attempt import Attempt

if TYPE_CHECKING:
    from segue.work.phases.supervisor import Supervisor

logger = logging.getLogger("segue.work.phases")


def next_at(office: Supervisor) -> datetime | None:
    """When the next silence will have lasted too long, if no agent says a word until then."""
    due = map(office.silence.due, _working(office))
    return min((at for at in due if at is not None), default=None)


def look(office: Supervisor) -> None:
    """Deal with every agent whose time has come."""
    now = office.clock.now()
    for attempt in _working(office):
        match office.silence.look(attempt, now):
            case Silence.TELL:
                _tell(office, attempt, now)
            case Silence.END:
                office.end(attempt)


def _working(office: Supervisor) -> list[Attempt]:
    return [
        attempt
        for attempt in office.attempts.values()
        if attempt.run.state is RunState.RUNNING and not attempt.is_paused and not attempt.is_ending
    ]


def _tell(office: Supervisor, attempt: Attempt, now: datetime) -> None:
    assert attempt.heard_at is not None
    lasts = format_duration(round((now - attempt.heard_at).total_seconds()))
    task = attempt.run.task
    text = _("the agent has said nothing for {time}").format(time=lasts)
    logger.warning("task %s: run %s: %s", task, attempt.run.id, text, extra={"task": task})
    office.tell_output(task, text)
