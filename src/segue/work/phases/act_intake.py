"""The server takes in what people want of its tasks from other terminals: by the functions that the
API uses, each act in one transaction with what follows from it."""

from __future__ import annotations

from collections.abc import Callable

from segue.engine import acts
from segue.engine.acts import CannotError, Handler, Intake, Verb
from segue.store.rows import SERVER, ActRow
from segue.work.phases.commands import Commands
from segue.work.phases.refused import Refused
from segue.work.phases.shapes import Json


def take_in(commands: Commands) -> None:
    """All that waits. One that cannot be done is refused, and the others are done all the same."""
    supervisor = commands.supervisor

    def refuse(act: ActRow, why: str) -> None:
        supervisor.commit(acts.refused(act, why))

    Intake(_handlers(commands), refuse).take(acts.waiting(supervisor.records.store, SERVER))


def _handlers(commands: Commands) -> dict[Verb, Handler]:
    def by(command: Callable[[ActRow], Json]) -> Handler:
        def handle(act: ActRow) -> bool:
            try:
                commands.kept_with(lambda: command(act), lambda _task: [acts.taken(act)])
            except Refused as why:
                raise CannotError(why.message) from why
            return True

        return handle

    return {
        Verb.ANSWER: by(
            lambda act: commands.answer(
                _gate(act), acts.said(act, "answer"), own_words=bool(act.data.get("own_words"))
            )
        ),
        Verb.APPROVE: by(lambda act: commands.approve(_gate(act), act.data.get("comment"))),
        Verb.REQUEST_CHANGES: by(
            lambda act: commands.request_changes(_gate(act), acts.said(act, "feedback"))
        ),
        Verb.REJECT: by(lambda act: commands.reject(_gate(act), act.data.get("reason", ""))),
        Verb.RETRY: by(lambda act: commands.retry(_task(act), submit=True)),
        Verb.PARK: by(lambda act: commands.park(_task(act), acts.until(act))),
        Verb.WAKE: by(lambda act: commands.wake(_task(act))),
        Verb.PAUSE: by(lambda act: commands.pause(_task(act))),
        Verb.RESUME: by(lambda act: commands.resume(_task(act))),
        Verb.MESSAGE: commands.take_message,
        Verb.CANCEL: by(lambda act: commands.cancel(_task(act), act.data.get("reason"))),
    }


def _gate(act: ActRow) -> str:
    return act.gate or ""


def _task(act: ActRow) -> str:
    return act.task or ""
