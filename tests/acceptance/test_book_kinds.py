"""`segue resume` finds every kind of interrupted work; its JSON; books below a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kit.book import Book
from kit.box import Box
from kit.terminal import Terminal

PLAN = "- [x] T-1: a\n  - run: true\n- [~] T-2: b\n  - agent: shell\n  - run: touch done-2\n"


@pytest.fixture
def book(box: Box) -> Book:
    """A book of three chapters, one of them completed, in the project's own folder."""
    made = Book(box)
    made.toml()
    made.begun(1, 3)
    return made


def found(box: Box, *args: str) -> list[dict[str, Any]]:
    done = box.segue("resume", "--json", *args)
    assert done.code == 0, done.said
    assert done.err == ""
    assert set(done.json) >= {"found"}
    return list(done.json["found"])


def test_the_shape_of_a_book(book: Book) -> None:
    """Path, kind, whether it can be resumed, why, and what continuing would do; nothing is asked."""
    (one,) = found(book.box)
    assert {"path", "kind", "resumable", "why", "next"} <= one.keys()
    assert (one["kind"], one["resumable"]) == ("book", True)
    assert Path(one["path"]).exists()
    assert Path(one["path"]).resolve().is_relative_to(book.root.resolve())
    assert "2" in one["next"], "the chapter that would be written"
    assert one["why"]
    assert book.written == []


@pytest.mark.parametrize(
    "changes",
    [{"completed_at": "2026-11-15T22:00:00+00:00"}, {"ralph_active": False, "can_resume": False}],
)
def test_what_cannot_be_resumed_says_so(book: Book, changes: dict[str, Any]) -> None:
    """Completed or not resumable: listed with false or not at all."""
    book.begun(1, 3, **changes)
    assert [one for one in found(book.box) if one["resumable"]] == []


def test_json_with_status_has_the_full_state(book: Book) -> None:
    """`--json --status`: everything that the state file holds about it."""
    (one,) = found(book.box, "--status")
    whole = json.dumps(one)
    assert one["kind"] == "book"
    for name in ("completed_chapters", "total_chapters", "circuit_breaker"):
        assert name in whole
    assert book.written == []


def test_json_of_a_damaged_book(book: Book) -> None:
    """Listed as what it is; the JSON stays JSON."""
    book.put(b'{"ralph_active": tru')
    done = book.segue("resume", "--json")
    assert done.code in (0, 3), done.said
    (one,) = done.json["found"]
    assert one["kind"] == "book"
    assert one["why"]


def test_explain_says_what_and_why(book: Book) -> None:
    """`--explain`: why here, what is redone, what was lost, what it will cost; nothing is done."""
    book.chapter(2).write_text("Half of two")
    done = book.segue("resume", "--explain", "--lang", "en")
    assert done.code in (0, 3), done.said
    text = done.said.lower()
    for word in ("redone", "lost", "cost"):
        assert word in text, done.said
    assert "chapter" in text
    assert book.written == []
    assert book.chapter(2).read_text() == "Half of two"


def test_a_book_below_the_folder_is_found(box: Box) -> None:
    """From above: found, shown, and gone on with, in its own folder."""
    book = Book(box, "books/night")
    book.toml()
    book.begun(2, 3)
    (one,) = found(box)
    assert one["kind"] == "book"
    assert "books/night" in one["path"]
    done = box.segue("resume", "--continue")
    assert done.code == 0, done.said
    assert book.written == [3]
    assert "in draft 1." in book.chapter(3).read_text()
    assert not (box.root / "chapters").exists()


def test_a_path_chooses_the_book(box: Box) -> None:
    """Two books: the one that is named goes on, the other one is left alone."""
    one, two = Book(box, "one"), Book(box, "two")
    for book in (one, two):
        book.toml()
        book.begun(2, 3)
    assert len(found(box)) == 2
    before = one.state_path.read_bytes()
    done = box.segue("resume", "two", "--continue")
    assert done.code == 0, done.said
    assert two.chapter(3).exists()
    assert not one.chapter(3).exists()
    assert one.state_path.read_bytes() == before


# --- several kinds


def test_a_task_list_and_a_book_are_both_listed(book: Book) -> None:
    """With their kinds, both resumable."""
    book.box.plan(PLAN)
    kinds = {one["kind"]: one for one in found(book.box)}
    assert kinds.keys() == {"tasklist", "book"}
    assert all(one["resumable"] for one in kinds.values())
    assert kinds["tasklist"]["path"].endswith("PLAN.md")


def test_several_without_a_terminal_wait_for_a_choice(book: Book) -> None:
    """Both are shown, exit 3, nothing is touched."""
    book.box.plan(PLAN)
    done = book.segue("resume", "--lang", "en")
    assert done.code == 3, done.said
    assert "PLAN.md" in done.said
    assert "long-night" in done.said or "book" in done.said.lower()
    assert book.box.text() == PLAN
    assert book.written == []


def test_several_are_listed_and_asked_about(book: Book) -> None:
    """At a terminal: both have a number; the one that is chosen goes on, the other one waits."""
    book.box.plan(PLAN)
    terminal = Terminal(book.box, "--lang", "en", "resume")
    terminal.expect("PLAN.md")
    terminal.expect("2")
    terminal.expect("?")
    lines = terminal.text.splitlines()
    number = next(line for line in lines if "PLAN.md" in line).strip(" [")[0]
    assert number in "12", terminal.text
    terminal.type(("2" if number == "1" else "1") + "\r")
    terminal.expect("long-night")
    terminal.type("1\r")
    assert terminal.end().code == 0
    assert book.written == [2, 3]
    assert book.box.text() == PLAN


def test_continue_goes_on_with_all_of_them(book: Book) -> None:
    """`--continue` with several: each goes on, or one is to be chosen; never half of one."""
    book.box.plan(PLAN)
    done = book.segue("resume", "--continue")
    assert done.code in (0, 3), done.said
    if done.code == 0:
        assert book.written == [2, 3]
        assert book.box.marks() == {"T-1": "x", "T-2": "x"}
    else:
        assert book.written == []
        assert book.box.text() == PLAN


def test_a_completed_book_does_not_hide_a_task_list(book: Book) -> None:
    """Only the task list can be resumed: it is offered without a detour."""
    book.begun(3, 3, completed_at="2026-11-15T22:00:00+00:00")
    book.box.plan(PLAN)
    done = book.segue("resume", "--continue")
    assert done.code == 0, done.said
    assert (book.root / "done-2").exists()
    assert book.written == []


def test_chapters_with_boxes_are_no_task_lists(book: Book) -> None:
    """A chapter that has `- [ ]` in its text is text."""
    book.chapter(1).write_text("# Packing\n\n- [~] T-1: a lamp\n- [ ] T-2: a rope\n")
    assert [one["kind"] for one in found(book.box)] == ["book"]
    assert book.segue("resume", "--continue").code == 0
    assert "- [~] T-1: a lamp" in book.chapter(1).read_text()


def test_segue_alone_knows_the_book(book: Book) -> None:
    """`segue` shows what can be done here: resume."""
    done = book.segue("--lang", "en")
    assert done.code == 0
    assert "segue resume" in done.out


def test_segue_alone_knows_a_book_that_nobody_began(box: Box) -> None:
    """`segue` shows what can be done here: write-all."""
    Book(box).toml()
    assert "segue write-all" in box.segue("--lang", "en").out
