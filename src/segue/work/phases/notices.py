"""What the notices of the server's tasks are about: the task as it is now, with a link to it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from segue.engine.notices import PendingNotices, Row, Subject
from segue.i18n import _
from segue.store.rows import SERVER, GateRow
from segue.work.phases.records import Records


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

    def subject(self, row: Row, gate: GateRow | None) -> Subject | None:
        task = self._records.task(row["task"])
        if task is None:
            return self._of_no_task(row) if row["kind"] == "refused" or gate else None
        return Subject(
            id=f"{task.id}-{row['id']}",
            task=task.id,
            title=task.title,
            link=f"{self._url}/tasks/{task.id}" + (f"#{gate.kind}" if gate else ""),
            needed=gate.kind if gate else None,
            name=gate.name if gate else "",
            redact=partial(self._redactor, task.id),
        )

    def _of_no_task(self, row: Row) -> Subject:
        """A question about all tasks; or a run of a plan, of another project, or one that hides
        its name was refused."""
        title = row["task"] or (_("all tasks") if row["gate"] else _("a run of an unknown task"))
        link = f"{self._url}/inbox" if row["gate"] else self._url
        needed = "question" if row["gate"] else None
        return Subject(f"{row['kind']}-{row['id']}", row["task"], title, link, needed)
