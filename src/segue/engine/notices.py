"""Notices to people: a row beside the change that it reports, in one transaction.

A row goes out once by each way (`outbox.py`), whatever dies in between, for every kind of work. A
kind says what a row is about (`Subject`); in which words that goes out is said here.
"""

from __future__ import annotations

import platform
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from segue.core.machines import GateState
from segue.drivers.notify import Notice
from segue.engine.question_texts import BREAKER, DESIGN, ESCALATED
from segue.i18n import _
from segue.store.changes import Change, Put, Value, stamp
from segue.store.rows import PANES, SERVER, GateRow, gate_row
from segue.store.sqlite import Store

Row = dict[str, Any]
TABLE = "notices"
TOGETHER = 20  # notices that go out at the same time
BESIDE = frozenset({"remind", "urgent", "escalate", "trouble"})  # about a gate, after its first
GATES = {DESIGN: "review", ESCALATED: "escalated", BREAKER: "escalated"}  # as notices name them
OF_PLANS = f"work NOT IN ('{SERVER}', '{PANES}')"


# Writing


def notice(
    work: str, about: str, kind: str, text: str, at: datetime,
    *, task: str = "", gate: str | None = None, title: str = "", place: str = "",
) -> Put:  # fmt: skip
    """`about`: what happened, so that it is sent once. `place`: on this machine, where a person can
    act on it."""
    row: dict[str, Value | bytes] = {
        "work": work, "about": about, "kind": kind, "task": task, "title": title, "gate": gate,
        "text": text, "place": f"{platform.node()}:{place}" if place else "",
        "next_at": stamp(at), "created_at": stamp(at),
    }  # fmt: skip
    return Put(TABLE, row)


def once(store: Store, notice: Put, *also: Change) -> Callable[[], list[Change]]:
    """For a transaction: the notice, and what goes with it, unless it is there already."""

    def make() -> list[Change]:
        told = is_told(store, notice.row["work"], notice.row["about"])
        return [] if told else [notice, *also]

    return make


def is_told(store: Store, work: object, about: object) -> bool:
    sql = f"SELECT 1 FROM {TABLE} WHERE work = ? AND about = ?"  # noqa: S608 - its name is ours
    return store.one(sql, str(work), str(about)) is not None


# Sending


@dataclass(frozen=True, slots=True)
class Subject:
    """What a notice is about, as people know it. `id`: the same whenever it is sent again;
    `needed`: the kind of what waits, and the `name` of a dependency; `link`: where to act on it."""

    id: str
    task: str
    title: str
    link: str
    needed: str | None = None
    name: str = ""
    redact: Callable[[str], str] = lambda text: text


class PendingNotices(ABC):
    """The rows that one sender sends. `where`: those of which works."""

    def __init__(self, store: Store, where: str, *values: str) -> None:
        self.store = store
        self._waiting = f"FROM {TABLE} WHERE next_at IS NOT NULL AND {where}"
        self._values = values

    @abstractmethod
    def subject(self, row: Row, gate: GateRow | None) -> Subject | None:
        """What a row is about; None: no longer needed."""

    def notice(self, row: Row) -> Notice | None:
        """The message; None: no longer needed."""
        gate = self._gate(row["gate"]) if row["gate"] else None
        about = self.subject(row, gate)
        if about is None:
            return None
        shown, text, outcome = headline(row["kind"], about), row["text"], None
        if row["tries"] and gate is not None and gate.state is not GateState.PENDING:
            if row["kind"] in BESIDE:  # no longer needed
                return None
            shown, text = _("Resolved: {title}").format(title=about.title), _came_to(gate, text)
            outcome = str(gate.state)
        return Notice(
            id=about.id,
            kind=row["kind"],
            task=about.task,
            title=about.redact(about.title),
            gate=row["gate"],
            headline=about.redact(shown),
            text=about.redact(text),
            link=about.link,
            at=row["created_at"],
            outcome=outcome,
        )

    def due(self, at: str) -> list[Row]:
        sql = f"SELECT * {self._waiting} AND next_at <= ? ORDER BY next_at, id LIMIT {TOGETHER}"
        return [dict(row) for row in self.store.all(sql, *self._values, at)]

    def next_at(self) -> str | None:
        row = self.store.one(f"SELECT min(next_at) {self._waiting}", *self._values)
        return row[0] if row else None

    def failed(self) -> list[Row]:
        """Those that are to be tried again."""
        sql = f"SELECT * {self._waiting} AND tries > 0"
        return [dict(row) for row in self.store.all(sql, *self._values)]

    def _gate(self, id: str) -> GateRow | None:
        row = self.store.one("SELECT * FROM gates WHERE id = ?", id)
        return gate_row(row) if row else None


class WorkNotices(PendingNotices):
    """The rows of all plans of a project, or of the panes. None sends both: the panes' are sent by
    the user's own channels only."""

    def __init__(self, store: Store, *, of_panes: bool = False) -> None:
        super().__init__(
            store, "work = ?" if of_panes else OF_PLANS, *([PANES] if of_panes else ())
        )
        self._where_kept = sha256(str(store.path).encode()).hexdigest()[:8]

    def subject(self, row: Row, gate: GateRow | None) -> Subject:
        name = f"{PANES}-{self._where_kept}" if row["work"] == PANES else row["work"]
        id = f"{name}-{row['id']}"
        # A dependency of a plan is something to be answered: that it is there now.
        needed = GATES.get(gate.category, "question") if gate else None
        return Subject(id, row["task"], row["title"], row["place"], needed)


def headline(kind: str, about: Subject) -> str:
    """What is needed or has happened, in a few words."""
    needed = {
        "review": _("Review needed: {title}"),
        "question": _("Answer needed: {title}"),
        "dependency": _("{name} needed: {title}"),
        "escalated": _("Decision needed: {title}"),
    }
    told = {
        "completed": _("Completed: {title}"),
        "failed": _("Failed: {title}"),
        "error": _("Cannot continue: {title}"),
        "trouble": _("Problem: {title}"),
        "limit": _("Parked at a limit: {title}"),
        "refused": _("An agent tried to act as a person: {title}"),
        "remind": _("Reminder: {needed}"),
        "urgent": _("Urgent: {needed}"),
        "escalate": _("Waiting too long: {needed}"),
    }
    own = needed.get(about.needed or kind, "{title}").format(title=about.title, name=about.name)
    return told.get(kind, "{needed}").format(title=about.title, needed=own)


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
