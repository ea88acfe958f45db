"""The circuit breaker and the bound on iterations: writing stops for a person, and goes on."""

from __future__ import annotations

import re

import pytest

from kit.book import Book, check_shape
from kit.box import Box
from kit.terminal import Terminal
from kit.waiting import until

FLAT = "the dialogue is flat"


@pytest.fixture
def book(box: Box) -> Book:
    """A book of three chapters that nobody has begun."""
    made = Book(box)
    made.toml()
    return made


def is_tripped(book: Book, chapter: int, reason: str = "") -> None:
    """The breaker is on, the chapter is current, the book can be resumed."""
    state = book.state
    check_shape(state)
    breaker = state["circuit_breaker"]
    assert breaker["triggered"] is True
    assert breaker["failure_count"] >= 1
    assert breaker["failure_reasons"]
    assert reason in " ".join(breaker["failure_reasons"])
    assert state["can_resume"] is True
    assert not state["completed_at"]
    assert state["current_chapter"] == chapter
    assert chapter not in state["completed_chapters"]
    assert chapter not in state["failed_chapters"]


def test_three_failures_for_the_same_reason_trip_it(book: Book) -> None:
    """Exit 3 after the third, rising scores or not; the user sees the reason."""
    book.scores({1: [(50, FLAT), (55, FLAT), (60, FLAT), 90]})
    done = book.write_all()
    assert done.code == 3, done.said
    assert book.written == [1, 1, 1]
    is_tripped(book, 1, FLAT)
    assert book.state["circuit_breaker"]["failure_count"] == 3
    assert FLAT in done.said
    assert book.box.left_behind() == {}


def test_the_same_reason_is_counted_over_chapters(book: Book) -> None:
    """Chapters that were accepted in between do not wash it away."""
    book.scores({n: [(50, FLAT), 90] for n in (1, 2, 3)})
    done = book.write_all()
    assert done.code == 3, done.said
    assert book.written == [1, 1, 2, 2, 3]
    is_tripped(book, 3, FLAT)
    assert book.state["completed_chapters"] == [1, 2]


def test_only_the_main_reason_counts(book: Book) -> None:
    """The first of the reasons is the main one; a shared second one trips nothing."""
    book.scores({1: [(50, "a", FLAT), (55, "b", FLAT), (60, "c", FLAT), 90]})
    done = book.write_all()
    assert done.code == 0, done.said
    assert book.state["circuit_breaker"]["triggered"] is False


def test_reasons_of_accepted_chapters_do_not_count(book: Book) -> None:
    """What the judge remarks about a chapter that passes is no failure."""
    book.toml(5)
    book.scores({n: [(85, FLAT)] for n in range(1, 6)})
    done = book.write_all()
    assert done.code == 0, done.said
    assert book.state["circuit_breaker"]["failure_count"] == 0


def test_the_same_reason_is_counted_over_runs(book: Book) -> None:
    """Two failures in one run, the third in another: it trips there."""
    book.toml(1)
    book.scores({1: [(50, FLAT), (55, FLAT), (60, FLAT), 90]})
    book.writer('if start == 3: hold("never")')
    book.start()
    until(lambda: book.written == [1, 1, 1], "the third write")
    book.box.power_cut()
    assert book.state["circuit_breaker"]["triggered"] is False
    book.writer("")
    done = book.write_all()
    assert done.code == 3, done.said
    is_tripped(book, 1, FLAT)


def test_three_falling_scores_trip_it(book: Book) -> None:
    """Three judgements of one chapter, each lower than the one before, whatever the reasons."""
    book.scores({2: [(70, "a"), (60, "b"), (50, "c"), 90]})
    done = book.write_all()
    assert done.code == 3, done.said
    assert book.written == [1, 2, 2, 2]
    is_tripped(book, 2)


@pytest.mark.parametrize("scores", [(70, 60, 65, 55), (70, 70, 60, 60), (50, 60, 55, 65)])
def test_scores_that_do_not_fall_three_times_do_not_trip_it(
    book: Book, scores: tuple[int, ...]
) -> None:
    """Equal or rising ones break the row: the chapter fails as usual, and the book goes on."""
    book.scores({1: [(score, f"reason {n}") for n, score in enumerate(scores)]})
    done = book.write_all()
    assert done.code == 1, done.said
    assert book.state["failed_chapters"] == [1]
    assert book.state["completed_chapters"] == [2, 3]
    assert book.state["circuit_breaker"]["triggered"] is False


def test_falling_scores_of_different_chapters_do_not_trip_it(book: Book) -> None:
    """A row is a row of one chapter."""
    book.scores({1: [(70, "a"), 90], 2: [(60, "b"), 90], 3: [(50, "c"), 90]})
    assert book.write_all().code == 0


def test_more_than_five_tries_of_a_chapter_trip_it(book: Book) -> None:
    """Counted over runs: four writes failed it, written again the sixth is one too many."""
    book.toml(1)
    rising = [(40 + n, f"reason {n}") for n in range(9)]
    book.scores({1: rising})
    assert book.write_all().code == 1
    assert len(book.written) == 4
    done = book.segue("write", "1")
    assert done.code == 3, done.said
    assert len(book.written) in (5, 6)
    is_tripped(book, 1)


def test_continue_restores_the_breaker(book: Book) -> None:
    """The same fault trips it again at once, and the earlier causes are told."""
    book.scores({1: [(50, FLAT), (55, FLAT), (60, FLAT), (65, FLAT), 90]})
    assert book.write_all().code == 3
    done = book.segue("resume", "--continue")
    assert done.code == 3, done.said
    assert len(book.written) == 4, "one more write, no clean slate"
    assert FLAT in done.said
    is_tripped(book, 1, FLAT)
    assert book.state["circuit_breaker"]["failure_count"] == 4
    done = book.segue("resume", "--continue")
    assert done.code == 0, done.said
    assert book.state["completed_chapters"] == [1, 2, 3]


def test_nobody_there_and_nothing_chosen_writes_nothing(book: Book) -> None:
    """A plain start without a terminal is no choice: exit 3, the reasons and the ways on are told,
    however often; `--resume` is a person's word that it goes on."""
    book.scores({1: [(50, FLAT), (55, FLAT), (60, FLAT), 90]})
    assert book.write_all().code == 3
    for _night in range(2):
        done = book.write_all("--lang", "en")
        assert done.code == 3, done.said
        assert book.written == [1, 1, 1]
        assert FLAT in done.said
        for word in ("--on-tripped edit", "replan", "skip", "stop", "segue resume --continue"):
            assert word in done.said
        is_tripped(book, 1, FLAT)
    done = book.write_all("--resume")
    assert done.code == 0, done.said
    assert book.written == [1, 1, 1, 1, 2, 3]


def test_a_person_at_the_terminal_is_asked_again(book: Book) -> None:
    """What was not chosen in the night is chosen in the morning."""
    book.scores({1: [(50, FLAT), (55, FLAT), (60, FLAT), 90]})
    assert book.write_all().code == 3
    terminal = Terminal(book.box, "write-all", "--lang", "en")
    terminal.expect("[4] ")
    terminal.type("skip\r")
    assert terminal.end().code == 1
    skipped(book)


def test_a_breaker_that_another_tool_tripped_stops_a_plain_start(book: Book) -> None:
    """Its reasons are told; nothing is written before somebody has chosen."""
    breaker = {"failure_count": 3, "failure_reasons": [FLAT] * 3, "triggered": True}
    book.begun(1, 3, circuit_breaker=breaker)
    done = book.write_all()
    assert done.code == 3, done.said
    assert FLAT in done.said
    assert book.written == []
    assert book.segue("resume", "--continue").code == 0
    assert book.written == [2, 3]


def test_continue_tells_the_causes_in_korean(book: Book) -> None:
    """The user who goes on sees why it had stopped, in the language asked for."""
    book.scores({1: [(50, FLAT), (55, FLAT), (60, FLAT), 90]})
    assert book.write_all().code == 3
    done = book.korean("--continue")
    assert done.code == 0, done.said
    assert FLAT in done.said
    assert "Circuit Breaker" in done.said


def test_a_breaker_of_another_tool_is_restored(book: Book) -> None:
    """A state with two failures for a reason: one more for it trips the breaker."""
    breaker = {"failure_count": 2, "failure_reasons": [FLAT, FLAT], "triggered": False}
    book.begun(1, 3, circuit_breaker=breaker)
    book.scores({2: [(50, FLAT), 90]})
    done = book.segue("resume", "--continue")
    assert done.code == 3, done.said
    assert book.written == [2]
    is_tripped(book, 2, FLAT)


def test_a_chapter_mended_by_hand_goes_on(book: Book) -> None:
    """Tripped, edited by a person, continued: the book is written to its end."""
    book.scores({1: [(50, FLAT), (55, FLAT), (60, FLAT), 90]})
    assert book.write_all().code == 3
    book.chapter(1).write_text("# One\n\nMended by hand.\n")
    done = book.segue("resume", "--continue")
    assert done.code == 0, done.said
    assert book.somewhere("Mended by hand."), "the author's text is never lost"


def tripped_at_a_terminal(book: Book, choice: str) -> Terminal:
    """A person is asked what to do about the first chapter, and chooses."""
    book.scores({1: [(50, FLAT), (55, FLAT), (60, FLAT), 90]})
    terminal = Terminal(book.box, "write-all", "--lang", "en")
    terminal.expect("[4] ")
    terminal.expect("> ")
    found = re.search(rf"\[(\d)\] [^\n]*{choice}", terminal.text)
    assert found, terminal.text
    assert FLAT in terminal.text
    terminal.type(found[1] + "\r")
    return terminal


def skipped(book: Book) -> None:
    """A placeholder stands there, the last text beside it, and the others were written."""
    assert book.written == [1, 1, 1, 2, 3]
    assert book.chapter(1).read_text().strip(), "a placeholder stands there"
    assert "in draft 3." not in book.chapter(1).read_text()
    assert book.somewhere("in draft 3."), "the last text is kept beside it"
    assert book.state["completed_chapters"] == [2, 3], "a placeholder is no chapter"


def test_a_person_at_the_terminal_may_skip_the_chapter(book: Book) -> None:
    """The choices are shown with the reasons; skipping puts a placeholder and goes on; exit 1."""
    done = tripped_at_a_terminal(book, "skip").end()
    assert done.code == 1, done.said
    skipped(book)


def test_a_person_at_the_terminal_may_stop(book: Book) -> None:
    """Nothing more is written; the book can be resumed."""
    assert tripped_at_a_terminal(book, "stop").end().code == 3
    assert book.written == [1, 1, 1]
    is_tripped(book, 1, FLAT)


@pytest.mark.parametrize("choice", ["edit", "replan", "skip", "stop"])
def test_the_choice_can_be_made_beforehand(book: Book, choice: str) -> None:
    """`--on-tripped` does without asking what a person could choose."""
    book.scores({1: [(50, FLAT), (55, FLAT), (60, FLAT), 90]})
    assert book.write_all().code == 3
    book.chapter(1).write_text("# One\n\nMended by hand.\n")
    done = book.write_all("--on-tripped", choice)
    assert book.somewhere("Mended by hand.")
    if choice == "stop":
        assert done.code == 3, done.said
        assert book.written == [1, 1, 1]
        is_tripped(book, 1, FLAT)
    elif choice == "skip":
        assert done.code == 1, done.said
        assert book.written == [1, 1, 1, 2, 3]
        assert book.state["completed_chapters"] == [2, 3]
        again = book.box.segue("unskip", "1")
        assert again.code == 0, again.said
        assert book.segue("resume", "--continue").code == 0
        assert book.written == [1, 1, 1, 2, 3, 1]
        assert book.state["completed_chapters"] == [1, 2, 3]
    else:
        assert done.code == 0, done.said
        assert book.written == ([1, 1, 1, 2, 3] if choice == "edit" else [1, 1, 1, 1, 2, 3])
        assert book.state["completed_chapters"] == [1, 2, 3]
        is_hers = "Mended by hand." in book.chapter(1).read_text()
        assert is_hers is (choice == "edit")


# --- iterations


def test_the_bound_on_iterations_is_a_pause(book: Book) -> None:
    """Reached: exit 3, never "done"; raised, the book goes on."""
    book.toml(4, "max_iterations = 2\n")
    done = book.write_all()
    assert done.code == 3, done.said
    assert book.written == [1, 2]
    state = book.state
    check_shape(state)
    assert not state["completed_at"]
    assert state["can_resume"] is True
    assert state["pause_reason"]
    assert state["max_iterations"] == 2
    assert "max_iterations" in done.said, "which setting is to be raised"
    assert book.write_all().code == 3, "nothing has changed"
    assert book.written == [1, 2]
    book.toml(4, "max_iterations = 10\n")
    done = book.segue("resume", "--continue")
    assert done.code == 0, done.said
    assert book.written == [1, 2, 3, 4]
    assert book.state["completed_at"]


def test_revisions_are_iterations(book: Book) -> None:
    """The bound is for all writes of the book, not for its chapters."""
    book.toml(3, "max_iterations = 3\n")
    book.scores({1: [(50, "a"), (55, "b"), (60, "c"), 90]})
    assert book.write_all().code == 3
    assert book.written == [1, 1, 1]
    assert book.state["completed_chapters"] == []
    assert book.state["failed_chapters"] == [], "cut off by the bound, not failed"
