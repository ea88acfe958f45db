"""A book as a plan of steps: a draft, its judgement, a revision; each once, whatever dies."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from kit.book_bench import BOOK, SETTINGS, BookBench
from segue.core.book import BookState, Breaker, Pause, pause_of
from segue.dialects.events import Asked, LimitHit
from segue.engine.executors import Alive
from segue.engine.plan.beginning import go_on_with
from segue.plans.book_state import render
from segue.plans.task_edit import TaskEdit
from segue.work.book.folder import BookFolder
from segue.work.book.steps import CHOICES
from segue.work.book.writing import How
from segue.work.project import Project

# One after the other


def test_a_draft_begins_only_when_the_state_says_so(bench: BookBench) -> None:
    """Before the writer's process there is a state with this chapter and this write."""
    seen = []
    bench.at_begin = lambda: seen.append(bench.state)
    bench.write()
    (state,) = seen
    assert bench.begun == ["ch1.write.1"]
    assert (state.ralph_active, state.can_resume, state.mode) == (True, True, "write-all")
    assert (state.current_chapter, state.iteration, state.project_id) == (1, 1, "The long night")
    assert (state.total_chapters, state.total_acts, state.quality_threshold) == (3, 2, 80)


def test_the_writer_is_told_its_file_in_words_and_by_variable(bench: BookBench) -> None:
    """And its chapter's number."""
    bench.write()
    target = bench.root / "chapters" / "chapter_1.md"
    assert str(target) in bench.prompt()
    assert bench.now.env["SEGUE_TARGET"] == str(target)
    assert bench.now.env["SEGUE_CHAPTER"] == "1"
    assert bench.now.cwd == bench.root


def test_the_judge_command_gets_the_path_as_its_last_argument(bench: BookBench) -> None:
    """Behind its own arguments; the writer's word is not asked for."""
    bench.write()
    bench.writes()
    assert bench.task == "ch1.judge.1"
    assert bench.now.argv[-2:] == ("--strict", str(bench.root / "chapters" / "chapter_1.md"))


def test_an_accepted_chapter_leads_to_the_next(bench: BookBench) -> None:
    """With its summary in the next prompt."""
    bench.write()
    bench.writes(summary="A lamp goes out.")
    bench.judges(80)
    assert bench.state.completed_chapters == (1,)
    assert bench.task == "ch2.write.2"
    assert "A lamp goes out." in bench.prompt()


def test_a_rejected_chapter_is_revised_with_the_judges_reasons(bench: BookBench) -> None:
    """And with its score; the draft that is revised is kept."""
    bench.write()
    bench.writes("first draft")
    bench.judges(61, "too short", "no dog")
    assert bench.task == "ch1.write.2"
    for text in ("- too short", "- no dog", "61 of 100", "it needs 80"):
        assert text in bench.prompt()
    assert bench.target.read_text() == "first draft"
    kept = list(bench.folder_of_book.drafts.iterdir())
    assert [path.read_text() for path in kept] == ["first draft"]


def test_reasons_of_a_rejection_reach_later_chapters(bench: BookBench) -> None:
    """As wisdom; those of an acceptance do not."""
    bench.write()
    bench.chapter(50)
    bench.writes()
    bench.judges(90, "a little dull")
    assert bench.task == "ch2.write.3"
    assert "reason of ch1.judge.1 for 50" in bench.prompt()
    assert "a little dull" not in bench.wisdom


def test_the_summaries_of_the_last_three_chapters_are_told(bench: BookBench) -> None:
    """The newest word of each counts; of a chapter with none, how it reads."""
    bench.book(BOOK.replace("chapters = 3", "chapters = 5"))
    bench.write()
    bench.writes(summary="one, at first")
    bench.judges(50, "x")
    bench.writes(summary="one, revised")
    bench.judges(90)
    bench.writes("Text of two.")
    bench.judges(90)
    assert "one, revised" in bench.prompt()
    assert "one, at first" not in bench.prompt()
    assert "Text of two." in bench.prompt()
    bench.writes(summary="three")
    bench.judges(90)
    bench.writes(summary="four")
    bench.judges(90)
    assert "one, revised" not in bench.prompt()
    assert "four" in bench.prompt()


def test_the_whole_book_ends_well(bench: BookBench) -> None:
    """Exit 0, completed, nothing to resume."""
    bench.write()
    bench.chapter(90)
    bench.chapter(90)
    bench.chapter(95)
    assert bench.finish() == 0
    state = bench.state
    assert state.completed_at is not None
    assert (state.ralph_active, state.can_resume) == (False, False)
    assert bench.told("finished")[0]["completed"] == [1, 2, 3]


def test_four_writes_then_the_chapter_has_failed_and_the_book_ends_with_1(bench: BookBench) -> None:
    """The other chapters are written all the same."""
    bench.write()
    bench.chapter(50, 60, 55, 58)
    assert bench.told("chapter_failed")[0]["chapter"] == 1
    bench.chapter(90)
    bench.chapter(90)
    assert bench.finish() == 1
    assert bench.state.failed_chapters == (1,)
    assert bench.state.completed_at is None


# Writers that fail


def test_a_writer_that_fails_before_any_judgement_is_told_why(bench: BookBench) -> None:
    """There is no score to tell."""
    bench.write()
    bench.fails(3)
    assert bench.task == "ch1.write.2"
    assert "exit code 3" in bench.prompt()
    assert "The judge scored it" not in bench.prompt()


def test_a_writer_that_ends_well_without_a_file_has_failed(bench: BookBench) -> None:
    """An empty file is none, either."""
    bench.write()
    bench.starts()
    bench.ends(0)
    assert bench.state.tries == {1: 1}
    assert "did not write chapters/chapter_1.md" in (bench.state.last_error or "")
    bench.target.write_text(" \n")
    bench.starts()
    bench.ends(0)
    assert bench.state.tries == {1: 2}
    assert bench.state.quality_scores == {}


def test_a_failed_revision_still_knows_the_judges_reasons(bench: BookBench) -> None:
    """They have not been met yet."""
    bench.write()
    bench.writes()
    bench.judges(50, "too short")
    bench.fails()
    assert bench.task == "ch1.write.3"
    assert "- too short" in bench.prompt()


def test_three_writers_that_fail_alike_trip_the_breaker(bench: BookBench) -> None:
    """A failure for the same reason is one, whoever fails."""
    bench.write()
    for _number in range(3):
        bench.fails(3)
    assert pause_of(bench.state) is Pause.BREAKER
    assert bench.finish() == 3


# Judges that fail


@pytest.mark.parametrize(
    ("text", "code"),
    [("I like it.", 0), ('{"score": 101}', 0), ('{"score": "good"}', 0), ('{"score": 90}', 7)],
)
def test_a_judge_that_gives_no_verdict_is_tried_again_and_then_paused(
    bench: BookBench, text: str, code: int
) -> None:
    """Never counted as the writer's; the text is judged when it goes on, not written again."""
    bench.write()
    bench.writes("the text")
    for _number in range(3):
        bench.prints(text, code)
    state = bench.state
    assert pause_of(state) is Pause.JUDGE
    assert (state.tries, state.circuit_breaker, state.failed_chapters) == ({}, Breaker(), ())
    assert bench.finish() == 3
    bench.write()
    assert bench.begun == ["ch1.judge.2"]
    assert bench.target.read_text() == "the text"
    bench.judges(90)
    assert bench.state.completed_chapters == (1,)
    assert bench.state.iteration == 2


def test_a_judge_that_is_an_agent_gets_a_prompt_of_its_own(bench: BookBench) -> None:
    """With the file, the threshold and the shape of its answer."""
    bench.book(BOOK.replace('judge_command = ["./judge", "--strict"]', 'judge = "editor"'))
    bench.write()
    bench.writes()
    assert bench.now.argv[0].endswith("editor")
    for text in ("You are the judge", str(bench.target), "80 of 100", '{"score": 0-100'):
        assert text in bench.prompt()


def test_the_last_object_that_a_judge_prints_counts(bench: BookBench) -> None:
    """Whatever was said before it."""
    bench.write()
    bench.writes()
    bench.prints('First I thought {"score": 10}. But:\n{"score": 88, "reasons": []}\nDone.')
    assert bench.state.quality_scores == {1: 88}


# The circuit breaker


def test_a_tripped_breaker_asks_and_waits(bench: BookBench) -> None:
    """The chapter stays current; the question has the four choices; exit 3."""
    bench.write()
    bench.trips()
    gate = bench.told("gate_opened")[0]
    assert gate["options"] == list(CHOICES)
    assert bench.told("breaker_tripped")[0]["cause"] == "same_reason"
    state = bench.state
    assert (state.current_chapter, state.ralph_active, state.can_resume) == (1, False, True)
    assert len(bench.engine.begun) == 6
    assert bench.finish() == 3


def test_going_on_after_a_trip_is_one_more_try(bench: BookBench) -> None:
    """The question is closed, the causes are told to the writer, the same fault trips again."""
    bench.write()
    bench.trips()
    bench.finish()
    bench.write()
    assert bench.run.ledger.gates == {}
    assert "too short" in bench.prompt()
    bench.writes()
    bench.judges(58, "Too short")
    assert pause_of(bench.state) is Pause.BREAKER
    assert len(bench.told("gate_opened")) == 1


@pytest.mark.parametrize("is_known", [True, False], ids=["asked", "cold"])
def test_skipping_puts_a_placeholder_and_keeps_the_text(bench: BookBench, is_known: bool) -> None:
    """Also where Segue's memory is gone: the state says that it is tripped."""
    bench.write()
    bench.trips()
    bench.finish()
    if not is_known:
        bench.close()
        for path in Project(bench.root).state.glob("segue.db*"):
            path.unlink()
    bench.write(on_tripped="skip")
    assert bench.state.failed_chapters == (1,)
    assert bench.begun[-1].startswith("ch2.write.")
    chapters = bench.folder_of_book.chapters
    assert "skipped" in (chapters / "chapter_1.md").read_text()
    kept = [path for path in chapters.iterdir() if ".half-" in path.name]
    assert [path.read_text() for path in kept] == ["It was night."]
    assert "skip" in bench.wisdom
    assert not bench.state.circuit_breaker.triggered


def test_a_chapter_edited_by_hand_is_judged_as_it_is(bench: BookBench) -> None:
    """No byte of it is touched."""
    bench.write()
    bench.trips()
    bench.finish()
    path = bench.root / "chapters" / "chapter_1.md"
    path.write_text("by hand")
    bench.write(on_tripped="edit")
    assert [step.split(".")[1] for step in bench.begun] == ["judge"]
    bench.judges(90)
    assert path.read_text() == "by hand"
    assert bench.state.completed_chapters == (1,)


def test_a_new_plan_writes_the_chapter_afresh(bench: BookBench) -> None:
    """With book.toml as it is now; the old text is kept beside it."""
    bench.write()
    bench.trips()
    bench.finish()
    outline = '[[chapter]]\ntitle = "Lamps"\noutline = "They go out."\n'
    bench.book(BOOK.replace("chapters = 3", "chapters = 4\nthreshold = 50") + outline)
    bench.write(on_tripped="replan")
    state = bench.state
    assert (state.total_chapters, state.quality_threshold, state.retry_count) == (4, 50, 0)
    assert state.circuit_breaker == Breaker()
    assert "They go out." in bench.prompt()
    assert list(bench.folder_of_book.chapters.glob("chapter_1.md.half-*"))


def test_to_stop_leaves_everything_as_it_is(bench: BookBench) -> None:
    """The question stays open."""
    bench.write()
    bench.trips()
    bench.finish()
    before = bench.state
    bench.write(on_tripped="stop")
    assert bench.begun == []
    assert bench.finish() == 3
    assert bench.state.circuit_breaker == before.circuit_breaker
    assert len(bench.run.ledger.gates) == 1


@pytest.mark.parametrize("is_known", [True, False], ids=["asked", "cold"])
def test_a_tripped_breaker_is_asked_about_again(bench: BookBench, is_known: bool) -> None:
    """Whoever only starts it again has not said that it goes on: nothing is written, and the
    reasons and the question are told, whether Segue's memory is there or not."""
    bench.write()
    bench.trips()
    bench.finish()
    if not is_known:
        bench.close()
        for path in Project(bench.root).state.glob("segue.db*"):
            path.unlink()
    for _again in range(2):
        before = bench.state
        bench.write(asks_if_tripped=True)
        assert bench.begun == []
        assert bench.told("breaker_tripped")[0]["reasons"] == ["too short"] * 3
        assert [gate["options"] for gate in bench.told("gate_opened")] == [list(CHOICES)]
        assert bench.finish() == 3
        assert len(bench.run.ledger.gates) == 1
        assert bench.state.circuit_breaker == before.circuit_breaker
        assert bench.state.pause_reason == before.pause_reason
    [gate] = bench.run.ledger.gates.values()
    go_on_with(bench.run, gate, "skip")
    bench.turn()
    assert bench.state.failed_chapters == (1,)
    assert bench.begun[-1].startswith("ch2.write.")


def test_a_breaker_that_another_tool_has_tripped_is_asked_about(bench: BookBench) -> None:
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
    bench.folder_of_book.chapters.mkdir()
    bench.folder_of_book.chapter(1).write_text("text")
    bench.folder_of_book.meta.mkdir()
    bench.folder_of_book.state_file.write_bytes(render(state))
    bench.write(asks_if_tripped=True)
    assert bench.begun == []
    assert "flat" in bench.told("gate_opened")[0]["text"]
    assert bench.finish() == 3
    assert pause_of(bench.state) is Pause.BREAKER
    bench.write()
    assert [step.rpartition(".")[0] for step in bench.begun] == ["ch2.write"]


def test_one_more_try_that_was_cut_off_goes_on(bench: BookBench) -> None:
    """Somebody has chosen it: after Ctrl-C it is not asked about again."""
    bench.write()
    bench.trips()
    bench.finish()
    bench.write()
    assert bench.stop_now() == 130
    assert bench.state.circuit_breaker.triggered
    bench.write(asks_if_tripped=True)
    assert [step.rpartition(".")[0] for step in bench.begun] == ["ch1.write"]


def test_an_answer_that_was_not_offered_skips_nothing(bench: BookBench) -> None:
    """The question stays open."""
    bench.write()
    bench.trips()
    gate = next(iter(bench.run.ledger.gates.values()))
    go_on_with(bench.run, gate, "whatever you like")
    bench.turn()
    assert gate.id in bench.run.ledger.gates
    assert bench.state.failed_chapters == ()
    go_on_with(bench.run, gate, "skip")
    bench.turn()
    assert bench.state.failed_chapters == (1,)


def test_a_choice_for_a_breaker_that_has_not_tripped_goes_on(bench: BookBench) -> None:
    """Nothing is skipped."""
    bench.write()
    bench.chapter(90)
    bench.write(on_tripped="skip")
    assert bench.state.failed_chapters == ()
    assert bench.begun == ["ch2.write.2"]


# Deaths


class DiedError(Exception):
    """Segue is killed."""


def test_a_verdict_that_only_the_tables_know_is_applied_once(
    bench: BookBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Segue died between its tables and the state: nothing is written or judged again."""
    bench.write()
    bench.writes()

    def die(*_rest: object) -> None:
        raise DiedError

    with monkeypatch.context() as dying:
        dying.setattr(BookFolder, "save", die)
        with pytest.raises(DiedError):
            bench.judges(50, "too short")
    bench.write()
    state = bench.state
    assert (state.tries, state.retry_count, state.iteration) == ({1: 1}, 1, 2)
    assert state.circuit_breaker.failure_count == 1
    assert bench.begun == ["ch1.write.2"]
    assert bench.wisdom.count("too short") == 1


def test_a_chapter_written_before_the_death_is_judged_after_it(bench: BookBench) -> None:
    """It is not written again."""
    bench.write()
    bench.writes("the text")
    bench.write()
    assert bench.begun == ["ch1.judge.1"]
    assert bench.target.read_text() == "the text"


def test_an_old_backup_is_brought_up_to_date_from_the_tables(bench: BookBench) -> None:
    """What was done after it is known there: no chapter is written twice."""
    bench.write()
    first = bench.folder_of_book.state_file.read_bytes()
    bench.chapter(50, 90)
    bench.chapter(90)
    bench.folder_of_book.state_file.write_bytes(first)
    bench.write()
    assert bench.state.completed_chapters == (1, 2)
    assert [step.rpartition(".")[0] for step in bench.begun] == ["ch3.write"]


def test_a_breaker_that_trips_while_it_is_made_good_asks_once(bench: BookBench) -> None:
    """Segue died before the state had it."""
    bench.write()
    for score in (50, 60):
        bench.writes()
        bench.judges(score, "too short")
    bench.writes()
    before = bench.folder_of_book.state_file.read_bytes()
    bench.judges(55, "too short")
    gates = list(bench.run.ledger.gates.values())
    for gate in gates:
        bench.run.ledger.close_gate(gate, None)
    bench.run.ledger.commit()
    bench.folder_of_book.state_file.write_bytes(before)
    bench.write()
    assert len(bench.told("gate_opened")) == 1
    assert bench.begun == []
    assert pause_of(bench.state) is Pause.BREAKER


def test_a_writer_that_lives_on_is_followed(bench: BookBench) -> None:
    """Its file is not moved away under its hands."""
    bench.write()
    bench.starts()
    job, target = bench.job, bench.target
    bench.turn()
    target.write_text("half")
    bench.became = {job: Alive()}
    bench.write()
    assert bench.begun == []
    assert target.read_text() == "half"
    assert bench.told("run_adopted")[0]["run"] == job


def test_half_a_chapter_is_kept_beside_the_new_draft(bench: BookBench) -> None:
    """Its writer was cut off: the draft begins again, and no text is lost."""
    bench.write()
    bench.starts()
    bench.target.write_text("half a chap")
    bench.turn()
    bench.write()
    assert bench.task == "ch1.write.1"
    assert not bench.target.exists()
    kept = list(bench.folder_of_book.chapters.iterdir())
    assert [path.read_text() for path in kept] == ["half a chap"]
    assert str(kept[0]) in bench.told("notice")[0]["text"]


def test_leftovers_of_a_killed_segue_are_swept_away(bench: BookBench) -> None:
    """Temporary files; nothing that has another name."""
    bench.write()
    meta = bench.folder_of_book.meta
    left = [meta / ".ralph-state.json.segue-123", meta / "backups" / ".ralph-state-1.json.segue-9"]
    mine = meta / ".notes"
    for path in (*left, mine):
        path.write_text("x")
    bench.write()
    assert [path.exists() for path in (*left, mine)] == [False, False, True]


# The state


def test_what_other_tools_write_during_the_run_is_kept(bench: BookBench) -> None:
    """Read again before each checkpoint; ours are ours."""
    bench.write()
    told = json.loads(bench.folder_of_book.state_file.read_bytes())
    told |= {"x_note": "hello", "iteration": 77}
    told["circuit_breaker"]["cooldown"] = 5
    bench.folder_of_book.state_file.write_text(json.dumps(told))
    bench.chapter(50)
    assert bench.state.more == {"x_note": "hello"}
    assert bench.state.circuit_breaker.more == {"cooldown": 5}
    assert bench.state.iteration == 2


def test_a_checkpoint_is_made_only_where_something_changed(bench: BookBench) -> None:
    """Turns of the loop alone write nothing."""
    bench.write()
    backups = bench.folder_of_book.backups_newest_first()
    for _number in range(5):
        bench.turn()
    assert bench.folder_of_book.backups_newest_first() == backups


def test_each_checkpoint_has_its_time(bench: BookBench) -> None:
    """And the start stays."""
    bench.write()
    first = bench.state
    bench.pass_s(60)
    bench.chapter(90)
    assert bench.state.started_at == first.started_at
    assert (bench.state.last_checkpoint or "") > (first.last_checkpoint or "")
    assert bench.state.last_updated == bench.state.last_checkpoint


def test_a_limit_stands_in_the_state_while_it_is_waited_for(bench: BookBench) -> None:
    """And costs no try; it is gone when the writer goes on."""
    bench.write()
    at = bench.clock.now() + timedelta(hours=1)
    bench.starts()
    bench.says(LimitHit("session_limit", at, text="limit"))
    bench.ends(1)
    state = bench.state
    assert pause_of(state) is Pause.LIMIT
    assert (state.ralph_active, state.tries, state.iteration) == (True, {}, 1)
    bench.pass_s(4000)
    assert bench.state.pause_reason is None
    assert bench.task == "ch1.write.1"
    assert len(bench.engine.begun) == 2


def test_a_parked_book_that_does_not_wait_ends_with_4_and_keeps_its_place(bench: BookBench) -> None:
    """The next start goes on in the same step."""
    bench.write(wait=False)
    bench.starts()
    bench.says(LimitHit("session_limit", bench.clock.now() + timedelta(hours=1), text="limit"))
    bench.ends(1)
    assert bench.finish() == 4
    state = bench.state
    assert (state.ralph_active, state.can_resume) == (False, True)
    assert pause_of(state) is Pause.LIMIT
    bench.clock.pass_s(4000)
    bench.write()
    assert bench.begun == ["ch1.write.1"]
    bench.writes()
    assert bench.task == "ch1.judge.1"


def test_a_question_of_the_writer_and_its_answer_become_wisdom(bench: BookBench) -> None:
    """The author's decisions are given to later chapters."""
    bench.write()
    bench.starts()
    bench.says(Asked("Does the dog die?", ("yes", "no"), None))
    bench.ends(0)
    assert pause_of(bench.state) is Pause.QUESTION
    gate = next(iter(bench.run.ledger.gates.values()))
    go_on_with(bench.run, gate, "no")
    bench.turn()
    assert "Does the dog die? → no" in bench.wisdom
    assert bench.state.pause_reason is None


def test_stopped_by_hand_the_place_is_kept(bench: BookBench) -> None:
    """Exit 130; the same step begins again."""
    bench.write()
    bench.starts()
    assert bench.stop_now() == 130
    state = bench.state
    assert (state.ralph_active, state.can_resume) == (False, True)
    assert pause_of(state) is Pause.INTERRUPTED
    bench.write()
    assert bench.begun == ["ch1.write.1"]
    assert bench.state.iteration == 1


def test_progress_is_counted_in_chapters(bench: BookBench) -> None:
    """Not in steps."""
    bench.write()
    bench.chapter(50, 90)
    assert bench.steps.progress(bench.run) == (1, 3)


def test_one_chapter_alone_ends_where_the_book_was(bench: BookBench) -> None:
    """Exit 0 when it is good; the others are still to be written."""
    bench.write(how=How.CHAPTER, chapter=2)
    assert bench.begun == ["ch2.write.1"]
    assert bench.state.mode == "write"
    bench.chapter(90)
    assert len(bench.engine.begun) == 2
    assert bench.finish() == 0
    state = bench.state
    assert (state.current_chapter, state.completed_chapters) == (1, (2,))
    assert (state.ralph_active, state.can_resume) == (False, True)


def test_the_steps_of_a_book_have_no_marks_to_edit(bench: BookBench) -> None:
    """Nobody changes them in a file, and there is nothing to sync."""
    run = bench.write()
    assert bench.steps.read() is False
    assert bench.steps.is_broken is False
    assert bench.steps.task("ch1.write.1").title == "Chapter 1"
    assert bench.steps.edit("ch1.write.1", TaskEdit(error="none")) is None
    bench.steps.sync()
    assert run.file.kind == "book"


# Somebody else writes


def test_the_writer_returns_after_its_limit_while_somebody_else_wrote(bench: BookBench) -> None:
    """Its first draft after the reset shows that the limit is over; then that draft is judged."""
    mate = 'fallback = "mate"\nfallback_after = "30m"\n'
    settings = SETTINGS.replace('["./writer"]\n', f'["./writer"]\n{mate}')
    bench.program("mate")
    bench.settings(settings + '[agents.mate]\nkind = "command"\ncommand = ["./mate"]\n')
    bench.write()
    bench.starts()
    bench.says(LimitHit("session_limit", bench.clock.now() + timedelta(hours=1), text="limit"))
    bench.ends(1)
    assert (bench.task, bench.attempt.run.agent) == ("ch1.write.1", "mate")
    bench.chapter(90)
    assert (bench.task, bench.attempt.run.agent) == ("ch2.write.2", "mate")
    bench.writes()
    bench.clock.pass_s(7200)
    bench.judges(90)
    assert (bench.task, bench.attempt.run.agent) == ("ch3.write.3", "writer")
    bench.writes()
    assert bench.task == "ch3.judge.3"
    bench.judges(90)
    assert bench.finish() == 0
