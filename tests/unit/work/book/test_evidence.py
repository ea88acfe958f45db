"""A book is written when its texts are there as they were accepted, whatever anybody remembers."""

from __future__ import annotations

import shutil

import pytest

from kit.book_bench import BookBench
from segue.core.book import BookState, Evidence, Pause, pause_of, proven
from segue.plans import book_state
from segue.work import state_folder
from segue.work.book import resuming


def written(bench: BookBench) -> list[bytes]:
    """All three chapters are completed. The state as it was after each."""
    bench.write()
    states = []
    for number in (1, 2, 3):
        bench.writes(f"Text of chapter {number}.")
        bench.judges(90)
        states.append(bench.folder_of_book.state_file.read_bytes())
    assert bench.finish() == 0
    return states


def delete(bench: BookBench, *numbers: int) -> None:
    for number in numbers:
        bench.folder_of_book.chapter(number).unlink()


def change(bench: BookBench, number: int, text: str = "Mine.") -> None:
    bench.folder_of_book.chapter(number).write_text(text)


def set_back(bench: BookBench, state: bytes) -> BookState:
    bench.folder_of_book.state_file.write_bytes(state)
    return book_state.parse(state)


def steps(bench: BookBench) -> list[str]:
    """What was begun since the last start, without its numbers."""
    return [step.rpartition(".")[0] for step in bench.begun]


def writes_the_rest(bench: BookBench, *numbers: int) -> None:
    """These chapters are written again, and the book ends well."""
    for number in numbers:
        assert bench.task.startswith(f"ch{number}.write.")
        bench.chapter(90)
    assert bench.finish() == 0
    assert bench.state.completed_chapters == (1, 2, 3)
    assert bench.state.completed_at is not None


# The state is older than the memory


@pytest.mark.parametrize("is_damaged", [False, True])
def test_an_old_state_whose_later_chapters_are_gone_writes_them(
    bench: BookBench, is_damaged: bool
) -> None:
    """Restored from a backup, or by git together with the chapters: nothing is done by memory."""
    old = set_back(bench, written(bench)[0])
    delete(bench, 2, 3)
    bench.write(state=old if is_damaged else None)
    assert bench.state.completed_chapters == (1,)
    writes_the_rest(bench, 2, 3)


def test_an_old_state_whose_later_chapters_are_there_is_brought_up_to_date(
    bench: BookBench,
) -> None:
    """They are as they were accepted: nobody writes or judges them again."""
    states = written(bench)
    set_back(bench, states[0])
    bench.write()
    assert bench.begun == []
    assert bench.finish() == 0
    assert (bench.state.completed_chapters, bench.state.mean_score) == ((1, 2, 3), 90)


def test_of_an_old_state_only_what_is_there_unchanged_counts(bench: BookBench) -> None:
    """Chapter 2 was changed, chapter 3 was not."""
    set_back(bench, written(bench)[0])
    change(bench, 2)
    bench.write()
    assert bench.state.completed_chapters == (1, 3)
    writes_the_rest(bench, 2)
    assert len(list(bench.folder_of_book.chapters.glob("chapter_2.md.half-*"))) == 1


def test_an_old_state_that_waits_at_its_breaker_goes_on_as_it_is_told(bench: BookBench) -> None:
    """The chapter was written since, and its text went with the state's later versions."""
    bench.write()
    bench.trips()
    tripped = bench.folder_of_book.state_file.read_bytes()
    bench.finish()
    bench.write(on_tripped="replan")
    for _number in range(3):
        bench.chapter(90)
    assert bench.finish() == 0
    set_back(bench, tripped)
    delete(bench, 1, 2, 3)
    bench.write(on_tripped="replan")
    writes_the_rest(bench, 1, 2, 3)


def test_a_step_that_failed_after_an_old_state_is_tried_again(bench: BookBench) -> None:
    """What was remembered as failed is not told as failed again."""
    bench.write()
    first = bench.folder_of_book.state_file.read_bytes()
    for _try in range(2):
        bench.fails()
    set_back(bench, first)
    bench.write()
    assert (steps(bench), bench.state.retry_count) == (["ch1.write"], 0)


def test_another_branch_does_not_get_the_chapters_of_this_one(bench: BookBench) -> None:
    """Its state waits for the step of the same number; its draft is another one."""
    bench.write()
    bench.writes("Text of chapter 1.")
    waiting = bench.folder_of_book.state_file.read_bytes()
    bench.judges(90)
    set_back(bench, waiting)
    change(bench, 1, "The other branch.")
    bench.write()
    assert bench.state.completed_chapters == ()
    assert bench.begun


def test_a_state_that_was_deleted_is_found_again(bench: BookBench) -> None:
    """From the texts and the memory of their judgements; what is missing is written."""
    written(bench)
    shutil.rmtree(bench.folder_of_book.meta)
    delete(bench, 2)
    bench.write()
    assert bench.state.completed_chapters == (1, 3)
    writes_the_rest(bench, 2)


def test_a_state_that_another_tool_set_back_is_its_word(bench: BookBench) -> None:
    """It says that chapter 2 is open: that chapter is written again, with its text kept."""
    written(bench)
    bench.folder_of_book.state_file.write_text(
        '{"project_id": "n", "ralph_active": true, "can_resume": true, "total_chapters": 3,'
        ' "current_chapter": 2, "completed_chapters": [1, 3], "last_checkpoint": "x"}'
    )
    bench.write()
    writes_the_rest(bench, 2)


def test_chapters_that_are_counted_again_are_believed_as_far_as_they_are_known(
    bench: BookBench,
) -> None:
    """One that was changed since its judgement is judged; the rest is as it was accepted."""
    written(bench)
    change(bench, 1)
    bench.write(state=resuming.rebuild(bench.folder_of_book, bench.clock.now()))
    assert bench.state.completed_chapters == (2, 3)
    assert steps(bench) == ["ch1.judge"]


# The chapters are not what they were


@pytest.mark.parametrize("is_memory_lost", [False, True])
def test_a_deleted_chapter_of_a_complete_book_is_written_again(
    bench: BookBench, is_memory_lost: bool
) -> None:
    """With and without Segue's memory of it."""
    written(bench)
    delete(bench, 2)
    if is_memory_lost:
        bench.close()
        shutil.rmtree(bench.root / ".segue")
        shutil.rmtree(state_folder.folder_of(bench.root))
    bench.write()
    writes_the_rest(bench, 2)


@pytest.mark.parametrize("is_memory_lost", [False, True])
def test_a_chapter_changed_by_hand_is_judged_again_and_not_written(
    bench: BookBench, is_memory_lost: bool
) -> None:
    """The text of the person stays."""
    written(bench)
    change(bench, 2)
    if is_memory_lost:
        bench.close()
        shutil.rmtree(bench.root / ".segue")
        shutil.rmtree(state_folder.folder_of(bench.root))
    bench.write()
    assert steps(bench) == ["ch2.judge"]
    bench.judges(85)
    assert bench.finish() == 0
    assert bench.state.quality_scores[2] == 85
    assert bench.folder_of_book.chapter(2).read_text() == "Mine."


def test_a_chapter_changed_by_hand_that_the_judge_rejects_is_asked_about(bench: BookBench) -> None:
    """However often it goes on: nobody writes it until the person says so; then it is kept."""
    written(bench)
    change(bench, 2)
    bench.write()
    bench.judges(40, "too short")
    assert bench.finish() == 3
    (gate,) = bench.run.ledger.gates.values()
    assert "you changed chapter 2" in gate.text
    bench.write(asks_if_tripped=True)
    assert (bench.begun, bench.finish()) == ([], 3)
    bench.write()
    assert steps(bench) == ["ch2.judge"], "to go on all the same is one more judgement"
    bench.judges(40, "too short")
    assert bench.finish() == 3
    assert bench.state.circuit_breaker.failure_count == 0
    bench.write(on_tripped="replan")
    assert steps(bench) == ["ch2.write"]
    (kept,) = bench.folder_of_book.chapters.glob("chapter_2.md.half-*")
    assert kept.read_text() == "Mine."
    bench.chapter(90)
    assert bench.finish() == 0


def test_other_chapters_do_not_wait_for_one_that_was_changed(bench: BookBench) -> None:
    """What is being written goes on; the changed one is judged after it."""
    bench.write()
    bench.chapter(90)
    change(bench, 1)
    bench.write()
    assert steps(bench) == ["ch2.write"]
    bench.chapter(90)
    bench.chapter(90)
    assert bench.task.startswith("ch1.judge.")
    bench.judges(90)
    assert bench.finish() == 0


def test_a_text_that_was_put_back_needs_no_judge(bench: BookBench) -> None:
    """It is as it was accepted."""
    written(bench)
    change(bench, 2)
    bench.write()
    bench.stop_now()
    change(bench, 2, "Text of chapter 2.")
    bench.write()
    assert (bench.begun, bench.finish()) == ([], 0)


# While it is being written


def test_a_chapter_that_vanishes_meanwhile_is_missed_before_the_end(bench: BookBench) -> None:
    """The book is not called written; the chapter is written again."""
    bench.write()
    bench.chapter(90)
    bench.chapter(90)
    bench.writes()
    delete(bench, 1)
    bench.judges(90)
    assert bench.state.completed_at is None
    writes_the_rest(bench, 1)


def test_a_chapter_that_is_changed_meanwhile_is_judged_before_the_end(bench: BookBench) -> None:
    """By whomever it was changed."""
    bench.write()
    bench.chapter(90)
    bench.chapter(90)
    change(bench, 1)
    bench.chapter(90)
    assert bench.task.startswith("ch1.judge.")
    bench.judges(90)
    assert bench.finish() == 0


def test_a_text_that_is_changed_while_it_is_judged_is_judged_again(bench: BookBench) -> None:
    """The verdict may be about either."""
    bench.write()
    bench.writes()
    change(bench, 1)
    bench.judges(90)
    assert bench.state.completed_chapters == ()
    assert bench.task == "ch1.judge.1"
    bench.judges(90)
    assert bench.state.completed_chapters == (1,)


def test_a_draft_that_vanished_before_its_judgement_is_written_again(bench: BookBench) -> None:
    """Nobody judges what is not there."""
    bench.write()
    bench.writes()
    delete(bench, 1)
    bench.write()
    assert steps(bench) == ["ch1.write"]


def test_a_text_that_vanished_before_its_revision_is_drafted_again(bench: BookBench) -> None:
    """There is nothing to revise."""
    bench.write()
    bench.writes()
    bench.judges(50, "too short")
    bench.stop_now()
    delete(bench, 1)
    bench.write()
    assert (steps(bench), bench.state.retry_count) == (["ch1.write"], 0)


# What is told of it


def test_a_complete_book_with_a_chapter_missing_can_be_resumed(bench: BookBench) -> None:
    """It is not complete: the count says so, and what is lost is named."""
    written(bench)
    assert not resuming.look(bench.root).is_resumable
    delete(bench, 2)
    seen = resuming.look(bench.root)
    assert seen.state is not None
    assert (seen.is_resumable, seen.lost) == (True, (2,))
    assert (seen.state.completed_chapters, seen.state.current_chapter) == ((1, 3), 2)


def test_a_chapter_changed_by_hand_is_not_half_a_chapter(bench: BookBench) -> None:
    """It is whole: a restart does not take it for one that was cut off."""
    written(bench)
    change(bench, 2)
    seen = resuming.look(bench.root)
    assert seen.state is not None
    assert (seen.is_resumable, seen.changed, seen.state.by_hand) == (True, (2,), (2,))
    assert seen.folder.half_chapters(seen.state) == []


# The rule


TEXTS = {1: "a", 2: "b"}


def test_what_is_proven() -> None:
    """By the hash in the state, else by a judgement; without either the state is believed."""
    state = BookState("n", 3, completed_chapters=(1, 2, 3), texts={1: "a", 2: "old"})
    found = proven(state, Evidence({**TEXTS, 3: "c"}))
    assert (found.completed_chapters, found.by_hand) == ((1, 3), (2,))
    assert found.texts == {1: "a", 3: "c"}
    found = proven(state, Evidence(TEXTS, {2: {"b": 95}, 1: {}}))
    assert (found.completed_chapters, found.quality_scores) == ((1, 2), {2: 95})
    assert found.open_chapters == [3]


def test_what_is_lost_is_open_again_and_can_be_resumed() -> None:
    """It was complete, and is not."""
    state = BookState("n", 2, completed_chapters=(1, 2), completed_at="x")
    found = proven(state, Evidence({1: "a"}))
    assert (found.completed_at, found.can_resume) == (None, True)
    assert proven(state, Evidence(TEXTS)).completed_at == "x"


def test_a_pause_over_a_changed_chapter_is_one_for_a_person() -> None:
    """As the breaker's."""
    assert pause_of(BookState("n", 1, pause_reason="circuit_breaker: changed_by_hand")) is (
        Pause.BREAKER
    )
