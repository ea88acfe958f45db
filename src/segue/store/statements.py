"""The SQL of changes: which table an entity is in, and the statement for each kind of change."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from segue.store.changes import Value
from segue.store.rows import OF_PHASES

TABLES = {
    "work": "works",
    "task": "tasks",
    "agent": "agents",
    "run": "runs",
    "park": "parks",
    "gate": "gates",
    "account": "accounts",
    "pane": "panes",
    "act": "acts",
}
# Columns of an entity that are in a table beside its own, with the same key.
BESIDE = {"task": ("phase_tasks", OF_PHASES)}
# Of which work a row of the journal is: by the table that knows, the entity's id being its key.
WORK_IN = {"agent": "tasks", "refusal": "runs", "evidence": "runs"}
JOURNAL_SQL = (
    "INSERT INTO journal (seq, at, entity, entity_id, from_state, to_state, cause, data, work,"
    " actor, via, prev, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


def parted(
    entity: str, sets: Mapping[str, Value]
) -> tuple[Mapping[str, Value], Mapping[str, Value]]:
    """What is in the entity's own table, and what is in the one beside it."""
    if entity not in BESIDE or not (there := BESIDE[entity][1] & sets.keys()):
        return sets, {}
    own = {name: value for name, value in sets.items() if name not in there}
    return own, {name: sets[name] for name in sets if name in there}


@cache
def work_sql(entity: str) -> str:
    table = WORK_IN.get(entity) or TABLES[entity]
    return f"SELECT work FROM {table} WHERE id = ?"  # noqa: S608 - names are ours


@cache
def beside_sql(table: str, columns: tuple[str, ...]) -> str:
    sets = ", ".join(f"{column} = ?" for column in columns)
    return f"UPDATE {table} SET {sets} WHERE task = ?"  # noqa: S608 - names are ours


@cache
def move_sql(entity: str, columns: tuple[str, ...], versioned: bool) -> str:
    sets = "".join(f", {column} = ?" for column in columns)
    compare = " AND version = ?" if versioned else ""
    return (
        f"UPDATE {TABLES[entity]} SET state = ?, version = version + 1, updated_at = ?{sets}"  # noqa: S608 - names are ours
        f" WHERE id = ? AND state = ?{compare}"
    )


@cache
def add_sql(entity: str, columns: tuple[str, ...]) -> str:
    names = "".join(f", {column}" for column in columns)
    marks = ", ?" * len(columns)
    return (
        f"INSERT INTO {TABLES[entity]} (id, state, created_at, updated_at{names})"  # noqa: S608 - names are ours
        f" VALUES (?, ?, ?, ?{marks}) ON CONFLICT DO NOTHING"
    )


@cache
def remove_sql(entity: str) -> str:
    return f"DELETE FROM {TABLES[entity]} WHERE id = ? AND state = ? AND version = ?"  # noqa: S608 - names are ours


@cache
def note_sql(entity: str, columns: tuple[str, ...]) -> str:
    sets = ", ".join(f"{column} = ?" for column in columns)
    return f"UPDATE {TABLES[entity]} SET {sets} WHERE id = ?"  # noqa: S608 - names are ours


@cache
def put_sql(table: str, columns: tuple[str, ...]) -> str:
    marks = ", ".join("?" * len(columns))
    return f"INSERT OR REPLACE INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608 - names are ours


@cache
def drop_sql(table: str, columns: tuple[str, ...]) -> str:
    where = " AND ".join(f"{column} = ?" for column in columns)
    return f"DELETE FROM {table} WHERE {where}"  # noqa: S608 - names are ours
