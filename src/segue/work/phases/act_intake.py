"""The server takes in what people want of its tasks from other terminals: by the functions that the
API uses, each act in one transaction with what follows from it."""

from __future__ import annotations

import logging
from collections.abc import Callable

from segue.engine import acts, outage
from segue.engine.acts import Verb
from segue.i18n import _
from segue.store.actors import acting
from segue.store.changes import Change, instant
from segue.store.rows import SERVER, ActRow
from segue.work.phases.commands import Commands
from segue.work.phases.refused import Refused
from segue.work.phases.shapes import Json

logger = logging.getLogger("segue.work.phases")


def take_in(commands: Commands) -> None:
    """All that waits. One that cannot be done is refused, and the others are done all the same."""
    supervisor = commands.supervisor
    for act in acts.waiting(supervisor.records.store, SERVER):
        try:
            _take(commands, act)
        except Refused as why:
            supervisor.commit(acts.refused(act, why.message))
        except Exception as error:
            if outage.is_trouble(error):
                raise
            logger.exception("act %s", act.id)
            supervisor.commit(acts.refused(act, repr(error)))


def _take(commands: Commands, act: ActRow) -> None:
    do = _meant(commands, act)

    def taken(_task: str | None) -> list[Change]:
        return [acts.taken(act)]

    with acting(acts.by(act)):
        commands.kept_with(do, taken)


def _meant(commands: Commands, act: ActRow) -> Callable[[], Json]:
    """The command that an act stands for."""
    data, task, gate = act.data, act.task or "", act.gate or ""
    known: dict[Verb, Callable[[], Json]] = {
        Verb.ANSWER: lambda: commands.answer(
            gate, data["answer"], own_words=bool(data["own_words"])
        ),
        Verb.APPROVE: lambda: commands.approve(gate, data.get("comment")),
        Verb.REQUEST_CHANGES: lambda: commands.request_changes(gate, data["feedback"]),
        Verb.REJECT: lambda: commands.reject(gate, data.get("reason", "")),
        Verb.RETRY: lambda: commands.retry(task, submit=True),
        Verb.PARK: lambda: commands.park(task, instant(data["until"])),
        Verb.WAKE: lambda: commands.resume(task),
        Verb.PAUSE: lambda: commands.pause(task),
        Verb.RESUME: lambda: commands.resume(task),
        Verb.CANCEL: lambda: commands.cancel(task, data.get("reason")),
    }
    found = known.get(Verb(act.verb))
    if found is None:
        text = _("`{verb}` is not possible for this kind of work").format(verb=act.verb)
        raise Refused(409, "not_allowed", text)
    return found
