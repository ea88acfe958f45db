"""The journal is a chain: whatever is done to its rows is found, and named."""

from __future__ import annotations

import multiprocessing
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from segue.store import chain, migrate
from segue.store.actors import SEGUE, Actor, acting
from segue.store.changes import Add, Move, Note, Record
from segue.store.sqlite import Store

NOW = datetime(2025, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "segue.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with closing(Store.open(path)) as opened:
        fill(opened)
        yield opened


def fill(store: Store, tasks: int = 3) -> None:
    row = {"work": "p", "title": "do it"}
    rows = [Add("task", f"p/{n}", "pending", {**row, "key": str(n)}) for n in range(tasks)]
    plan = Add("work", "p", "pending", {"path": "/p.md", "kind": "tasklist"})
    assert store.move(plan, *rows, at=NOW)
    assert store.move(start(0), start(1), at=NOW)


def start(n: int) -> Move:
    return Move("task", f"p/{n}", "pending", "in_progress", "start", data={"n": f"{n} 번"})


def found(path: Path) -> list[tuple[int, str, int]]:
    with closing(sqlite3.connect(path)) as db:
        last = chain.head(db).seq
        breaks = chain.breaks(db.execute(chain.ROWS, (last,)), last)
        return [(one.seq, one.why, one.last) for one in breaks]


def change(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        assert db.execute(sql).rowcount


def test_rows_follow_each_other(store: Store, path: Path) -> None:
    """Each row holds the hash of the row before it, over several transactions."""
    rows = store.all("SELECT * FROM journal ORDER BY seq")
    assert [row["seq"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert rows[0]["prev"] == chain.GENESIS
    assert [row["prev"] for row in rows[1:]] == [row["hash"] for row in rows[:-1]]
    assert found(path) == []


def test_an_empty_journal_holds(path: Path) -> None:
    """Where nothing has happened, nothing is broken."""
    Store.open(path).close()
    assert found(path) == []


@pytest.mark.parametrize("column", chain.COLUMNS[1:])
def test_a_changed_column_is_found(store: Store, path: Path, column: str) -> None:
    """Whichever column of a row is changed, the row is named, and only that one."""
    change(path, f"UPDATE journal SET {column} = 'forged' WHERE seq = 5")
    assert found(path) == [(5, "changed", 5)]


def test_a_changed_row_with_a_new_hash_breaks_the_next(store: Store, path: Path) -> None:
    """Who computes the hash of a forged row anew breaks the link of the row after it."""
    with closing(sqlite3.connect(path)) as db, db:
        sql = f"SELECT prev, {', '.join(chain.COLUMNS)} FROM journal WHERE seq = 5"
        prev, *row = db.execute(sql).fetchone()
        row[5] = "completed"
        sets = (row[5], chain.digest(prev, row))
        db.execute("UPDATE journal SET to_state = ?, hash = ? WHERE seq = 5", sets)
    assert found(path) == [(6, "unlinked", 6)]


@pytest.mark.parametrize(
    ("gone", "named"),
    [
        ("seq = 1", (1, "missing", 1)),
        ("seq IN (3, 4)", (3, "missing", 4)),
        ("seq >= 5", (5, "missing", 6)),
        ("1", (1, "missing", 6)),
    ],
)
def test_missing_rows_are_found(
    store: Store, path: Path, gone: str, named: tuple[int, str, int]
) -> None:
    """Rows that were deleted are named, also the first and the last ones."""
    change(path, f"DELETE FROM journal WHERE {gone}")
    assert found(path) == [named]


def test_what_follows_a_cut_off_end_does_not_hide_it(store: Store, path: Path) -> None:
    """Rows that are added after the last ones were deleted leave the gap as it is."""
    change(path, "DELETE FROM journal WHERE seq >= 5")
    assert store.move(start(2), at=NOW)
    assert (5, "missing", 6) in found(path)


def test_an_inserted_row_is_found(store: Store, path: Path) -> None:
    """A row that somebody else wrote has no hash that fits."""
    change(
        path,
        "INSERT INTO journal (at, entity, entity_id, to_state, cause)"
        " VALUES ('2025', 'task', 'p/2', 'completed', 'complete')",
    )
    assert {(seq, why) for seq, why, _last in found(path)} == {(7, "unlinked"), (7, "changed")}


def test_a_move_that_is_undone_leaves_no_gap(store: Store, path: Path) -> None:
    """A transaction that was rolled back uses up no number."""
    assert not store.move(start(2), Note("task", "p/9", {"error": "x"}), at=NOW)
    assert store.move(start(2), at=NOW)
    assert found(path) == []


def test_rows_of_an_older_version_are_chained(store: Store, path: Path) -> None:
    """A database from before the chain is chained when it is upgraded, and goes on from there."""
    store.close()
    with closing(sqlite3.connect(path)) as db, db:
        for column in ("prev", "hash", "actor", "via"):
            db.execute(f"ALTER TABLE journal DROP COLUMN {column}")
        for table in ("tokens", "logins", "panes"):  # of the steps after it
            db.execute(f"DROP TABLE {table}")
        db.executescript(migrate.steps()[2])
        db.execute("ALTER TABLE workers RENAME TO panes")
        for table, column in (("tasks", "pinned"), ("tasks", "refused"), ("works", "is_unread")):
            db.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        db.execute("PRAGMA user_version = 9")
    with closing(Store.open(path)) as again:
        assert found(path) == []
        assert again.move(start(2), at=NOW)
    assert found(path) == []


def _write(path: str, number: int, times: int) -> None:
    with closing(Store.open(Path(path))) as store:
        for n in range(times):
            assert store.move(Record("evidence", f"{number}-{n}", "passed", "verify"), at=NOW)


def test_the_chain_holds_with_several_writers(path: Path) -> None:
    """Processes that write at the same time take turns: every row follows the one before it."""
    Store.open(path).close()
    fork = multiprocessing.get_context("spawn")
    writers = [fork.Process(target=_write, args=(str(path), n, 40)) for n in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    with closing(sqlite3.connect(path)) as db:
        assert chain.head(db).seq == 160
    assert found(path) == []


def test_a_row_names_who_made_the_change(store: Store) -> None:
    """A change belongs to whoever made it, also if another one commits it."""
    with acting(Actor("kim", "terminal")):
        hers = start(2)
    assert store.move(hers, Move("task", "p/0", "in_progress", "completed", "complete"), at=NOW)
    rows = store.all("SELECT actor, via FROM journal ORDER BY seq DESC LIMIT 2")
    assert [tuple(row) for row in rows] == [(SEGUE.name, SEGUE.via), ("kim", "terminal")]
