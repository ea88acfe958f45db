"""What the server tells people outside: its rows, in words with a link."""

from __future__ import annotations

from collections.abc import Callable

from segue.core.serving import Asking
from segue.drivers.notify import Notice
from segue.work.notices import headline
from segue.work.outbox import Letters, Row
from segue.work.server.records import Records


class ServerLetters(Letters):
    """`veil` takes a task's secrets out of a text."""

    def __init__(
        self,
        records: Records,
        url: str,
        veil: Callable[[str, str], str] = lambda task, text: text,
    ) -> None:
        super().__init__(records.store, "server_notices")
        self._records, self._url, self._veil = records, url, veil

    def notice(self, row: Row) -> Notice | None:
        task = self._records.task(row["task"])
        gate = self._records.gate(row["gate"]) if row["gate"] else None
        if task is None or (row["tries"] and gate and gate.state is not Asking.PENDING):
            return None
        needed, name = (gate.kind, gate.name) if gate else (None, "")
        return Notice(
            id=f"{task.id}-{row['id']}",
            kind=row["kind"],
            task=task.id,
            title=self._veil(task.id, task.title),
            gate=row["gate"],
            headline=self._veil(task.id, headline(row["kind"], task.title, needed, name)),
            text=self._veil(task.id, row["text"]),
            link=f"{self._url}/tasks/{task.id}" + (f"#{gate.kind}" if gate else ""),
            at=row["created_at"],
        )
