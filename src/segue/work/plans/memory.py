"""Segue's memory while a plan runs: an agent's `git clean -fdx` may remove it under the run.

What is open is still whole: the database is written anew from it, the lock is taken again,
folders are made. Only what was in files that nobody has open is lost, and that is told.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from segue.core.plan import TaskState
from segue.engine.executors import Due
from segue.engine.executors.process import ProcessExecutor
from segue.errors import UserError
from segue.i18n import _
from segue.store.lock import Lock
from segue.store.sqlite import Store
from segue.work.locks import check_held
from segue.work.project import Project

if TYPE_CHECKING:
    from segue.work.plans.plan_run import PlanRun

TRIES, ROUND_S = 20, 0.05  # whoever removes it may still be at it
AGAIN_S = 1.0  # and may have come past what was put back already
NAMES_MAX = 5


@dataclass(frozen=True, slots=True)
class Memory:
    """What the run of one plan has of the project's memory."""

    project: Project
    store: Store
    lock: Lock
    engine: ProcessExecutor
    shown: str  # the plan's name, as people know it
    folders: tuple[Path, ...]

    def keep(self) -> str | None:
        """Put back what was removed; in words what that was, if anything was."""
        gone = [folder for folder in self.folders if not folder.is_dir()]
        if not gone and self.store.is_in_place and self.lock.is_in_place:
            return None
        for left in reversed(range(TRIES)):
            try:
                self._put_back()
                break
            except FileNotFoundError:
                if not left:
                    raise
                time.sleep(ROUND_S)
        asyncio.get_running_loop().call_later(AGAIN_S, self.engine.notify, Due())
        kept = (self.project.logs, self.project.evidence)
        lost = [self.project.relative(folder) for folder in gone if folder in kept]
        if not lost:
            return _("Segue's records were removed while the plan runs; Segue restored all of them")
        text = _(
            "Segue's records were removed while the plan runs; Segue restored them. Lost: {what}"
        )
        return text.format(what=", ".join(lost))

    def _put_back(self) -> None:
        self.project.make_folders()
        if not self.lock.is_in_place:
            check_held(self.lock.take_again(), self.shown)
        if not self.store.is_in_place:
            self.store.put_back()
        self.engine.claim_again()


def what_is_lost(run: PlanRun) -> str | None:
    """At a start: the plan has marks of earlier work, and nobody remembers it. A person may have
    made some of them, so those that nothing hangs on are not worth a word."""
    if run.ledger.is_damaged:
        return _(
            "Segue's memory was damaged (.segue/segue.db-wal): its newest records "
            "are lost; Segue continues from the plan's files"
        )
    if run.ledger.tasks or run.file.kind != "tasklist":
        return None
    tasks = run.file.tasks()
    done = {task.id for task in tasks if task.state is TaskState.COMPLETED}
    wanted = {id for task in tasks if task.id not in done for id in task.blocked_by} & done
    begun = [task.id for task in tasks if task.state is TaskState.IN_PROGRESS]
    failed = [task.id for task in tasks if task.state is TaskState.FAILED]
    parts = [
        (_("what was done for {tasks}, in the agents' words"), sorted(wanted)),
        (_("where {tasks} stood: conversation, park or question"), begun),
        (_("the full errors of {tasks}"), failed),
    ]
    lost = [text.format(tasks=_names(ids)) for text, ids in parts if ids]
    if not lost:
        return None
    text = _(
        "Segue has no records of this plan (.segue/) and continues from its marks. Lost: {what}"
    )
    return text.format(what="; ".join(lost))


def _names(ids: list[str]) -> str:
    more = len(ids) - NAMES_MAX
    return ", ".join(ids[:NAMES_MAX]) + (f", … (+{more})" if more > 0 else "")


def in_words(error: OSError, project: Project) -> UserError | None:
    """What could not be written because it was removed that moment; None: it is something else."""
    name = error.filename
    if not isinstance(name, str) or not Path(name).is_relative_to(project.memory):
        return None
    return UserError(
        "memory_gone",
        _("Segue's memory was removed while the plan ran: {why}").format(why=error.strerror),
        file=name,
        hint=_("start again: the marks in the plan say what is done"),
    )
