"""Durable transitions: what the one function that changes state costs on top of SQLite.

`Store.move` with one `Move`, against the same two statements (an UPDATE that compares, an INSERT
into the journal) in a transaction by the plain `sqlite3` module: same schema, WAL,
synchronous=FULL, so each transition waits for the disk on both sides. Transitions per second,
new database each round, best of five, in turn.

The same again with a journal that is not chained (no hash, and no look at the row before): what the
chain costs of a durable transition.
"""

from __future__ import annotations

import itertools
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from tempfile import mkdtemp

from measure import Figure, Unmeasured, in_turn, listed, wall_s

from segue.core.machines import Trigger
from segue.core.plan import TaskState
from segue.store import chain
from segue.store.changes import Add, Move, stamp
from segue.store.sqlite import JOURNAL_SQL, Store

TASKS = 500  # two transitions each
ROUNDS = 5
TARGET = 0.9
CHAIN_TARGET = 0.95  # of the rate without hashes
PATH = (
    (TaskState.PENDING, TaskState.IN_PROGRESS, Trigger.START),
    (TaskState.IN_PROGRESS, TaskState.COMPLETED, Trigger.COMPLETE),
)
UPDATE_SQL = (
    "UPDATE tasks SET state = ?, version = version + 1, updated_at = ? WHERE id = ? AND state = ?"
)


def filled(folder: Path) -> Store:
    """A new database with one plan and its pending tasks."""
    store = Store.open(Path(mkdtemp(dir=folder)) / "segue.db")
    tasks = [
        Add("task", f"p/{n}", TaskState.PENDING, {"work": "p", "key": str(n), "title": "nothing"})
        for n in range(TASKS)
    ]
    plan = Add("work", "p", "pending", {"path": "PLAN.md", "kind": "tasklist"})
    if not store.move(plan, *tasks, at=datetime.now(UTC)):
        raise Unmeasured("the database of the benchmark could not be filled")
    return store


def store_rate(folder: Path) -> float:
    store = filled(folder)

    def work() -> None:
        for n in range(TASKS):
            for state, to, cause in PATH:
                move = Move("task", f"p/{n}", state, to, cause)
                if not store.move(move, at=datetime.now(UTC)):
                    raise Unmeasured("a transition was refused")

    took_s = wall_s(work)
    store.close()
    return TASKS * len(PATH) / took_s


def unchained_rate(folder: Path) -> float:
    """`Store.move` without the hash of each row, and without the look at the row before."""
    digest, head = chain.digest, chain.head
    last = itertools.chain([0], itertools.count(TASKS + 1))  # before it is filled, and after
    try:
        chain.digest = lambda prev, row: ""
        chain.head = lambda db: chain.Head(next(last), "")
        return store_rate(folder)
    finally:
        chain.digest, chain.head = digest, head


def plain_rate(folder: Path) -> float:
    store = filled(folder)
    store.close()
    db = sqlite3.connect(store.path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")

    def work() -> None:
        for n in range(TASKS):
            id = f"p/{n}"
            for state, to, cause in PATH:
                now = stamp(datetime.now(UTC))
                db.execute("BEGIN IMMEDIATE")
                if db.execute(UPDATE_SQL, (to, now, id, state)).rowcount != 1:
                    raise Unmeasured("a plain transition was refused")
                row = (None, now, "task", id, state, to, cause, None, "p", "segue", "engine")
                db.execute(JOURNAL_SQL, (*row, "", ""))
                db.execute("COMMIT")

    took_s = wall_s(work)
    db.close()
    return TASKS * len(PATH) / took_s


def measure(folder: Path) -> list[Figure]:
    store, plain, unchained = in_turn(
        ROUNDS,
        lambda: store_rate(folder),
        lambda: plain_rate(folder),
        lambda: unchained_rate(folder),
    )
    details = (f"Store.move, /s: {listed(store)}", f"plain sqlite3, /s: {listed(plain)}")
    chained = (f"without the chain, /s: {listed(unchained)}",)
    return [
        Figure(
            "transitions/s ÷ plain sqlite3",
            max(store) / max(plain), TARGET, at_least=True, details=details,
        ),
        Figure(
            "transitions/s ÷ without the hash chain",
            max(store) / max(unchained), CHAIN_TARGET, at_least=True, details=chained,
        ),
    ]  # fmt: skip
