"""Rows of the server's tables as values, where one may say what no Segue has written: that is an
error that names its table and its id. Lists leave such a row out, so that it keeps no other task
from its work."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache, wraps
from operator import attrgetter
from types import UnionType
from typing import TypeVar, cast, get_args, get_origin, get_type_hints

from segue.errors import UserError
from segue.i18n import _
from segue.store import rows

T = TypeVar("T")
CODE = "row_damaged"
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
logger = logging.getLogger("segue.work.phases")


def damaged(table: str, row: object, why: object) -> UserError:
    return UserError(
        CODE,
        _("{table}: the row {row} is damaged: {why}").format(table=table, row=row, why=why),
        hint=_("the other tasks continue; restore segue.db from a backup to get it back"),
    )


def checked(
    table: str, make: Callable[[sqlite3.Row], T], key: str = "id"
) -> Callable[[sqlite3.Row], T]:
    """`make`, but every value is of its field's type."""
    # Lists are long: whose values are of types that were found right before is right.
    right: set[tuple[type, ...]] = set()
    values: Callable[[T], tuple[object, ...]] | None = None

    @wraps(make)
    def one(row: sqlite3.Row) -> T:
        nonlocal values
        try:
            made = make(row)
            if values is None:
                values = _values(cast("Hashable", type(made)))
            found = tuple(map(type, values(made)))
            if found not in right:
                _check(made)
                right.add(found)
        except UNREADABLE as error:
            raise damaged(table, row[key], error) from error
        return made

    return one


def _check(made: object) -> None:
    for name, types in _types(cast("Hashable", type(made))):
        value = getattr(made, name)
        if not isinstance(value, types):
            raise TypeError(f"{name}: {value!r:.100}")


def _values(made: Hashable) -> Callable[[object], tuple[object, ...]]:
    names = [name for name, _types_of_it in _types(made)]
    if len(names) < 2:  # else it would be the value itself
        return lambda one: tuple(getattr(one, name) for name in names)
    return attrgetter(*names)


@cache
def _types(made: Hashable) -> tuple[tuple[str, tuple[type, ...]], ...]:
    """The fields of a kind of row, and of what types their values may be."""
    if not hasattr(made, "__dataclass_fields__"):
        return ()
    found = []
    for name, hint in get_type_hints(made).items():
        parts = get_args(hint) if isinstance(hint, UnionType) else (hint,)
        found.append((name, tuple(get_origin(part) or part for part in parts)))
    return tuple(found)


phase_task_row = checked("tasks", rows.phase_task_row)
agent_row = checked("agents", rows.agent_row)
gate_row = checked("gates", rows.gate_row)
run_row = checked("runs", rows.run_row)


def by_name(found: Sequence[sqlite3.Row]) -> list[sqlite3.Row]:
    """The same rows, for long lists of wide ones whose values are read by name: a row compares all
    its names each time, a dictionary does not."""
    names = found[0].keys() if found else []
    return [cast("sqlite3.Row", dict(zip(names, row, strict=True))) for row in found]


class IntactRows:
    """The values of rows but for those that are damaged; these are named in the log, once."""

    def __init__(self) -> None:
        self._logged: set[str] = set()

    def of(self, make: Callable[[sqlite3.Row], T], found: Iterable[sqlite3.Row]) -> list[T]:
        made = []
        for row in found:
            try:
                made.append(make(row))
            except UserError as error:
                if error.problem.code != CODE:
                    raise
                if str(error) not in self._logged:
                    self._logged.add(str(error))
                    logger.error("%s", error)
        return made
