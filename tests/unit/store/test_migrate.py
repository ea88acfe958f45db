"""Bringing a database forward, one step after the other."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from segue.engine.accounts import Accounts
from segue.engine.clock import SystemClock
from segue.engine.ledger import Ledger
from segue.errors import UserError
from segue.store import migrate
from segue.store.sqlite import Store

TWO_STEPS = [
    "CREATE TABLE a (x TEXT);\n-- a remark; with a semicolon\nCREATE INDEX a_x ON a (x);\n",
    "ALTER TABLE a ADD COLUMN y TEXT DEFAULT 'one;two';\n"
    "INSERT INTO a (x) VALUES ('-- no remark');\n",
]


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "some.db", isolation_level=None)) as opened:
        yield opened


def schema(db: sqlite3.Connection) -> list[tuple[str, str]]:
    return db.execute("SELECT name, sql FROM sqlite_schema ORDER BY name").fetchall()


@pytest.mark.parametrize("released", range(len(migrate.steps()) + 1))
def test_every_earlier_schema_becomes_the_newest(
    db: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, released: int
) -> None:
    """A database of any earlier release, migrated, is what a new one is."""
    Store.open(tmp_path / "fresh.db").close()
    whole = migrate.steps()
    with monkeypatch.context() as patch:
        patch.setattr(migrate, "steps", lambda: whole[:released])
        migrate.migrate(db, "some.db")
        assert migrate.version(db) == released
    migrate.migrate(db, "some.db")
    with closing(sqlite3.connect(tmp_path / "fresh.db")) as fresh:
        assert schema(db) == schema(fresh)
        assert migrate.version(db) == migrate.version(fresh) == len(whole)


def test_rows_of_a_released_schema_are_kept(
    db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step is applied to what is there; statements are cut at their ends, not at semicolons."""
    monkeypatch.setattr(migrate, "steps", lambda: TWO_STEPS[:1])
    migrate.migrate(db, "some.db")
    db.execute("INSERT INTO a VALUES ('kept')")
    monkeypatch.setattr(migrate, "steps", lambda: TWO_STEPS)
    migrate.migrate(db, "some.db")
    found = db.execute("SELECT x, y FROM a ORDER BY rowid").fetchall()
    assert found == [("kept", "one;two"), ("-- no remark", "one;two")]


AT = "2025-01-01T00:00:00.000000Z"
ROWS = {  # one of each, with everything that schema 1 had room for
    "plans": ("p1", "/w/PLAN.md", "tasklist", "running", 3, '{"jobs": 2}', 4, AT, AT),
    "tasks": ("p1/T-1", "p1", "T-1", "굽다", "in_progress", 2, "pending", 1, "err", "sum", AT, AT),
    "runs": (
        "r1", "p1", "p1/T-1", 2, "claude", "work", "parked", 5, "talk", "n0nce", "r0", "r1.verify-1",
        123, 456, "segue/T-1", 143, "error", 10, 20, 0.5, AT, AT,
    ),
    "parks": (
        "k1", "p1", "p1/T-1", "r1", "work", "session_limit", AT,
        "2025-01-01T00:00:05.000000Z", "waiting", 1, AT, AT,
    ),
    "gates": (
        "g1", "p1", "p1/T-1", "r1", "question", "choice", "Which?", '["a", "b"]', "a", None, None,
        "open", 1, AT, AT,
    ),
    "accounts": (
        "work", "parked", 2, "session_limit", "2025-01-01T00:00:05.000000Z", 0.9, AT, AT,
    ),
    "journal": (1, AT, "task", "p1/T-1", None, "pending", "add", '{"a": 1}'),
}  # fmt: skip


def of_schema_1(db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database as the first release left it."""
    whole = migrate.steps()
    with monkeypatch.context() as patch:
        patch.setattr(migrate, "steps", lambda: whole[:1])
        migrate.migrate(db, "some.db")
    for table, row in ROWS.items():
        marks = ", ".join("?" * len(row))
        db.execute(f"INSERT INTO {table} VALUES ({marks})", row)


def test_every_row_of_the_first_schema_is_kept(
    db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was known is known; what could not be known then is empty."""
    of_schema_1(db, monkeypatch)
    before = {table: dict(zip(columns(db, table), row, strict=True)) for table, row in ROWS.items()}
    migrate.migrate(db, "some.db")
    db.row_factory = sqlite3.Row
    for table, was in before.items():
        (found,) = db.execute(f"SELECT * FROM {CALLED.get(table, table)}").fetchall()
        known = {CALLED.get(name, name): value for name, value in was.items()} | IS_NOW.get(
            table, {}
        )
        assert {name: found[name] for name in known} == known, table
        hashes = ("prev", "hash")  # of the journal: test_chain looks at them
        new = {name: found[name] for name in found.keys() if name not in {*known, *hashes}}  # noqa: SIM118
        assert new == NEW.get(table, {}) | {
            name: None for name in new if name not in NEW.get(table, {})
        }
    assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


CALLED = {"plans": "works", "plan": "work"}
IS_NOW = {"gates": {"state": "pending"}}
NEW: dict[str, dict[str, object]] = {
    "plans": {"is_unread": 0},
    "tasks": {"is_archived": 0},
    "runs": {"role": "work", "purpose": "", "phase": 0, "heard": 0},
    "gates": {"round": 1, "name": "", "is_required": 1, "priority": 0},
    "parks": {"refusals": 0},
    "journal": {"work": "p1"},
}


def columns(db: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})")]


@pytest.mark.parametrize("is_readonly", [False, True])
def test_work_that_the_first_schema_left_goes_on(
    db: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_readonly: bool
) -> None:
    """A plan that was parked and has asked is read as it was, also by who only looks."""
    of_schema_1(db, monkeypatch)
    db.close()
    path = tmp_path / "some.db"
    store = Store.open_readonly(path) if is_readonly else Store.open(path)
    assert store is not None
    with closing(store):
        ledger = Ledger(store, SystemClock(), Path("/w/PLAN.md"), "tasklist")
        assert ledger.tasks["T-1"].error == "err"
        (park,) = ledger.parks.values()
        assert (park.task, park.kind) == ("T-1", "session_limit")
        (gate,) = ledger.gates.values()
        assert (gate.options, gate.about) == (("a", "b"), {})
        run = ledger.run("r1")
        assert run is not None
        assert (run.conversation, run.resume_id) == ("talk", None)
        assert ledger.answered_gates("T-1", "permission") == []
        view = Accounts(store, SystemClock()).view()["work"]
        assert (view.used, view.used_until) == (0.9, None)


def test_migrating_twice_changes_nothing(db: sqlite3.Connection) -> None:
    """What is up to date is left alone."""
    migrate.migrate(db, "some.db")
    changes = db.total_changes
    before = schema(db)
    migrate.migrate(db, "some.db")
    assert (schema(db), db.total_changes) == (before, changes)


def test_a_step_that_fails_leaves_the_database_as_it_was(
    db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All steps and the number of the last are one transaction: half of them never stays."""
    broken = "CREATE TABLE b (x TEXT);\nCREATE TABLE a (x TEXT);\n"  # the second one is there
    monkeypatch.setattr(migrate, "steps", lambda: [TWO_STEPS[0], broken])
    with pytest.raises(sqlite3.OperationalError):
        migrate.migrate(db, "some.db")
    assert migrate.version(db) == 0
    assert schema(db) == []
    assert not db.in_transaction


def test_a_newer_schema_is_refused(db: sqlite3.Connection) -> None:
    """Forward only: a database of a later version is told, with both numbers."""
    known = len(migrate.steps())
    db.execute(f"PRAGMA user_version = {known + 1}")
    with pytest.raises(UserError) as caught:
        migrate.migrate(db, "some.db")
    problem = caught.value.problem
    assert (problem.code, problem.file) == ("newer_database", "some.db")
    assert str(known + 1) in problem.message
    assert schema(db) == []


def test_two_that_open_a_new_database_at_once_both_succeed(tmp_path: Path) -> None:
    """Whoever comes second finds the steps done."""
    path = tmp_path / "segue.db"
    ready = threading.Barrier(4)
    failed: list[BaseException] = []

    def open_it() -> None:
        ready.wait()
        try:
            Store.open(path).close()
        except Exception as error:  # noqa: BLE001 - told by the assertion
            failed.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    with closing(Store.open(path)) as store:
        assert store.all("PRAGMA user_version")[0][0] == len(migrate.steps())


def test_no_upgrade_under_an_older_segue_that_still_works(
    tmp_path: Path,
) -> None:
    """It could not read its tables any more. A Segue of this version does not hold it up."""
    locks = tmp_path / "locks"
    locks.mkdir()
    path = tmp_path / "segue.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(migrate.steps()[0])
        db.execute("PRAGMA user_version = 1")
    told = {"pid": 1, "since": "", "command": "segue run PLAN.md"}
    held = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(locks / "plan.lock"), json.dumps(told)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert held.stdin is not None
    assert held.stdout is not None
    try:
        held.stdout.readline()
        with pytest.raises(UserError, match=r"segue run PLAN\.md") as refused:
            Store.open(path)
        assert refused.value.problem.code == "older_version_running"
        with closing(sqlite3.connect(path)) as db:
            assert migrate.version(db) == 1, "nothing was changed"
        (locks / "plan.lock").write_text(json.dumps(told | {"schema": migrate.newest()}))
        Store.open(path).close()
    finally:
        held.stdin.close()
        held.wait()
        held.stdout.close()


HOLDS = """
import fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.lockf(fd, fcntl.LOCK_EX)
os.pwrite(fd, sys.argv[2].encode(), 0)
print("held", flush=True)
sys.stdin.read()
"""
