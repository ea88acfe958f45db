"""What agents tried in a person's place: kept within bounds, told once for each run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from segue.dialects.events import ActRefused
from segue.engine import refusals
from segue.store.changes import stamp
from segue.store.sqlite import Store

AT = datetime(2026, 1, 5, 3, tzinfo=UTC)
SERVER, PLAN, CHECK = "task_1-0a1b2c3d", "T-1-1-abcd", "T-1-1-abcd.verify-12"


class Memory:
    """A database with one run of the server's and one of a plan's."""

    def __init__(self, root: Path) -> None:
        self.store = Store.open(root / "segue.db")
        db = self.store._db
        at = AT.isoformat()
        db.execute("PRAGMA foreign_keys = OFF")
        db.execute(
            "INSERT INTO works (id, path, kind, state, created_at, updated_at)"
            " VALUES ('p-1', '/work/PLAN.md', 'tasklist', 'running', ?, ?)",
            (at, at),
        )
        db.execute(
            "INSERT INTO works (id, path, kind, state, created_at, updated_at)"
            " VALUES ('server', '/work/.segue', 'server', 'running', ?, ?)",
            (at, at),
        )
        self.add("runs", id=PLAN, work="p-1", task="p-1:T-1", verify_job=CHECK)
        self.add("runs", id=SERVER, work="server", task="task_1", phase=1)

    def add(self, table: str, **given: object) -> None:
        """A row; what it must have and was not given is empty."""
        db = self.store._db
        for _at, name, kind, is_needed, preset, _key in db.execute(f"PRAGMA table_info({table})"):
            if is_needed and preset is None and name not in given:
                given[name] = 0 if kind == "INTEGER" else "x"
        marks = ", ".join("?" * len(given))
        sql = f"INSERT INTO {table} ({', '.join(given)}) VALUES ({marks})"
        db.execute(sql, tuple(given.values()))

    def tried(self, run: str, tried: str = "POST /x", at: datetime = AT, **more: Any) -> None:
        facts = {"SEGUE_RUN": run, "SEGUE_TASK": "T-1"}
        changes = refusals.changes(self.store, facts, "rest", tried, at, **more)
        assert self.store.move(*changes, at=at)

    def rows(self, run: str) -> list[dict[str, Any]]:
        sql = "SELECT data FROM journal WHERE entity = 'refusal' AND entity_id = ? ORDER BY seq"
        return [json.loads(row["data"]) for row in self.store.all(sql, run)]

    def notices(self, *, of_server: bool) -> list[Any]:
        which = "=" if of_server else "!="
        return self.store.all(
            f"SELECT * FROM notices WHERE kind = 'refused' AND work {which} 'server'"
        )


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    made = Memory(tmp_path)
    yield made
    made.store.close()


def test_reads_do_not_hide_an_act(memory: Memory) -> None:
    """However many there were, an act still has room; acts are bounded as well."""
    for _time in range(100):
        memory.tried(SERVER, "GET /api/tasks", is_change=False)
    assert len(memory.rows(SERVER)) == refusals.READS_MAX
    memory.tried(SERVER, "POST /api/reviews/rev_1/approve")
    assert memory.rows(SERVER)[-1] == {
        "task": "task_1", "actor": f"agent {SERVER}", "via": "rest",
        "tried": "POST /api/reviews/rev_1/approve",
    }  # fmt: skip
    for _time in range(100):
        memory.tried(SERVER)
    assert len(memory.rows(SERVER)) == refusals.ROWS_MAX
    assert len(memory.notices(of_server=True)) == 1


def test_a_run_of_a_plan_is_told_by_its_own_work(memory: Memory) -> None:
    """By whoever runs the plan, also for its checks; what it tried at the server, by that."""
    memory.tried(PLAN)
    memory.tried(PLAN)
    [told] = memory.notices(of_server=False)
    assert (told["work"], told["task"]) == ("p-1", "T-1")
    memory.tried(CHECK, is_at_server=True)
    assert len(memory.notices(of_server=False)) == len(memory.notices(of_server=True)) == 1


def test_names_that_nobody_knows_count_together_for_a_day(memory: Memory) -> None:
    """An agent that makes names up gets no more rows or notices for it; the next day is new."""
    for number in range(100):
        memory.tried(f"made-up-{number}")
    assert len(memory.rows("?")) == refusals.ROWS_MAX
    assert len(memory.notices(of_server=True)) == 1
    memory.tried("made-up", at=AT + timedelta(days=2))
    assert len(memory.rows("?")) == refusals.ROWS_MAX + 1
    assert len(memory.notices(of_server=True)) == 2


def test_what_an_agent_names_itself_does_no_harm(memory: Memory) -> None:
    """Control characters, line breaks and length are taken out."""
    memory.tried("\x1b[31mbad\n" + "x" * 10_000, "GET /\x1b]0;evil\x07")
    [row] = memory.rows("?")
    assert "\x1b" not in row["actor"] + row["tried"] and "\n" not in row["actor"]
    assert len(row["actor"]) < 300


def test_a_try_that_is_heard_again_is_noted_once(memory: Memory) -> None:
    """Whoever adopts a run reads its file from the beginning."""
    one = ActRefused("cli", "segue approve", stamp(AT))
    other = ActRefused("cli", "segue skip", stamp(AT + timedelta(seconds=1)))
    for event in (one, other, one, other):
        assert memory.store.move(*refusals.told(memory.store, PLAN, "T-1", event, AT), at=AT)
    assert [row["tried"] for row in memory.rows(PLAN)] == ["segue approve", "segue skip"]
