"""The server takes in what people want of its tasks from other terminals: by the functions that the
API uses, each act in one transaction with what follows from it."""

from __future__ import annotations

import logging
from collections.abc import Callable

from segue.engine import acts
from segue.engine.acts import Verb
from segue.i18n import _
from segue.store.changes import Change, instant
from segue.store.rows import SERVER, ActRow
from segue.work.phases import storage
from segue.work.phases.commands import Commands
from segue.work.phases.refused import Refused
from segue.work.phases.shapes import Json

logger = logging.getLogger("segue.work.phases")


def take_in(desk: Commands) -> None:
    """All that waits. One that cannot be done is refused, and the others are done all the same."""
    office = desk.office
    for act in acts.waiting(office.records.store, SERVER):
        try:
            _take(desk, act)
        except Refused as why:
            office.commit(acts.refused(act, why.message))
        except Exception as error:
            if storage.is_trouble(error):
                raise
            logger.exception("act %s", act.id)
            office.commit(acts.refused(act, repr(error)))


def _take(desk: Commands, act: ActRow) -> None:
    do = _meant(desk, act)

    def taken(_task: str | None) -> list[Change]:
        return [acts.taken(act)]

    desk.kept_with(do, taken)


def _meant(desk: Commands, act: ActRow) -> Callable[[], Json]:
    """What an act asks the desk for."""
    data, task, gate = act.data, act.task or "", act.gate or ""
    known: dict[Verb, Callable[[], Json]] = {
        Verb.ANSWER: lambda: desk.answer(gate, data["answer"], own_words=bool(data["own_words"])),
        Verb.APPROVE: lambda: desk.approve(gate, data.get("comment")),
        Verb.REQUEST_CHANGES: lambda: desk.request_changes(gate, data["feedback"]),
        Verb.REJECT: lambda: desk.reject(gate, data.get("reason", "")),
        Verb.RETRY: lambda: desk.retry(task, submit=True),
        Verb.PARK: lambda: desk.park(task, instant(data["until"])),
        Verb.WAKE: lambda: desk.resume(task),
        Verb.PAUSE: lambda: desk.pause(task),
        Verb.RESUME: lambda: desk.resume(task),
        Verb.CANCEL: lambda: desk.cancel(task, data.get("reason")),
    }
    found = known.get(Verb(act.verb))
    if found is None:
        text = _("`{verb}` is not possible for this kind of work").format(verb=act.verb)
        raise Refused(409, "not_allowed", text)
    return found
