"""A limit in the middle of a feature parks it; it uses up nothing and wakes once."""

from __future__ import annotations

import signal
from datetime import datetime

import pytest

from kit.box import Box
from kit.feature import Feature, cp
from kit.waiting import until

WHO = ["DESIGN", "REVIEW", "cp-1", "MERGE"]


@pytest.fixture
def feature(box: Box) -> Feature:
    return Feature(box)


@pytest.mark.parametrize("who", WHO)
def test_parked_and_woken_once(feature: Feature, who: str) -> None:
    """In each phase: parked, no process meanwhile, then on in its conversation, no iteration used up."""
    feature.play(f"{who}.1", "limit(3)")
    going = feature.start()
    parked = going.event("task_parked")
    assert parked["kind"] == "session_limit"
    before = feature.state_path.read_bytes()
    until(lambda: not feature.box.agents(), "nothing idle in memory")
    resumed = going.event("task_resumed")
    assert resumed["task"] == parked["task"]
    assert datetime.fromisoformat(resumed["at"]) >= datetime.fromisoformat(parked["wakes_at"])
    done = going.end()
    assert done.code == 0, done.said
    assert len(done.of("task_parked")) == len(done.of("task_resumed")) == 1
    first, second = feature.starts(who)
    assert (second.conversation, second.resume, second.prompt.strip()) == (
        first.conversation,
        "1",
        "continue",
    )
    assert (second.phase, second.checkpoint, second.iteration) == (
        first.phase,
        first.checkpoint,
        first.iteration,
    )
    assert second.state.encode() == before == first.state.encode(), "a park is no boundary"
    assert feature.checkpoints == {"cp-1": ("passed", 1)}
    assert len(feature.who) == 5


@pytest.mark.parametrize("who", WHO)
def test_no_wait(feature: Feature, who: str) -> None:
    """`--no-wait`: exit 4, the place is kept, `status` shows the park; too early nobody is started."""
    feature.play(f"{who}.1", "limit(3600)")
    done = feature.develop("--no-wait")
    assert done.code == 4, done.said
    assert done.finished["exit"] == 4
    starts = len(feature.who)
    (plan,) = feature.box.segue("status", "--json").json["plans"]
    assert (plan["kind"], plan["state"]) == ("develop", "parked")
    assert plan["parks"][0]["kind"] == "session_limit"
    before = feature.state_path.read_bytes()
    assert feature.go_on("--no-wait").code == 4
    assert len(feature.who) == starts
    assert feature.state_path.read_bytes() == before
    assert feature.box.left_behind() == {}


def test_the_last_iteration_is_not_used_up(feature: Feature) -> None:
    """A limit in the third iteration: not escalated, the third goes on."""
    feature.play("cp-1.1", "pass")
    feature.play("cp-1.2", "pass")
    feature.play("cp-1.3", "limit(1)")
    done = feature.develop()
    assert done.code == 0, done.said
    assert [start.iteration for start in feature.starts("cp-1")] == ["1", "2", "3", "3"]
    assert feature.checkpoints == {"cp-1": ("passed", 3)}


def test_limits_use_up_no_try_of_the_review(feature: Feature) -> None:
    """Limits between the tries: it still goes back as often as it may."""
    for n, play in enumerate(("limit(1)", "pass", "limit(1)", "pass", "limit(1)"), 1):
        feature.play(f"REVIEW.{n}", play)
    done = feature.develop()
    assert done.code == 0, done.said
    assert len(feature.starts("REVIEW")) == 6


@pytest.mark.parametrize("death", ["kill", "power_cut", "ctrl-c"])
def test_a_park_survives(feature: Feature, death: str) -> None:
    """Dead while parked: the next command waits for the instant and wakes it once."""
    feature.play("cp-1.1", "pass")
    feature.play("cp-1.2", "limit(4)")
    going = feature.start()
    parked = going.event("task_parked", "cp-1")
    if death == "kill":
        going.kill()
    elif death == "power_cut":
        feature.box.power_cut()
    else:
        going.process.terminate()
        assert going.end().code == 130
    assert feature.checkpoints == {"cp-1": ("in_progress", 2)}
    again = feature.start("--resume", feature=None)
    resumed = again.event("task_resumed", "cp-1")
    assert datetime.fromisoformat(resumed["at"]) >= datetime.fromisoformat(parked["wakes_at"])
    assert again.end().code == 0
    _one, two, three = feature.starts("cp-1")
    assert (three.conversation, three.resume, three.iteration) == (two.conversation, "1", "2")
    assert feature.checkpoints == {"cp-1": ("passed", 2)}
    assert feature.box.left_behind() == {}


def test_the_others_of_the_account_wait_too(feature: Feature) -> None:
    """One of two hits the wall before the other starts: it is not run into as well."""
    feature.settle(cp("cp-1"), cp("cp-2"))
    feature.play("cp-1.1", "limit(3600)")
    done = feature.develop("--jobs", "1", "--no-wait")
    assert done.code == 4, done.said
    assert feature.starts("cp-2") == []
    assert feature.checkpoints == {"cp-1": ("in_progress", 1), "cp-2": ("pending", 0)}


def test_a_limit_that_needs_a_person(feature: Feature) -> None:
    """Billing opens a gate: exit 3; the next command tries again, at the same iteration."""
    feature.play("cp-1.1", "print('Credit balance is too low'); sys.exit(1)")
    done = feature.develop()
    assert done.code == 3, done.said
    assert done.of("gate_opened", "cp-1")
    assert feature.checkpoints == {"cp-1": ("in_progress", 1)}
    again = feature.go_on()
    assert again.code == 0, again.said
    assert [start.iteration for start in feature.starts("cp-1")] == ["1", "1"]


def test_a_parked_feature_is_resumable(feature: Feature) -> None:
    """`segue resume --json` knows it, and why it stands still."""
    feature.play("cp-1.1", "limit(3600)")
    assert feature.develop("--no-wait").code == 4
    (found,) = feature.box.segue("resume", "--json").json["found"]
    assert (found["kind"], found["resumable"]) == ("develop", True)
    assert found["why"] and found["next"]


def test_an_escalation_is_asked_about_while_another_checkpoint_is_parked(feature: Feature) -> None:
    """Nothing else can run for an hour: the question does not wait for it."""
    feature.settle(cp("cp-1"), cp("cp-2"))
    feature.play("cp-1", "print('no')")
    feature.play("cp-2.1", "hold('limit'); limit(3600)")
    going = feature.start()
    feature.begun("cp-1", 3)
    until(lambda: feature.checkpoints["cp-1"] == ("escalated", 3), "the escalation")
    assert not going.result.of("gate_opened")
    feature.box.release("limit")
    going.event("task_parked", "cp-2")
    assert going.event("gate_opened")["task"] == "cp-1"
    going.send(signal.SIGINT)
    assert going.end().code == 130
