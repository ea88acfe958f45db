"""What is lost where a plan's own memory is gone or damaged, in words."""

from __future__ import annotations

from pathlib import Path

from segue.core.plan import TaskState
from segue.engine.plan.plan_run import PlanRun
from segue.engine.run_files import Folders
from segue.errors import UserError
from segue.i18n import _

NAMES_MAX = 5


def what_is_lost(run: PlanRun) -> str | None:
    """At a start: the plan has marks of earlier work, and no record of it. A person may have
    made some of them, so those that nothing hangs on are not worth a word."""
    if run.ledger.is_damaged:
        return _(
            "Segue's database was damaged (segue.db-wal). The newest records "
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
        (_("the agents' summaries for {tasks}"), sorted(wanted)),
        (_("the conversation, park or question of {tasks}"), begun),
        (_("the full error messages of {tasks}"), failed),
    ]
    lost = [text.format(tasks=_names(ids)) for text, ids in parts if ids]
    if not lost:
        return None
    text = _("Segue has no records of this plan and continues from its marks. Lost: {what}")
    return text.format(what="; ".join(lost))


def _names(ids: list[str]) -> str:
    more = len(ids) - NAMES_MAX
    return ", ".join(ids[:NAMES_MAX]) + (f", … (+{more})" if more > 0 else "")


def in_words(error: OSError, project: Folders) -> UserError | None:
    """What could not be written because it was removed that moment; None: it is something else."""
    name = error.filename
    places = (project.memory, project.database.parent)
    if not isinstance(name, str) or not any(map(Path(name).is_relative_to, places)):
        return None
    return UserError(
        "memory_gone",
        _("Segue's records were removed while the plan ran: {why}").format(why=error.strerror),
        file=name,
        hint=_("start again: Segue continues from the marks in the plan"),
    )
