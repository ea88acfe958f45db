"""`segue write-all` and `segue write N`: where the writing begins, what is refused, how it ends."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from kit.book_bench import BOOK, SETTINGS, BookBench
from segue.core.book import BookState, Pause, pause_of
from segue.errors import Problem, UserError
from segue.plans.book_state import render, render_reset
from segue.work.book import resuming, settings
from segue.work.book.writing import How, fitted


def put(bench: BookBench, state: BookState) -> None:
    """A state that an earlier Segue, or another tool, left."""
    bench.folder_of_book.meta.mkdir(exist_ok=True)
    bench.folder_of_book.state_file.write_bytes(render(state))


def chapters(bench: BookBench, *numbers: int) -> None:
    bench.folder_of_book.chapters.mkdir(exist_ok=True)
    for number in numbers:
        bench.folder_of_book.chapter(number).write_text(f"text of {number}")


def refused(bench: BookBench, **options: Any) -> Problem:
    """It is refused, and nothing was touched."""
    before = {p: p.read_bytes() for p in bench.root.rglob("*") if p.is_file()}
    with pytest.raises(UserError) as caught:
        bench.write(**options)
    assert {p: p.read_bytes() for p in bench.root.rglob("*") if p.is_file()} == before
    return caught.value.problem


LEFT = BookState(
    "night",
    3,
    can_resume=True,
    current_chapter=2,
    completed_chapters=(1,),
    iteration=1,
    is_due=True,
    last_checkpoint="2026-02-01T00:00:00Z",
)

# Where it begins


def test_a_new_book_begins_with_its_first_chapter(bench: BookBench) -> None:
    """With the time of its start."""
    bench.write()
    assert bench.begun == ["ch1.write.1"]
    assert bench.state.started_at == "2026-03-01T12:00:01Z"


def test_a_state_of_another_tool_is_gone_on_with(bench: BookBench) -> None:
    """At its chapter, with its name for the project, and what else it keeps there."""
    chapters(bench, 1)
    put(bench, replace(LEFT, more={"x": 1}))
    bench.write()
    assert bench.target.name == "chapter_2.md"
    assert (bench.state.project_id, bench.state.more) == ("night", {"x": 1})
    assert bench.state.completed_chapters == (1,)


def test_what_a_reset_left_is_begun_anew(bench: BookBench) -> None:
    """And has nothing of the reset in it; no number of a step comes again."""
    bench.write()
    bench.chapter(90)
    bench.folder_of_book.state_file.write_bytes(render_reset("2026-03-01T12:00:00Z"))
    bench.write()
    assert bench.begun == ["ch1.write.3"]
    assert bench.state.more == {}
    assert bench.state.completed_chapters == ()
    assert list(bench.folder_of_book.chapters.glob("chapter_1.md.half-*"))


def test_a_restart_begins_at_the_first_chapter_and_keeps_everything(bench: BookBench) -> None:
    """The state is in a backup, the texts are beside the new ones."""
    bench.write()
    bench.chapter(90)
    old = bench.folder_of_book.state_file.read_bytes()
    bench.write(how=How.RESTART)
    assert bench.begun == ["ch1.write.3"]
    assert bench.state.completed_chapters == ()
    assert old in [path.read_bytes() for path in bench.folder_of_book.backups_newest_first()]
    assert list(bench.folder_of_book.chapters.glob("chapter_1.md.half-*"))


def test_a_restart_puts_a_damaged_state_aside(bench: BookBench) -> None:
    """A person has said that it begins anew."""
    bench.folder_of_book.meta.mkdir()
    bench.folder_of_book.state_file.write_text("{ broken")
    bench.write(how=How.RESTART)
    (kept,) = bench.folder_of_book.meta.glob("ralph-state.corrupt-*.json")
    assert kept.read_text() == "{ broken"
    assert bench.state.current_chapter == 1


def test_a_completed_chapter_without_a_file_is_written_again(bench: BookBench) -> None:
    """And said so; the current chapter comes first."""
    put(bench, LEFT)
    bench.write()
    assert "chapter 1" in bench.told("notice")[0]["text"]
    assert bench.state.completed_chapters == ()
    bench.chapter(90)
    bench.chapter(90)
    assert bench.state.current_chapter == 1


def test_chapters_added_to_a_complete_book_are_written(bench: BookBench) -> None:
    """It is not complete any more."""
    bench.write()
    for _number in range(3):
        bench.chapter(90)
    bench.finish()
    bench.book(BOOK.replace("chapters = 3", "chapters = 4"))
    bench.write()
    state = bench.state
    assert (state.current_chapter, state.completed_at, state.total_chapters) == (4, None, 4)
    assert state.completed_chapters == (1, 2, 3)
    bench.chapter(90)
    assert bench.finish() == 0


def test_a_current_chapter_that_is_settled_leads_to_the_first_open_one(bench: BookBench) -> None:
    """A person or a tool has marked it."""
    chapters(bench, 1, 2)
    put(bench, replace(LEFT, completed_chapters=(1, 2), is_due=False))
    bench.write()
    assert bench.target.name == "chapter_3.md"
    assert bench.state.iteration == 2


def test_failed_chapters_are_tried_again_when_nothing_else_is_left(bench: BookBench) -> None:
    """All of them."""
    chapters(bench, 2)
    put(bench, replace(LEFT, completed_chapters=(2,), failed_chapters=(1, 3)))
    bench.write()
    bench.chapter(90)
    bench.chapter(90)
    assert bench.finish() == 0


def test_one_chapter_of_a_complete_book_is_written_again(bench: BookBench) -> None:
    """The others stay completed; then the book is complete again."""
    bench.write()
    for _number in range(3):
        bench.chapter(90)
    bench.finish()
    bench.write(how=How.CHAPTER, chapter=2)
    assert bench.state.completed_chapters == (1, 3)
    bench.chapter(95)
    assert bench.finish() == 0
    assert bench.state.completed_at is not None
    assert bench.state.quality_scores == {1: 90, 2: 95, 3: 90}


def test_one_chapter_that_fails_ends_with_1(bench: BookBench) -> None:
    """Whatever the others are."""
    bench.write(how=How.CHAPTER, chapter=2)
    bench.chapter(50, 60, 55, 58)
    assert bench.finish() == 1


def test_iterations_used_up_end_with_3_until_there_are_more(bench: BookBench) -> None:
    """A bound for the whole book, raised in book.toml."""
    bench.book(BOOK + "max_iterations = 1\n")
    bench.write()
    bench.chapter(90)
    assert bench.finish() == 3
    bench.write()
    assert bench.begun == []
    assert bench.told("book_paused")[0]["most"] == 1
    assert bench.finish() == 3
    assert bench.state.completed_at is None
    bench.book(BOOK + "max_iterations = 2\n")
    bench.write()
    assert bench.target.name == "chapter_2.md"


# A rebuild, and backups


def rebuilt(bench: BookBench) -> BookState:
    return resuming.rebuild(bench.folder_of_book, bench.clock.now())


def test_a_rebuild_judges_the_last_chapter_and_believes_the_others(bench: BookBench) -> None:
    """No text is touched; a gap is filled at the end."""
    chapters(bench, 1, 3)
    bench.write(state=rebuilt(bench))
    assert bench.state.completed_chapters == (1,)
    assert bench.begun == ["ch3.judge.1"]
    bench.judges(90)
    assert bench.target.name == "chapter_2.md"
    assert (bench.root / "chapters" / "chapter_3.md").read_text() == "text of 3"


def test_a_rebuild_of_nothing_begins_the_book(bench: BookBench) -> None:
    """With its first draft."""
    bench.write(state=rebuilt(bench))
    assert bench.begun == ["ch1.write.1"]


def test_a_rebuild_takes_no_old_verdict_for_a_new_one(bench: BookBench) -> None:
    """The tables know steps of the same chapter: their numbers do not come again."""
    bench.write()
    bench.chapter(50)
    bench.chapter(60)
    bench.folder_of_book.state_file.write_text("{")
    bench.write(state=rebuilt(bench))
    assert [step.split(".")[:2] for step in bench.begun] == [["ch1", "judge"]]
    assert int(bench.task.rpartition(".")[2]) > 3
    bench.judges(50, "another")
    assert int(bench.task.rpartition(".")[2]) > 4
    assert bench.state.tries == {1: 1}


def test_a_state_from_a_backup_takes_the_place_of_a_damaged_one(bench: BookBench) -> None:
    """And is brought up to date from the tables."""
    bench.write()
    bench.chapter(90)
    bench.folder_of_book.state_file.write_text("{")
    oldest = bench.folder_of_book.backups_newest_first()[-1]
    bench.folder_of_book.state_file.write_bytes(oldest.read_bytes())
    old = bench.state
    bench.folder_of_book.state_file.write_text("{")
    bench.write(state=old)
    assert bench.state.completed_chapters == (1,)
    assert [step.rpartition(".")[0] for step in bench.begun] == ["ch2.write"]


# What is refused


def test_a_damaged_state_is_never_taken_for_a_new_book(bench: BookBench) -> None:
    """Nothing is touched, and the way out is named."""
    bench.folder_of_book.meta.mkdir()
    bench.folder_of_book.state_file.write_text("{ broken")
    problem = refused(bench)
    assert problem.code == "damaged_state"
    assert "segue resume" in (problem.hint or "")


@pytest.mark.parametrize("how", [How.GO_ON, How.RESTART, How.CHAPTER])
def test_a_state_of_a_newer_segue_is_left_alone(bench: BookBench, how: How) -> None:
    """Whatever is wanted, even to begin anew."""
    bench.folder_of_book.meta.mkdir()
    bench.folder_of_book.state_file.write_text('{"schema_version": 2}')
    chapter = 1 if how is How.CHAPTER else None
    assert refused(bench, how=how, chapter=chapter).code == "newer_state"


@pytest.mark.parametrize("chapter", [0, 4, -1])
def test_a_chapter_that_the_book_does_not_have_is_refused(bench: BookBench, chapter: int) -> None:
    """Told how many there are."""
    problem = refused(bench, how=How.CHAPTER, chapter=chapter)
    assert problem.code == "no_chapter"
    assert "3" in problem.message


def test_a_complete_book_is_not_written_again_by_itself(bench: BookBench) -> None:
    """Told how it could be."""
    bench.write()
    for _number in range(3):
        bench.chapter(90)
    bench.finish()
    with pytest.raises(UserError) as caught:
        bench.write()
    assert caught.value.problem.code == "complete"
    assert "--restart" in (caught.value.problem.hint or "")


@pytest.mark.parametrize("place", ["chapters", "meta"])
def test_a_file_where_a_folder_should_be_is_told(bench: BookBench, place: str) -> None:
    """By its path."""
    (bench.root / place).write_text("a file")
    problem = refused(bench)
    assert problem.file == str(bench.root / place)


def test_a_judge_that_is_not_there_is_told_with_its_line(bench: BookBench) -> None:
    """Before anything is written."""
    bench.book(BOOK.replace("./judge", "./nobody"))
    problem = refused(bench)
    assert (problem.code, problem.line) == ("agent_missing", 5)
    assert "./nobody" in problem.message


def test_an_agent_that_is_not_known_is_told_with_its_line(bench: BookBench) -> None:
    """The writer's, or the judge's."""
    bench.book(BOOK.replace('"writer"', '"nobody"'))
    assert refused(bench).line == 4


def test_the_shell_can_write_no_chapter(bench: BookBench) -> None:
    """It has no command to run."""
    bench.book(BOOK.replace('"writer"', '"shell"'))
    assert refused(bench).code == "no_command"


def test_without_a_judge_the_writer_judges_in_a_run_of_its_own(bench: BookBench) -> None:
    """With the judge's prompt, never by its own word."""
    bench.book(BOOK.replace('judge_command = ["./judge", "--strict"]', ""))
    bench.write()
    bench.writes(summary='{"score": 100}')
    assert bench.task == "ch1.judge.1"
    assert bench.now.argv[0].endswith("writer")
    assert "You are the judge" in bench.prompt()
    assert bench.state.quality_scores == {}


# A state and a book.toml that have moved apart


def test_a_state_is_fitted_to_the_book_as_it_is_now(bench: BookBench) -> None:
    """Totals, threshold, bounds and acts; chapters that are gone are gone."""
    book = settings.parse('title = "New"\nchapters = 2\nacts = 2\nthreshold = 50', bench.root)
    old = replace(
        LEFT,
        completed_chapters=(1, 3),
        failed_chapters=(4,),
        total_chapters=5,
        max_iterations=7,
        current_act=5,
        total_acts=5,
    )
    state = fitted(old, book)
    assert (state.total_chapters, state.total_acts, state.quality_threshold) == (2, 2, 50)
    assert (state.completed_chapters, state.failed_chapters) == ((1,), ())
    assert (state.max_iterations, state.current_act) == (7, 2)
    assert state.project_id == "night"
    assert fitted(replace(old, project_id=""), book).project_id == "New"


@pytest.mark.parametrize(("said", "most"), [("", 7), ("max_iterations = 9\n", 9)])
def test_how_many_writes_there_may_be_is_said_by_the_book_else_by_the_state(
    bench: BookBench, said: str, most: int
) -> None:
    """A book.toml that says nothing overrides nothing; without either it is 100."""
    bench.book(BOOK + said)
    bench.write()
    assert bench.state.max_iterations == (most if said else 100)
    bench.write(state=replace(bench.state, max_iterations=7, quality_threshold=95))
    assert (bench.state.max_iterations, bench.state.quality_threshold) == (most, 95)


def test_a_book_that_became_shorter_goes_on_with_what_is_left(bench: BookBench) -> None:
    """Its current chapter is gone; that it is shorter was said."""
    chapters(bench, 1)
    put(bench, replace(LEFT, total_chapters=9, current_chapter=8))
    bench.write(chapters=3)
    assert bench.target.name == "chapter_2.md"
    assert bench.state.total_chapters == 3
    assert (bench.root / "book.toml").read_text() == BOOK
    bench.write()


def test_a_state_that_knows_more_chapters_is_not_cut_unasked(bench: BookBench) -> None:
    """What is right is asked for; more chapters in book.toml are simply written."""
    put(bench, replace(LEFT, total_chapters=9, completed_chapters=(1, 7), current_chapter=8))
    problem = refused(bench)
    assert problem.code == "chapters_differ"
    assert "--chapters" in (problem.hint or "")
    chapters(bench, 1)
    put(bench, replace(LEFT, total_chapters=2))
    bench.write()
    assert bench.state.total_chapters == 3


def test_the_number_of_chapters_that_a_person_says_stands_in_the_book(bench: BookBench) -> None:
    """Nothing else in its file is touched, and the file is shown."""
    bench.book("# mine\n" + BOOK + '\n[[chapter]]\ntitle = "One"\n')
    chapters(bench, 1)
    put(bench, replace(LEFT, total_chapters=9))
    bench.write(chapters=9)
    text = (bench.root / "book.toml").read_text()
    assert text == "# mine\n" + BOOK.replace("= 3", "= 9") + '\n[[chapter]]\ntitle = "One"\n'
    assert any("chapters = 9" in told["text"] for told in bench.told("notice"))
    assert bench.state.total_chapters == 9


def test_a_book_with_a_state_and_no_file_is_gone_on_with(bench: BookBench) -> None:
    """Of another tool: what the state says is enough; the file is written and shown."""
    (bench.root / "book.toml").unlink()
    bench.settings(f'agent = "writer"\n{SETTINGS}')
    chapters(bench, 1)
    old = replace(
        LEFT, project_id='긴 "밤"', total_chapters=4, total_acts=2, quality_threshold=85.5,
        max_iterations=40,
    )  # fmt: skip
    put(bench, old)
    bench.write()
    book = settings.load(bench.root)
    assert (book.title, len(book.chapters), book.acts) == ('긴 "밤"', 4, 2)
    assert (book.threshold, book.max_iterations) == (85.5, 40)
    assert bench.target.name == "chapter_2.md"
    (told,) = bench.told("notice")
    assert book.text.rstrip() in told["text"]
    bench.write()
    assert bench.told("notice") == []


@pytest.mark.parametrize("state", [None, BookState("n", 0, can_resume=True), BookState("n", 4)])
def test_without_a_file_and_without_a_number_there_is_no_book(
    bench: BookBench, state: BookState | None
) -> None:
    """Nothing is guessed, nothing is written."""
    (bench.root / "book.toml").unlink()
    if state is not None:
        put(bench, state)
    assert refused(bench).code == "no_book"


def test_the_last_word_of_a_run_is_its_figures(bench: BookBench) -> None:
    """For programs."""
    bench.write()
    bench.chapter(90)
    bench.trips()
    assert bench.finish() == 3
    facts = bench.told("finished")[0]
    assert (facts["completed"], facts["failed"], facts["exit"]) == ([1], [], 3)
    assert facts["scores"] == {"1": 90, "2": 55}
    assert facts["pause_reason"].startswith(Pause.BREAKER)
    json.dumps(facts)


def test_a_breaker_tripped_by_a_single_chapter_goes_on_with_the_book(bench: BookBench) -> None:
    """A skipped chapter is followed by the first that is open."""
    bench.write(how=How.CHAPTER, chapter=2)
    bench.trips()
    assert bench.finish() == 3
    bench.write(on_tripped="skip")
    assert pause_of(bench.state) is None
    assert bench.state.failed_chapters == (2,)
    assert bench.target.name == "chapter_3.md"
