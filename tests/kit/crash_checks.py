"""What holds for all kinds of work, whenever their owner was killed: read from the tables."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from segue.core.limits import holds_account
from segue.drivers.processes import find_by_environ
from segue.work.project import Project

# Who waits for an account's limit: in `parks`, or (tasks with phases) in a row of its own.
WAITING = (
    "SELECT account, kind FROM parks WHERE state = 'waiting'"
    " UNION ALL SELECT account, kind FROM agents WHERE state = 'paused' AND resets_at IS NOT NULL"
)
WAKES = (
    "SELECT p.id, p.wakes_at, j.at FROM parks p LEFT JOIN journal j"
    " ON j.entity = 'park' AND j.entity_id = p.id AND j.to_state = 'woken'"
)
MOVES = "SELECT entity_id, from_state, to_state FROM journal WHERE entity = 'task'"
ENDS = ("completed", "failed", "skipped")


@contextmanager
def tables(project: Path) -> Iterator[sqlite3.Connection]:
    """As a killed owner left them."""
    with closing(sqlite3.connect(Project(project).database)) as db:
        yield db


def check_account(project: Path) -> None:
    """Account and park are never apart, at whatever moment the owner was killed."""
    if not (Project(project).database).exists():
        return
    with tables(project) as db:
        if not db.execute("PRAGMA user_version").fetchone()[0]:
            return  # killed before there was any table
        held = {name for [name] in db.execute("SELECT id FROM accounts WHERE state != 'open'")}
        waiting = {account for account, kind in db.execute(WAITING) if holds_account(kind or "")}
        assert waiting <= held, "a park whose account is open"
        parked = {name for [name] in db.execute("SELECT id FROM accounts WHERE state = 'parked'")}
        assert parked <= waiting, "an account that is parked for nobody"


def check_at_the_end(project: Path, tasks: int, checks: tuple[str, ...] = ()) -> None:
    """Each task has ended once, and nothing was left behind. `checks`: those that Segue itself does
    again at every start, because a result counts only while its evidence is there."""
    with tables(project) as db:
        ends = Counter({id: 0 for [id] in db.execute("SELECT id FROM tasks ")})
        for id, before, to in db.execute(MOVES):
            ends[id] += (to in ENDS) - (before in ENDS and id.rpartition("/")[2] in checks)
        assert list(ends.values()) == [1] * tasks, f"each task ends exactly once: {ends}"
        assert (
            db.execute("SELECT id FROM runs WHERE state IN ('intended', 'running')").fetchall()
            == []
        )
    check_parks(project)
    assert find_by_environ("SEGUE_PROJECT", str(project)) == []


def check_parks(project: Path) -> None:
    """Each has woken once, not before its instant, and every run is in the journal."""
    with tables(project) as db:
        _check_runs(db)
        for park, wakes_at, woken_at in db.execute(WAKES).fetchall():
            assert woken_at is not None, f"{park} has not woken"
            assert woken_at >= wakes_at, f"{park} woke before its instant"
        sql = (
            "SELECT entity_id FROM journal WHERE entity = 'park' AND to_state = 'woken'"
            " GROUP BY entity_id HAVING count(*) > 1"
        )
        assert db.execute(sql).fetchall() == [], "a park that woke twice"


def _check_runs(db: sqlite3.Connection) -> None:
    sql = (
        "SELECT id FROM runs WHERE NOT EXISTS"
        " (SELECT 1 FROM journal WHERE entity = 'run' AND entity_id = runs.id)"
    )
    assert db.execute(sql).fetchall() == [], "a run without a row of the journal"
