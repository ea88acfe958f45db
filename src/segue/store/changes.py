"""What a caller asks the store to change: values, applied all or none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from segue.store.actors import Actor, current

Value = str | int | float | None


@dataclass(frozen=True, slots=True)
class Move:
    """One entity goes from a state to another. Journalled."""

    entity: str  # work, task, agent, run, park, gate, account, pane, act
    id: str
    state: str  # expected
    to: str
    cause: str
    sets: Mapping[str, Value] = field(default_factory=dict)
    version: int | None = None  # expected; None: the state alone is compared
    data: Mapping[str, object] | None = None
    by: Actor = field(default_factory=current, compare=False)


@dataclass(frozen=True, slots=True)
class Add:
    """A new entity in its first state. Journalled."""

    entity: str
    id: str
    state: str
    row: Mapping[str, Value]
    cause: str = "add"
    data: Mapping[str, object] | None = None
    by: Actor = field(default_factory=current, compare=False)


@dataclass(frozen=True, slots=True)
class Note:
    """A fact about an entity that changes no state: a process id, a mark that was read."""

    entity: str
    id: str
    sets: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Remove:
    """An entity goes, with all that belongs to it. Journalled: the journal still shows it."""

    entity: str
    id: str
    state: str  # expected
    version: int
    cause: str
    by: Actor = field(default_factory=current, compare=False)


@dataclass(frozen=True, slots=True)
class Record:
    """Something happened that changes no state and has no row of its own. Journalled."""

    entity: str
    id: str
    to: str
    cause: str
    data: Mapping[str, object] | None = None
    by: Actor = field(default_factory=current, compare=False)


@dataclass(frozen=True, slots=True)
class Put:
    """A row of a table without states: added, or put in the place of the one with its key."""

    table: str
    row: Mapping[str, Value | bytes]


@dataclass(frozen=True, slots=True)
class Drop:
    """Rows of a table without states go; there need not be any."""

    table: str
    where: Mapping[str, Value]


Change = Move | Add | Note | Remove | Record | Put | Drop


def stamp(at: datetime) -> str:
    """An instant as the database keeps it."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def instant(text: str) -> datetime:
    """The instant the database kept."""
    return datetime.fromisoformat(text)
