"""Whose turn it is: whatever runs has a slot, and nothing goes on with an account at its limit.

An agent that may go on, by its rows, and has no slot yet or an account that is parked, stays as it
is: its run is not begun, its process stands still. It is looked at again when a slot may be free,
or the limit is over. What was begun goes before what is new.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from segue.errors import UserError
from segue.i18n import _
from segue.work.server import mishaps, outcomes
from segue.work.server.rows import RunRow, TaskRow

if TYPE_CHECKING:
    from segue.work.server.supervisor import Supervisor

AGEING = timedelta(minutes=10)  # a task that has waited so long counts as one priority higher


def taken(office: Supervisor) -> set[str]:
    """The tasks that have a slot: something of them runs."""
    moving = {one.run.task for one in office.attempts.values() if not one.is_paused}
    return moving.intersection(office.records.at_work())


def is_its(office: Supervisor, run: RunRow) -> bool:
    """Whether a run may begin or go on now; if not, what it waits for is kept in mind."""
    until = None
    if run.purpose != "check" and run.task not in office.resumed:
        until = office.accounts.parked_until(run.account)
    slots = taken(office)
    if until is None and (run.task in slots or len(slots) < office.slots()):
        office.waiting.pop(run.task, None)
        return True
    office.waiting[run.task] = until
    return False


def begins(office: Supervisor, run: RunRow) -> None:
    """With an account whose limit should be over: it goes first, those that wait for the same
    limit follow when it is seen at work."""
    view = office.accounts.view().get(run.account)
    until = view.parked_until if view is not None else None
    if run.purpose != "check" and until is not None and until <= office.clock.now():
        office.accounts.probe(run.account)
        office.probing.add(run.account)


def give(office: Supervisor) -> None:
    """Those that wait go on, then pending tasks begin, while there are slots."""
    if office.is_stopping:
        return
    waiting, office.waiting = office.waiting, {}
    for id in waiting:
        office.reconcile(id)
    instants = [until for until in office.waiting.values() if until is not None]
    instants += _assign(office, office.slots() - len(taken(office)))
    office.look_at = min(instants, default=None)


def _assign(office: Supervisor, free: int) -> list[datetime]:
    """By priority, and by how long they wait. What is returned: when those can begin whose account
    is at its limit."""
    instants: list[datetime] = []
    if free <= 0:
        return instants
    now = office.clock.now()
    queue = office.records.queue()
    ranked = sorted((-(p + (now - since) / AGEING), since, id) for id, p, since in queue)
    for _rank, _since, id in ranked:
        task = office.records.task(id)
        if free <= 0 or task is None:
            break
        if id in office.set_aside or office.records.unfinished(task.depends_on):
            continue
        try:
            if (until := _parked_until(office, task)) is not None:
                instants.append(until)
            elif outcomes.assigned(office, task):
                free -= 1
        except Exception as error:  # noqa: BLE001 - it fails its own task
            mishaps.about(office, id, error)
    return instants


def _parked_until(office: Supervisor, task: TaskRow) -> datetime | None:
    try:
        account = office.going_on.profile(task.agent).account
    except UserError:
        return None  # it fails at once, and says why
    return office.accounts.parked_until(account)


def in_words(office: Supervisor, task: str) -> str | None:
    """What an agent waits for that may go on; None where it does not."""
    if task not in office.waiting:
        return None
    if office.waiting[task] is None:
        return _("waits for a free slot")
    return _("waits for the end of its account's limit")
