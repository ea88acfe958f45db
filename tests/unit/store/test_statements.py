"""The SQL of changes: every statement fits the tables that there are."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from segue.store import statements
from segue.store.rows import OF_PHASES
from segue.store.sqlite import MACHINES, STATELESS, Store


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    Store.open(tmp_path / "segue.db").close()
    with closing(sqlite3.connect(tmp_path / "segue.db")) as opened:
        yield opened


def test_every_machine_has_its_table() -> None:
    """What has states is moved, what has none is put and dropped: never both."""
    assert statements.TABLES.keys() == MACHINES.keys()
    assert not set(statements.TABLES.values()) & STATELESS


@pytest.mark.parametrize("entity", statements.TABLES)
def test_its_statements_fit_its_table(db: sqlite3.Connection, entity: str) -> None:
    """SQLite takes each of them."""
    for sql in (
        statements.move_sql(entity, (), True),
        statements.move_sql(entity, (), False),
        statements.note_sql(entity, ("version",)),
        statements.add_sql(entity, ()),
        statements.remove_sql(entity),
    ):
        db.execute(f"EXPLAIN {sql}", [None] * sql.count("?"))
    if entity not in ("work", "account", "pane"):  # the store knows theirs without a look
        db.execute(f"EXPLAIN {statements.work_sql(entity)}", ["id"])


def test_columns_beside_are_parted_from_its_own(db: sqlite3.Connection) -> None:
    """Of a task with phases; of all others every column is their own."""
    own, beside = statements.parted("task", {"title": "t", "priority": 3})
    assert (own, beside) == ({"title": "t"}, {"priority": 3})
    assert statements.parted("run", {"error": "e"}) == ({"error": "e"}, {})
    table, columns = statements.BESIDE["task"]
    known = {row[1] for row in db.execute(f"PRAGMA table_info({table})")}
    assert columns == OF_PHASES <= known
    db.execute(f"EXPLAIN {statements.beside_sql(table, ('priority',))}", [1, "t"])
