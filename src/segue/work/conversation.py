"""The conversation of a task over all its runs, from their logs: `segue logs`, and the server.

A `Conversation` reads on from where it was, so that it can be asked again while an agent works.
What a person answered stands between the runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from segue.core.plan import TaskState
from segue.dialects.conversation import Item, Reader, reader_of
from segue.dialects.conversation.item import ERROR, MESSAGE
from segue.store.changes import instant, stamp
from segue.store.rows import IS_OPEN
from segue.store.sqlite import Store

PIECE_BYTES = 256 * 1024
RUNS = (
    "SELECT id, agent, role, attempt, state, error, created_at, updated_at,"  # noqa: S608
    f" {IS_OPEN} AS is_open FROM runs WHERE task = ? ORDER BY created_at, rowid"
)
ANSWERS = (
    "SELECT id, text, answer, settled_at FROM gates WHERE task = ? AND answer IS NOT NULL"
    " AND settled_at IS NOT NULL ORDER BY settled_at, rowid"
)
MESSAGES = (
    "SELECT id, data, created_at FROM acts WHERE task = ? AND verb = 'message'"
    " AND state != 'refused' ORDER BY created_at, rowid"
)
TASK = "SELECT state FROM tasks WHERE id = ?"
OVER = (TaskState.COMPLETED, TaskState.FAILED, TaskState.SKIPPED)


@dataclass(frozen=True, slots=True)
class Entry:
    """An item, and the run in which it was said."""

    item: Item
    run: str
    attempt: int
    agent: str
    role: str

    def to_json(self) -> dict[str, Any]:
        item = self.item
        return {
            "at": stamp(item.at) if item.at else None,
            "kind": item.kind,
            "text": item.text,
            "tool": item.tool,
            "input": item.input,
            "result": item.result,
            "is_error": item.is_error,
            "id": f"{self.run}.{item.n}",
            "run": self.run,
            "attempt": self.attempt,
            "agent": self.agent,
            "role": self.role,
        }


@dataclass(slots=True)
class _RunLog:
    """How far the log of one run has been read."""

    path: Path
    reader: Reader
    offset: int = 0
    at: datetime | None = None  # of the last item, or of the run's start
    is_closed: bool = False

    def read(self, *, is_over: bool) -> Iterator[Item]:
        if self.is_closed:
            return
        for piece in self._pieces():
            yield from self._dated(self.reader.feed(piece))
        if is_over:
            self.is_closed = True
            yield from self._dated(self.reader.close())

    def flushed(self) -> Iterator[Item]:
        return self._dated(self.reader.flush())

    def peeked(self) -> Iterator[Item]:
        return self._dated(self.reader.peek())

    def _pieces(self) -> Iterator[bytes]:
        try:
            with self.path.open("rb") as file:
                file.seek(self.offset)
                while piece := file.read(PIECE_BYTES):
                    self.offset += len(piece)
                    yield piece
        except FileNotFoundError:
            return

    def _dated(self, items: Iterator[Item]) -> Iterator[Item]:
        """Where the program names no time, an item is no older than the one before it."""
        for item in items:
            self.at = item.at or self.at
            yield replace(item, at=self.at)


@dataclass(slots=True)
class Conversation:
    """`kinds`: the kind of each agent by its name in the settings. `evidence`: where checks are
    logged."""

    store: Store
    task: str
    logs: Path
    evidence: Path
    kinds: Mapping[str, str]
    _runs: dict[str, _RunLog] = field(default_factory=dict)
    _answers: set[str] = field(default_factory=set)
    _errors: set[str] = field(default_factory=set)

    def read(self) -> Iterator[Entry]:
        """What has come since the last call."""
        answers = self._people_said()
        for run in self.store.all(RUNS, self.task):
            yield from self._answered(answers, before=run["created_at"])
            yield from self._said(run)
        yield from self._answered(answers, before=None)

    def _people_said(self) -> list[tuple[str, str, str]]:
        """Answers and messages, the oldest first: when, the id, the text."""
        answers = [
            (row["settled_at"], row["id"], row["answer"])
            for row in self.store.all(ANSWERS, self.task)
        ]
        messages = [
            (row["created_at"], row["id"], str(json.loads(row["data"]).get("text", "")))
            for row in self.store.all(MESSAGES, self.task)
        ]
        return sorted([*answers, *messages])

    @property
    def is_over(self) -> bool:
        """Whether nothing will be added unless a person changes something."""
        row = self.store.one(TASK, self.task)
        if row is None:
            return True
        runs = self.store.all(RUNS, self.task)
        return row["state"] in OVER and not any(run["is_open"] for run in runs)

    def flush(self) -> Iterator[Entry]:
        """Text that readers hold back because more of it may come; for a live view."""
        for run in self.store.all(RUNS, self.task):
            log = self._runs.get(run["id"])
            if log is not None and not log.is_closed:
                for item in log.flushed():
                    yield _entry(run, item)

    def peek(self) -> Iterator[Entry]:
        """The same, still held back: it comes again under the same id once it is whole."""
        for run in self.store.all(RUNS, self.task):
            log = self._runs.get(run["id"])
            if log is not None and not log.is_closed:
                for item in log.peeked():
                    yield _entry(run, item)

    def _said(self, run: Any) -> Iterator[Entry]:
        log = self._runs.get(run["id"])
        if log is None:
            is_check = run["role"] == "check"
            folder = self.evidence if is_check else self.logs
            kind = "shell" if is_check else self.kinds.get(run["agent"], run["agent"])
            started = instant(run["created_at"])
            log = _RunLog(folder / f"{run['id']}.log", reader_of(kind), at=started)
            self._runs[run["id"]] = log
        for item in log.read(is_over=not run["is_open"]):
            yield _entry(run, item)
        if run["error"] and not run["is_open"] and run["id"] not in self._errors:
            self._errors.add(run["id"])
            yield _entry(run, Item(0, ERROR, run["error"], at=instant(run["updated_at"])))

    def _answered(self, said: list[tuple[str, str, str]], before: str | None) -> Iterator[Entry]:
        for at, id, text in said:
            if (before is None or at <= before) and id not in self._answers:
                self._answers.add(id)
                yield Entry(Item(0, MESSAGE, text, at=instant(at)), id, 0, "", "person")


def _entry(run: Any, item: Item) -> Entry:
    return Entry(item, run["id"], run["attempt"], run["agent"], run["role"])


def raw(logs: Path, runs: list[str], offsets: dict[str, int]) -> Iterator[bytes]:
    """The bytes that agents have printed since the last call, run by run."""
    for run in runs:
        try:
            with (logs / f"{run}.log").open("rb") as file:
                file.seek(offsets.get(run, 0))
                while piece := file.read(PIECE_BYTES):
                    offsets[run] = file.tell()
                    yield piece
        except FileNotFoundError:
            continue
