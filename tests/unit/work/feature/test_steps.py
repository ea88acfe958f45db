"""A feature as a plan of steps: phases in order, checkpoints in a loop, one write for a boundary."""

from __future__ import annotations

from datetime import timedelta

import pytest

from kit.bench import CLAUDE
from kit.feature_bench import APART, TOGETHER, FeatureBench
from segue import i18n
from segue.core.develop import Phase, Strategy
from segue.dialects.events import LimitHit, Opened
from segue.engine.executors import Ended, Heard, Started
from segue.errors import UserError
from segue.work.overview import look
from segue.work.project import Project

CHAIN = """\
- {id: cp-1, description: The store, validate: check store, files: [store.py]}
- {id: cp-2, description: The page, validate: check page, files: [page.py], depends: [cp-1]}
- {id: cp-3, description: The guide, validate: check guide, files: [guide.md]}
"""

# The phases


def test_a_new_feature_begins_with_its_design(bench: FeatureBench) -> None:
    """The state is there before the agent is."""
    bench.develop()
    assert bench.begun_tasks == ["design"]
    assert (bench.state.phase, bench.state.feature) == (Phase.DESIGN, "real-time chat")
    assert bench.job_of("design").env["SEGUE_PHASE"] == "DESIGN"
    assert bench.job_of("design").env["SEGUE_TARGET"] == str(bench.steps.design)
    assert bench.job_of("design").cwd == bench.root


def test_all_phases_lead_to_done(bench: FeatureBench) -> None:
    """Design, review, checkpoints, all validations on the whole, merge."""
    bench.to_implement()
    bench.passes("cp-1", "cp-2")
    assert bench.state.phase is Phase.MERGE
    bench.ends_well("check")
    bench.passes("merge")
    assert bench.begun_tasks == ["design", "review", "cp-1", "cp-2", "check", "merge"]
    assert bench.state.phase is Phase.DONE
    assert bench.marks == {"cp-1": ("passed", 1), "cp-2": ("passed", 1)}
    assert bench.finish() == 0


def test_the_state_is_written_at_boundaries_only(bench: FeatureBench) -> None:
    """Five phases; begin and pass of each checkpoint, and one for each failed iteration."""
    bench.to_implement()
    before_cp = len(bench.saved)
    assert before_cp == 3 + 2  # DESIGN, REVIEW, IMPLEMENT; both begin
    bench.fails("cp-1")
    assert len(bench.saved) == before_cp + 1
    bench.passes("cp-1", "cp-2")
    bench.ends_well("check")
    bench.passes("merge")
    assert len(bench.saved) == before_cp + 1 + 2 + 2  # both pass; MERGE, DONE
    assert len(set(bench.saved)) == len(bench.saved)


def test_a_design_that_is_not_there_is_none(bench: FeatureBench) -> None:
    """An agent that only talks is told what is missing."""
    bench.develop()
    bench.ends_well("design")
    assert bench.state.phase is Phase.DESIGN
    assert "docs/design/real-time-chat.md" in bench.told("task_retrying")[-1]["error"]
    assert "docs/design/real-time-chat.md" in bench.told_to("design")


def test_wrong_checkpoints_go_back_three_times(bench: FeatureBench) -> None:
    """With the reason; then the phase has failed, and a later run begins it again."""
    bench.develop()
    bench.designs()
    for time in range(4):
        assert ("has no `validate`" in bench.told_to("review")) == bool(time)
        bench.reviews("- {id: cp-1}\n")
    assert bench.is_over
    assert bench.finish() == 1
    assert bench.begun_tasks.count("review") == 4
    bench.develop(None)
    bench.reviews()
    assert bench.state.phase is Phase.IMPLEMENT


def test_a_checkpoint_that_another_one_broke_goes_back(bench: FeatureBench) -> None:
    """Before any merge work: with its next iteration, told what its validation printed."""
    bench.to_implement()
    bench.passes("cp-1", "cp-2")
    written = len(bench.saved)
    bench.says_failed(
        "cp-2", output="== cp-1: check store\nfine\n== cp-2: check page\nTHEY CLASH\n\n"
    )
    assert bench.state.phase is Phase.IMPLEMENT
    assert bench.marks == {"cp-1": ("passed", 1), "cp-2": ("in_progress", 2)}
    assert len(bench.saved) == written + 1
    assert bench.running == ["cp-2"]
    assert "THEY CLASH" in bench.told_to("cp-2") and "fine" not in bench.told_to("cp-2")
    assert bench.job_of("cp-2").env["SEGUE_ITERATION"] == "2"
    bench.passes("cp-2")
    bench.ends_well("check")
    bench.passes("merge")
    assert bench.begun_tasks[-5:] == ["cp-2", "check", "cp-2", "check", "merge"]
    assert bench.finish() == 0


def test_a_checkpoint_that_is_broken_again_and_again_escalates(bench: FeatureBench) -> None:
    """After its third iteration a person is asked; nothing was merged."""
    bench.to_implement()
    bench.passes("cp-1", "cp-2")
    for _time in range(2):
        bench.says_failed("cp-1")
        bench.passes("cp-1")
    bench.says_failed("cp-1", output="THEY CLASH\n")
    assert bench.marks["cp-1"] == ("escalated", 3)
    assert bench.is_over
    (gate,) = bench.told("gate_opened")
    assert "cp-1" in gate["text"] and "THEY CLASH" in gate["text"]
    assert "merge" not in bench.begun_tasks
    assert bench.finish() == 3
    bench.answers("skip")
    assert "check store" not in bench.job_of("check").argv[-1]


def test_going_back_survives_a_death_before_its_write(bench: FeatureBench) -> None:
    """The tables know whose work it is; the count is that of the next iteration."""
    bench.to_implement()
    bench.passes("cp-1", "cp-2")
    before = bench.place.state_file.read_bytes()
    bench.says_failed("cp-2")
    bench.place.state_file.write_bytes(before)
    bench.forget_mark("cp-2", "completed")
    bench.develop(None)
    assert bench.begun_tasks == ["cp-2"]
    assert bench.marks["cp-2"] == ("in_progress", 2)


def test_going_back_needs_no_memory(bench: FeatureBench) -> None:
    """The file alone says it."""
    bench.to_implement()
    bench.passes("cp-1", "cp-2")
    bench.says_failed("cp-2")
    bench.lose_memory()
    bench.develop(None)
    assert bench.begun_tasks == ["cp-2"]
    assert bench.job_of("cp-2").env["SEGUE_ITERATION"] == "2"


def test_validations_that_could_not_be_run_are_nobodys_failure(bench: FeatureBench) -> None:
    """Killed before they ended: the phase has failed, no checkpoint has; the next start runs them."""
    bench.to_implement()
    bench.passes("cp-1", "cp-2")
    bench.happens(Ended(bench.attempt_of("check").run.id, None, signal=9))
    assert bench.is_over
    assert bench.state.phase is Phase.MERGE
    assert bench.finish() == 1
    bench.develop(None)
    assert bench.begun_tasks == ["check"]
    assert bench.marks == {"cp-1": ("passed", 1), "cp-2": ("passed", 1)}


# The loop


def test_a_checkpoint_is_told_what_it_is(bench: FeatureBench) -> None:
    """Its id and iteration by variable, all of it in words."""
    bench.to_implement()
    env = bench.job_of("cp-1").env
    assert (env["SEGUE_CHECKPOINT"], env["SEGUE_ITERATION"]) == ("cp-1", "1")
    for text in ("real-time chat", "The store", "check store", "- store.py", "iteration 1 of 3"):
        assert text in bench.told_to("cp-1")
    assert "page.py" not in bench.told_to("cp-1")


def test_a_failed_validation_is_handed_over(bench: FeatureBench) -> None:
    """To the next iteration, which the file, the prompt and the environment count alike."""
    bench.to_implement()
    bench.fails("cp-1")
    assert bench.marks["cp-1"] == ("in_progress", 2)
    assert bench.job_of("cp-1").env["SEGUE_ITERATION"] == "2"
    assert "iteration 2 of 3" in bench.told_to("cp-1")
    assert "it is not there" in bench.told_to("cp-1")


def test_a_check_leaves_nothing_that_a_later_one_would_run(bench: FeatureBench) -> None:
    """Python would take what it compiled for a file that was written twice within a second."""
    bench.to_implement()
    bench.ends_well("cp-1")
    check = bench.engine.jobs[bench.attempt_of("cp-1").run.verify_job or ""]
    assert check.env["PYTHONDONTWRITEBYTECODE"] == "1"
    assert "PYTHONDONTWRITEBYTECODE" not in bench.job_of("cp-2").env
    bench.validated("cp-1")
    bench.passes("cp-2")
    assert bench.job_of("check").env["PYTHONDONTWRITEBYTECODE"] == "1"


def test_the_word_of_an_agent_is_no_pass(bench: FeatureBench) -> None:
    """What Segue ran itself counts."""
    bench.to_implement()
    bench.ends_well("cp-1")
    assert bench.marks["cp-1"] == ("in_progress", 1)
    bench.validated("cp-1")
    assert bench.marks["cp-1"] == ("passed", 1)


def test_the_third_failure_escalates_and_the_others_go_on(bench: FeatureBench) -> None:
    """What depends on it waits; then a person is asked, once."""
    bench.to_implement(CHAIN)
    bench.fails("cp-1", 3)
    assert bench.marks["cp-1"] == ("escalated", 3)
    assert bench.running == ["cp-3"]
    assert bench.told("gate_opened") == []
    bench.passes("cp-3")
    (gate,) = bench.told("gate_opened")
    assert "cp-1 failed after" in gate["text"]
    assert gate["options"] == ["retry", "edit", "skip", "stop"]
    assert bench.marks["cp-2"] == ("pending", 0)
    assert bench.is_over
    assert bench.finish() == 3


def test_a_question_is_shown_in_the_language_of_whoever_looks(bench: FeatureBench) -> None:
    """Opened in Korean: status shows it in English, and so does the run that asks again."""
    i18n.use("ko")
    try:
        bench.to_implement(APART.splitlines(keepends=True)[0])
        bench.fails("cp-1", 3)
        assert "failed after" not in bench.told("gate_opened")[-1]["text"]
    finally:
        i18n.use("en")
    (gate,) = look(bench.root)[0].gates
    assert "cp-1 failed after 3 attempts.\n" in gate["text"]
    assert "it is not there" in gate["text"]
    bench.develop(None)
    assert [one.text for one in bench.run.ledger.gates.values()] == [gate["text"]]


def test_retry_begins_at_one(bench: FeatureBench) -> None:
    """With three new iterations; what waited for it goes on after its pass."""
    bench.to_implement(CHAIN)
    bench.passes("cp-3")
    bench.fails("cp-1", 3)
    bench.answers("retry")
    assert bench.marks["cp-1"] == ("in_progress", 1)
    assert bench.job_of("cp-1").env["SEGUE_ITERATION"] == "1"
    bench.passes("cp-1", "cp-2")
    assert bench.state.phase is Phase.MERGE


def test_edit_is_only_validated(bench: FeatureBench) -> None:
    """No agent is started for what a person mended."""
    bench.to_implement(CHAIN)
    bench.passes("cp-3")
    bench.fails("cp-1", 3)
    agents = bench.begun_tasks.count("cp-1")
    bench.answers("edit")
    assert bench.job_of("cp-1").argv[:2] == ("/bin/sh", "-c")
    bench.passes("cp-1")
    assert bench.marks["cp-1"][0] == "passed"
    assert bench.begun_tasks.count("cp-1") == agents + 1
    assert bench.running == ["cp-2"]


def test_what_a_person_mends_is_no_iteration(bench: FeatureBench) -> None:
    """It does not pass: it stands as before, and the question says how often it was tried."""
    bench.to_implement(CHAIN)
    bench.passes("cp-3")
    bench.fails("cp-1", 3)
    bench.answers("edit")
    assert bench.marks["cp-1"] == ("in_progress", 3)
    bench.fails("cp-1")
    assert bench.marks["cp-1"] == ("escalated", 3)
    assert "failed after 3 attempts" in bench.told("gate_opened")[-1]["text"]
    bench.answers("retry")
    assert bench.marks["cp-1"] == ("in_progress", 1)


def test_what_was_mended_between_two_runs_is_validated(bench: FeatureBench) -> None:
    """By the command line, for those that stood there before; what escalates now is asked about."""
    bench.to_implement(APART)
    bench.fails("cp-1", 3)
    bench.develop(None, on_escalated="edit")
    assert bench.running == ["cp-2"]
    bench.fails("cp-2", 3)
    assert bench.job_of("cp-1").argv[:2] == ("/bin/sh", "-c")
    bench.passes("cp-1")
    assert bench.marks == {"cp-1": ("passed", 3), "cp-2": ("escalated", 3)}
    assert bench.is_over
    assert "cp-2 failed after" in bench.told("gate_opened")[-1]["text"]
    assert bench.finish() == 3


def test_skip_goes_on_without_it(bench: FeatureBench) -> None:
    """Also with what depends on it; the end is not all done."""
    bench.to_implement(CHAIN)
    bench.passes("cp-3")
    bench.fails("cp-1", 3)
    bench.answers("skip")
    bench.passes("cp-2")
    assert bench.state.phase is Phase.MERGE
    assert "check store" not in bench.job_of("check").argv[-1]
    bench.ends_well("check")
    bench.passes("merge")
    assert bench.marks["cp-1"][0] == "escalated"
    assert bench.finish() == 1


def test_retry_takes_a_skip_back(bench: FeatureBench) -> None:
    """A person skipped a checkpoint and wants it after all, while the others are worked on."""
    bench.to_implement(CHAIN)
    bench.fails("cp-1", 3)
    assert bench.run.file.decide(bench.run, "cp-1", "skip", lambda: None)
    bench.happens()
    assert "cp-1" not in bench.running
    assert bench.run.file.decide(bench.run, "cp-1", "retry", lambda: None)
    bench.happens()
    bench.passes("cp-3")  # it had the slot
    bench.passes("cp-1")
    assert bench.marks["cp-1"][0] == "passed"


def test_stop_leaves_it_to_the_next_start(bench: FeatureBench) -> None:
    """Which asks again."""
    bench.to_implement(CHAIN)
    bench.passes("cp-3")
    bench.fails("cp-1", 3)
    bench.answers("stop")
    assert bench.is_over
    assert bench.finish() == 3
    bench.develop(None)
    assert bench.running == []
    assert len(bench.run.ledger.gates) == 1


@pytest.mark.parametrize(("choice", "exit"), [("retry", 3), ("skip", 1), ("stop", 1)])
def test_the_command_line_may_decide_ahead(bench: FeatureBench, choice: str, exit: int) -> None:
    """Retry gives three more, once, and then asks; skip and stop ask nobody."""
    bench.to_implement(APART.splitlines(keepends=True)[0], on_escalated=choice)
    bench.fails("cp-1", 6 if choice == "retry" else 3)
    if choice == "skip":
        bench.ends_well("check")
        bench.passes("merge")
    assert bench.is_over
    assert bool(bench.told("gate_opened")) == (choice == "retry")
    assert bench.finish() == exit


def test_a_limit_uses_up_no_iteration(bench: FeatureBench) -> None:
    """It is parked, and goes on in the same iteration."""
    bench.to_implement()
    run = bench.attempt_of("cp-1").run
    at = bench.clock.now() + timedelta(hours=1)
    bench.happens(Started(run.id), Heard(run.id, LimitHit("session_limit", at)))
    bench.happens(Ended(run.id, 1))
    assert bench.marks["cp-1"] == ("in_progress", 1)
    assert [park.task for park in bench.run.ledger.parks.values()] == ["cp-1"]
    written = len(bench.saved)
    bench.pass_s(4000)
    assert "cp-1" in bench.running
    assert bench.job_of("cp-1").env["SEGUE_ITERATION"] == "1"
    assert len(bench.saved) == written


# Strategies


def test_apart_they_run_side_by_side(bench: FeatureBench) -> None:
    """The file says so."""
    bench.to_implement(APART)
    assert bench.running == ["cp-1", "cp-2"]
    assert bench.state.strategy is Strategy.SUBAGENT


def test_in_the_same_files_they_run_one_after_the_other(bench: FeatureBench) -> None:
    """In the order of the document."""
    bench.to_implement(TOGETHER)
    assert bench.state.strategy is Strategy.DIRECT
    assert bench.running == ["cp-1"]
    bench.passes("cp-1")
    assert bench.running == ["cp-2"]


def test_a_checkpoint_that_is_validated_keeps_its_files(bench: FeatureBench) -> None:
    """Nobody else works in them beside its validation, nor beside its next iteration."""
    bench.to_implement(TOGETHER)
    bench.ends_well("cp-1")
    assert bench.running == ["cp-1"]
    bench.validated("cp-1", 1)
    assert bench.running == ["cp-1"]


def test_a_slot_is_held_while_its_work_is_validated(bench: FeatureBench) -> None:
    """With one job at a time there is one, checks included."""
    bench.to_implement(APART, jobs=1)
    bench.ends_well("cp-1")
    assert bench.running == ["cp-1"]
    bench.validated("cp-1", 1)
    assert bench.running == ["cp-1"]
    bench.passes("cp-1")
    assert bench.running == ["cp-2"]


def test_a_strategy_on_request(bench: FeatureBench) -> None:
    """What the person says is done: one after the other, whatever files they change."""
    bench.to_implement(APART, strategy=Strategy.DIRECT)
    assert bench.state.strategy is Strategy.DIRECT
    assert bench.running == ["cp-1"]
    bench.passes("cp-1")
    assert bench.running == ["cp-2"]


def test_direct_goes_on_without_what_has_escalated(bench: FeatureBench) -> None:
    """One after the other is an order, not a dependency."""
    bench.to_implement(APART, strategy=Strategy.DIRECT)
    bench.fails("cp-1", 3)
    assert bench.running == ["cp-2"]


def test_agent_teams_fall_back_and_say_so(bench: FeatureBench) -> None:
    """An agent without teams works side by side."""
    bench.to_implement(TOGETHER, strategy=Strategy.AGENT_TEAMS)
    assert bench.state.strategy is Strategy.SUBAGENT
    assert "no agent teams" in bench.told("notice")[-1]["text"]


def test_agent_teams_are_switched_on_for_claude(bench: FeatureBench) -> None:
    """By its own variable, in IMPLEMENT only."""
    bench.settings(CLAUDE)
    name = "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS"
    bench.develop(strategy=Strategy.AGENT_TEAMS)
    assert name not in bench.job_of("design").env
    bench.designs()
    bench.reviews(TOGETHER)
    assert bench.state.strategy is Strategy.AGENT_TEAMS
    assert bench.job_of("cp-1").env[name] == "1"


def test_direct_goes_on_in_one_conversation(bench: FeatureBench) -> None:
    """The second checkpoint begins in the conversation of the first; the review's was another."""
    bench.settings(CLAUDE)
    bench.to_implement(TOGETHER)
    first = bench.attempt_of("cp-1").run
    bench.happens(Heard(first.id, Opened("11-22")))
    bench.passes("cp-1")
    assert "11-22" in bench.job_of("cp-2").argv
    assert bench.attempt_of("cp-2").run.conversation == first.conversation


def test_side_by_side_nobody_shares_a_conversation(bench: FeatureBench) -> None:
    """A run each."""
    bench.settings(CLAUDE)
    bench.to_implement(CHAIN)
    first = bench.attempt_of("cp-1").run
    bench.happens(Heard(first.id, Opened("11-22")))
    bench.passes("cp-1")
    assert "11-22" not in bench.job_of("cp-2").argv


# Going on


def test_passed_ones_are_skipped_and_the_iteration_is_kept(bench: FeatureBench) -> None:
    """After a death in the second iteration of the second."""
    bench.to_implement()
    bench.passes("cp-1")
    bench.fails("cp-2")
    bench.develop(None)
    assert bench.begun_tasks == ["cp-2"]
    assert bench.job_of("cp-2").env["SEGUE_ITERATION"] == "2"
    assert bench.marks == {"cp-1": ("passed", 1), "cp-2": ("in_progress", 2)}


def test_without_segues_memory_the_file_is_enough(bench: FeatureBench) -> None:
    """Passed, in progress and escalated are known again from it."""
    bench.to_implement(CHAIN)
    bench.fails("cp-1")
    bench.passes("cp-3")
    bench.lose_memory()
    bench.develop(None)
    assert bench.begun_tasks == ["cp-1"]
    assert bench.job_of("cp-1").env["SEGUE_ITERATION"] == "2"
    bench.passes("cp-1", "cp-2")
    assert bench.state.phase is Phase.MERGE


@pytest.mark.parametrize("phase", ["DESIGN", "REVIEW", "MERGE"])
def test_other_phases_begin_from_their_beginning(bench: FeatureBench, phase: str) -> None:
    """A person may set the phase back, too."""
    bench.to_implement()
    bench.passes("cp-1", "cp-2")
    bench.ends_well("check")
    bench.passes("merge")
    assert bench.finish() == 0
    data = bench.place.state_file.read_bytes()
    bench.place.state_file.write_bytes(data.replace(b"phase: DONE", f"phase: {phase}".encode()))
    bench.develop(None)
    assert bench.begun_tasks == ["check" if phase == "MERGE" else phase.lower()]


def test_a_new_feature_owes_nothing_to_the_last(bench: FeatureBench) -> None:
    """Its checkpoints of the same names begin at their beginning; the old state is kept."""
    bench.to_implement()
    bench.passes("cp-1", "cp-2")
    bench.to_implement(feature="something else")
    assert bench.running == ["cp-1", "cp-2"]
    assert bench.marks == {"cp-1": ("in_progress", 1), "cp-2": ("in_progress", 1)}
    assert len(list((Project(bench.root).memory / "backups").iterdir())) == 1


def test_what_a_person_writes_meanwhile_stays(bench: FeatureBench) -> None:
    """A comment and a key of their own."""
    bench.to_implement()
    path = bench.place.state_file
    path.write_text("# my words\n" + path.read_text() + "mine: 1\n")
    bench.passes("cp-1", "cp-2")
    text = path.read_text()
    assert text.startswith("# my words\n")
    assert "mine: 1\n" in text
    assert "phase: MERGE" in text


def test_a_mark_that_is_changed_while_it_runs_is_not_lost_without_a_word(
    bench: FeatureBench,
) -> None:
    """It is written over, and that is told."""
    bench.to_implement()
    bench.passes("cp-1")
    path = bench.place.state_file
    path.write_text(path.read_text().replace("passed, iteration: 1", "pending, iteration: 0"))
    bench.passes("cp-2")
    assert bench.marks["cp-1"] == ("passed", 1)
    (told,) = [one["text"] for one in bench.told("notice")]
    assert ".develop-workflow/state.yaml changed during the run (cp-1 pending)" in told


def test_a_document_that_is_gone_is_told(bench: FeatureBench) -> None:
    """With its path; nothing runs, and the state stays as it is."""
    bench.to_implement()
    bench.steps.design.unlink()
    before = bench.place.state_file.read_bytes()
    with pytest.raises(UserError) as caught:
        bench.develop(None)
    assert caught.value.problem.file == str(bench.steps.design)
    assert bench.place.state_file.read_bytes() == before


@pytest.mark.parametrize("phase", ["IMPLEMENT", "MERGE"])
@pytest.mark.parametrize("mark", ["in_progress, iteration: 2", "pending", "escalated"])
def test_what_the_design_does_not_have_is_not_lost(
    bench: FeatureBench, phase: str, mark: str
) -> None:
    """An unfinished checkpoint that only the state knows: told with its line, nothing is touched."""
    bench.to_implement()
    bench.passes("cp-1", "cp-2")
    path = bench.place.state_file
    text = path.read_text().replace("phase: MERGE", f"phase: {phase}")
    path.write_text(f"{text}  cp-9: {{ status: {mark} }}\n")
    before = path.read_bytes()
    with pytest.raises(UserError) as caught:
        bench.develop(None)
    problem = caught.value.problem
    assert (problem.file, problem.line) == (str(path), before.count(b"\n"))
    assert "cp-9" in problem.message
    assert str(bench.steps.design) in str(problem.hint)
    assert (path.read_bytes(), bench.begun_tasks) == (before, [])


def test_a_difference_that_holds_nothing_up_is_told(bench: FeatureBench) -> None:
    """A passed one that the design no longer has, and one that it has and the state has not."""
    bench.to_implement()
    bench.passes("cp-1", "cp-2")
    path = bench.place.state_file
    lines = path.read_text().replace("phase: MERGE", "phase: IMPLEMENT").splitlines(keepends=True)
    kept = [line for line in lines if "cp-2" not in line]
    path.write_text("".join(kept) + "  cp-9: { status: passed, iteration: 1 }\n")
    bench.develop(None)
    told = [notice["text"] for notice in bench.told("notice")]
    assert [text.rpartition(": ")[2] for text in told] == ["cp-9 passed", "cp-2"]
    bench.passes("cp-2")
    bench.ends_well("check")
    bench.passes("merge")
    assert bench.finish() == 0


# A person and the design


def test_a_design_waits_for_a_person(bench: FeatureBench) -> None:
    """And goes on when approved."""
    bench.develop(has_gates=True)
    bench.designs()
    assert bench.is_over
    assert bench.finish() == 3
    bench.answers("승인")
    assert bench.running == ["review"]


def test_wishes_of_a_person_go_back_to_the_designer(bench: FeatureBench) -> None:
    """In their own words; then it is asked again."""
    bench.develop(has_gates=True)
    bench.designs()
    bench.answers("use SQLite instead")
    assert "use SQLite instead" in bench.told_to("design")
    bench.designs()
    assert len(bench.run.ledger.gates) == 1
    assert bench.state.phase is Phase.DESIGN


def test_an_approval_on_the_command_line(bench: FeatureBench) -> None:
    """Of the design that waits: no agent is started for it again."""
    bench.develop(has_gates=True)
    bench.designs()
    bench.develop(None, is_approved=True)
    assert bench.begun_tasks == ["review"]


# The place of an agent that has lost its context


def test_the_place_of_a_checkpoint(bench: FeatureBench) -> None:
    """Feature, phase, checkpoint, what to make pass, and what to read again."""
    bench.to_implement()
    text = bench.steps.place(bench.attempt_of("cp-1"))
    wanted = ("real-time chat", "IMPLEMENT", "cp-1", "check store", "store.py")
    for word in (*wanted, str(bench.steps.design)):
        assert word in text


@pytest.mark.parametrize("task", ["design", "review", "cp-1", "merge"])
def test_an_agent_that_was_cut_off_is_told_so(bench: FeatureBench, task: str) -> None:
    """In every phase: unfinished edits of its own may lie in the folder."""
    bench.develop(jobs=1)
    for step in (bench.designs, bench.reviews, lambda: bench.passes("cp-1", "cp-2")):
        if task not in bench.running:
            step()
    if task == "merge":
        bench.ends_well("check")
    bench.happens(Started(bench.attempt_of(task).run.id))
    bench.pass_s(1)
    assert "interrupted" not in bench.told_to(task)
    bench.develop(None, jobs=1)
    if task == "merge":  # from its beginning, with all validations
        bench.ends_well("check")
    assert "interrupted" in bench.told_to(task)
