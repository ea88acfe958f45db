"""What people say to an agent while it works or waits: a row that waits until it is delivered.

An agent that takes lines hears it at once; any other with its next turn. The row is taken in the
transaction that puts the text into the run's own row, so whatever dies, it is delivered once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from segue.core.machines import ActState
from segue.core.plan import TaskState
from segue.engine import acts
from segue.engine.acts import CannotError, Verb, Wanted
from segue.engine.messages import as_line, text_of, worded
from segue.i18n import _
from segue.store.actors import current
from segue.store.changes import Change, Note
from segue.store.rows import SERVER, ActRow, RunRow, act_row
from segue.work.phases import shapes
from segue.work.phases.act_base import ActBase
from segue.work.phases.records import Records
from segue.work.phases.redaction import Redactor
from segue.work.phases.refused import Refused
from segue.work.phases.shapes import Json

OF_TASK = f"task = ? AND verb = '{Verb.MESSAGE}'"
WAITING = f"SELECT * FROM acts WHERE {OF_TASK} AND state = 'waiting' ORDER BY created_at, rowid"  # noqa: S608 - names are ours
OVER = (TaskState.COMPLETED, TaskState.FAILED)


@dataclass(slots=True)
class MessageActs(ActBase):
    def send_message(self, id: str, text: str) -> Json:
        """Send a message to the agent of a task."""
        task, _agent = self._both(id)
        if task.state in OVER:
            self._not_allowed(task, "message")
        if not text.strip():
            raise Refused(422, "empty", _("enter a message"), {"field": "text"})
        wanted = Wanted(Verb.MESSAGE, SERVER, current(), id, data={"text": text})
        _act, changes = acts.adding(self.supervisor.records.store, wanted)
        self._commit(*changes)
        self.supervisor.reconcile(id)
        return self.newest_message(id)

    def newest_message(self, id: str) -> Json:
        sql = f"SELECT * FROM acts WHERE {OF_TASK} ORDER BY created_at DESC, rowid DESC"  # noqa: S608
        row = self.supervisor.records.store.one(f"{sql} LIMIT 1", id)
        assert row is not None
        return self._message_shown(act_row(row))

    def messages(self, id: str, *, page: int = 1, page_size: int = 50) -> Json:
        self._both(id)
        return self._paged(
            "acts", OF_TASK, [id], page, page_size,
            lambda row: self._message_shown(act_row(row)), order="created_at, rowid",
        )  # fmt: skip

    def take_message(self, act: ActRow) -> bool:
        """One that another terminal added: it waits until it is delivered."""
        task = self.supervisor.records.task(act.task or "")
        if task is None or task.state in OVER:
            raise CannotError(_("the task ended before its agent could read this"))
        self.supervisor.reconcile(task.id)
        return False

    def _message_shown(self, act: ActRow) -> Json:
        status = {ActState.TAKEN: "delivered"}.get(act.state, str(act.state))
        return self._veiled(
            {
                "id": act.id,
                "taskId": act.task,
                "text": text_of(act),
                "status": status,
                "reason": act.reason,
                "actor": act.actor,
                "via": act.via,
                "createdAt": shapes.text(act.created_at),
            }
        )


def waiting(records: Records, task: str) -> list[ActRow]:
    """What was said to the agent of a task and is not delivered yet."""
    return [act_row(row) for row in records.store.all(WAITING, task)]


def in_prompt(run: RunRow, said: Sequence[ActRow], redactor: Redactor) -> list[Change]:
    """With what a run begins with."""
    prompt = "\n\n".join(filter(None, [run.prompt, *map(worded, said)]))
    return _told(run, redactor.hidden(run.task, prompt), said)


def as_lines(run: RunRow, said: Sequence[ActRow], redactor: Redactor) -> list[Change]:
    """For an agent that takes lines, while it works."""
    return _told(run, redactor.hidden(run.task, "".join(map(as_line, said))), said)


def _told(run: RunRow, prompt: str, said: Sequence[ActRow]) -> list[Change]:
    return [Note("run", run.id, {"prompt": prompt}), *map(acts.taken, said)]
