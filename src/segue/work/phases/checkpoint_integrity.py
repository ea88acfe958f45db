"""Which checkpoint of a task is whole, said where a newer one is not, or none at all is."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from segue.core.plan import TaskState
from segue.core.serving import AgentState
from segue.errors import UserError
from segue.i18n import _
from segue.store import checkpoints
from segue.store.changes import Change
from segue.store.rows import PHASE_TASKS, SERVER
from segue.work.phases import moves
from segue.work.phases.supervisor import Supervisor

NEWEST_FIRST = "SELECT * FROM checkpoints WHERE task = ? ORDER BY created_at DESC, rowid DESC"
AT_REST = (
    f"SELECT t.id FROM {PHASE_TASKS} JOIN agents a ON a.id = t.id"  # noqa: S608
    f" WHERE t.work = '{SERVER}' AND t.state = ? AND a.state != ? AND p.workspace IS NOT NULL"
)

logger = logging.getLogger("segue.work.phases")


@dataclass(frozen=True, slots=True)
class Found:
    """The newest checkpoint that is whole, if there is one; and those that were passed over."""

    row: sqlite3.Row | None = None
    content: Mapping[str, Any] | None = None
    broken: Sequence[str] = ()


def rows(supervisor: Supervisor, task: str) -> list[sqlite3.Row]:
    return list(supervisor.records.store.all(NEWEST_FIRST, task))


def newest(supervisor: Supervisor, task: str, of: Sequence[sqlite3.Row], *, is_said: bool) -> Found:
    """The first of these that can be restored from; `is_said`: the broken ones, in the log."""
    broken: list[str] = []
    for row in of:
        content = checkpoints.read(supervisor.saving.data / row["path"], row["sha256"])
        if not isinstance(content, checkpoints.Broken):
            return Found(row, content, broken)
        broken.append(row["id"])
        if is_said:
            text = "task %s: checkpoint %s of %s is broken (%s): the one before it counts"
            said = (task, row["id"], row["created_at"], content.reason)
            logger.warning(text, *said, extra={"task": task})
    return Found(broken=broken)


def look_at(supervisor: Supervisor, id: str) -> None:
    """At a start: what is broken is said. A task of which nothing is whole gets a new one."""
    found = newest(supervisor, id, rows(supervisor, id), is_said=True)
    if found.row is None and found.broken:
        text = "task %s: none of its checkpoints is intact: it continues from its files as they are"
        logger.error(text, id, extra={"task": id})
        supervisor.saving.save(id, "recovered")


async def look_at_rest(supervisor: Supervisor) -> None:
    """Those that wait may be very many: one after the other, while there is nothing else to do."""
    for row in supervisor.records.store.all(AT_REST, TaskState.IN_PROGRESS, AgentState.RUNNING):
        await asyncio.sleep(0)
        try:
            look_at(supervisor, row["id"])
        except (UserError, OSError) as error:  # reported to people by the caller that needs it
            logger.warning("task %s: its checkpoints cannot be read: %s", row["id"], error)


def restored(supervisor: Supervisor, task: str) -> tuple[dict[str, object], list[Change]]:
    """For the journal: from what a task without a process continues. Without any
    checkpoint, people are notified what that means."""
    found = newest(supervisor, task, rows(supervisor, task), is_said=False)
    told: dict[str, object] = {"broken": list(found.broken)} if found.broken else {}
    if found.row is not None:
        return {"checkpoint": found.row["id"], **told}, []
    if found.broken:
        lost = _(
            "none of its checkpoints is intact, so it continues from the existing "
            "files. Lost: what its agent had not written to files, and all earlier "
            "states to rewind to"
        )
    else:
        lost = _(
            "it has no checkpoint yet and continues from the existing files. Lost: "
            "what its agent had not written to files"
        )
    logger.warning("task %s: cold start: %s", task, lost, extra={"task": task})
    notice = moves.notice(task, "trouble", lost, supervisor.clock.now())
    return {"checkpoint": None, "lost": lost, **told}, [notice]
