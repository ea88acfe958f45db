"""The loop of a checkpoint: its validation decides, three times; then a person does."""

from __future__ import annotations

import pytest

from kit.box import Box
from kit.feature import FEATURE, Feature, cp


@pytest.fixture
def feature(box: Box) -> Feature:
    """cp-2 needs cp-1; cp-3 needs nobody; cp-1 is what fails in most of these tests."""
    made = Feature(box)
    made.settle(
        cp("cp-1", validate="echo MARK-$(cat tries); test -e cp-1.txt"), cp("cp-2", "cp-1"), cp("cp-3")
    )  # fmt: skip
    return made


def fails(feature: Feature, who: str = "cp-1") -> None:
    feature.play(who, "make('tries', f'{nth}\\n')")


def test_the_output_is_handed_over(feature: Feature) -> None:
    """Each iteration is told what the validation before it has said, and no older one."""
    feature.play("cp-1.1", "make('tries', '1')")
    feature.play("cp-1.2", "make('tries', '2')")
    assert feature.develop().code == 0
    first, second, third = feature.starts("cp-1")
    assert "MARK-" not in first.prompt.replace("MARK-$(", "")
    assert "MARK-1" in second.prompt and "MARK-2" not in second.prompt
    assert "MARK-2" in third.prompt
    assert [start.iteration for start in feature.starts("cp-1")] == ["1", "2", "3"]
    assert feature.checkpoints["cp-1"] == ("passed", 3)


def test_the_end_of_a_long_output_is_handed_over(feature: Feature) -> None:
    """A megabyte of it is cut; the end, where the reason stands, is there."""
    loud = "head -c 1000000 /dev/zero | tr '\\0' 'x'; echo; echo THE-REASON; test -e cp-1.txt"
    feature.settle(cp("cp-1", validate=loud))
    feature.play("cp-1.1", "pass")
    assert feature.develop().code == 0
    _first, second = feature.starts("cp-1")
    assert "THE-REASON" in second.prompt
    assert len(second.prompt) < 200_000


def test_segue_validates_itself(feature: Feature) -> None:
    """An agent that claims success is not believed; one that says nothing is not needed to."""
    feature.settle(cp("cp-1"))
    feature.play("cp-1.1", "print('All tests pass. The checkpoint is done.')")
    assert feature.develop().code == 0
    assert feature.checkpoints == {"cp-1": ("passed", 2)}


def test_an_agent_that_ends_badly_has_used_an_iteration(feature: Feature) -> None:
    """A crash is a failed iteration; what it said is handed over."""
    feature.settle(cp("cp-1"))
    feature.play("cp-1.1", "print('KABOOM'); sys.stdout.flush(); os.kill(os.getpid(), 9)")
    feature.play("cp-1.2", "print('BADLY'); sys.exit(3)")
    assert feature.develop().code == 0
    _first, second, third = feature.starts("cp-1")
    assert "KABOOM" in second.prompt
    assert "BADLY" in third.prompt
    assert feature.checkpoints == {"cp-1": ("passed", 3)}


def test_the_third_failure_escalates(feature: Feature) -> None:
    """Independent ones go on first, dependants wait; then exit 3 with the question."""
    fails(feature)
    done = feature.develop("--jobs", "1")
    assert done.code == 3, done.said
    assert [start.iteration for start in feature.starts("cp-1")] == ["1", "2", "3"]
    assert feature.checkpoints == {
        "cp-1": ("escalated", 3),
        "cp-2": ("pending", 0),
        "cp-3": ("passed", 1),
    }
    assert feature.starts("cp-2") == []
    assert feature.state["phase"] == "IMPLEMENT"
    assert "MERGE" not in feature.who
    assert done.of("gate_opened")[-1]["at"] >= done.of("task_completed", "cp-3")[0]["at"]
    assert "cp-1" in done.finished["waiting"]
    assert done.finished["exit"] == 3
    assert feature.box.left_behind() == {}


def test_the_question_names_its_checkpoint(feature: Feature) -> None:
    """The gate is that of the checkpoint, with what was seen last and the four ways."""
    fails(feature)
    (gate,) = feature.develop().of("gate_opened")
    assert gate["task"] == "cp-1"
    assert "MARK-3" in gate["text"]
    assert gate["options"] == ["retry", "edit", "skip", "stop"]


def test_resumed_it_is_asked_again(feature: Feature) -> None:
    """Without a terminal that is exit 3 again; nobody is started."""
    fails(feature)
    assert feature.develop().code == 3
    before = feature.who
    done = feature.go_on()
    assert done.code == 3, done.said
    assert "cp-1" in done.finished["waiting"]
    assert feature.who == before
    assert feature.checkpoints["cp-1"] == ("escalated", 3)


def test_retry_begins_at_one(feature: Feature) -> None:
    """`--on-escalated retry`: three new iterations, and the dependants follow."""
    fails(feature)
    assert feature.develop().code == 3
    feature.unplay("cp-1")
    feature.play("cp-1.4", "make('tries', '4')")
    done = feature.go_on("--on-escalated", "retry", wait_s=90)
    assert done.code == 0, done.said
    assert [start.iteration for start in feature.starts("cp-1")] == ["1", "2", "3", "1", "2"]
    assert feature.checkpoints == {
        "cp-1": ("passed", 2),
        "cp-2": ("passed", 1),
        "cp-3": ("passed", 1),
    }
    assert len(feature.starts("cp-3")) == 1, "what has passed is not done again"


def test_retry_does_not_go_round_for_ever(feature: Feature) -> None:
    """Tried anew once and failed again: a person is needed."""
    fails(feature)
    done = feature.develop("--on-escalated", "retry", wait_s=90)
    assert done.code in (1, 3), done.said
    assert len(feature.starts("cp-1")) <= 6
    assert feature.checkpoints["cp-1"] == ("escalated", 3)


def test_skip_goes_on_without_it(feature: Feature) -> None:
    """`--on-escalated skip`: the rest is merged and done; exit 1."""
    feature.settle(cp("cp-1"), cp("cp-3"))
    fails(feature)
    done = feature.develop("--on-escalated", "skip", wait_s=90)
    assert done.code == 1, done.said
    assert feature.checkpoints == {"cp-1": ("escalated", 3), "cp-3": ("passed", 1)}
    assert done.finished["skipped"] == ["cp-1"]
    assert feature.state["phase"] == "DONE"
    assert feature.who[-1] == "MERGE"
    feature.play("cp-1", "default()")
    again = feature.box.segue("unskip", "cp-1")
    assert (again.code, "segue develop --resume" in again.out) == (0, True), again.said
    done = feature.go_on(wait_s=90)
    assert done.code == 0, done.said
    assert feature.checkpoints == {"cp-1": ("passed", 1), "cp-3": ("passed", 1)}
    assert feature.state["phase"] == "DONE"
    assert len(feature.starts("cp-3")) == 1


def test_nothing_to_go_on_with_is_not_advised(feature: Feature) -> None:
    """Some checkpoint was skipped, so exit 1; but it is over."""
    feature.settle(cp("cp-1"), cp("cp-3"))
    fails(feature)
    done = feature.box.segue("develop", FEATURE, "--on-escalated", "skip", wait_s=90)
    assert done.code == 1, done.said
    assert feature.state["phase"] == "DONE"
    assert "--resume" not in done.said


def test_skip_of_what_others_need_is_no_dead_end(feature: Feature) -> None:
    """The rest is merged, or the next command asks again; it is never told as passed."""
    fails(feature)
    done = feature.develop("--on-escalated", "skip", wait_s=90)
    assert done.code == 1, done.said
    assert feature.checkpoints["cp-1"] == ("escalated", 3)
    assert feature.state["phase"] == "DONE" or feature.go_on(wait_s=90).code == 3


def test_skip_after_an_escalation(feature: Feature) -> None:
    """The same, decided in a later command."""
    feature.settle(cp("cp-1"), cp("cp-3"))
    fails(feature)
    assert feature.develop().code == 3
    done = feature.go_on("--on-escalated", "skip", wait_s=90)
    assert done.code == 1, done.said
    assert feature.state["phase"] == "DONE"
    assert len(feature.starts("cp-1")) == 3


def test_stop_ends_with_one(feature: Feature) -> None:
    """`--on-escalated stop`: it has failed, the place is kept."""
    fails(feature)
    done = feature.develop("--on-escalated", "stop", wait_s=90)
    assert done.code == 1, done.said
    assert feature.checkpoints["cp-1"] == ("escalated", 3)
    assert feature.state["phase"] == "IMPLEMENT"


def test_two_that_escalate(feature: Feature) -> None:
    """Each is asked about; both wait."""
    feature.settle(cp("cp-1"), cp("cp-2"), cp("cp-3"))
    for who in ("cp-1", "cp-3"):
        fails(feature, who)
    done = feature.develop()
    assert done.code == 3
    assert sorted(done.finished["waiting"]) == ["cp-1", "cp-3"]
    assert feature.checkpoints["cp-2"] == ("passed", 1)


def test_an_escalation_found_in_the_file_alone(feature: Feature) -> None:
    """`.segue/` is gone: the state file says that it has escalated, so it is asked about."""
    fails(feature)
    assert feature.develop().code == 3
    feature.box.forget()
    before = len(feature.who)
    done = feature.go_on(wait_s=90)
    assert done.code == 3, done.said
    assert len(feature.who) == before
    feature.unplay("cp-1")
    done = feature.go_on("--on-escalated", "retry", wait_s=90)
    assert done.code == 0, done.said
    assert feature.starts("cp-1")[3].iteration == "1"
    assert len(feature.starts("cp-3")) == 1
