"""What a person wrote into the state file counts: tables never put back what the file has set back."""

from __future__ import annotations

import pytest

from kit.feature_bench import APART, FeatureBench
from segue.core.develop import Phase
from segue.dialects.events import LimitHit
from segue.engine.executors import Alive, Ended, Heard, Started
from segue.work.feature.developing import repair

ONE = APART.splitlines(keepends=True)[0]


def edit(bench: FeatureBench, *changes: tuple[str, str]) -> None:
    """A person changes the state file while nothing runs."""
    path = bench.place.state_file
    text = path.read_text()
    for old, new in changes:
        assert old in text, text
        text = text.replace(old, new)
    path.write_text(text)


def done(bench: FeatureBench) -> None:
    """A feature with two checkpoints, finished."""
    bench.to_implement()
    bench.passes("cp-1", "cp-2")
    bench.ends_well("check")
    bench.passes("merge")
    assert bench.finish() == 0


def set_back(bench: FeatureBench) -> None:
    edit(
        bench,
        ("phase: DONE", "phase: IMPLEMENT"),
        ("cp-2: { status: passed, iteration: 1 }", "cp-2: { status: pending, iteration: 0 }"),
    )


def test_a_finished_feature_that_is_set_back_is_done_again(bench: FeatureBench) -> None:
    """Agent, validation of the checkpoint, all validations, merge; DONE only then."""
    done(bench)
    set_back(bench)
    bench.develop(None)
    assert bench.state.phase is Phase.IMPLEMENT
    assert bench.begun_tasks == ["cp-2"]
    bench.passes("cp-2")
    assert bench.running == ["check"]
    bench.ends_well("check")
    bench.passes("merge")
    assert bench.begun_tasks == ["cp-2", "check", "merge"]
    assert bench.finish() == 0


@pytest.mark.parametrize("status", ["pending, iteration: 0", "in_progress, iteration: 1"])
def test_a_passed_checkpoint_that_is_set_back_is_done_again(
    bench: FeatureBench, status: str
) -> None:
    """In a feature that is not finished, too; the other one goes on."""
    bench.to_implement()
    bench.passes("cp-1")
    edit(bench, ("cp-1: { status: passed, iteration: 1 }", f"cp-1: {{ status: {status} }}"))
    bench.develop(None)
    assert bench.running == ["cp-1", "cp-2"]
    assert bench.marks["cp-1"] == ("in_progress", 1)


@pytest.mark.parametrize("phase", ["MERGE", "DONE"])
def test_a_checkpoint_that_is_set_back_counts_in_any_phase(bench: FeatureBench, phase: str) -> None:
    """A phase beyond IMPLEMENT does not hide a checkpoint that is not done."""
    done(bench)
    edit(
        bench,
        ("phase: DONE", f"phase: {phase}"),
        ("cp-2: { status: passed", "cp-2: { status: pending"),
    )
    bench.develop(None)
    assert bench.begun_tasks == ["cp-2"]
    assert bench.state.phase is Phase.IMPLEMENT


def test_a_checkpoint_set_to_passed_is_skipped_and_still_validated(bench: FeatureBench) -> None:
    """No agent for it; its validation runs with all others before the merge."""
    bench.to_implement(jobs=1)
    edit(
        bench,
        ("cp-1: { status: in_progress, iteration: 1 }", "cp-1: { status: passed, iteration: 1 }"),
        ("cp-2: { status: pending, iteration: 0 }", "cp-2: { status: passed, iteration: 1 }"),
    )
    bench.develop(None)
    assert bench.begun_tasks == ["check"]
    bench.says_failed("cp-1")
    assert bench.marks["cp-1"] == ("in_progress", 2)
    assert bench.running == ["cp-1"]


@pytest.mark.parametrize(("was", "now"), [(2, 1), (1, 3), (2, 3)])
def test_the_iteration_of_the_file_counts(bench: FeatureBench, was: int, now: int) -> None:
    """Set back or forward: the next one begun is that of the file."""
    bench.to_implement(ONE)
    if was > 1:
        bench.fails("cp-1", was - 1)
    run = bench.attempt_of("cp-1").run
    bench.happens(Started(run.id))
    bench.pass_s(1)
    edit(bench, (f"in_progress, iteration: {was}", f"in_progress, iteration: {now}"))
    bench.develop(None)
    assert bench.job_of("cp-1").env["SEGUE_ITERATION"] == str(now)
    assert bench.marks["cp-1"] == ("in_progress", now)


def test_a_write_that_a_death_prevented_is_made(bench: FeatureBench) -> None:
    """Tables ahead of the file by one boundary are no edit: what passed is not done again."""
    bench.to_implement()
    bench.ends_well("cp-1")
    before = bench.place.state_file.read_bytes()
    bench.validated("cp-1")
    bench.place.state_file.write_bytes(before)
    bench.forget_mark("cp-1", "in_progress")
    bench.develop(None)
    assert bench.marks["cp-1"] == ("passed", 1)
    assert bench.running == ["cp-2"]


def test_a_next_iteration_that_a_death_prevented_is_made(bench: FeatureBench) -> None:
    """It was committed and not written: the failure is not forgotten."""
    bench.to_implement(ONE)
    bench.ends_well("cp-1")
    before = bench.place.state_file.read_bytes()
    bench.validated("cp-1", 1)
    bench.place.state_file.write_bytes(before)
    bench.develop(None)
    assert bench.job_of("cp-1").env["SEGUE_ITERATION"] == "2"


def test_an_earlier_state_that_git_restored_counts_as_a_whole(bench: FeatureBench) -> None:
    """Phase and marks of then: the review is made again, and so is every checkpoint after it."""
    bench.develop()
    bench.designs()
    earlier = bench.place.state_file.read_bytes()
    bench.reviews()
    bench.passes("cp-1", "cp-2")
    bench.ends_well("check")
    bench.passes("merge")
    assert bench.finish() == 0
    bench.place.state_file.write_bytes(earlier)
    bench.develop(None)
    assert bench.begun_tasks == ["review"]
    bench.reviews()
    assert bench.running == ["cp-1", "cp-2"]


def test_an_agent_of_a_checkpoint_that_is_set_back_is_ended_first(bench: FeatureBench) -> None:
    """Never two at once."""
    bench.to_implement(ONE)
    run = bench.attempt_of("cp-1").run
    bench.happens(Started(run.id))
    bench.pass_s(1)
    edit(bench, ("in_progress, iteration: 1", "pending, iteration: 0"))
    bench.became[run.id] = Alive()
    bench.develop(None)
    assert bench.begun_tasks == []
    bench.happens(Ended(run.id, None, signal=15, is_ours=True))
    assert bench.begun_tasks == ["cp-1"]


def test_a_question_about_a_checkpoint_goes_with_its_edit(bench: FeatureBench) -> None:
    """Escalated, then set to pending by hand: done again without being asked about."""
    bench.to_implement(ONE)
    bench.fails("cp-1", 3)
    assert bench.finish() == 3
    edit(bench, ("escalated, iteration: 3", "pending, iteration: 0"))
    bench.develop(None)
    assert bench.running == ["cp-1"]
    assert bench.run.ledger.gates == {}
    assert bench.job_of("cp-1").env["SEGUE_ITERATION"] == "1"


def test_a_checkpoint_that_was_passed_over_is_taken_up_by_an_edit(bench: FeatureBench) -> None:
    """Skipped by a person, and set back by one."""
    bench.to_implement(APART, on_escalated="skip")
    bench.fails("cp-1", 3)
    bench.passes("cp-2")
    bench.ends_well("check")
    bench.passes("merge")
    assert bench.finish() == 1
    edit(
        bench,
        ("phase: DONE", "phase: IMPLEMENT"),
        ("escalated, iteration: 3", "pending, iteration: 0"),
    )
    bench.develop(None)
    assert bench.running == ["cp-1"]
    bench.passes("cp-1")
    assert "check store" in bench.job_of("check").argv[-1]


def test_an_escalation_by_hand_is_asked_about(bench: FeatureBench) -> None:
    """The file says that a person must decide."""
    bench.to_implement()
    bench.passes("cp-1")
    edit(
        bench,
        ("cp-1: { status: passed, iteration: 1 }", "cp-1: { status: escalated, iteration: 3 }"),
    )
    bench.develop(None)
    bench.passes("cp-2")
    assert bench.is_over
    assert bench.finish() == 3


def test_a_decision_that_waits_is_kept(bench: FeatureBench) -> None:
    """“retry” was answered and the account is parked: the next start knows it."""
    bench.to_implement(APART, wait=False)
    bench.fails("cp-1", 3)
    run = bench.attempt_of("cp-2").run
    at = bench.clock.now().replace(hour=23)
    bench.happens(Started(run.id), Heard(run.id, LimitHit("session_limit", at)), Ended(run.id, 1))
    bench.answers("retry")
    assert bench.marks["cp-1"] == ("escalated", 3)
    bench.develop(None)
    assert bench.run.ledger.gates == {}
    assert bench.run.ledger.tasks["cp-1"].state == "pending"


@pytest.mark.parametrize("phase", ["DESIGN", "REVIEW", "IMPLEMENT"])
def test_a_phase_that_is_set_back_forgets_the_later_ones(bench: FeatureBench, phase: str) -> None:
    """All of it runs again up to the merge; what the file still calls passed is skipped."""
    done(bench)
    edit(bench, ("phase: DONE", f"phase: {phase}"))
    bench.develop(None)
    if phase == "DESIGN":
        bench.designs()
    if phase != "IMPLEMENT":
        bench.reviews()
    bench.ends_well("check")
    assert bench.state.phase is Phase.MERGE
    bench.passes("merge")
    expected = {"DESIGN": ["design", "review"], "REVIEW": ["review"], "IMPLEMENT": []}[phase]
    assert bench.begun_tasks == [*expected, "check", "merge"]
    assert bench.finish() == 0


def test_a_merge_that_was_done_is_validated_before_it_is_called_done(bench: FeatureBench) -> None:
    """Segue died before it wrote DONE: the validations run now, the merge does not run twice."""
    bench.to_implement()
    bench.passes("cp-1", "cp-2")
    bench.ends_well("check")
    before = bench.place.state_file.read_bytes()
    bench.passes("merge")
    bench.place.state_file.write_bytes(before)
    bench.forget_mark("merge", "in_progress")
    bench.develop(None)
    assert bench.begun_tasks == ["check"]
    assert bench.state.phase is Phase.MERGE
    bench.ends_well("check")
    assert bench.state.phase is Phase.DONE
    assert bench.begun_tasks == ["check"]


def test_a_merge_that_was_cut_off_begins_with_the_validations(bench: FeatureBench) -> None:
    """MERGE from its beginning."""
    bench.to_implement()
    bench.passes("cp-1", "cp-2")
    bench.ends_well("check")
    run = bench.attempt_of("merge").run
    bench.happens(Started(run.id))
    bench.pass_s(1)
    bench.develop(None)
    assert bench.begun_tasks == ["check"]
    bench.ends_well("check")
    assert bench.running == ["merge"]


def test_a_repaired_state_is_not_done_before_the_validations_ran(bench: FeatureBench) -> None:
    """The journal knows of the merge, so that alone is not made again."""
    done(bench)
    bench.run.ledger.flush()
    bench.place.state_file.write_bytes(b"phase: [\n")
    assert repair(bench.place, bench.clock.now()).phase is Phase.MERGE
    bench.develop(None)
    assert bench.begun_tasks == ["check"]
    bench.ends_well("check")
    assert bench.begun_tasks == ["check"]
    assert bench.state.phase is Phase.DONE
    assert bench.finish() == 0


def test_a_repair_after_lost_memory_knows_the_phase(bench: FeatureBench) -> None:
    """What the file said when it was taken up again is in the journal, too."""
    bench.to_implement()
    bench.passes("cp-1")
    bench.lose_memory()
    bench.develop(None)
    bench.run.ledger.flush()
    bench.place.state_file.write_bytes(b"phase: [\n")
    feature = repair(bench.place, bench.clock.now())
    assert feature.phase is Phase.IMPLEMENT
    assert feature.feature == "real-time chat"
    assert [str(one.status) for one in feature.checkpoints.values()] == ["passed", "in_progress"]
