"""Waiting until something can be kept again: the disk is full, or the database is held.

Nothing is kept in memory meanwhile. Agents go on alone, as after a death of their supervisor; once
the disk and the database take something, all is taken up as after one. The same is done about an
error that concerns no task in particular, a few times.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING

from segue.engine.canary import Canaries
from segue.work.phases import storage
from segue.work.plans.storage_outage import waits_s

if TYPE_CHECKING:
    from segue.work.phases.supervisor import Supervisor

STUMBLES_MAX = 5  # errors about no task in particular, within a minute
STUMBLING = timedelta(minutes=1)

logger = logging.getLogger("segue.work.phases")


async def until_over(office: Supervisor, error: Exception) -> None:
    office.is_away = True
    _tell(office, error)
    office.be_patient(False)
    waits = waits_s()
    while office.is_away and not office.is_stopping:
        office.trouble = None
        await office.engine.let_go()
        office.attempts.clear()
        office.canaries = Canaries(office.accounts)
        office.not_before.clear()
        await office.engine.next(next(waits))
        if not office.is_stopping and office.can_write():
            _take_up(office)
    if not office.is_away:
        logger.warning("everything is taken up again")


def _take_up(office: Supervisor) -> None:
    try:
        office.is_away = False
        office.recover()
        office.is_away = office.trouble is not None
    except Exception as error:  # noqa: BLE001 - it is logged, or raised in the end
        office.is_away = True
        _tell(office, error)
    office.kick()


def _tell(office: Supervisor, error: Exception) -> None:
    """In the log; what happens too often is raised, and ends the server."""
    if storage.is_trouble(error):
        logger.error("nothing can be kept, so everything waits: %s", error)
        return
    logger.error("unexpected: everything is taken up again", exc_info=error)
    now = office.clock.now()
    office.stumbles = [at for at in office.stumbles if now - at < STUMBLING] + [now]
    if len(office.stumbles) > STUMBLES_MAX:
        raise error
