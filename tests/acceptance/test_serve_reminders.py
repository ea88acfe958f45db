"""Reminders of the real server, killed in between: each is told once, by its own time."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kit.serve import GOOD, House
from kit.server import Server
from kit.waiting import until

TIMES = 'remind_after = "1s"\nurgent_after = "2s"\nescalate_after = "4s"\n'
HEADS = {"remind": "Reminder: ", "urgent": "Urgent: ", "escalate": "Waiting too long: "}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    made.hand("a", GOOD)
    made.hand("asks", "block USER_QUESTION <<-END\nquestion: What is its name?\nEND\n")
    command = f"command:tee -a {made.out}/told"
    made.tables.append(f"[reviews]\n{TIMES}notify = {json.dumps([command])}\n")
    yield made
    made.end_everything()


def told(house: House, kind: str) -> int:
    """How often people were told this."""
    path = house.out / "told"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return sum(line.startswith(HEADS[kind]) for line in lines)


def is_marked(house: House, kind: str) -> bool:
    """Whether the server knows that it was told."""
    with closing(sqlite3.connect(house.database)) as db:
        rows = db.execute("SELECT next_at FROM notices WHERE kind = ?", (kind,)).fetchall()
    return bool(rows) and all(at is None for (at,) in rows)


def waits_for_a_person(server: Server, agent: str) -> str:
    task = server.new(agent)
    if agent == "a":
        server.review(task)
    else:
        server.waiting("questions", task)
    return task


@pytest.mark.parametrize("agent", ["a", "asks"])
def test_each_reminder_is_told_once_though_the_server_is_killed(house: House, agent: str) -> None:
    """Killed after each of them: the next server tells what is left, and nothing again."""
    server = house.serve()
    task = waits_for_a_person(server, agent)
    for kind in HEADS:
        until(lambda: is_marked(house, kind), f"{kind} is told")  # noqa: B023
        server.kill()
        server = house.serve()
    later = waits_for_a_person(server, "a")
    until(lambda: told(house, "escalate") == 2, "what came later is told, too")
    until(lambda: is_marked(house, "escalate"), "and marked")
    assert {kind: told(house, kind) for kind in HEADS} == dict.fromkeys(HEADS, 2)
    assert server.task(task)["status"] == ("review" if agent == "a" else "in_progress")
    assert server.task(later)["status"] == "review"
    assert server.stop() == 0


def test_what_was_due_while_no_server_was_there_is_told_at_its_start(house: House) -> None:
    """Waiting is a row: the times pass without anybody."""
    server = house.serve()
    task = waits_for_a_person(server, "a")
    server.kill()
    with closing(sqlite3.connect(house.database, isolation_level=None)) as db:
        db.execute("UPDATE gates SET created_at = '2020-01-01T00:00:00.000000Z' WHERE task = ?",
                   (task,))  # fmt: skip
    before = {kind: told(house, kind) for kind in HEADS}
    server = house.serve()
    until(lambda: is_marked(house, "escalate"), "all is told")
    after = {kind: told(house, kind) for kind in HEADS}
    assert all(after[kind] == 1 for kind in HEADS), (before, after)
    server.approve(task).ok()
    server.reaches(task, "completed")
