"""Waiting until something can be kept again: the disk is full, or the database is held.

Nothing is kept in memory meanwhile. Agents run alone, as after a death of their supervisor; once
the disk and the database take something, all is taken up as after one. The same is done about an
error that concerns no task in particular, a few times.
"""

from __future__ import annotations

import logging
from datetime import timedelta

from segue.engine import outage
from segue.work.phases.supervisor import Supervisor

RECENT_ERRORS_MAX = 5  # errors about no task in particular, within a minute
RECENT = timedelta(minutes=1)

logger = logging.getLogger("segue.work.phases")


async def until_over(supervisor: Supervisor, error: Exception) -> None:
    supervisor.is_away = True
    _tell(supervisor, error)
    supervisor.be_patient(False)
    waits = outage.waits_s()
    while supervisor.is_away and not supervisor.is_stopping:
        supervisor.trouble = None
        await supervisor.engine.let_go()
        supervisor.attempts.clear()
        supervisor.canaries.forget()
        supervisor.not_before.clear()
        await supervisor.engine.next(next(waits))
        if not supervisor.is_stopping and supervisor.can_write():
            _take_up(supervisor)
    if not supervisor.is_away:
        logger.warning("storage works again: recovering everything")


def _take_up(supervisor: Supervisor) -> None:
    try:
        supervisor.is_away = False
        supervisor.recover()
        supervisor.is_away = supervisor.trouble is not None
    except Exception as error:  # noqa: BLE001 - it is logged, or raised in the end
        supervisor.is_away = True
        _tell(supervisor, error)
    supervisor.kick()


def _tell(supervisor: Supervisor, error: Exception) -> None:
    """In the log; what happens too often is raised, and ends the server."""
    if outage.is_trouble(error):
        logger.error("cannot write, so everything waits: %s", error)
        return
    logger.error("unexpected error: recovering everything", exc_info=error)
    now = supervisor.clock.now()
    supervisor.recent_errors = [at for at in supervisor.recent_errors if now - at < RECENT] + [now]
    if len(supervisor.recent_errors) > RECENT_ERRORS_MAX:
        raise error
