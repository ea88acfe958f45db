"""An orderly end of the server: agents continue alone, and their state is saved first."""

from __future__ import annotations

import asyncio
import logging

from segue.errors import UserError
from segue.work.phases import snapshots
from segue.work.phases.supervisor import Supervisor

KIND = "stop"
WITHIN_S = 20.0  # the caller that asked for the end must not wait forever
BREAK_OFF_S = 5.0
LOOK_AGAIN_S = 0.1

logger = logging.getLogger("segue.work.phases")


def save(supervisor: Supervisor) -> None:
    """A checkpoint of everything that is at work, if anything can be kept."""
    if supervisor.is_away:
        logger.warning("cannot write to disk: the server stops without checkpoints")
        return
    try:
        for id in supervisor.records.at_work():
            supervisor.saving.save(id, KIND)
    except UserError as error:
        logger.error("the server stops without checkpoints: %s", error)


async def settle(supervisor: Supervisor, within_s: float = WITHIN_S) -> None:
    """Whatever is being saved is saved, or broken off: a snapshot that takes long can be taken
    again, and a git that was killed leaves nothing behind."""
    saving = supervisor.saving
    try:
        async with asyncio.timeout(within_s):
            await saving.settle()
    except TimeoutError:
        for id in saving.underway:
            text = "task %s: its last checkpoint takes too long, and is broken off"
            logger.warning(text, id, extra={"task": id})
        tries = int(BREAK_OFF_S / LOOK_AGAIN_S)
        while saving.underway and (tries := tries - 1):
            snapshots.break_off()
            await asyncio.sleep(LOOK_AGAIN_S)
