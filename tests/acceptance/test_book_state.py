"""`meta/ralph-state.json`: whole at every moment, readable by others, backed up."""

from __future__ import annotations

import itertools
import json
import re
from datetime import datetime

import pytest

from kit.book import Book, check_shape
from kit.box import Box
from kit.waiting import until


@pytest.fixture
def book(box: Box) -> Book:
    """A book of three chapters that nobody has begun."""
    made = Book(box)
    made.toml()
    return made


def test_the_state_is_whole_at_every_moment(book: Book) -> None:
    """Read all the time during a run: always valid, every field there and of its type."""
    book.toml(4, "acts = 2\n")
    book.scores({2: [(50, "a"), 90], 3: [(50, "b"), (55, "c"), (60, "d"), (65, "e")]})
    with book.watched() as seen:
        assert book.write_all().code == 1
    assert len(seen.states) >= 8, "a checkpoint at each start and each gate"
    updates = [datetime.fromisoformat(state["last_updated"]) for state in seen.states]
    assert updates == sorted(updates)
    assert {state["started_at"] for state in seen.states} == {seen.states[0]["started_at"]}
    assert seen.states[0]["started_at"]
    done = [state["completed_chapters"] for state in seen.states]
    assert all(set(one) <= set(two) for one, two in itertools.pairwise(done))
    for state in seen.states[:-1]:
        if state["ralph_active"]:
            assert not state["completed_at"]


def test_the_state_tells_where_it_is_while_it_writes(book: Book) -> None:
    """Active, resumable, at this chapter, before the writer has written a word."""
    book.writer('if chapter == 2: hold("go")')
    going = book.start()
    until(lambda: book.written == [1, 2], "the second chapter")
    state = book.state
    check_shape(state)
    assert (state["ralph_active"], state["can_resume"]) == (True, True)
    assert (state["current_chapter"], state["completed_chapters"]) == (2, [1])
    assert state["last_quality_score"] == 90
    assert state["last_checkpoint"] and not state["completed_at"]
    book.box.release("go")
    assert going.end().code == 0


def test_retry_count_and_iteration_count(book: Book) -> None:
    """Revisions of the chapter and writes of the book are counted."""
    book.toml(2)
    book.scores({1: [(50, "a"), (55, "b"), 90]})
    with book.watched() as seen:
        assert book.write_all().code == 0
    first = [state["retry_count"] for state in seen.states if state["current_chapter"] == 1]
    assert max(first) == 2
    iterations = [state["iteration"] for state in seen.states]
    assert iterations == sorted(iterations)
    assert iterations[-1] == 4, "three writes of the first, one of the second"
    assert {state["max_iterations"] for state in seen.states} == {100}


def test_fields_of_another_tool_are_kept(book: Book) -> None:
    """What Segue does not know stays, deep values too, through a whole run."""
    strange = {"mood": ["dark", 3, None], "deep": {"ü": "한글"}}
    book.begun(1, 3, x_plugin=strange, word_count=81234)
    state = book.state
    state["circuit_breaker"]["cooldown"] = 30
    book.put(state)
    with book.watched() as seen:
        assert book.write_all().code == 0
    for state in seen.states:
        assert state["x_plugin"] == strange
        assert state["word_count"] == 81234
        assert state["circuit_breaker"]["cooldown"] == 30


def test_a_field_that_is_added_during_the_run_is_kept(book: Book) -> None:
    """Another tool writes its own field while a chapter is being written: it is not lost."""
    book.writer('if chapter == 2: hold("go")')
    going = book.start()
    until(lambda: book.written == [1, 2], "the second chapter")
    book.put({**book.state, "x_note": "from outside"})
    book.box.release("go")
    assert going.end().code == 0
    assert book.state["x_note"] == "from outside"
    assert book.state["completed_chapters"] == [1, 2, 3]


def test_what_was_said_before_is_kept(book: Book) -> None:
    """Going on keeps the start, the scores and the project's name of the state it found."""
    before = book.begun(2, 3)
    assert book.write_all().code == 0
    state = book.state
    assert state["project_id"] == before["project_id"]
    assert datetime.fromisoformat(state["started_at"]) == datetime.fromisoformat(
        before["started_at"]
    )
    assert state["quality_scores"] == {"1": 81, "2": 82, "3": 90}


def test_each_checkpoint_backs_up_first(book: Book) -> None:
    """Backups are valid states, named by a UTC stamp, and the newest ten are kept."""
    book.toml(12)
    assert book.write_all().code == 0
    backups = book.backups()
    assert len(backups) == 10
    for path in backups:
        assert re.fullmatch(r"ralph-state-\d{8}T?\d{6}[\dTZ.\-_]*\.json", path.name), path.name
        check_shape(json.loads(path.read_text()))
    counts = [len(json.loads(path.read_text())["completed_chapters"]) for path in backups]
    assert counts == sorted(counts), "their names sort by time"
    assert counts[-1] >= 10, "the newest were kept"


def test_backups_of_others_are_left_alone(book: Book) -> None:
    """Only Segue's own backups are thinned out; other files in the folder stay."""
    mine = book.meta / "backups" / "before-the-edit.json"
    book.put(b"{}", mine)
    book.toml(8)
    assert book.write_all().code == 0
    assert mine.read_bytes() == b"{}"


def test_nothing_half_written_is_left(book: Book) -> None:
    """No temporary file stays in the book."""
    assert book.write_all().code == 0
    names = {path.name for path in book.meta.iterdir()}
    assert names <= {"ralph-state.json", "backups", "wisdom"}, names
    assert {path.name for path in book.chapters.iterdir()} == {f"chapter_{n}.md" for n in (1, 2, 3)}


def test_the_state_is_text_that_people_can_read(book: Book) -> None:
    """Korean stands in it as Korean, one field on a line."""
    (book.root / "book.toml").write_text(
        (book.root / "book.toml").read_text().replace("The long night", "긴 밤")
    )
    book.scores({1: [(50, "대사가 밋밋하다"), 90]})
    assert book.write_all().code == 0
    raw = book.state_path.read_text("utf-8")
    assert "\\u" not in raw
    assert len(raw.splitlines()) >= 24


def test_status_knows_books(book: Book) -> None:
    """`segue status --json` lists it by kind: running, then finished, with counts."""
    book.writer('if chapter == 2: hold("go")')
    going = book.start()
    until(lambda: book.written == [1, 2], "the second chapter")
    (plan,) = book.segue("status", "--json").json["plans"]
    assert (plan["kind"], plan["state"]) == ("book", "running")
    assert {"path", "counts", "parks", "gates"} <= plan.keys()
    book.box.release("go")
    assert going.end().code == 0
    (plan,) = book.segue("status", "--json").json["plans"]
    assert (plan["kind"], plan["state"]) == ("book", "finished")
    assert plan["counts"]["completed"] == 3


def test_ctrl_c_keeps_the_place(book: Book) -> None:
    """Interrupted: 130, the agent is ended, the state can be resumed, and it goes on."""
    book.writer('if start == 2: target.write_text("half a chap"); hold("never")')
    going = book.start()
    until(lambda: book.chapter(2).exists(), "half a chapter")
    going.process.terminate()
    assert going.end().code == 130
    assert book.box.left_behind() == {}
    state = book.state
    check_shape(state)
    assert state["can_resume"] is True
    assert (state["current_chapter"], state["completed_chapters"]) == (2, [1])
    done = book.write_all()
    assert done.code == 0, done.said
    assert book.written[0] == 1 and book.written.count(1) == 1
    assert book.somewhere("half a chap"), "half a chapter is kept"
