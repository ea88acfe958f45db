"""From schema 11, where a pane was a row of its own alone, to tasks, runs and parks."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from segue.core.machines import PaneState
from segue.engine.clock import SystemClock
from segue.store import chain
from segue.store.sqlite import Store
from segue.work.panes.pane_records import PaneRecords

DATABASE = Path(__file__).parents[2] / "databases" / "schema_11" / "panes.sql"
WAKES_AT = "2026-11-20T"  # the day on which both parked panes are to wake


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database that Segue left when it was killed while it watched six panes."""
    with closing(sqlite3.connect(tmp_path / "segue.db")) as db:
        db.executescript(DATABASE.read_text("utf-8"))
    return tmp_path / "segue.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with closing(Store.open(path)) as store:
        yield store


def test_each_pane_is_a_task_with_its_run(store: Store) -> None:
    """By the name that people give it; the run of its agent says how it stands."""
    sql = (
        "SELECT tasks.id, tasks.key, tasks.state AS task, runs.state AS run, runs.agent"
        " FROM tasks JOIN runs ON runs.task = tasks.id WHERE tasks.work = 'panes' ORDER BY key"
    )
    assert [tuple(row) for row in store.all(sql)] == [
        ("panes/%0", "%0", "in_progress", "parked", "claude"),
        ("panes/%1", "%1", "in_progress", "parked", "claude"),
        ("panes/%2", "%2", "failed", "failed", "codex"),
        ("panes/%3", "%3", "in_progress", "asked", "claude"),
        ("panes/%4", "%4", "in_progress", "running", "gemini"),
        ("panes/%5", "%5", "pending", "cut_off", "claude"),
    ]
    assert store.all("PRAGMA foreign_key_check") == []
    assert store.is_whole()


def test_what_waits_is_a_park(store: Store) -> None:
    """With its time, its account and the run that hit the limit; a pane that is gone has none."""
    parks = store.all("SELECT * FROM parks ORDER BY task")
    assert [park["task"] for park in parks] == ["panes/%0", "panes/%1"]
    for park in parks:
        assert (park["work"], park["account"], park["kind"]) == ("panes", "claude", "weekly_limit")
        assert park["wakes_at"].startswith(WAKES_AT) and park["resets_at"].startswith(WAKES_AT)
        run = store.one("SELECT task, state FROM runs WHERE id = ?", park["run"])
        assert run is not None and (run["task"], run["state"]) == (park["task"], "parked")


def test_gates_and_acts_are_about_their_tasks(store: Store) -> None:
    """What asks a person, and what a person wanted before anybody took it in."""
    gates = store.all("SELECT task FROM gates WHERE state = 'pending' ORDER BY task")
    assert [gate["task"] for gate in gates] == ["panes/%2", "panes/%3"]
    assert [act["task"] for act in store.all("SELECT task FROM acts")] == ["panes/%1"]


def test_a_canary_is_called_by_its_task(path: Path) -> None:
    """So that its account still knows who tries it."""
    with closing(sqlite3.connect(path)) as db:
        (id,) = db.execute("SELECT id FROM panes WHERE pane = '%0'").fetchone()
        db.execute("UPDATE accounts SET canary = ? WHERE id = 'claude'", (id,))
        db.commit()
    with closing(Store.open(path)) as store:
        (row,) = store.all("SELECT canary FROM accounts WHERE id = 'claude'")
        assert row["canary"] == "panes/%0"


def test_a_pane_that_another_one_followed_is_gone(path: Path) -> None:
    """Numbers are given again: the newest pane of a name is meant by it."""
    with closing(sqlite3.connect(path)) as db:
        db.execute(
            "INSERT INTO panes SELECT 'tmux:ad28e34303d6:%0:1', pane, agent, account, 'paused', 1,"
            " kind, evidence, resets_at, wakes_at, 0, NULL, '', 0, 0, '2026-11-01', '2026-11-01'"
            " FROM panes WHERE pane = '%0'"
        )
        db.commit()
    with closing(Store.open(path)) as store:
        sql = "SELECT state FROM panes WHERE pane = '%0' ORDER BY created_at"
        assert [row["state"] for row in store.all(sql)] == ["dead", "paused"]
        assert len(store.all("SELECT 1 FROM parks WHERE task = 'panes/%0'")) == 1
        sql = "SELECT attempt, state FROM runs WHERE task = 'panes/%0' ORDER BY attempt"
        assert [tuple(row) for row in store.all(sql)] == [(1, "cut_off"), (2, "parked")]


def test_the_next_watcher_finds_each_pane_as_it_was_left(store: Store) -> None:
    """With the time at which it is to wake."""
    records = PaneRecords(store, SystemClock())
    found = {
        row["pane"]: records.adopt(row["id"], row["pane"], "claude", "claude")
        for row in store.all("SELECT id, pane FROM panes")
    }
    parked = found["%0"]
    assert parked.state is PaneState.PAUSED and parked.wakes_at is not None
    assert parked.wakes_at.isoformat().startswith(WAKES_AT)
    assert (found["%2"].state, found["%2"].wakes_at) == (PaneState.ERROR, None)
    assert (found["%3"].state, found["%4"].state) == (PaneState.BLOCKED, PaneState.BUSY)


def test_the_journal_still_holds(store: Store) -> None:
    """Nothing was written into its chain."""
    (last,) = store.all("SELECT max(seq) FROM journal")
    assert list(chain.breaks(store.each(chain.ROWS, last[0]), last[0])) == []
