"""Work that an older Segue left in its database: this one carries it over, and finishes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kit import upgrade
from kit.book import check_shape
from kit.box import Box
from kit.serve import House
from kit.waiting import until
from segue.store import migrate

PAST = "2025-01-01T00:00:00.000000Z"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = upgrade.server(tmp_path)
    yield made
    made.end_everything()


def is_over(root: Path, *tables: str) -> None:
    """The limits that were waited for are over."""
    with upgrade.opened(root) as db, db:
        for table in tables:
            column = "at" if table.endswith("timers") else "wakes_at"
            where = "kind = 'wake'" if table.endswith("timers") else "state = 'waiting'"
            db.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (PAST,))
        db.execute("UPDATE accounts SET parked_until = ?", (PAST,))


def rows(root: Path, sql: str) -> list[tuple[Any, ...]]:
    with upgrade.opened(root) as db:
        return [tuple(row) for row in db.execute(sql)]


def test_a_task_list_goes_on(box: Box) -> None:
    """A parked task wakes in its conversation, a task that was at work begins again, a question
    waits for its answer and gets it, and what was done stays so."""
    upgrade.tasklist(box)
    upgrade.files_of("tasklist", box.root)
    upgrade.restore("tasklist", box.tmp, box.root)
    ((talk,),) = rows(box.root, "SELECT conversation FROM runs WHERE agent = 'three'")
    ((gate,),) = rows(box.root, "SELECT id FROM gates")
    is_over(box.root, "parks")
    plans = {Path(plan["path"]).name: plan for plan in box.segue("status", "--json").json["plans"]}
    assert [park["task"] for park in plans["PLAN.md"]["parks"]] == ["T-3"]
    assert [asked["id"] for asked in plans["PLAN.md"]["gates"]] == [gate]
    assert [park["task"] for park in plans["HELD.md"]["parks"]] == ["H-1"]
    assert plans["OLD.md"]["state"] == "finished"
    box.release("go")
    box.release("may-tell")
    done = box.run("--on-failed", "skip", "--jobs", "3")
    assert done.finished["waiting"] == ["T-4"], done.said
    assert box.notes("ends") == ["T-2"]
    assert box.notes("three") == ["1", talk], "once, in its conversation"
    assert not (box.out / "four").exists(), "it was not asked a second time"
    assert box.marks() == dict(zip((f"T-{n}" for n in range(1, 7)), "xxx~-x", strict=True))
    assert box.segue("answer", gate, "rather blue").code == 0
    done = box.run("--on-failed", "skip")
    assert done.tasks("task_completed") == ["T-4"]
    assert box.marks()["T-4"] == "x"
    assert rows(box.root, "SELECT state, answer FROM gates") == [("answered", "rather blue")]
    told = (box.out / "told").read_text()
    assert "Which colour?" in told and "broken" in told, "what could not be sent then"


def test_a_book_goes_on(box: Box) -> None:
    """A chapter that was stopped by a limit is written in its conversation; one that is written
    stays."""
    book = upgrade.book(box)
    upgrade.files_of("book", box.root)
    upgrade.restore("book", box.tmp, box.root)
    is_over(box.root, "parks")
    book.writer("")  # it has met its limit already
    first = book.chapter(1).read_bytes()
    done = book.write_all()
    assert done.code == 0, done.said
    check_shape(book.state)
    assert book.state["completed_chapters"] == [1, 2, 3]
    assert book.chapter(1).read_bytes() == first
    assert book.judged == [2, 3]
    resumed = [write for write in book.writes if "SEGUE_RESUME" in write["env"]]
    assert [write["chapter"] for write in resumed] == [2]


def test_a_feature_goes_on(box: Box) -> None:
    """The checkpoint that was at work is done, the one that was passed is not done again."""
    feature = upgrade.feature(box)
    upgrade.files_of("feature", box.root)
    upgrade.restore("feature", box.tmp, box.root)
    box.release("go")
    feature.play("cp-2.1", "make('cp-2.txt')\n")
    done = feature.go_on()
    assert done.code == 0, done.said
    assert feature.state["phase"] == "DONE"
    assert "cp-2" in feature.who and "cp-1" not in feature.who


def test_what_waited_on_the_server_still_waits_and_goes_on(house: House) -> None:
    """Drafts, reviews, questions, dependencies, limits, pauses, replies and settings are there;
    each goes on when a person or its time comes."""
    upgrade.restore("server", house.tmp, house.root)
    named = dict(rows(house.root, "SELECT title, id FROM server_tasks"))
    is_over(house.root, "server_timers")
    sql = "SELECT id, workspace FROM server_tasks WHERE workspace IS NOT NULL"
    for task, workspace in rows(house.root, sql):
        Path(str(workspace)).mkdir(parents=True)
        (house.out / str(task)).mkdir()
        (house.out / str(task) / "starts").write_text("1\n")  # its agent counts its starts
    house.release("may-tell")
    house.release("go")
    server = house.serve("--slots", "12")
    listed = {task["title"]: task for task in server.items("/tasks?archived=false")}
    assert "archived" not in listed and "archived" in named
    assert listed["a draft"]["status"] == "draft"
    assert listed["cancelled"]["outcome"] == "cancelled"
    inbox = {item["taskTitle"]: item["kind"] for item in server.items("/inbox")}
    assert inbox["asks"] == "question" and inbox["needs"] == "dependency"
    assert inbox["waits in vain"] == "stuck" and inbox["was given"] == "review"
    replied = {"title": "replied", "description": "d", "type": "one", "agent": "good"}
    again = server.post("/tasks", replied, **{"Idempotency-Key": "key-1"})
    assert again.json["id"] == listed["replied"]["id"], "the reply of then"
    assert server.get("/settings").ok()["slots"] == 9
    assert server.path(named["in review"]) == ["draft", "pending", "in_progress", "review"]
    server.reaches(named["at a limit"], "review")
    server.do(named["paused by a person"], "resume")
    server.answer(named["asks"], "SQLite").ok()
    server.provide(named["needs"], "sk_test_another").ok()
    for title in ("paused by a person", "asks", "needs"):
        server.reaches(named[title], "review")
    server.approve(named["was given"]).ok()
    server.reaches(named["was given"], "completed")
    assert upgrade.SECRET not in str(server.task(named["was given"]))
    server.do(named["a draft"], "submit")
    server.reaches(named["a draft"], "review")
    until(
        lambda: "Answer needed: asks" in (house.out / "told").read_text(), "what was not sent then"
    )
    assert server.stop() == 0


def test_an_agent_of_a_task_list_runs_across_the_upgrade(box: Box) -> None:
    """It lives while its database gets the new shape: adopted, and not started a second time."""
    upgrade.tasklist(box)
    box.plan(f"- [ ] T-1: long\n  - agent: two\n  - run: {box.note()}\n")
    first = box.start_run()
    until(lambda: box.notes("starts"), "its agent works")
    until(lambda: rows(box.root, "SELECT 1 FROM runs WHERE state = 'running'"), "it is known")
    first.kill()
    upgrade.as_of_schema_8(box.root)
    second = box.start_run()
    until(lambda: rows(box.root, "PRAGMA user_version") == [(migrate.newest(),)], "the new shape")
    box.release("go")
    done = second.end()
    assert done.code == 0, done.said
    assert box.notes("starts") == box.notes("ends") == ["T-1"]
    assert rows(box.root, "SELECT state FROM runs") == [("completed",)]


def test_an_agent_of_the_server_runs_across_the_upgrade(house: House) -> None:
    """The same for a task of the server, which gets to its review by the one agent."""
    first = house.serve()
    task = first.new("works")
    until(lambda: house.starts(task), "its agent works")
    until(lambda: rows(house.root, "SELECT 1 FROM runs WHERE state = 'running'"), "it is known")
    first.kill()
    upgrade.as_of_schema_8(house.root)
    second = house.serve()
    assert rows(house.root, "PRAGMA user_version") == [(migrate.newest(),)]
    assert second.task(task)["status"] == "in_progress"
    house.release("go")
    second.approve(task).ok()
    second.reaches(task, "completed")
    assert house.starts(task) == 1
