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

CHAIN = """\
- {id: cp-1, description: The store, validate: check store, files: [store.py]}
- {id: cp-2, description: The page, validate: check page, files: [page.py], depends: [cp-1]}
- {id: cp-3, description: The guide, validate: check guide, files: [guide.md]}
"""

# The phases


def test_a_new_feature_begins_with_its_design(desk: FeatureBench) -> None:
    """The state is there before the agent is."""
    desk.develop()
    assert desk.begun_tasks == ["design"]
    assert (desk.state.phase, desk.state.feature) == (Phase.DESIGN, "real-time chat")
    assert desk.job_of("design").env["SEGUE_PHASE"] == "DESIGN"
    assert desk.job_of("design").env["SEGUE_TARGET"] == str(desk.steps.design)
    assert desk.job_of("design").cwd == desk.root


def test_all_phases_lead_to_done(desk: FeatureBench) -> None:
    """Design, review, checkpoints, all validations on the whole, merge."""
    desk.to_implement()
    desk.passes("cp-1", "cp-2")
    assert desk.state.phase is Phase.MERGE
    desk.ends_well("check")
    desk.passes("merge")
    assert desk.begun_tasks == ["design", "review", "cp-1", "cp-2", "check", "merge"]
    assert desk.state.phase is Phase.DONE
    assert desk.marks == {"cp-1": ("passed", 1), "cp-2": ("passed", 1)}
    assert desk.finish() == 0


def test_the_state_is_written_at_boundaries_only(desk: FeatureBench) -> None:
    """Five phases; begin and pass of each checkpoint, and one for each failed iteration."""
    desk.to_implement()
    before_cp = len(desk.saved)
    assert before_cp == 3 + 2  # DESIGN, REVIEW, IMPLEMENT; both begin
    desk.fails("cp-1")
    assert len(desk.saved) == before_cp + 1
    desk.passes("cp-1", "cp-2")
    desk.ends_well("check")
    desk.passes("merge")
    assert len(desk.saved) == before_cp + 1 + 2 + 2  # both pass; MERGE, DONE
    assert len(set(desk.saved)) == len(desk.saved)


def test_a_design_that_is_not_there_is_none(desk: FeatureBench) -> None:
    """An agent that only talks is told what is missing."""
    desk.develop()
    desk.ends_well("design")
    assert desk.state.phase is Phase.DESIGN
    assert "docs/design/real-time-chat.md" in desk.told("task_retrying")[-1]["error"]
    assert "docs/design/real-time-chat.md" in desk.told_to("design")


def test_wrong_checkpoints_go_back_three_times(desk: FeatureBench) -> None:
    """With the reason; then the phase has failed, and a later run begins it again."""
    desk.develop()
    desk.designs()
    for time in range(4):
        assert ("has no `validate`" in desk.told_to("review")) == bool(time)
        desk.reviews("- {id: cp-1}\n")
    assert desk.is_over
    assert desk.finish() == 1
    assert desk.begun_tasks.count("review") == 4
    desk.develop(None)
    desk.reviews()
    assert desk.state.phase is Phase.IMPLEMENT


def test_a_checkpoint_that_another_one_broke_goes_back(desk: FeatureBench) -> None:
    """Before any merge work: with its next iteration, told what its validation printed."""
    desk.to_implement()
    desk.passes("cp-1", "cp-2")
    written = len(desk.saved)
    desk.says_failed(
        "cp-2", output="== cp-1: check store\nfine\n== cp-2: check page\nTHEY CLASH\n\n"
    )
    assert desk.state.phase is Phase.IMPLEMENT
    assert desk.marks == {"cp-1": ("passed", 1), "cp-2": ("in_progress", 2)}
    assert len(desk.saved) == written + 1
    assert desk.running == ["cp-2"]
    assert "THEY CLASH" in desk.told_to("cp-2") and "fine" not in desk.told_to("cp-2")
    assert desk.job_of("cp-2").env["SEGUE_ITERATION"] == "2"
    desk.passes("cp-2")
    desk.ends_well("check")
    desk.passes("merge")
    assert desk.begun_tasks[-5:] == ["cp-2", "check", "cp-2", "check", "merge"]
    assert desk.finish() == 0


def test_a_checkpoint_that_is_broken_again_and_again_escalates(desk: FeatureBench) -> None:
    """After its third iteration a person is asked; nothing was merged."""
    desk.to_implement()
    desk.passes("cp-1", "cp-2")
    for _time in range(2):
        desk.says_failed("cp-1")
        desk.passes("cp-1")
    desk.says_failed("cp-1", output="THEY CLASH\n")
    assert desk.marks["cp-1"] == ("escalated", 3)
    assert desk.is_over
    (gate,) = desk.told("gate_opened")
    assert "cp-1" in gate["text"] and "THEY CLASH" in gate["text"]
    assert "merge" not in desk.begun_tasks
    assert desk.finish() == 3
    desk.answers("skip")
    assert "check store" not in desk.job_of("check").argv[-1]


def test_going_back_survives_a_death_before_its_write(desk: FeatureBench) -> None:
    """The tables know whose work it is; the count is that of the next iteration."""
    desk.to_implement()
    desk.passes("cp-1", "cp-2")
    before = desk.place.state_file.read_bytes()
    desk.says_failed("cp-2")
    desk.place.state_file.write_bytes(before)
    desk.forget_mark("cp-2", "completed")
    desk.develop(None)
    assert desk.begun_tasks == ["cp-2"]
    assert desk.marks["cp-2"] == ("in_progress", 2)


def test_going_back_needs_no_memory(desk: FeatureBench) -> None:
    """The file alone says it."""
    desk.to_implement()
    desk.passes("cp-1", "cp-2")
    desk.says_failed("cp-2")
    desk.lose_memory()
    desk.develop(None)
    assert desk.begun_tasks == ["cp-2"]
    assert desk.job_of("cp-2").env["SEGUE_ITERATION"] == "2"


def test_validations_that_could_not_be_run_are_nobodys_failure(desk: FeatureBench) -> None:
    """Killed before they ended: the phase has failed, no checkpoint has; the next start runs them."""
    desk.to_implement()
    desk.passes("cp-1", "cp-2")
    desk.happens(Ended(desk.attempt_of("check").run.id, None, signal=9))
    assert desk.is_over
    assert desk.state.phase is Phase.MERGE
    assert desk.finish() == 1
    desk.develop(None)
    assert desk.begun_tasks == ["check"]
    assert desk.marks == {"cp-1": ("passed", 1), "cp-2": ("passed", 1)}


# The loop


def test_a_checkpoint_is_told_what_it_is(desk: FeatureBench) -> None:
    """Its id and iteration by variable, all of it in words."""
    desk.to_implement()
    env = desk.job_of("cp-1").env
    assert (env["SEGUE_CHECKPOINT"], env["SEGUE_ITERATION"]) == ("cp-1", "1")
    for text in ("real-time chat", "The store", "check store", "- store.py", "iteration 1 of 3"):
        assert text in desk.told_to("cp-1")
    assert "page.py" not in desk.told_to("cp-1")


def test_a_failed_validation_is_handed_over(desk: FeatureBench) -> None:
    """To the next iteration, which the file, the prompt and the environment count alike."""
    desk.to_implement()
    desk.fails("cp-1")
    assert desk.marks["cp-1"] == ("in_progress", 2)
    assert desk.job_of("cp-1").env["SEGUE_ITERATION"] == "2"
    assert "iteration 2 of 3" in desk.told_to("cp-1")
    assert "it is not there" in desk.told_to("cp-1")


def test_a_check_leaves_nothing_that_a_later_one_would_run(desk: FeatureBench) -> None:
    """Python would take what it compiled for a file that was written twice within a second."""
    desk.to_implement()
    desk.ends_well("cp-1")
    check = desk.engine.jobs[desk.attempt_of("cp-1").run.verify_job or ""]
    assert check.env["PYTHONDONTWRITEBYTECODE"] == "1"
    assert "PYTHONDONTWRITEBYTECODE" not in desk.job_of("cp-2").env
    desk.validated("cp-1")
    desk.passes("cp-2")
    assert desk.job_of("check").env["PYTHONDONTWRITEBYTECODE"] == "1"


def test_the_word_of_an_agent_is_no_pass(desk: FeatureBench) -> None:
    """What Segue ran itself counts."""
    desk.to_implement()
    desk.ends_well("cp-1")
    assert desk.marks["cp-1"] == ("in_progress", 1)
    desk.validated("cp-1")
    assert desk.marks["cp-1"] == ("passed", 1)


def test_the_third_failure_escalates_and_the_others_go_on(desk: FeatureBench) -> None:
    """What depends on it waits; then a person is asked, once."""
    desk.to_implement(CHAIN)
    desk.fails("cp-1", 3)
    assert desk.marks["cp-1"] == ("escalated", 3)
    assert desk.running == ["cp-3"]
    assert desk.told("gate_opened") == []
    desk.passes("cp-3")
    (gate,) = desk.told("gate_opened")
    assert "cp-1 could not be done" in gate["text"]
    assert gate["options"] == ["retry", "edit", "skip", "stop"]
    assert desk.marks["cp-2"] == ("pending", 0)
    assert desk.is_over
    assert desk.finish() == 3


def test_a_question_is_shown_in_the_language_of_whoever_looks(desk: FeatureBench) -> None:
    """Opened in Korean: status shows it in English, and so does the run that asks again."""
    i18n.use("ko")
    try:
        desk.to_implement(APART.splitlines(keepends=True)[0])
        desk.fails("cp-1", 3)
        assert "could not be done" not in desk.told("gate_opened")[-1]["text"]
    finally:
        i18n.use("en")
    (gate,) = look(desk.root)[0].gates
    assert "cp-1 could not be done; it was tried 3 times.\n" in gate["text"]
    assert "it is not there" in gate["text"]
    desk.develop(None)
    assert [one.text for one in desk.run.ledger.gates.values()] == [gate["text"]]


def test_retry_begins_at_one(desk: FeatureBench) -> None:
    """With three new iterations; what waited for it goes on after its pass."""
    desk.to_implement(CHAIN)
    desk.passes("cp-3")
    desk.fails("cp-1", 3)
    desk.answers("retry")
    assert desk.marks["cp-1"] == ("in_progress", 1)
    assert desk.job_of("cp-1").env["SEGUE_ITERATION"] == "1"
    desk.passes("cp-1", "cp-2")
    assert desk.state.phase is Phase.MERGE


def test_edit_is_only_validated(desk: FeatureBench) -> None:
    """No agent is started for what a person mended."""
    desk.to_implement(CHAIN)
    desk.passes("cp-3")
    desk.fails("cp-1", 3)
    agents = desk.begun_tasks.count("cp-1")
    desk.answers("edit")
    assert desk.job_of("cp-1").argv[:2] == ("/bin/sh", "-c")
    desk.passes("cp-1")
    assert desk.marks["cp-1"][0] == "passed"
    assert desk.begun_tasks.count("cp-1") == agents + 1
    assert desk.running == ["cp-2"]


def test_what_a_person_mends_is_no_iteration(desk: FeatureBench) -> None:
    """It does not pass: it stands as before, and the question says how often it was tried."""
    desk.to_implement(CHAIN)
    desk.passes("cp-3")
    desk.fails("cp-1", 3)
    desk.answers("edit")
    assert desk.marks["cp-1"] == ("in_progress", 3)
    desk.fails("cp-1")
    assert desk.marks["cp-1"] == ("escalated", 3)
    assert "tried 3 times" in desk.told("gate_opened")[-1]["text"]
    desk.answers("retry")
    assert desk.marks["cp-1"] == ("in_progress", 1)


def test_what_was_mended_between_two_runs_is_validated(desk: FeatureBench) -> None:
    """By the command line, for those that stood there before; what escalates now is asked about."""
    desk.to_implement(APART)
    desk.fails("cp-1", 3)
    desk.develop(None, on_escalated="edit")
    assert desk.running == ["cp-2"]
    desk.fails("cp-2", 3)
    assert desk.job_of("cp-1").argv[:2] == ("/bin/sh", "-c")
    desk.passes("cp-1")
    assert desk.marks == {"cp-1": ("passed", 3), "cp-2": ("escalated", 3)}
    assert desk.is_over
    assert "cp-2 could not be done" in desk.told("gate_opened")[-1]["text"]
    assert desk.finish() == 3


def test_skip_goes_on_without_it(desk: FeatureBench) -> None:
    """Also with what depends on it; the end is not all done."""
    desk.to_implement(CHAIN)
    desk.passes("cp-3")
    desk.fails("cp-1", 3)
    desk.answers("skip")
    desk.passes("cp-2")
    assert desk.state.phase is Phase.MERGE
    assert "check store" not in desk.job_of("check").argv[-1]
    desk.ends_well("check")
    desk.passes("merge")
    assert desk.marks["cp-1"][0] == "escalated"
    assert desk.finish() == 1


def test_stop_leaves_it_to_the_next_start(desk: FeatureBench) -> None:
    """Which asks again."""
    desk.to_implement(CHAIN)
    desk.passes("cp-3")
    desk.fails("cp-1", 3)
    desk.answers("stop")
    assert desk.is_over
    assert desk.finish() == 3
    desk.develop(None)
    assert desk.running == []
    assert len(desk.run.ledger.gates) == 1


@pytest.mark.parametrize(("choice", "exit"), [("retry", 3), ("skip", 1), ("stop", 1)])
def test_the_command_line_may_decide_ahead(desk: FeatureBench, choice: str, exit: int) -> None:
    """Retry gives three more, once, and then asks; skip and stop ask nobody."""
    desk.to_implement(APART.splitlines(keepends=True)[0], on_escalated=choice)
    desk.fails("cp-1", 6 if choice == "retry" else 3)
    if choice == "skip":
        desk.ends_well("check")
        desk.passes("merge")
    assert desk.is_over
    assert bool(desk.told("gate_opened")) == (choice == "retry")
    assert desk.finish() == exit


def test_a_limit_uses_up_no_iteration(desk: FeatureBench) -> None:
    """It is parked, and goes on in the same iteration."""
    desk.to_implement()
    run = desk.attempt_of("cp-1").run
    at = desk.clock.now() + timedelta(hours=1)
    desk.happens(Started(run.id), Heard(run.id, LimitHit("session_limit", at)))
    desk.happens(Ended(run.id, 1))
    assert desk.marks["cp-1"] == ("in_progress", 1)
    assert [park.task for park in desk.run.ledger.parks.values()] == ["cp-1"]
    written = len(desk.saved)
    desk.pass_s(4000)
    assert "cp-1" in desk.running
    assert desk.job_of("cp-1").env["SEGUE_ITERATION"] == "1"
    assert len(desk.saved) == written


# Strategies


def test_apart_they_run_side_by_side(desk: FeatureBench) -> None:
    """The file says so."""
    desk.to_implement(APART)
    assert desk.running == ["cp-1", "cp-2"]
    assert desk.state.strategy is Strategy.SUBAGENT


def test_in_the_same_files_they_run_one_after_the_other(desk: FeatureBench) -> None:
    """In the order of the document."""
    desk.to_implement(TOGETHER)
    assert desk.state.strategy is Strategy.DIRECT
    assert desk.running == ["cp-1"]
    desk.passes("cp-1")
    assert desk.running == ["cp-2"]


def test_a_checkpoint_that_is_validated_keeps_its_files(desk: FeatureBench) -> None:
    """Nobody else works in them beside its validation, nor beside its next iteration."""
    desk.to_implement(TOGETHER)
    desk.ends_well("cp-1")
    assert desk.running == ["cp-1"]
    desk.validated("cp-1", 1)
    assert desk.running == ["cp-1"]


def test_a_slot_is_held_while_its_work_is_validated(desk: FeatureBench) -> None:
    """With one job at a time there is one, checks included."""
    desk.to_implement(APART, jobs=1)
    desk.ends_well("cp-1")
    assert desk.running == ["cp-1"]
    desk.validated("cp-1", 1)
    assert desk.running == ["cp-1"]
    desk.passes("cp-1")
    assert desk.running == ["cp-2"]


def test_a_strategy_on_request(desk: FeatureBench) -> None:
    """What the person says is done: one after the other, whatever files they change."""
    desk.to_implement(APART, strategy=Strategy.DIRECT)
    assert desk.state.strategy is Strategy.DIRECT
    assert desk.running == ["cp-1"]
    desk.passes("cp-1")
    assert desk.running == ["cp-2"]


def test_direct_goes_on_without_what_has_escalated(desk: FeatureBench) -> None:
    """One after the other is an order, not a dependency."""
    desk.to_implement(APART, strategy=Strategy.DIRECT)
    desk.fails("cp-1", 3)
    assert desk.running == ["cp-2"]


def test_agent_teams_fall_back_and_say_so(desk: FeatureBench) -> None:
    """An agent without teams works side by side."""
    desk.to_implement(TOGETHER, strategy=Strategy.AGENT_TEAMS)
    assert desk.state.strategy is Strategy.SUBAGENT
    assert "no agent teams" in desk.told("notice")[-1]["text"]


def test_agent_teams_are_switched_on_for_claude(desk: FeatureBench) -> None:
    """By its own variable, in IMPLEMENT only."""
    desk.settings(CLAUDE)
    name = "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS"
    desk.develop(strategy=Strategy.AGENT_TEAMS)
    assert name not in desk.job_of("design").env
    desk.designs()
    desk.reviews(TOGETHER)
    assert desk.state.strategy is Strategy.AGENT_TEAMS
    assert desk.job_of("cp-1").env[name] == "1"


def test_direct_goes_on_in_one_conversation(desk: FeatureBench) -> None:
    """The second checkpoint begins in the conversation of the first; the review's was another."""
    desk.settings(CLAUDE)
    desk.to_implement(TOGETHER)
    first = desk.attempt_of("cp-1").run
    desk.happens(Heard(first.id, Opened("11-22")))
    desk.passes("cp-1")
    assert "11-22" in desk.job_of("cp-2").argv
    assert desk.attempt_of("cp-2").run.conversation == first.conversation


def test_side_by_side_nobody_shares_a_conversation(desk: FeatureBench) -> None:
    """A run each."""
    desk.settings(CLAUDE)
    desk.to_implement(CHAIN)
    first = desk.attempt_of("cp-1").run
    desk.happens(Heard(first.id, Opened("11-22")))
    desk.passes("cp-1")
    assert "11-22" not in desk.job_of("cp-2").argv


# Going on


def test_passed_ones_are_skipped_and_the_iteration_is_kept(desk: FeatureBench) -> None:
    """After a death in the second iteration of the second."""
    desk.to_implement()
    desk.passes("cp-1")
    desk.fails("cp-2")
    desk.develop(None)
    assert desk.begun_tasks == ["cp-2"]
    assert desk.job_of("cp-2").env["SEGUE_ITERATION"] == "2"
    assert desk.marks == {"cp-1": ("passed", 1), "cp-2": ("in_progress", 2)}


def test_without_segues_memory_the_file_is_enough(desk: FeatureBench) -> None:
    """Passed, in progress and escalated are known again from it."""
    desk.to_implement(CHAIN)
    desk.fails("cp-1")
    desk.passes("cp-3")
    desk.lose_memory()
    desk.develop(None)
    assert desk.begun_tasks == ["cp-1"]
    assert desk.job_of("cp-1").env["SEGUE_ITERATION"] == "2"
    desk.passes("cp-1", "cp-2")
    assert desk.state.phase is Phase.MERGE


@pytest.mark.parametrize("phase", ["DESIGN", "REVIEW", "MERGE"])
def test_other_phases_begin_from_their_beginning(desk: FeatureBench, phase: str) -> None:
    """A person may set the phase back, too."""
    desk.to_implement()
    desk.passes("cp-1", "cp-2")
    desk.ends_well("check")
    desk.passes("merge")
    assert desk.finish() == 0
    data = desk.place.state_file.read_bytes()
    desk.place.state_file.write_bytes(data.replace(b"phase: DONE", f"phase: {phase}".encode()))
    desk.develop(None)
    assert desk.begun_tasks == ["check" if phase == "MERGE" else phase.lower()]


def test_a_new_feature_owes_nothing_to_the_last(desk: FeatureBench) -> None:
    """Its checkpoints of the same names begin at their beginning; the old state is kept."""
    desk.to_implement()
    desk.passes("cp-1", "cp-2")
    desk.to_implement(feature="something else")
    assert desk.running == ["cp-1", "cp-2"]
    assert desk.marks == {"cp-1": ("in_progress", 1), "cp-2": ("in_progress", 1)}
    assert len(list((desk.root / ".segue" / "backups").iterdir())) == 1


def test_what_a_person_writes_meanwhile_stays(desk: FeatureBench) -> None:
    """A comment and a key of their own."""
    desk.to_implement()
    path = desk.place.state_file
    path.write_text("# my words\n" + path.read_text() + "mine: 1\n")
    desk.passes("cp-1", "cp-2")
    text = path.read_text()
    assert text.startswith("# my words\n")
    assert "mine: 1\n" in text
    assert "phase: MERGE" in text


def test_a_mark_that_is_changed_while_it_runs_is_not_lost_without_a_word(
    desk: FeatureBench,
) -> None:
    """It is written over, and that is told."""
    desk.to_implement()
    desk.passes("cp-1")
    path = desk.place.state_file
    path.write_text(path.read_text().replace("passed, iteration: 1", "pending, iteration: 0"))
    desk.passes("cp-2")
    assert desk.marks["cp-1"] == ("passed", 1)
    (told,) = [one["text"] for one in desk.told("notice")]
    assert ".develop-workflow/state.yaml was changed meanwhile (cp-1 pending)" in told


def test_a_document_that_is_gone_is_told(desk: FeatureBench) -> None:
    """With its path; nothing runs, and the state stays as it is."""
    desk.to_implement()
    desk.steps.design.unlink()
    before = desk.place.state_file.read_bytes()
    with pytest.raises(UserError) as caught:
        desk.develop(None)
    assert caught.value.problem.file == str(desk.steps.design)
    assert desk.place.state_file.read_bytes() == before


@pytest.mark.parametrize("phase", ["IMPLEMENT", "MERGE"])
@pytest.mark.parametrize("mark", ["in_progress, iteration: 2", "pending", "escalated"])
def test_what_the_design_does_not_have_is_not_lost(
    desk: FeatureBench, phase: str, mark: str
) -> None:
    """An unfinished checkpoint that only the state knows: told with its line, nothing is touched."""
    desk.to_implement()
    desk.passes("cp-1", "cp-2")
    path = desk.place.state_file
    text = path.read_text().replace("phase: MERGE", f"phase: {phase}")
    path.write_text(f"{text}  cp-9: {{ status: {mark} }}\n")
    before = path.read_bytes()
    with pytest.raises(UserError) as caught:
        desk.develop(None)
    problem = caught.value.problem
    assert (problem.file, problem.line) == (str(path), before.count(b"\n"))
    assert "cp-9" in problem.message
    assert str(desk.steps.design) in str(problem.hint)
    assert (path.read_bytes(), desk.begun_tasks) == (before, [])


def test_a_difference_that_holds_nothing_up_is_told(desk: FeatureBench) -> None:
    """A passed one that the design no longer has, and one that it has and the state has not."""
    desk.to_implement()
    desk.passes("cp-1", "cp-2")
    path = desk.place.state_file
    lines = path.read_text().replace("phase: MERGE", "phase: IMPLEMENT").splitlines(keepends=True)
    kept = [line for line in lines if "cp-2" not in line]
    path.write_text("".join(kept) + "  cp-9: { status: passed, iteration: 1 }\n")
    desk.develop(None)
    told = [notice["text"] for notice in desk.told("notice")]
    assert [text.rpartition(": ")[2] for text in told] == ["cp-9 passed", "cp-2"]
    desk.passes("cp-2")
    desk.ends_well("check")
    desk.passes("merge")
    assert desk.finish() == 0


# A person and the design


def test_a_design_waits_for_a_person(desk: FeatureBench) -> None:
    """And goes on when approved."""
    desk.develop(has_gates=True)
    desk.designs()
    assert desk.is_over
    assert desk.finish() == 3
    desk.answers("승인")
    assert desk.running == ["review"]


def test_wishes_of_a_person_go_back_to_the_designer(desk: FeatureBench) -> None:
    """In their own words; then it is asked again."""
    desk.develop(has_gates=True)
    desk.designs()
    desk.answers("use SQLite instead")
    assert "use SQLite instead" in desk.told_to("design")
    desk.designs()
    assert len(desk.run.ledger.gates) == 1
    assert desk.state.phase is Phase.DESIGN


def test_an_approval_on_the_command_line(desk: FeatureBench) -> None:
    """Of the design that waits: no agent is started for it again."""
    desk.develop(has_gates=True)
    desk.designs()
    desk.develop(None, is_approved=True)
    assert desk.begun_tasks == ["review"]


# The place of an agent that has lost its context


def test_the_place_of_a_checkpoint(desk: FeatureBench) -> None:
    """Feature, phase, checkpoint, what to make pass, and what to read again."""
    desk.to_implement()
    text = desk.steps.place(desk.attempt_of("cp-1"))
    wanted = ("real-time chat", "IMPLEMENT", "cp-1", "check store", "store.py")
    for word in (*wanted, str(desk.steps.design)):
        assert word in text


@pytest.mark.parametrize("task", ["design", "review", "cp-1", "merge"])
def test_an_agent_that_was_cut_off_is_told_so(desk: FeatureBench, task: str) -> None:
    """In every phase: unfinished edits of its own may lie in the folder."""
    desk.develop(jobs=1)
    for step in (desk.designs, desk.reviews, lambda: desk.passes("cp-1", "cp-2")):
        if task not in desk.running:
            step()
    if task == "merge":
        desk.ends_well("check")
    desk.happens(Started(desk.attempt_of(task).run.id))
    desk.pass_s(1)
    assert "interrupted" not in desk.told_to(task)
    desk.develop(None, jobs=1)
    if task == "merge":  # from its beginning, with all validations
        desk.ends_well("check")
    assert "interrupted" in desk.told_to(task)
