"""Which tasks a list shows: filters, order, and cursors that stay where they are while tasks are
added before them."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass

from segue.i18n import _
from segue.store.rows import PHASE_TASKS
from segue.work.phases.refused import Refused

NEWEST_FIRST = "-createdAt"
COLUMNS = {
    "title": "t.title COLLATE NOCASE",
    "createdAt": "t.created_at",
    "updatedAt": "t.updated_at",
    "priority": "p.priority",
    "status": "t.state",
    "type": "p.type",
}
VALUES = {"title": "title", "createdAt": "created_at", "updatedAt": "updated_at",
          "priority": "priority", "status": "state", "type": "type"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """Each names what is shown; empty: all. `since`: when it was created, as the tables have it."""

    statuses: Sequence[str] = ()
    types: Sequence[str] = ()
    agents: Sequence[str] = ()
    agent_statuses: Sequence[str] = ()
    since: str | None = None
    sort: str = NEWEST_FIRST
    cursor: str | None = None

    @property
    def is_plain(self) -> bool:
        """What the quick way of a list can do."""
        return self == TaskFilter()

    def where(self) -> tuple[list[str], list[object]]:
        found, values = list[str](), list[object]()
        for column, wanted in (
            ("t.state", self.statuses), ("p.type", self.types), ("p.agent", self.agents),
        ):  # fmt: skip
            if wanted:
                found.append(f"{column} IN ({_marks(wanted)})")
                values += wanted
        if self.agent_statuses:
            marks = _marks(self.agent_statuses)
            found.append(f"t.id IN (SELECT id FROM agents WHERE state IN ({marks}))")  # noqa: S608
            values += self.agent_statuses
        if self.since is not None:
            found.append("t.created_at >= ?")
            values.append(self.since)
        return found, values

    @property
    def column(self) -> str:
        name = self.sort.removeprefix("-")
        if name not in COLUMNS:
            known = [sign + name for name in COLUMNS for sign in ("", "-")]
            text = _("the list cannot be sorted by `{name}`").format(name=self.sort[:100])
            raise Refused(400, "unknown_sort", text, {"parameter": "sort", "known": known})
        return COLUMNS[name]

    @property
    def way(self) -> str:
        return "DESC" if self.sort.startswith("-") else "ASC"

    def after(self) -> tuple[str, list[object]]:
        """What comes behind the cursor."""
        if self.cursor is None:
            return "", []
        try:
            sort, value, place = json.loads(base64.urlsafe_b64decode(self.cursor.encode()))
        except (ValueError, TypeError, binascii.Error) as error:
            raise _bad_cursor() from error
        is_known = isinstance(place, int) and isinstance(value, str | int)
        if sort != self.sort or not is_known or isinstance(place, bool) or abs(place) > 2**62:
            raise _bad_cursor()
        sign = "<" if self.way == "DESC" else ">"
        return f"({self.column}, t.rowid) {sign} (?, ?)", [value, place]

    def query(self, where: Sequence[str]) -> str:
        """The rows of a page: `LIMIT ? OFFSET ?`."""
        found = " AND ".join(where)
        return (
            f"SELECT *, t.rowid AS place FROM {PHASE_TASKS} WHERE {found}"  # noqa: S608 - names are ours
            f" ORDER BY {self.column} {self.way}, t.rowid {self.way} LIMIT ? OFFSET ?"
        )


def cursor(sort: str, row: dict[str, object]) -> str:
    """Where the next page begins: behind this row."""
    told = [sort, row[VALUES[sort.removeprefix("-")]], row["place"]]
    return base64.urlsafe_b64encode(json.dumps(told).encode()).decode()


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))


def _bad_cursor() -> Refused:
    text = _("this cursor is not one of this list")
    return Refused(400, "bad_cursor", text, {"parameter": "cursor"})
