"""A book as a plan of steps: a draft, its judgement, a revision; each once, whatever dies."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from kit.book_bench import BOOK, SETTINGS, BookBench
from segue.core.book import BookState, Breaker, Pause, pause_of
from segue.dialects.events import Asked, LimitHit
from segue.engine.executors import Alive
from segue.plans.book_state import render
from segue.plans.task_edit import TaskEdit
from segue.work.book.folder import BookFolder
from segue.work.book.steps import CHOICES
from segue.work.book.writing import How

# One after the other


def test_a_draft_begins_only_when_the_state_says_so(desk: BookBench) -> None:
    """Before the writer's process there is a state with this chapter and this write."""
    seen = []
    desk.at_begin = lambda: seen.append(desk.state)
    desk.write()
    (state,) = seen
    assert desk.begun == ["ch1.write.1"]
    assert (state.ralph_active, state.can_resume, state.mode) == (True, True, "write-all")
    assert (state.current_chapter, state.iteration, state.project_id) == (1, 1, "The long night")
    assert (state.total_chapters, state.total_acts, state.quality_threshold) == (3, 2, 80)


def test_the_writer_is_told_its_file_in_words_and_by_variable(desk: BookBench) -> None:
    """And its chapter's number."""
    desk.write()
    target = desk.root / "chapters" / "chapter_1.md"
    assert str(target) in desk.prompt()
    assert desk.now.env["SEGUE_TARGET"] == str(target)
    assert desk.now.env["SEGUE_CHAPTER"] == "1"
    assert desk.now.cwd == desk.root


def test_the_judge_command_gets_the_path_as_its_last_argument(desk: BookBench) -> None:
    """Behind its own arguments; the writer's word is not asked for."""
    desk.write()
    desk.writes()
    assert desk.task == "ch1.judge.1"
    assert desk.now.argv[-2:] == ("--strict", str(desk.root / "chapters" / "chapter_1.md"))


def test_an_accepted_chapter_leads_to_the_next(desk: BookBench) -> None:
    """With its summary in the next prompt."""
    desk.write()
    desk.writes(summary="A lamp goes out.")
    desk.judges(80)
    assert desk.state.completed_chapters == (1,)
    assert desk.task == "ch2.write.2"
    assert "A lamp goes out." in desk.prompt()


def test_a_rejected_chapter_is_revised_with_the_judges_reasons(desk: BookBench) -> None:
    """And with its score; the draft that is revised is kept."""
    desk.write()
    desk.writes("first draft")
    desk.judges(61, "too short", "no dog")
    assert desk.task == "ch1.write.2"
    for text in ("- too short", "- no dog", "61 of 100", "80 are needed"):
        assert text in desk.prompt()
    assert desk.target.read_text() == "first draft"
    kept = list(desk.folder_of_book.drafts.iterdir())
    assert [path.read_text() for path in kept] == ["first draft"]


def test_reasons_of_a_rejection_reach_later_chapters(desk: BookBench) -> None:
    """As wisdom; those of an acceptance do not."""
    desk.write()
    desk.chapter(50)
    desk.writes()
    desk.judges(90, "a little dull")
    assert desk.task == "ch2.write.3"
    assert "reason of ch1.judge.1 for 50" in desk.prompt()
    assert "a little dull" not in desk.wisdom


def test_the_summaries_of_the_last_three_chapters_are_told(desk: BookBench) -> None:
    """The newest word of each counts; of a chapter with none, how it reads."""
    desk.book(BOOK.replace("chapters = 3", "chapters = 5"))
    desk.write()
    desk.writes(summary="one, at first")
    desk.judges(50, "x")
    desk.writes(summary="one, revised")
    desk.judges(90)
    desk.writes("Text of two.")
    desk.judges(90)
    assert "one, revised" in desk.prompt()
    assert "one, at first" not in desk.prompt()
    assert "Text of two." in desk.prompt()
    desk.writes(summary="three")
    desk.judges(90)
    desk.writes(summary="four")
    desk.judges(90)
    assert "one, revised" not in desk.prompt()
    assert "four" in desk.prompt()


def test_the_whole_book_ends_well(desk: BookBench) -> None:
    """Exit 0, completed, nothing to resume."""
    desk.write()
    desk.chapter(90)
    desk.chapter(90)
    desk.chapter(95)
    assert desk.finish() == 0
    state = desk.state
    assert state.completed_at is not None
    assert (state.ralph_active, state.can_resume) == (False, False)
    assert desk.told("finished")[0]["completed"] == [1, 2, 3]


def test_four_writes_then_the_chapter_has_failed_and_the_book_ends_with_1(desk: BookBench) -> None:
    """The other chapters are written all the same."""
    desk.write()
    desk.chapter(50, 60, 55, 58)
    assert desk.told("chapter_failed")[0]["chapter"] == 1
    desk.chapter(90)
    desk.chapter(90)
    assert desk.finish() == 1
    assert desk.state.failed_chapters == (1,)
    assert desk.state.completed_at is None


# Writers that fail


def test_a_writer_that_fails_before_any_judgement_is_told_why(desk: BookBench) -> None:
    """There is no score to tell."""
    desk.write()
    desk.fails(3)
    assert desk.task == "ch1.write.2"
    assert "exit code 3" in desk.prompt()
    assert "The judge gave it" not in desk.prompt()


def test_a_writer_that_ends_well_without_a_file_has_failed(desk: BookBench) -> None:
    """An empty file is none, either."""
    desk.write()
    desk.starts()
    desk.ends(0)
    assert desk.state.tries == {1: 1}
    assert "has not written chapters/chapter_1.md" in (desk.state.last_error or "")
    desk.target.write_text(" \n")
    desk.starts()
    desk.ends(0)
    assert desk.state.tries == {1: 2}
    assert desk.state.quality_scores == {}


def test_a_failed_revision_still_knows_the_judges_reasons(desk: BookBench) -> None:
    """They have not been met yet."""
    desk.write()
    desk.writes()
    desk.judges(50, "too short")
    desk.fails()
    assert desk.task == "ch1.write.3"
    assert "- too short" in desk.prompt()


def test_three_writers_that_fail_alike_trip_the_breaker(desk: BookBench) -> None:
    """A failure for the same reason is one, whoever fails."""
    desk.write()
    for _number in range(3):
        desk.fails(3)
    assert pause_of(desk.state) is Pause.BREAKER
    assert desk.finish() == 3


# Judges that fail


@pytest.mark.parametrize(
    ("text", "code"),
    [("I like it.", 0), ('{"score": 101}', 0), ('{"score": "good"}', 0), ('{"score": 90}', 7)],
)
def test_a_judge_that_gives_no_verdict_is_tried_again_and_then_paused(
    desk: BookBench, text: str, code: int
) -> None:
    """Never counted as the writer's; the text is judged when it goes on, not written again."""
    desk.write()
    desk.writes("the text")
    for _number in range(3):
        desk.prints(text, code)
    state = desk.state
    assert pause_of(state) is Pause.JUDGE
    assert (state.tries, state.circuit_breaker, state.failed_chapters) == ({}, Breaker(), ())
    assert desk.finish() == 3
    desk.write()
    assert desk.begun == ["ch1.judge.2"]
    assert desk.target.read_text() == "the text"
    desk.judges(90)
    assert desk.state.completed_chapters == (1,)
    assert desk.state.iteration == 2


def test_a_judge_that_is_an_agent_gets_a_prompt_of_its_own(desk: BookBench) -> None:
    """With the file, the threshold and the shape of its answer."""
    desk.book(BOOK.replace('judge_command = ["./judge", "--strict"]', 'judge = "editor"'))
    desk.write()
    desk.writes()
    assert desk.now.argv[0].endswith("editor")
    for text in ("You are the judge", str(desk.target), "80 of 100", '{"score": 0-100'):
        assert text in desk.prompt()


def test_the_last_object_that_a_judge_prints_counts(desk: BookBench) -> None:
    """Whatever was said before it."""
    desk.write()
    desk.writes()
    desk.prints('First I thought {"score": 10}. But:\n{"score": 88, "reasons": []}\nDone.')
    assert desk.state.quality_scores == {1: 88}


# The circuit breaker


def test_a_tripped_breaker_asks_and_waits(desk: BookBench) -> None:
    """The chapter stays current; the question has the four choices; exit 3."""
    desk.write()
    desk.trips()
    gate = desk.told("gate_opened")[0]
    assert gate["options"] == list(CHOICES)
    assert desk.told("breaker_tripped")[0]["cause"] == "same_reason"
    state = desk.state
    assert (state.current_chapter, state.ralph_active, state.can_resume) == (1, False, True)
    assert len(desk.engine.begun) == 6
    assert desk.finish() == 3


def test_going_on_after_a_trip_is_one_more_try(desk: BookBench) -> None:
    """The question is closed, the causes are told to the writer, the same fault trips again."""
    desk.write()
    desk.trips()
    desk.finish()
    desk.write()
    assert desk.run.ledger.gates == {}
    assert "too short" in desk.prompt()
    desk.writes()
    desk.judges(58, "Too short")
    assert pause_of(desk.state) is Pause.BREAKER
    assert len(desk.told("gate_opened")) == 1


@pytest.mark.parametrize("is_known", [True, False], ids=["asked", "cold"])
def test_skipping_puts_a_placeholder_and_keeps_the_text(desk: BookBench, is_known: bool) -> None:
    """Also where Segue's memory is gone: the state says that it is tripped."""
    desk.write()
    desk.trips()
    desk.finish()
    if not is_known:
        desk.close()
        for path in desk.root.glob(".segue/segue.db*"):
            path.unlink()
    desk.write(on_tripped="skip")
    assert desk.state.failed_chapters == (1,)
    assert desk.begun[-1].startswith("ch2.write.")
    chapters = desk.folder_of_book.chapters
    assert "skipped" in (chapters / "chapter_1.md").read_text()
    kept = [path for path in chapters.iterdir() if ".half-" in path.name]
    assert [path.read_text() for path in kept] == ["It was night."]
    assert "skip" in desk.wisdom
    assert not desk.state.circuit_breaker.triggered


def test_a_chapter_edited_by_hand_is_judged_as_it_is(desk: BookBench) -> None:
    """No byte of it is touched."""
    desk.write()
    desk.trips()
    desk.finish()
    path = desk.root / "chapters" / "chapter_1.md"
    path.write_text("by hand")
    desk.write(on_tripped="edit")
    assert [step.split(".")[1] for step in desk.begun] == ["judge"]
    desk.judges(90)
    assert path.read_text() == "by hand"
    assert desk.state.completed_chapters == (1,)


def test_a_new_plan_writes_the_chapter_afresh(desk: BookBench) -> None:
    """With book.toml as it is now; the old text is kept beside it."""
    desk.write()
    desk.trips()
    desk.finish()
    outline = '[[chapter]]\ntitle = "Lamps"\noutline = "They go out."\n'
    desk.book(BOOK.replace("chapters = 3", "chapters = 4\nthreshold = 50") + outline)
    desk.write(on_tripped="replan")
    state = desk.state
    assert (state.total_chapters, state.quality_threshold, state.retry_count) == (4, 50, 0)
    assert state.circuit_breaker == Breaker()
    assert "They go out." in desk.prompt()
    assert list(desk.folder_of_book.chapters.glob("chapter_1.md.half-*"))


def test_to_stop_leaves_everything_as_it_is(desk: BookBench) -> None:
    """The question stays open."""
    desk.write()
    desk.trips()
    desk.finish()
    before = desk.state
    desk.write(on_tripped="stop")
    assert desk.begun == []
    assert desk.finish() == 3
    assert desk.state.circuit_breaker == before.circuit_breaker
    assert len(desk.run.ledger.gates) == 1


@pytest.mark.parametrize("is_known", [True, False], ids=["asked", "cold"])
def test_a_tripped_breaker_is_asked_about_again(desk: BookBench, is_known: bool) -> None:
    """Whoever only starts it again has not said that it goes on: nothing is written, and the
    reasons and the question are told, whether Segue's memory is there or not."""
    desk.write()
    desk.trips()
    desk.finish()
    if not is_known:
        desk.close()
        for path in desk.root.glob(".segue/segue.db*"):
            path.unlink()
    for _again in range(2):
        before = desk.state
        desk.write(asks_if_tripped=True)
        assert desk.begun == []
        assert desk.told("breaker_tripped")[0]["reasons"] == ["too short"] * 3
        assert [gate["options"] for gate in desk.told("gate_opened")] == [list(CHOICES)]
        assert desk.finish() == 3
        assert len(desk.run.ledger.gates) == 1
        assert desk.state.circuit_breaker == before.circuit_breaker
        assert desk.state.pause_reason == before.pause_reason
    [gate] = desk.run.ledger.gates.values()
    desk.run.go_on_with(gate, "skip")
    desk.turn()
    assert desk.state.failed_chapters == (1,)
    assert desk.begun[-1].startswith("ch2.write.")


def test_a_breaker_that_another_tool_has_tripped_is_asked_about(desk: BookBench) -> None:
    """Its state says nothing but `triggered`; then it is as if it had tripped here."""
    reasons = ("flat", "flat")
    state = BookState(
        "night",
        3,
        ralph_active=True,
        can_resume=True,
        current_chapter=2,
        completed_chapters=(1,),
        circuit_breaker=Breaker(2, reasons, triggered=True),
    )
    desk.folder_of_book.chapters.mkdir()
    desk.folder_of_book.chapter(1).write_text("text")
    desk.folder_of_book.meta.mkdir()
    desk.folder_of_book.state_file.write_bytes(render(state))
    desk.write(asks_if_tripped=True)
    assert desk.begun == []
    assert "flat" in desk.told("gate_opened")[0]["text"]
    assert desk.finish() == 3
    assert pause_of(desk.state) is Pause.BREAKER
    desk.write()
    assert [step.rpartition(".")[0] for step in desk.begun] == ["ch2.write"]


def test_one_more_try_that_was_cut_off_goes_on(desk: BookBench) -> None:
    """Somebody has chosen it: after Ctrl-C it is not asked about again."""
    desk.write()
    desk.trips()
    desk.finish()
    desk.write()
    assert desk.stop_now() == 130
    assert desk.state.circuit_breaker.triggered
    desk.write(asks_if_tripped=True)
    assert [step.rpartition(".")[0] for step in desk.begun] == ["ch1.write"]


def test_an_answer_that_was_not_offered_skips_nothing(desk: BookBench) -> None:
    """The question stays open."""
    desk.write()
    desk.trips()
    gate = next(iter(desk.run.ledger.gates.values()))
    desk.run.go_on_with(gate, "whatever you like")
    desk.turn()
    assert gate.id in desk.run.ledger.gates
    assert desk.state.failed_chapters == ()
    desk.run.go_on_with(gate, "skip")
    desk.turn()
    assert desk.state.failed_chapters == (1,)


def test_a_choice_for_a_breaker_that_has_not_tripped_goes_on(desk: BookBench) -> None:
    """Nothing is skipped."""
    desk.write()
    desk.chapter(90)
    desk.write(on_tripped="skip")
    assert desk.state.failed_chapters == ()
    assert desk.begun == ["ch2.write.2"]


# Deaths


class DiedError(Exception):
    """Segue is killed."""


def test_a_verdict_that_only_the_tables_know_is_applied_once(
    desk: BookBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Segue died between its tables and the state: nothing is written or judged again."""
    desk.write()
    desk.writes()

    def die(*_rest: object) -> None:
        raise DiedError

    with monkeypatch.context() as dying:
        dying.setattr(BookFolder, "save", die)
        with pytest.raises(DiedError):
            desk.judges(50, "too short")
    desk.write()
    state = desk.state
    assert (state.tries, state.retry_count, state.iteration) == ({1: 1}, 1, 2)
    assert state.circuit_breaker.failure_count == 1
    assert desk.begun == ["ch1.write.2"]
    assert desk.wisdom.count("too short") == 1


def test_a_chapter_written_before_the_death_is_judged_after_it(desk: BookBench) -> None:
    """It is not written again."""
    desk.write()
    desk.writes("the text")
    desk.write()
    assert desk.begun == ["ch1.judge.1"]
    assert desk.target.read_text() == "the text"


def test_an_old_backup_is_brought_up_to_date_from_the_tables(desk: BookBench) -> None:
    """What was done after it is known there: no chapter is written twice."""
    desk.write()
    first = desk.folder_of_book.state_file.read_bytes()
    desk.chapter(50, 90)
    desk.chapter(90)
    desk.folder_of_book.state_file.write_bytes(first)
    desk.write()
    assert desk.state.completed_chapters == (1, 2)
    assert [step.rpartition(".")[0] for step in desk.begun] == ["ch3.write"]


def test_a_breaker_that_trips_while_it_is_made_good_asks_once(desk: BookBench) -> None:
    """Segue died before the state had it."""
    desk.write()
    for score in (50, 60):
        desk.writes()
        desk.judges(score, "too short")
    desk.writes()
    before = desk.folder_of_book.state_file.read_bytes()
    desk.judges(55, "too short")
    gates = list(desk.run.ledger.gates.values())
    for gate in gates:
        desk.run.ledger.close_gate(gate, None)
    desk.run.ledger.commit()
    desk.folder_of_book.state_file.write_bytes(before)
    desk.write()
    assert len(desk.told("gate_opened")) == 1
    assert desk.begun == []
    assert pause_of(desk.state) is Pause.BREAKER


def test_a_writer_that_lives_on_is_followed(desk: BookBench) -> None:
    """Its file is not moved away under its hands."""
    desk.write()
    desk.starts()
    job, target = desk.job, desk.target
    desk.turn()
    target.write_text("half")
    desk.became = {job: Alive()}
    desk.write()
    assert desk.begun == []
    assert target.read_text() == "half"
    assert desk.told("run_adopted")[0]["run"] == job


def test_half_a_chapter_is_kept_beside_the_new_draft(desk: BookBench) -> None:
    """Its writer was cut off: the draft begins again, and no text is lost."""
    desk.write()
    desk.starts()
    desk.target.write_text("half a chap")
    desk.turn()
    desk.write()
    assert desk.task == "ch1.write.1"
    assert not desk.target.exists()
    kept = list(desk.folder_of_book.chapters.iterdir())
    assert [path.read_text() for path in kept] == ["half a chap"]
    assert str(kept[0]) in desk.told("notice")[0]["text"]


def test_leftovers_of_a_killed_segue_are_swept_away(desk: BookBench) -> None:
    """Temporary files; nothing that has another name."""
    desk.write()
    meta = desk.folder_of_book.meta
    left = [meta / ".ralph-state.json.segue-123", meta / "backups" / ".ralph-state-1.json.segue-9"]
    mine = meta / ".notes"
    for path in (*left, mine):
        path.write_text("x")
    desk.write()
    assert [path.exists() for path in (*left, mine)] == [False, False, True]


# The state


def test_what_other_tools_write_during_the_run_is_kept(desk: BookBench) -> None:
    """Read again before each checkpoint; ours are ours."""
    desk.write()
    told = json.loads(desk.folder_of_book.state_file.read_bytes())
    told |= {"x_note": "hello", "iteration": 77}
    told["circuit_breaker"]["cooldown"] = 5
    desk.folder_of_book.state_file.write_text(json.dumps(told))
    desk.chapter(50)
    assert desk.state.more == {"x_note": "hello"}
    assert desk.state.circuit_breaker.more == {"cooldown": 5}
    assert desk.state.iteration == 2


def test_a_checkpoint_is_made_only_where_something_changed(desk: BookBench) -> None:
    """Turns of the loop alone write nothing."""
    desk.write()
    backups = desk.folder_of_book.backups_newest_first()
    for _number in range(5):
        desk.turn()
    assert desk.folder_of_book.backups_newest_first() == backups


def test_each_checkpoint_has_its_time(desk: BookBench) -> None:
    """And the start stays."""
    desk.write()
    first = desk.state
    desk.pass_s(60)
    desk.chapter(90)
    assert desk.state.started_at == first.started_at
    assert (desk.state.last_checkpoint or "") > (first.last_checkpoint or "")
    assert desk.state.last_updated == desk.state.last_checkpoint


def test_a_limit_stands_in_the_state_while_it_is_waited_for(desk: BookBench) -> None:
    """And costs no try; it is gone when the writer goes on."""
    desk.write()
    at = desk.clock.now() + timedelta(hours=1)
    desk.starts()
    desk.says(LimitHit("session_limit", at, text="limit"))
    desk.ends(1)
    state = desk.state
    assert pause_of(state) is Pause.LIMIT
    assert (state.ralph_active, state.tries, state.iteration) == (True, {}, 1)
    desk.pass_s(4000)
    assert desk.state.pause_reason is None
    assert desk.task == "ch1.write.1"
    assert len(desk.engine.begun) == 2


def test_a_parked_book_that_does_not_wait_ends_with_4_and_keeps_its_place(desk: BookBench) -> None:
    """The next start goes on in the same step."""
    desk.write(wait=False)
    desk.starts()
    desk.says(LimitHit("session_limit", desk.clock.now() + timedelta(hours=1), text="limit"))
    desk.ends(1)
    assert desk.finish() == 4
    state = desk.state
    assert (state.ralph_active, state.can_resume) == (False, True)
    assert pause_of(state) is Pause.LIMIT
    desk.clock.pass_s(4000)
    desk.write()
    assert desk.begun == ["ch1.write.1"]
    desk.writes()
    assert desk.task == "ch1.judge.1"


def test_a_question_of_the_writer_and_its_answer_become_wisdom(desk: BookBench) -> None:
    """The author's decisions are given to later chapters."""
    desk.write()
    desk.starts()
    desk.says(Asked("Does the dog die?", ("yes", "no"), None))
    desk.ends(0)
    assert pause_of(desk.state) is Pause.QUESTION
    gate = next(iter(desk.run.ledger.gates.values()))
    desk.run.go_on_with(gate, "no")
    desk.turn()
    assert "Does the dog die? → no" in desk.wisdom
    assert desk.state.pause_reason is None


def test_stopped_by_hand_the_place_is_kept(desk: BookBench) -> None:
    """Exit 130; the same step begins again."""
    desk.write()
    desk.starts()
    assert desk.stop_now() == 130
    state = desk.state
    assert (state.ralph_active, state.can_resume) == (False, True)
    assert pause_of(state) is Pause.INTERRUPTED
    desk.write()
    assert desk.begun == ["ch1.write.1"]
    assert desk.state.iteration == 1


def test_progress_is_counted_in_chapters(desk: BookBench) -> None:
    """Not in steps."""
    desk.write()
    desk.chapter(50, 90)
    assert desk.steps.progress(desk.run) == (1, 3)


def test_one_chapter_alone_ends_where_the_book_was(desk: BookBench) -> None:
    """Exit 0 when it is good; the others are still to be written."""
    desk.write(how=How.CHAPTER, chapter=2)
    assert desk.begun == ["ch2.write.1"]
    assert desk.state.mode == "write"
    desk.chapter(90)
    assert len(desk.engine.begun) == 2
    assert desk.finish() == 0
    state = desk.state
    assert (state.current_chapter, state.completed_chapters) == (1, (2,))
    assert (state.ralph_active, state.can_resume) == (False, True)


def test_the_steps_of_a_book_have_no_marks_to_edit(desk: BookBench) -> None:
    """Nobody changes them in a file, and there is nothing to sync."""
    run = desk.write()
    assert desk.steps.read() is False
    assert desk.steps.is_broken is False
    assert desk.steps.task("ch1.write.1").title == "Chapter 1"
    assert desk.steps.edit("ch1.write.1", TaskEdit(error="none")) is None
    desk.steps.sync()
    assert run.file.kind == "book"


# Somebody else writes


def test_the_writer_returns_after_its_limit_while_somebody_else_wrote(desk: BookBench) -> None:
    """Its first draft after the reset shows that the limit is over; then that draft is judged."""
    mate = 'fallback = "mate"\nfallback_after = "30m"\n'
    settings = SETTINGS.replace('["./writer"]\n', f'["./writer"]\n{mate}')
    desk.program("mate")
    desk.settings(settings + '[agents.mate]\nkind = "command"\ncommand = ["./mate"]\n')
    desk.write()
    desk.starts()
    desk.says(LimitHit("session_limit", desk.clock.now() + timedelta(hours=1), text="limit"))
    desk.ends(1)
    assert (desk.task, desk.attempt.run.agent) == ("ch1.write.1", "mate")
    desk.chapter(90)
    assert (desk.task, desk.attempt.run.agent) == ("ch2.write.2", "mate")
    desk.writes()
    desk.clock.pass_s(7200)
    desk.judges(90)
    assert (desk.task, desk.attempt.run.agent) == ("ch3.write.3", "writer")
    desk.writes()
    assert desk.task == "ch3.judge.3"
    desk.judges(90)
    assert desk.finish() == 0
