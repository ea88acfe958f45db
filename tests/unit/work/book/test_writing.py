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


def put(desk: BookBench, state: BookState) -> None:
    """A state that an earlier Segue, or another tool, left."""
    desk.folder_of_book.meta.mkdir(exist_ok=True)
    desk.folder_of_book.state_file.write_bytes(render(state))


def chapters(desk: BookBench, *numbers: int) -> None:
    desk.folder_of_book.chapters.mkdir(exist_ok=True)
    for number in numbers:
        desk.folder_of_book.chapter(number).write_text(f"text of {number}")


def refused(desk: BookBench, **wishes: Any) -> Problem:
    """It is refused, and nothing was touched."""
    before = {p: p.read_bytes() for p in desk.root.rglob("*") if p.is_file()}
    with pytest.raises(UserError) as caught:
        desk.write(**wishes)
    assert {p: p.read_bytes() for p in desk.root.rglob("*") if p.is_file()} == before
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


def test_a_new_book_begins_with_its_first_chapter(desk: BookBench) -> None:
    """With the time of its start."""
    desk.write()
    assert desk.begun == ["ch1.write.1"]
    assert desk.state.started_at == "2026-03-01T12:00:01Z"


def test_a_state_of_another_tool_is_gone_on_with(desk: BookBench) -> None:
    """At its chapter, with its name for the project, and what else it keeps there."""
    chapters(desk, 1)
    put(desk, replace(LEFT, more={"x": 1}))
    desk.write()
    assert desk.target.name == "chapter_2.md"
    assert (desk.state.project_id, desk.state.more) == ("night", {"x": 1})
    assert desk.state.completed_chapters == (1,)


def test_what_a_reset_left_is_begun_anew(desk: BookBench) -> None:
    """And has nothing of the reset in it; no number of a step comes again."""
    desk.write()
    desk.chapter(90)
    desk.folder_of_book.state_file.write_bytes(render_reset("2026-03-01T12:00:00Z"))
    desk.write()
    assert desk.begun == ["ch1.write.3"]
    assert desk.state.more == {}
    assert desk.state.completed_chapters == ()
    assert list(desk.folder_of_book.chapters.glob("chapter_1.md.half-*"))


def test_a_restart_begins_at_the_first_chapter_and_keeps_everything(desk: BookBench) -> None:
    """The state is in a backup, the texts are beside the new ones."""
    desk.write()
    desk.chapter(90)
    old = desk.folder_of_book.state_file.read_bytes()
    desk.write(how=How.RESTART)
    assert desk.begun == ["ch1.write.3"]
    assert desk.state.completed_chapters == ()
    assert old in [path.read_bytes() for path in desk.folder_of_book.backups_newest_first()]
    assert list(desk.folder_of_book.chapters.glob("chapter_1.md.half-*"))


def test_a_restart_puts_a_damaged_state_aside(desk: BookBench) -> None:
    """A person has said that it begins anew."""
    desk.folder_of_book.meta.mkdir()
    desk.folder_of_book.state_file.write_text("{ broken")
    desk.write(how=How.RESTART)
    (kept,) = desk.folder_of_book.meta.glob("ralph-state.corrupt-*.json")
    assert kept.read_text() == "{ broken"
    assert desk.state.current_chapter == 1


def test_a_completed_chapter_without_a_file_is_written_again(desk: BookBench) -> None:
    """And said so; the current chapter comes first."""
    put(desk, LEFT)
    desk.write()
    assert "chapter 1" in desk.told("notice")[0]["text"]
    assert desk.state.completed_chapters == ()
    desk.chapter(90)
    desk.chapter(90)
    assert desk.state.current_chapter == 1


def test_chapters_added_to_a_complete_book_are_written(desk: BookBench) -> None:
    """It is not complete any more."""
    desk.write()
    for _number in range(3):
        desk.chapter(90)
    desk.finish()
    desk.book(BOOK.replace("chapters = 3", "chapters = 4"))
    desk.write()
    state = desk.state
    assert (state.current_chapter, state.completed_at, state.total_chapters) == (4, None, 4)
    assert state.completed_chapters == (1, 2, 3)
    desk.chapter(90)
    assert desk.finish() == 0


def test_a_current_chapter_that_is_settled_leads_to_the_first_open_one(desk: BookBench) -> None:
    """A person or a tool has marked it."""
    chapters(desk, 1, 2)
    put(desk, replace(LEFT, completed_chapters=(1, 2), is_due=False))
    desk.write()
    assert desk.target.name == "chapter_3.md"
    assert desk.state.iteration == 2


def test_failed_chapters_are_tried_again_when_nothing_else_is_left(desk: BookBench) -> None:
    """All of them."""
    chapters(desk, 2)
    put(desk, replace(LEFT, completed_chapters=(2,), failed_chapters=(1, 3)))
    desk.write()
    desk.chapter(90)
    desk.chapter(90)
    assert desk.finish() == 0


def test_one_chapter_of_a_complete_book_is_written_again(desk: BookBench) -> None:
    """The others stay completed; then the book is complete again."""
    desk.write()
    for _number in range(3):
        desk.chapter(90)
    desk.finish()
    desk.write(how=How.CHAPTER, chapter=2)
    assert desk.state.completed_chapters == (1, 3)
    desk.chapter(95)
    assert desk.finish() == 0
    assert desk.state.completed_at is not None
    assert desk.state.quality_scores == {1: 90, 2: 95, 3: 90}


def test_one_chapter_that_fails_ends_with_1(desk: BookBench) -> None:
    """Whatever the others are."""
    desk.write(how=How.CHAPTER, chapter=2)
    desk.chapter(50, 60, 55, 58)
    assert desk.finish() == 1


def test_iterations_used_up_end_with_3_until_there_are_more(desk: BookBench) -> None:
    """A bound for the whole book, raised in book.toml."""
    desk.book(BOOK + "max_iterations = 1\n")
    desk.write()
    desk.chapter(90)
    assert desk.finish() == 3
    desk.write()
    assert desk.begun == []
    assert desk.told("book_paused")[0]["most"] == 1
    assert desk.finish() == 3
    assert desk.state.completed_at is None
    desk.book(BOOK + "max_iterations = 2\n")
    desk.write()
    assert desk.target.name == "chapter_2.md"


# A rebuild, and backups


def rebuilt(desk: BookBench) -> BookState:
    return resuming.rebuild(desk.folder_of_book, desk.clock.now())


def test_a_rebuild_judges_the_last_chapter_and_believes_the_others(desk: BookBench) -> None:
    """No text is touched; a gap is filled at the end."""
    chapters(desk, 1, 3)
    desk.write(state=rebuilt(desk))
    assert desk.state.completed_chapters == (1,)
    assert desk.begun == ["ch3.judge.1"]
    desk.judges(90)
    assert desk.target.name == "chapter_2.md"
    assert (desk.root / "chapters" / "chapter_3.md").read_text() == "text of 3"


def test_a_rebuild_of_nothing_begins_the_book(desk: BookBench) -> None:
    """With its first draft."""
    desk.write(state=rebuilt(desk))
    assert desk.begun == ["ch1.write.1"]


def test_a_rebuild_takes_no_old_verdict_for_a_new_one(desk: BookBench) -> None:
    """The tables know steps of the same chapter: their numbers do not come again."""
    desk.write()
    desk.chapter(50)
    desk.chapter(60)
    desk.folder_of_book.state_file.write_text("{")
    desk.write(state=rebuilt(desk))
    assert [step.split(".")[:2] for step in desk.begun] == [["ch1", "judge"]]
    assert int(desk.task.rpartition(".")[2]) > 3
    desk.judges(50, "another")
    assert int(desk.task.rpartition(".")[2]) > 4
    assert desk.state.tries == {1: 1}


def test_a_state_from_a_backup_takes_the_place_of_a_damaged_one(desk: BookBench) -> None:
    """And is brought up to date from the tables."""
    desk.write()
    desk.chapter(90)
    desk.folder_of_book.state_file.write_text("{")
    oldest = desk.folder_of_book.backups_newest_first()[-1]
    desk.folder_of_book.state_file.write_bytes(oldest.read_bytes())
    old = desk.state
    desk.folder_of_book.state_file.write_text("{")
    desk.write(state=old)
    assert desk.state.completed_chapters == (1,)
    assert [step.rpartition(".")[0] for step in desk.begun] == ["ch2.write"]


# What is refused


def test_a_damaged_state_is_never_taken_for_a_new_book(desk: BookBench) -> None:
    """Nothing is touched, and the way out is named."""
    desk.folder_of_book.meta.mkdir()
    desk.folder_of_book.state_file.write_text("{ broken")
    problem = refused(desk)
    assert problem.code == "damaged_state"
    assert "segue resume" in (problem.hint or "")


@pytest.mark.parametrize("how", [How.GO_ON, How.RESTART, How.CHAPTER])
def test_a_state_of_a_newer_segue_is_left_alone(desk: BookBench, how: How) -> None:
    """Whatever is wanted, even to begin anew."""
    desk.folder_of_book.meta.mkdir()
    desk.folder_of_book.state_file.write_text('{"schema_version": 2}')
    chapter = 1 if how is How.CHAPTER else None
    assert refused(desk, how=how, chapter=chapter).code == "newer_state"


@pytest.mark.parametrize("chapter", [0, 4, -1])
def test_a_chapter_that_the_book_does_not_have_is_refused(desk: BookBench, chapter: int) -> None:
    """Told how many there are."""
    problem = refused(desk, how=How.CHAPTER, chapter=chapter)
    assert problem.code == "no_chapter"
    assert "3" in problem.message


def test_a_complete_book_is_not_written_again_by_itself(desk: BookBench) -> None:
    """Told how it could be."""
    desk.write()
    for _number in range(3):
        desk.chapter(90)
    desk.finish()
    with pytest.raises(UserError) as caught:
        desk.write()
    assert caught.value.problem.code == "complete"
    assert "--restart" in (caught.value.problem.hint or "")


@pytest.mark.parametrize("place", ["chapters", "meta"])
def test_a_file_where_a_folder_should_be_is_told(desk: BookBench, place: str) -> None:
    """By its path."""
    (desk.root / place).write_text("a file")
    problem = refused(desk)
    assert problem.file == str(desk.root / place)


def test_a_judge_that_is_not_there_is_told_with_its_line(desk: BookBench) -> None:
    """Before anything is written."""
    desk.book(BOOK.replace("./judge", "./nobody"))
    problem = refused(desk)
    assert (problem.code, problem.line) == ("agent_missing", 5)
    assert "./nobody" in problem.message


def test_an_agent_that_is_not_known_is_told_with_its_line(desk: BookBench) -> None:
    """The writer's, or the judge's."""
    desk.book(BOOK.replace('"writer"', '"nobody"'))
    assert refused(desk).line == 4


def test_the_shell_can_write_no_chapter(desk: BookBench) -> None:
    """It has no command to run."""
    desk.book(BOOK.replace('"writer"', '"shell"'))
    assert refused(desk).code == "no_command"


def test_without_a_judge_the_writer_judges_in_a_run_of_its_own(desk: BookBench) -> None:
    """With the judge's prompt, never by its own word."""
    desk.book(BOOK.replace('judge_command = ["./judge", "--strict"]', ""))
    desk.write()
    desk.writes(summary='{"score": 100}')
    assert desk.task == "ch1.judge.1"
    assert desk.now.argv[0].endswith("writer")
    assert "You are the judge" in desk.prompt()
    assert desk.state.quality_scores == {}


# A state and a book.toml that have moved apart


def test_a_state_is_fitted_to_the_book_as_it_is_now(desk: BookBench) -> None:
    """Totals, threshold, bounds and acts; chapters that are gone are gone."""
    book = settings.parse('title = "New"\nchapters = 2\nacts = 2\nthreshold = 50', desk.root)
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
    desk: BookBench, said: str, most: int
) -> None:
    """A book.toml that says nothing overrides nothing; without either it is 100."""
    desk.book(BOOK + said)
    desk.write()
    assert desk.state.max_iterations == (most if said else 100)
    desk.write(state=replace(desk.state, max_iterations=7, quality_threshold=95))
    assert (desk.state.max_iterations, desk.state.quality_threshold) == (most, 95)


def test_a_book_that_became_shorter_goes_on_with_what_is_left(desk: BookBench) -> None:
    """Its current chapter is gone; that it is shorter was said."""
    chapters(desk, 1)
    put(desk, replace(LEFT, total_chapters=9, current_chapter=8))
    desk.write(chapters=3)
    assert desk.target.name == "chapter_2.md"
    assert desk.state.total_chapters == 3
    assert (desk.root / "book.toml").read_text() == BOOK
    desk.write()


def test_a_state_that_knows_more_chapters_is_not_cut_unasked(desk: BookBench) -> None:
    """What is right is asked for; more chapters in book.toml are simply written."""
    put(desk, replace(LEFT, total_chapters=9, completed_chapters=(1, 7), current_chapter=8))
    problem = refused(desk)
    assert problem.code == "chapters_differ"
    assert "--chapters" in (problem.hint or "")
    chapters(desk, 1)
    put(desk, replace(LEFT, total_chapters=2))
    desk.write()
    assert desk.state.total_chapters == 3


def test_the_number_of_chapters_that_a_person_says_stands_in_the_book(desk: BookBench) -> None:
    """Nothing else in its file is touched, and the file is shown."""
    desk.book("# mine\n" + BOOK + '\n[[chapter]]\ntitle = "One"\n')
    chapters(desk, 1)
    put(desk, replace(LEFT, total_chapters=9))
    desk.write(chapters=9)
    text = (desk.root / "book.toml").read_text()
    assert text == "# mine\n" + BOOK.replace("= 3", "= 9") + '\n[[chapter]]\ntitle = "One"\n'
    assert any("chapters = 9" in told["text"] for told in desk.told("notice"))
    assert desk.state.total_chapters == 9


def test_a_book_with_a_state_and_no_file_is_gone_on_with(desk: BookBench) -> None:
    """Of another tool: what the state says is enough; the file is written and shown."""
    (desk.root / "book.toml").unlink()
    desk.settings(f'agent = "writer"\n{SETTINGS}')
    chapters(desk, 1)
    old = replace(
        LEFT, project_id='긴 "밤"', total_chapters=4, total_acts=2, quality_threshold=85.5,
        max_iterations=40,
    )  # fmt: skip
    put(desk, old)
    desk.write()
    book = settings.load(desk.root)
    assert (book.title, len(book.chapters), book.acts) == ('긴 "밤"', 4, 2)
    assert (book.threshold, book.max_iterations) == (85.5, 40)
    assert desk.target.name == "chapter_2.md"
    (told,) = desk.told("notice")
    assert book.text.rstrip() in told["text"]
    desk.write()
    assert desk.told("notice") == []


@pytest.mark.parametrize("state", [None, BookState("n", 0, can_resume=True), BookState("n", 4)])
def test_without_a_file_and_without_a_number_there_is_no_book(
    desk: BookBench, state: BookState | None
) -> None:
    """Nothing is guessed, nothing is written."""
    (desk.root / "book.toml").unlink()
    if state is not None:
        put(desk, state)
    assert refused(desk).code == "no_book"


def test_the_last_word_of_a_run_is_its_figures(desk: BookBench) -> None:
    """For programs."""
    desk.write()
    desk.chapter(90)
    desk.trips()
    assert desk.finish() == 3
    facts = desk.told("finished")[0]
    assert (facts["completed"], facts["failed"], facts["exit"]) == ([1], [], 3)
    assert facts["scores"] == {"1": 90, "2": 55}
    assert facts["pause_reason"].startswith(Pause.BREAKER)
    json.dumps(facts)


def test_a_breaker_tripped_by_a_single_chapter_goes_on_with_the_book(desk: BookBench) -> None:
    """A skipped chapter is followed by the first that is open."""
    desk.write(how=How.CHAPTER, chapter=2)
    desk.trips()
    assert desk.finish() == 3
    desk.write(on_tripped="skip")
    assert pause_of(desk.state) is None
    assert desk.state.failed_chapters == (2,)
    assert desk.target.name == "chapter_3.md"
