"""From schema 8, where each kind of work had tables of its own, to one set of tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from segue.core.machines import PaneState
from segue.drivers.panes import Pane
from segue.engine.clock import SystemClock
from segue.engine.executors.pane import job_id
from segue.store.changes import Add, Move
from segue.store.rows import IS_OPEN, PHASE_TASKS, act_row, gate_row, phase_task_row, run_row
from segue.store.sqlite import Store
from segue.work.panes.pane_records import PaneRecords

DATABASES = Path(__file__).parents[2] / "databases"
NAMES = sorted(path.stem for path in DATABASES.glob("*.sql"))

# Old table → where its rows are now, what a column is called now, what every such row says now.
Place = tuple[str, dict[str, str], dict[str, object]]
PLACES: dict[str, Place] = {
    "plans": ("works", {}, {}),
    "tasks": ("tasks", {"plan": "work"}, {"is_archived": 0}),
    "runs": ("runs", {"plan": "work"}, {"role": "work", "phase": 0, "prompt": None}),
    "parks": ("parks", {"plan": "work"}, {"refusals": 0}),
    "gates": ("gates", {"plan": "work"}, {"is_required": 1, "round": 1}),
    "accounts": ("accounts", {}, {"canary": None, "follows_at": None, "follows_until": None}),
    "workers": ("panes", {}, {}),
    "server_tasks": (PHASE_TASKS, {}, {"work": "server", "mark": None, "retries_used": 0}),
    "server_agents": ("agents", {}, {}),
    "server_runs": ("runs", {"purpose": "role"}, {"work": "server", "purpose": ""}),
    "server_gates": ("gates", {}, {"work": "server"}),
    "server_secrets": ("secrets", {}, {}),
    "server_timers": ("timers", {}, {"work": "server"}),
    "server_checkpoints": ("checkpoints", {}, {}),
    "server_restorations": ("restorations", {}, {}),
    "server_settings": ("settings", {}, {}),
    "server_replies": ("idempotency", {}, {}),
}
KEYS = {"server_secrets": "name", "server_restorations": "task", "server_settings": "key",
        "server_replies": "key"}  # fmt: skip
# Of a pane: in its run and its park (test_migrate_panes).
NOW_ELSEWHERE = {"workers": ("agent", "account", "wakes_at")}
WAKES = ("server_timers", "wake")
GATES = {"open": "pending", "delivered": "answered"}
ENTITIES = {
    "plan": "work", "worker": "pane", "server_task": "task", "server_agent": "agent",
    "server_run": "run", "server_gate": "gate",
}  # fmt: skip


def old(name: str, path: Path) -> dict[str, list[dict[str, Any]]]:
    """A database of schema 8 at this path, and all that is in it."""
    text = (DATABASES / f"{name}.sql").read_text("utf-8")
    with closing(sqlite3.connect(path)) as db:
        db.executescript(text)
        db.row_factory = sqlite3.Row
        if name == "server":  # a rewind that was decided, and a gate that names its run
            run = db.execute("SELECT id, task FROM server_runs").fetchone()
            row = (run["task"], "abc", "2026-01-01T00:00:00.000000Z")
            db.execute("INSERT INTO server_restorations VALUES (?, ?, ?)", row)
            db.execute("UPDATE server_gates SET run = ? WHERE task = ?", tuple(run))
            db.commit()
        names = [*PLACES, "notices", "server_notices", "journal"]
        return {n: [dict(row) for row in db.execute(f"SELECT * FROM {n}")] for n in names}


@pytest.fixture(params=NAMES)
def carried(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[dict[str, list[dict[str, Any]]], Store]]:
    """What was in a database, and the same database opened by this version."""
    path = tmp_path / "segue.db"
    before = old(request.param, path)
    with closing(Store.open(path)) as store:
        yield before, store


def test_every_row_is_carried_over(carried: tuple[dict[str, list[dict[str, Any]]], Store]) -> None:
    """Each row of each table is there with each of its values, and nothing else is there."""
    before, store = carried
    counts: dict[str, int] = {}
    for table, (place, called, constants) in PLACES.items():
        # A limit is a park now.
        rows = [row for row in before[table] if (table, row.get("kind")) != WAKES]
        counts[place] = counts.get(place, 0) + len(rows)
        key = KEYS.get(table, "id")
        for row in rows:
            found = store.one(f"SELECT * FROM {place} WHERE {key} = ?", row[key])
            assert found is not None, (table, row)
            told = {called.get(name, name): value for name, value in row.items()} | constants
            for name in NOW_ELSEWHERE.get(table, ()):
                del told[name]
            if table == "gates":
                told["state"] = GATES.get(told["state"], told["state"])
            assert {name: found[name] for name in told} == told, table
    for place, count in counts.items():
        more = 0
        if place == "works":
            more = bool(before["server_tasks"]) + bool(before["workers"])
        elif place == "tasks":
            more = len(before["server_tasks"]) + len(before["workers"])
        elif place == "runs":
            more = len(before["workers"])
        elif place == "parks":
            more = len([row for row in before["server_timers"] if row["kind"] == "wake"])
            more += len([row for row in before["workers"] if row["wakes_at"]])
        assert len(store.all(f"SELECT 1 FROM {place}")) == count + more, place
    assert store.all("PRAGMA foreign_key_check") == []
    assert store.is_whole()


def test_notices_and_journal_are_carried_over_in_their_order(
    carried: tuple[dict[str, list[dict[str, Any]]], Store],
) -> None:
    """What was not sent yet is still to be sent; the journal names things as the tables do now,
    and the work of each."""
    before, store = carried
    told = [dict(row) for row in store.all("SELECT * FROM notices ORDER BY id")]
    was = [*before["notices"], *before["server_notices"]]
    same = ("kind", "task", "gate", "text", "sent", "tries", "next_at", "created_at")
    assert [[row[name] for name in same] for row in told] == [
        [row[name] for name in same] for row in was
    ]
    journal = [dict(row) for row in store.all("SELECT * FROM journal ORDER BY seq")]
    wanted = [
        row | {"entity": ENTITIES.get(row["entity"], row["entity"])} for row in before["journal"]
    ]
    assert [{name: row[name] for name in wanted[0]} for row in journal] == wanted
    works = {row["id"] for row in store.all("SELECT id FROM works")}
    assert {row["work"] for row in journal if row["entity"] != "account"} <= works
    assert {row["work"] for row in journal if row["entity"] == "account"} <= {None}
    assert {notice["work"] for notice in told} <= works


def test_no_table_of_old_is_left(carried: tuple[dict[str, list[dict[str, Any]]], Store]) -> None:
    """One table for each thing, and none is called `workers`."""
    _before, store = carried
    names = {
        row["name"] for row in store.all("SELECT name FROM sqlite_schema WHERE type = 'table'")
    }
    assert not {name for name in names if name.startswith(("server_", "old_"))}
    assert not names & {"plans", "workers"}


def test_rows_are_read_as_values(tmp_path: Path) -> None:
    """Of the server: tasks, runs and gates, by the readers that every kind of work has."""
    path = tmp_path / "segue.db"
    before = old("server", path)
    with closing(Store.open(path)) as store:
        tasks = [phase_task_row(row) for row in store.all(f"SELECT * FROM {PHASE_TASKS}")]
        assert [task.id for task in tasks] == [row["id"] for row in before["server_tasks"]]
        runs = [run_row(row) for row in store.all(f"SELECT * FROM runs WHERE {IS_OPEN}")]
        assert {run.task for run in runs} <= {task.id for task in tasks}
        gates = [gate_row(row) for row in store.all("SELECT * FROM gates WHERE state = 'pending'")]
        assert {gate.kind for gate in gates} == {"review", "question", "dependency"}
        assert all(gate.task_id for gate in gates)


def test_what_waits_for_a_limit_is_parked(tmp_path: Path) -> None:
    """Each task of the server that a limit paused has its park, with the time at which it was to
    wake; one that a person paused has none. A review is parked on the account of its agent."""
    path = tmp_path / "segue.db"
    before = old("server", path)
    (timer,) = [row for row in before["server_timers"] if row["kind"] == "wake"]
    by_task = {row["id"]: row for row in before["server_agents"]}
    agent = by_task[timer["task"]]
    with closing(sqlite3.connect(path)) as db:  # a reviewer's limit, and a pause by a person
        at = "2026-11-18T05:00:00.000000Z"
        (held,) = [id for id, row in by_task.items() if row["is_by_person"]]
        reviewed = next(
            row["id"] for row in before["server_agents"] if row["state"] == "waiting_review"
        )
        wakes = "INSERT INTO server_timers VALUES ('wake:' || ?1, ?1, 'wake', NULL, ?2)"
        db.execute(wakes, (held, at))
        db.execute(wakes, (reviewed, at))
        db.execute(
            "UPDATE server_agents SET state = 'paused', kind = 'session_limit' WHERE id = ?",
            (reviewed,),
        )
        db.execute(
            "INSERT INTO server_runs (id, task, phase, purpose, attempt, agent, account, state,"
            " conversation, nonce, created_at, updated_at) VALUES ('r', ?1, 1, 'review', 1,"
            " 'judge', 'judges', 'intended', 'c', 'n', ?2, ?2)",
            (reviewed, at),
        )
        db.commit()
    with closing(Store.open(path)) as store:
        parks = {row["task"]: row for row in store.all("SELECT * FROM parks")}
        assert set(parks) == {timer["task"], reviewed}
        park = parks[timer["task"]]
        assert (park["work"], park["state"], park["wakes_at"]) == ("server", "waiting", timer["at"])
        same = ("account", "kind", "resets_at")
        assert [park[name] for name in same] == [agent[name] for name in same]
        assert park["run"] in {row["id"] for row in before["server_runs"]}
        assert (parks[reviewed]["account"], parks[reviewed]["wakes_at"]) == ("judges", at)
        assert store.all("SELECT 1 FROM timers WHERE kind = 'wake'") == []
        assert store.all("PRAGMA foreign_key_check") == []


def test_panes_wait_on(tmp_path: Path) -> None:
    """Whoever watches next finds each pane as it was left."""
    path = tmp_path / "segue.db"
    before = {row["pane"]: row for row in old("panes", path)["workers"]}
    with closing(Store.open(path)) as store:
        records = PaneRecords(store, SystemClock())
        (kept,) = store.all("SELECT path FROM works WHERE id = 'panes'")
        assert kept["path"] == str(tmp_path)
        found = {}
        for name in before:
            pane = Pane(name, "tmux", "@TMP@/socket", 30, 80, pid=None, tty=f"/dev/pts/{name[1:]}")
            found[name] = records.adopt(job_id(pane), name, "claude", "work")
        assert found["%0"].state is PaneState.PAUSED and found["%0"].wakes_at is not None
        assert found["%1"].is_held and found["%1"].windows == 1
        assert (found["%2"].state, found["%2"].sends) == (PaneState.ERROR, 1)
        assert found["%3"].state is PaneState.BLOCKED
        assert found["%4"].state is PaneState.IDLE, "its host was only out of reach"


def test_an_act_waits_until_it_is_taken_once(tmp_path: Path) -> None:
    """What a person wants is a row: the owner takes it, whoever comes second does not."""
    at = SystemClock().now()
    with closing(Store.open(tmp_path / "segue.db")) as store:
        wanted = {
            "work": "p",
            "verb": "retry",
            "data": '{"why": "now"}',
            "actor": "me",
            "via": "cli",
        }
        work = Add("work", "p", "pending", {"path": "/p.md", "kind": "tasklist"})
        assert store.move(work, Add("act", "a1", "waiting", wanted), at=at)
        (row,) = store.all("SELECT * FROM acts WHERE state = 'waiting'")
        act = act_row(row)
        assert (act.verb, act.data, act.task) == ("retry", {"why": "now"}, None)
        taken = Move("act", act.id, act.state, "taken", "take", version=act.version)
        assert store.move(taken, at=at)
        assert not store.move(taken, at=at)
