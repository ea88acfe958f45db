"""Segue dies without warning in the middle of a book; nothing is lost, nothing is done twice."""

from __future__ import annotations

import random
import subprocess
import time

import pytest

from kit.book import Book, check_shape, digest
from kit.box import Box
from kit.waiting import until


@pytest.fixture
def book(box: Box) -> Book:
    """A book of three chapters that nobody has begun."""
    made = Book(box)
    made.toml()
    return made


def test_a_living_writer_is_not_started_twice(book: Book) -> None:
    """kill -9 of Segue: the writer goes on, the next run follows it to its end."""
    book.writer('if start == 2: hold("go")')
    going = book.start()
    until(lambda: book.written == [1, 2], "the second chapter")
    going.kill()
    assert book.box.agents(), "the writer outlives Segue"
    again = book.start("resume", "--continue")
    book.box.release("go")
    done = again.end()
    assert done.code == 0, done.said
    assert book.written == [1, 2, 3]
    assert book.judged == [1, 2, 3]
    assert book.box.left_behind() == {}


def test_a_living_writer_is_not_doubled_when_the_memory_is_lost(book: Book) -> None:
    """Killed, then forgotten: the writer is waited for before the chapter is written again."""
    book.writer('if start == 2: hold("go")')
    going = book.start()
    until(lambda: book.written == [1, 2], "the second chapter")
    going.kill()
    book.box.forget()
    (standing,) = book.box.segue("status", "--json").json["plans"]
    assert (standing["state"], len(standing["running"])) == ("interrupted", 1)
    again = book.start("resume", "--continue", "--json")
    again.event("run_adopted")
    assert book.written == [1, 2]
    book.box.release("go")
    done = again.end()
    assert done.code == 0, done.said
    assert book.written == [1, 2, 2, 3]
    assert book.box.left_behind() == {}


def test_a_writer_that_ended_meanwhile_is_not_run_again(book: Book) -> None:
    """What was written while no Segue lived is judged and accepted as it is."""
    book.writer('if start == 2: hold("go")')
    going = book.start()
    until(lambda: book.written == [1, 2], "the second chapter")
    going.kill()
    book.box.release("go")
    until(lambda: not book.box.agents(), "its end")
    done = book.write_all()
    assert done.code == 0, done.said
    assert book.written == [1, 2, 3]


def test_death_while_the_judge_works(book: Book) -> None:
    """The chapter is not written again for a judgement that was cut off, and no judge is left."""
    book.judge('if start == 1: hold("go")')
    going = book.start()
    until(lambda: book.judged == [1], "the judge")
    going.kill()
    again = book.start()
    book.box.release("go")
    done = again.end()
    assert done.code == 0, done.said
    assert book.written == [1, 2, 3]
    assert book.box.left_behind() == {}


@pytest.mark.parametrize("command", [("write-all",), ("resume", "--continue")])
def test_half_a_chapter_is_kept_beside_the_new_one(book: Book, command: tuple[str, ...]) -> None:
    """A power cut in the middle of a chapter: it is written again, its half text is kept."""
    book.writer('if start == 2: target.write_text("Half a tale, and th"); hold("never")')
    book.start()
    until(lambda: book.chapter(2).exists() and book.chapter(2).read_text(), "half a chapter")
    book.box.power_cut()
    check_shape(book.state)
    assert book.state["completed_chapters"] == [1]
    done = book.segue(*command)
    assert done.code == 0, done.said
    assert book.written == [1, 2, 2, 3]
    assert "Half a tale" not in book.chapter(2).read_text()
    (kept,) = book.somewhere("Half a tale, and th")
    assert kept.parent == book.chapters
    assert kept.read_text() == "Half a tale, and th"
    assert book.state["failed_chapters"] == []


def test_a_revision_that_was_cut_off_loses_no_draft(book: Book) -> None:
    """Power cut while the second draft is half written: the half text is kept, tries are not lost."""
    book.toml(1)
    book.scores({1: [(50, "flat"), 90]})
    book.writer('if start == 2: target.write_text("Half a revision"); hold("never")')
    book.start()
    until(lambda: book.somewhere("Half a revision"), "half a revision")
    book.box.power_cut()
    done = book.write_all()
    assert done.code == 0, done.said
    assert book.somewhere("Half a revision")
    assert book.state["completed_chapters"] == [1]


def test_a_cut_off_uses_up_no_try(book: Book) -> None:
    """Four power cuts in one chapter: it is neither failed nor does the breaker trip."""
    book.toml(1)
    book.writer('if start <= 4: keep("up", n=start); hold("never")')
    for n in range(1, 5):
        book.start()
        until(lambda n=n: len(book.kept("up")) == n, "the writer")
        book.box.power_cut()
    done = book.write_all()
    assert done.code == 0, done.said
    assert book.state["completed_chapters"] == [1]
    assert book.state["circuit_breaker"]["triggered"] is False


def test_the_memory_of_segue_can_be_deleted(book: Book) -> None:
    """Without `.segue/` the state file is enough to go on; completed chapters stay."""
    book.writer('if start == 3: hold("never")')
    book.start()
    until(lambda: book.written == [1, 2, 3], "the third chapter")
    book.box.power_cut()
    subprocess.run(["rm", "-rf", str(book.root / ".segue")], check=True)
    texts = [book.chapter(n).read_bytes() for n in (1, 2)]
    book.writer("")
    done = book.segue("resume", "--continue")
    assert done.code == 0, done.said
    assert book.written == [1, 2, 3, 3]
    assert [book.chapter(n).read_bytes() for n in (1, 2)] == texts


PLAY = """
time.sleep(0.02 * (chapter % 4))
if nth == 1 and chapter in (4, 9): limit(2)
target.parent.mkdir(parents=True, exist_ok=True)
target.write_text("half of " + str(chapter))
time.sleep(0.05)
"""


@pytest.mark.parametrize(("seed", "death"), [(1, "kill"), (2, "power_cut")])
def test_killed_at_random_moments_each_chapter_is_accepted_once(
    book: Book, seed: int, death: str
) -> None:
    """Twelve chapters, two limits, many deaths: accepted once, never touched again, none left."""
    book.toml(12, "acts = 3\n")
    book.writer(PLAY)
    book.scores({2: [(50, "a"), 90], 7: [(60, "b"), 85]})
    chance, deaths, end_at = random.Random(seed), 0, time.monotonic() + 45
    with book.watched() as seen:
        while time.monotonic() < end_at:
            command = chance.choice(("write-all", "resume --continue"))
            has_begun = book.state_path.exists()
            going = book.start(*(command if has_begun else "write-all").split())
            try:
                going.process.wait(0.4 + chance.random() * (1.2 if deaths < 12 else 60))
                break
            except subprocess.TimeoutExpired:
                deaths += 1
                if death == "kill":
                    going.kill()
                else:
                    book.box.power_cut()
        assert going.process.poll() == 0, going.result.said
    assert deaths >= 5, "the book was long enough to be killed often"
    state = book.state
    check_shape(state)
    assert state["completed_chapters"] == list(range(1, 13))
    assert state["quality_scores"] == {str(n): 85 if n == 7 else 90 for n in range(1, 13)}
    assert state["failed_chapters"] == []
    for number, was in seen.completed.items():
        assert digest(book.root, number) == was, (
            f"chapter {number} was touched after its completion"
        )
        assert f"Owl-{number}" in book.chapter(number).read_text()
    rows = [s["completed_chapters"] for s in seen.states]
    assert rows == sorted(rows, key=len), "no chapter was ever taken back"
    if death == "kill":
        expected = {n: 2 if n in (2, 4, 7, 9) else 1 for n in range(1, 13)}
        assert {n: book.written.count(n) for n in range(1, 13)} == expected
    assert book.box.left_behind() == {}
