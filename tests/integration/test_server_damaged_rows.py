"""Rows of the server's tables that say what no Segue has written: named in words, and the other
tasks continue."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from kit.app import House, play
from segue.errors import UserError
from segue.work import overview
from segue.work.project import Project

ASKS = """#!/bin/sh
if [ -n "$SEGUE_RESUME" ]; then echo "=== CUSTOM TASK COMPLETE $SEGUE_NONCE ==="; exit; fi
printf "[USER_QUESTION $SEGUE_NONCE]\\nquestion: Which sea?\\n[/USER_QUESTION]\\n"; sleep 1000
"""
HOLDS = "#!/bin/sh\nsleep 1000\n"
DAMAGES = [
    ("phase_tasks", "depends_on", "[not json"),
    ("phase_tasks", "depends_on", '"text"'),
    ("phase_tasks", "phases", '{"a": 1}'),
    ("phase_tasks", "phases", "[[]]"),
    ("tasks", "state", "in_progrezz"),
    ("tasks", "created_at", "yesterday"),
    ("phase_tasks", "phase", "two"),
    ("tasks", "title", b"\xff\xfe"),
    ("tasks", "version", "first"),
    ("agents", "state", "sleepy"),
    ("agents", "updated_at", 7),
    ("agents", "steps_done", "many"),
    ("gates", "options", "[1, 2"),
    ("gates", "options", "[1, 2]"),
    ("gates", "about", "[]"),
    ("gates", "state", "pendinh"),
    ("gates", "deadline", "soon"),
    ("runs", "state", "runs"),
    ("runs", "phase", "x"),
]
# Rows are found by their state: one in no known state is found by its id alone.
NOT_FOUND = {("gates", "state"), ("runs", "state")}


def damage(house: House, table: str, task: str, column: str, value: object) -> str:
    """One value of the task's row in this table; the id of the row."""
    key = "id" if table in ("tasks", "agents") else "task"
    with closing(sqlite3.connect(Project(house.folder).database)) as db:
        db.execute("PRAGMA ignore_check_constraints = ON")
        own = "task" if table == "phase_tasks" else "id"
        [[id]] = db.execute(
            f"SELECT {own} FROM {table} WHERE {key} = ? LIMIT 1", (task,)
        ).fetchall()
        db.execute(f"UPDATE {table} SET {column} = ? WHERE {own} = ?", (value, id))
        db.commit()
    return str(id)


@pytest.mark.parametrize("body", [ASKS, HOLDS], ids=["waiting", "running"])
@pytest.mark.parametrize(("table", "column", "value"), DAMAGES)
def test_a_damaged_row_is_named_and_keeps_no_other_task_from_its_work(
    house: House, caplog: pytest.LogCaptureFixture, table: str, column: str, value: object,
    body: str,
) -> None:  # fmt: skip
    """Its table and its id are said where it is needed; lists leave it out; other tasks, old and
    new, are worked on to their end."""
    told = "tasks" if table == "phase_tasks" else table  # they are read together
    if table == "gates" and body is HOLDS:
        pytest.skip("it has asked nothing")
    house.program(body)
    house.program(ASKS, "other")
    ids: list[str] = []

    async def scene() -> None:
        async with house.open(is_killed=True) as server:
            ids.extend([server.new("custom"), server.new("custom", "other")])
            state = "waiting_question" if body is ASKS else "running"
            await server.status(ids[0], "in_progress", state)
            await server.until(lambda: server.runs(ids[0]) == ["running"] or body is ASKS)
            await server.pending(ids[1], "question")
        row = damage(house, table, ids[0], column, value)
        async with house.open() as server:
            question = await server.pending(ids[1], "question")
            server.commands.answer(question["id"], "the North Sea")
            await server.status(ids[1], "completed")
            third = server.new("custom", "other")
            await server.pending(third, "question")
            listed = [task["id"] for task in server.commands.list_tasks()["items"]]
            assert {third, ids[1]} <= set(listed)
            assert third in [one["taskId"] for one in server.commands.inbox()["items"]]
            if told in ("tasks", "agents"):
                assert ids[0] not in listed
                with pytest.raises(UserError) as caught:
                    server.commands.task(ids[0])
                assert told in str(caught.value)
                assert row in str(caught.value)
            elif table == "gates":
                with pytest.raises(UserError, match=f"{table}.*{row}"):
                    server.commands.question(row)
        said = [record.getMessage() for record in caplog.records]
        is_needed = table != "runs" or body is HOLDS  # nobody looks at a run that is over
        if is_needed and (table, column) not in NOT_FOUND:
            assert any(told in text and row in text for text in said), said

    play(scene)


def test_status_names_a_damaged_row(house: House) -> None:
    """`segue status` reads the same tables: an error in words, not a crash."""
    house.program(ASKS)

    async def scene() -> None:
        async with house.open() as server:
            await server.pending(server.new("custom"), "question")
            id = server.commands.list_tasks()["items"][0]["id"]
        row = damage(house, "gates", id, "options", "[1, 2")
        with pytest.raises(UserError, match=f"gates.*{row}"):
            overview.to_json(house.folder)

    play(scene)


@pytest.mark.parametrize(
    ("table", "columns"),
    [("timers", {"at": "soon"}), ("settings", {"value": "{"})],
)
def test_damaged_timers_and_settings_stop_nothing(
    house: House, table: str, columns: dict[str, str]
) -> None:
    """A timer whose time nobody can read never fires; a setting that cannot be read is as if it
    had not been changed."""
    house.program(ASKS)
    defaults = {"id": "save:x", "work": "server", "task": "x", "kind": "save"}
    row = {**(defaults if table == "timers" else {"key": "slots"}), **columns}

    async def scene() -> None:
        async with house.open() as server:
            server.new("custom")
        with closing(sqlite3.connect(Project(house.folder).database)) as db:
            names, marks = ", ".join(row), ", ".join("?" * len(row))
            db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(row.values()))
            db.commit()
        async with house.open() as server:
            id = server.new("custom")
            server.commands.answer((await server.pending(id, "question"))["id"], "North")
            await server.status(id, "completed")

    play(scene)
