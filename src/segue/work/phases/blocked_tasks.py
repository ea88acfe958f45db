"""Blocked tasks: they wait for one that failed or was deleted, and nothing retries it.

They stay in the queue, and people are notified once, when that happens. What can be done: what
failed is tried again (or rewound), the task begins without it, or it fails as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from segue.core.plan import TaskState
from segue.core.serving import STUCK
from segue.i18n import _
from segue.store.changes import Change
from segue.store.rows import PHASE_TASKS, SERVER, PhaseTaskRow
from segue.work.phases import moves
from segue.work.phases.records import Records, newest

# Pending tasks that name one that failed or is gone; it may be tried again.
SUSPECTS = (
    f"SELECT t.id FROM {PHASE_TASKS} WHERE t.work = '{SERVER}' AND t.state = ? AND EXISTS (SELECT 1"  # noqa: S608
    " FROM json_each(p.depends_on) d LEFT JOIN tasks o ON o.id = d.value"
    " WHERE o.id IS NULL OR o.state = ?) ORDER BY t.created_at, t.rowid"
)
# Pending tasks that depend on a task, or on one that it tries again.
WAITING = (
    "WITH RECURSIVE olds (id) AS (VALUES (?) UNION SELECT p.retry_of FROM phase_tasks p"  # noqa: S608
    " JOIN olds ON p.task = olds.id WHERE p.retry_of IS NOT NULL)"
    f" SELECT DISTINCT t.id FROM {PHASE_TASKS}, json_each(p.depends_on) d"
    f" WHERE t.work = '{SERVER}' AND t.state = ? AND d.value IN (SELECT id FROM olds)"
)

Tries = Callable[[str], Sequence[PhaseTaskRow]]


@dataclass(frozen=True, slots=True)
class Missing:
    """A dependency that will not be completed unless a person does something. `task`: who stands
    for it; None where that is gone."""

    id: str
    task: PhaseTaskRow | None

    @property
    def text(self) -> str:
        if self.task is None:
            text = _("it waits for {id}, which was deleted. Start without it, or fail this one")
            return text.format(id=self.id)
        if self.task.state is TaskState.DRAFT:
            text = _("it waits for the draft {id}, which retries {old}. Submit that draft")
            return text.format(id=self.task.id, old=self.task.retry_of)
        text = _(
            "it waits for {id}, which failed. Retry that one, start without it, or fail this one"
        )
        return text.format(id=self.task.id)


def missing(depends_on: Iterable[str], tries: Tries) -> list[Missing]:
    """What keeps a task from beginning until a person does something."""
    found = (Missing(id, newest(tries(id))) for id in depends_on)
    return [one for one in found if _is_in_vain(one.task)]


def _is_in_vain(task: PhaseTaskRow | None) -> bool:
    """A draft that tries something again was made to be waited for; any other may be meant."""
    is_left = task is not None and task.state is TaskState.DRAFT and task.retry_of is not None
    return task is None or task.state is TaskState.FAILED or is_left


def why(records: Records, depends_on: Iterable[str]) -> str | None:
    """The same in words; None: nothing does."""
    return _in_words(missing(depends_on, records.tries))


def acts(found: Sequence[Missing]) -> tuple[str, ...]:
    """What a person can do about a blocked task."""
    if not found:
        return ()
    return STUCK if all(one.task for one in found) else STUCK[1:]


def every(records: Records) -> list[tuple[PhaseTaskRow, list[Missing]]]:
    """All blocked tasks, the oldest first."""
    rows = records.store.all(SUSPECTS, TaskState.PENDING, TaskState.FAILED)
    tasks = [task for row in rows if (task := records.task(row["id"]))]
    return [(task, found) for task in tasks if (found := missing(task.depends_on, records.tries))]


def submitted(records: Records, id: str, depends_on: Iterable[str], now: datetime) -> list[Change]:
    """A task is put into the queue, and cannot begin."""
    text = why(records, depends_on)
    return [moves.notice(id, "trouble", text, now)] if text else []


def failed(records: Records, id: str, now: datetime) -> list[Change]:
    """This task fails: notices about the tasks that wait for it."""

    def tries(other: str) -> list[PhaseTaskRow]:
        return [
            replace(task, state=TaskState.FAILED) if task.id == id else task
            for task in records.tries(other)
        ]

    return _told(records, id, tries, now)


def deleted(records: Records, id: str, now: datetime) -> list[Change]:
    return _told(records, id, lambda o: [t for t in records.tries(o) if t.id != id], now)


def _told(records: Records, id: str, tries: Tries, now: datetime) -> list[Change]:
    told: list[Change] = []
    for row in records.store.all(WAITING, id, TaskState.PENDING):
        task = records.task(row["id"])
        text = _in_words(missing(task.depends_on, tries)) if task else None
        if text:
            told.append(moves.notice(row["id"], "trouble", text, now))
    return told


def _in_words(found: Sequence[Missing]) -> str | None:
    return "; ".join(one.text for one in found) or None
