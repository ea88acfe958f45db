"""What a person wrote into the state file counts: tables never put back what the file has set back."""

from __future__ import annotations

import pytest

from kit.feature_bench import APART, FeatureBench
from segue.core.develop import Phase
from segue.dialects.events import LimitHit
from segue.engine.executors import Alive, Ended, Heard, Started
from segue.work.feature.developing import repair

ONE = APART.splitlines(keepends=True)[0]


def edit(desk: FeatureBench, *changes: tuple[str, str]) -> None:
    """A person changes the state file while nothing runs."""
    path = desk.place.state_file
    text = path.read_text()
    for old, new in changes:
        assert old in text, text
        text = text.replace(old, new)
    path.write_text(text)


def done(desk: FeatureBench) -> None:
    """A feature with two checkpoints, finished."""
    desk.to_implement()
    desk.passes("cp-1", "cp-2")
    desk.ends_well("check")
    desk.passes("merge")
    assert desk.finish() == 0


def set_back(desk: FeatureBench) -> None:
    edit(
        desk,
        ("phase: DONE", "phase: IMPLEMENT"),
        ("cp-2: { status: passed, iteration: 1 }", "cp-2: { status: pending, iteration: 0 }"),
    )


def test_a_finished_feature_that_is_set_back_is_done_again(desk: FeatureBench) -> None:
    """Agent, validation of the checkpoint, all validations, merge; DONE only then."""
    done(desk)
    set_back(desk)
    desk.develop(None)
    assert desk.state.phase is Phase.IMPLEMENT
    assert desk.begun_tasks == ["cp-2"]
    desk.passes("cp-2")
    assert desk.running == ["check"]
    desk.ends_well("check")
    desk.passes("merge")
    assert desk.begun_tasks == ["cp-2", "check", "merge"]
    assert desk.finish() == 0


@pytest.mark.parametrize("status", ["pending, iteration: 0", "in_progress, iteration: 1"])
def test_a_passed_checkpoint_that_is_set_back_is_done_again(
    desk: FeatureBench, status: str
) -> None:
    """In a feature that is not finished, too; the other one goes on."""
    desk.to_implement()
    desk.passes("cp-1")
    edit(desk, ("cp-1: { status: passed, iteration: 1 }", f"cp-1: {{ status: {status} }}"))
    desk.develop(None)
    assert desk.running == ["cp-1", "cp-2"]
    assert desk.marks["cp-1"] == ("in_progress", 1)


@pytest.mark.parametrize("phase", ["MERGE", "DONE"])
def test_a_checkpoint_that_is_set_back_counts_in_any_phase(desk: FeatureBench, phase: str) -> None:
    """A phase beyond IMPLEMENT does not hide a checkpoint that is not done."""
    done(desk)
    edit(
        desk,
        ("phase: DONE", f"phase: {phase}"),
        ("cp-2: { status: passed", "cp-2: { status: pending"),
    )
    desk.develop(None)
    assert desk.begun_tasks == ["cp-2"]
    assert desk.state.phase is Phase.IMPLEMENT


def test_a_checkpoint_set_to_passed_is_skipped_and_still_validated(desk: FeatureBench) -> None:
    """No agent for it; its validation runs with all others before the merge."""
    desk.to_implement(jobs=1)
    edit(
        desk,
        ("cp-1: { status: in_progress, iteration: 1 }", "cp-1: { status: passed, iteration: 1 }"),
        ("cp-2: { status: pending, iteration: 0 }", "cp-2: { status: passed, iteration: 1 }"),
    )
    desk.develop(None)
    assert desk.begun_tasks == ["check"]
    desk.says_failed("cp-1")
    assert desk.marks["cp-1"] == ("in_progress", 2)
    assert desk.running == ["cp-1"]


@pytest.mark.parametrize(("was", "now"), [(2, 1), (1, 3), (2, 3)])
def test_the_iteration_of_the_file_counts(desk: FeatureBench, was: int, now: int) -> None:
    """Set back or forward: the next one begun is that of the file."""
    desk.to_implement(ONE)
    if was > 1:
        desk.fails("cp-1", was - 1)
    run = desk.attempt_of("cp-1").run
    desk.happens(Started(run.id))
    desk.pass_s(1)
    edit(desk, (f"in_progress, iteration: {was}", f"in_progress, iteration: {now}"))
    desk.develop(None)
    assert desk.job_of("cp-1").env["SEGUE_ITERATION"] == str(now)
    assert desk.marks["cp-1"] == ("in_progress", now)


def test_a_write_that_a_death_prevented_is_made(desk: FeatureBench) -> None:
    """Tables ahead of the file by one boundary are no edit: what passed is not done again."""
    desk.to_implement()
    desk.ends_well("cp-1")
    before = desk.place.state_file.read_bytes()
    desk.validated("cp-1")
    desk.place.state_file.write_bytes(before)
    desk.forget_mark("cp-1", "in_progress")
    desk.develop(None)
    assert desk.marks["cp-1"] == ("passed", 1)
    assert desk.running == ["cp-2"]


def test_a_next_iteration_that_a_death_prevented_is_made(desk: FeatureBench) -> None:
    """It was committed and not written: the failure is not forgotten."""
    desk.to_implement(ONE)
    desk.ends_well("cp-1")
    before = desk.place.state_file.read_bytes()
    desk.validated("cp-1", 1)
    desk.place.state_file.write_bytes(before)
    desk.develop(None)
    assert desk.job_of("cp-1").env["SEGUE_ITERATION"] == "2"


def test_an_earlier_state_that_git_restored_counts_as_a_whole(desk: FeatureBench) -> None:
    """Phase and marks of then: the review is made again, and so is every checkpoint after it."""
    desk.develop()
    desk.designs()
    earlier = desk.place.state_file.read_bytes()
    desk.reviews()
    desk.passes("cp-1", "cp-2")
    desk.ends_well("check")
    desk.passes("merge")
    assert desk.finish() == 0
    desk.place.state_file.write_bytes(earlier)
    desk.develop(None)
    assert desk.begun_tasks == ["review"]
    desk.reviews()
    assert desk.running == ["cp-1", "cp-2"]


def test_an_agent_of_a_checkpoint_that_is_set_back_is_ended_first(desk: FeatureBench) -> None:
    """Never two at once."""
    desk.to_implement(ONE)
    run = desk.attempt_of("cp-1").run
    desk.happens(Started(run.id))
    desk.pass_s(1)
    edit(desk, ("in_progress, iteration: 1", "pending, iteration: 0"))
    desk.became[run.id] = Alive()
    desk.develop(None)
    assert desk.begun_tasks == []
    desk.happens(Ended(run.id, None, signal=15, is_ours=True))
    assert desk.begun_tasks == ["cp-1"]


def test_a_question_about_a_checkpoint_goes_with_its_edit(desk: FeatureBench) -> None:
    """Escalated, then set to pending by hand: done again without being asked about."""
    desk.to_implement(ONE)
    desk.fails("cp-1", 3)
    assert desk.finish() == 3
    edit(desk, ("escalated, iteration: 3", "pending, iteration: 0"))
    desk.develop(None)
    assert desk.running == ["cp-1"]
    assert desk.run.ledger.gates == {}
    assert desk.job_of("cp-1").env["SEGUE_ITERATION"] == "1"


def test_a_checkpoint_that_was_passed_over_is_taken_up_by_an_edit(desk: FeatureBench) -> None:
    """Skipped by a person, and set back by one."""
    desk.to_implement(APART, on_escalated="skip")
    desk.fails("cp-1", 3)
    desk.passes("cp-2")
    desk.ends_well("check")
    desk.passes("merge")
    assert desk.finish() == 1
    edit(
        desk,
        ("phase: DONE", "phase: IMPLEMENT"),
        ("escalated, iteration: 3", "pending, iteration: 0"),
    )
    desk.develop(None)
    assert desk.running == ["cp-1"]
    desk.passes("cp-1")
    assert "check store" in desk.job_of("check").argv[-1]


def test_an_escalation_by_hand_is_asked_about(desk: FeatureBench) -> None:
    """The file says that a person must decide."""
    desk.to_implement()
    desk.passes("cp-1")
    edit(
        desk,
        ("cp-1: { status: passed, iteration: 1 }", "cp-1: { status: escalated, iteration: 3 }"),
    )
    desk.develop(None)
    desk.passes("cp-2")
    assert desk.is_over
    assert desk.finish() == 3


def test_a_decision_that_waits_is_kept(desk: FeatureBench) -> None:
    """“retry” was answered and the account is parked: the next start knows it."""
    desk.to_implement(APART, wait=False)
    desk.fails("cp-1", 3)
    run = desk.attempt_of("cp-2").run
    at = desk.clock.now().replace(hour=23)
    desk.happens(Started(run.id), Heard(run.id, LimitHit("session_limit", at)), Ended(run.id, 1))
    desk.answers("retry")
    assert desk.marks["cp-1"] == ("escalated", 3)
    desk.develop(None)
    assert desk.run.ledger.gates == {}
    assert desk.run.ledger.tasks["cp-1"].state == "pending"


@pytest.mark.parametrize("phase", ["DESIGN", "REVIEW", "IMPLEMENT"])
def test_a_phase_that_is_set_back_forgets_the_later_ones(desk: FeatureBench, phase: str) -> None:
    """All of it runs again up to the merge; what the file still calls passed is skipped."""
    done(desk)
    edit(desk, ("phase: DONE", f"phase: {phase}"))
    desk.develop(None)
    if phase == "DESIGN":
        desk.designs()
    if phase != "IMPLEMENT":
        desk.reviews()
    desk.ends_well("check")
    assert desk.state.phase is Phase.MERGE
    desk.passes("merge")
    expected = {"DESIGN": ["design", "review"], "REVIEW": ["review"], "IMPLEMENT": []}[phase]
    assert desk.begun_tasks == [*expected, "check", "merge"]
    assert desk.finish() == 0


def test_a_merge_that_was_done_is_validated_before_it_is_called_done(desk: FeatureBench) -> None:
    """Segue died before it wrote DONE: the validations run now, the merge does not run twice."""
    desk.to_implement()
    desk.passes("cp-1", "cp-2")
    desk.ends_well("check")
    before = desk.place.state_file.read_bytes()
    desk.passes("merge")
    desk.place.state_file.write_bytes(before)
    desk.forget_mark("merge", "in_progress")
    desk.develop(None)
    assert desk.begun_tasks == ["check"]
    assert desk.state.phase is Phase.MERGE
    desk.ends_well("check")
    assert desk.state.phase is Phase.DONE
    assert desk.begun_tasks == ["check"]


def test_a_merge_that_was_cut_off_begins_with_the_validations(desk: FeatureBench) -> None:
    """MERGE from its beginning."""
    desk.to_implement()
    desk.passes("cp-1", "cp-2")
    desk.ends_well("check")
    run = desk.attempt_of("merge").run
    desk.happens(Started(run.id))
    desk.pass_s(1)
    desk.develop(None)
    assert desk.begun_tasks == ["check"]
    desk.ends_well("check")
    assert desk.running == ["merge"]


def test_a_repaired_state_is_not_done_before_the_validations_ran(desk: FeatureBench) -> None:
    """The journal knows of the merge, so that alone is not made again."""
    done(desk)
    desk.run.ledger.flush()
    desk.place.state_file.write_bytes(b"phase: [\n")
    assert repair(desk.place, desk.clock.now()).phase is Phase.MERGE
    desk.develop(None)
    assert desk.begun_tasks == ["check"]
    desk.ends_well("check")
    assert desk.begun_tasks == ["check"]
    assert desk.state.phase is Phase.DONE
    assert desk.finish() == 0


def test_a_repair_after_lost_memory_knows_the_phase(desk: FeatureBench) -> None:
    """What the file said when it was taken up again is in the journal, too."""
    desk.to_implement()
    desk.passes("cp-1")
    desk.lose_memory()
    desk.develop(None)
    desk.run.ledger.flush()
    desk.place.state_file.write_bytes(b"phase: [\n")
    feature = repair(desk.place, desk.clock.now())
    assert feature.phase is Phase.IMPLEMENT
    assert feature.feature == "real-time chat"
    assert [str(one.status) for one in feature.checkpoints.values()] == ["passed", "in_progress"]
