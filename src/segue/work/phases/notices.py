"""What the server tells people outside: its rows, in words with a link."""

from __future__ import annotations

from collections.abc import Callable

from segue.core.machines import GateState
from segue.drivers.notify import Notice
from segue.engine.outbox import PendingNotices, Row
from segue.i18n import _
from segue.store.rows import SERVER, GateRow
from segue.work.phases.records import Records
from segue.work.plans.notices import headline


class ServerNotices(PendingNotices):
    """`redactor` takes a task's secrets out of a text."""

    def __init__(
        self,
        records: Records,
        url: str,
        redactor: Callable[[str, str], str] = lambda task, text: text,
    ) -> None:
        super().__init__(records.store, "work = ?", SERVER)
        self._records, self._url, self._redactor = records, url, redactor

    def notice(self, row: Row) -> Notice | None:
        task = self._records.task(row["task"])
        gate = self._records.gate(row["gate"]) if row["gate"] else None
        if task is None:
            return self._of_no_task(row) if row["kind"] == "refused" or gate else None
        needed, name = (gate.kind, gate.name) if gate else (None, "")
        title, text, outcome = headline(row["kind"], task.title, needed, name), row["text"], None
        if row["tries"] and gate is not None and gate.state is not GateState.PENDING:
            if row["kind"] != gate.kind:  # a reminder: nobody needs it any more
                return None
            title, text = _("Settled: {title}").format(title=task.title), _came_to(gate, text)
            outcome = str(gate.state)
        return Notice(
            id=f"{task.id}-{row['id']}",
            kind=row["kind"],
            task=task.id,
            title=self._redactor(task.id, task.title),
            gate=row["gate"],
            headline=self._redactor(task.id, title),
            text=self._redactor(task.id, text),
            link=f"{self._url}/tasks/{task.id}" + (f"#{gate.kind}" if gate else ""),
            at=row["created_at"],
            outcome=outcome,
        )

    def _of_no_task(self, row: Row) -> Notice:
        """A question about all tasks; or a run of a plan, of another project, or one that hides
        its name was refused."""
        title = row["task"] or (_("all tasks") if row["gate"] else _("a run of no task here"))
        return Notice(
            id=f"{row['kind']}-{row['id']}",
            kind=row["kind"],
            task=row["task"],
            title=title,
            gate=row["gate"],
            headline=headline(row["kind"], title),
            text=row["text"],
            link=f"{self._url}/inbox" if row["gate"] else self._url,
            at=row["created_at"],
        )


def _came_to(gate: GateRow, text: str) -> str:
    """What was asked for, and what came of it, for those who could not be reached in time."""
    names = {
        GateState.APPROVED: _("approved"),
        GateState.CHANGES_REQUESTED: _("changes requested"),
        GateState.ANSWERED: _("answered"),
        GateState.PROVIDED: _("provided"),
        GateState.REJECTED: _("rejected"),
        GateState.WITHDRAWN: _("withdrawn"),
    }
    said = f": {gate.answer}" if gate.answer else ""
    return f"{text} – {names[gate.state]}{said}"
