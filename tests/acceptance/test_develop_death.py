"""Segue dies in the middle of a feature; it goes on where it was, and nothing is done twice."""

from __future__ import annotations

import random
import signal
import subprocess
from collections import Counter

import pytest

from kit.box import Box
from kit.command import Going
from kit.feature import FEATURE, Feature, cp
from kit.waiting import until

PHASES = {"DESIGN": "DESIGN", "REVIEW": "REVIEW", "cp-2": "IMPLEMENT", "MERGE": "MERGE"}


@pytest.fixture
def feature(box: Box) -> Feature:
    """Two checkpoints, one after the other."""
    made = Feature(box)
    made.settle(cp("cp-1"), cp("cp-2", "cp-1"))
    return made


@pytest.mark.parametrize("who", PHASES)
def test_a_living_agent_is_adopted(feature: Feature, who: str) -> None:
    """kill -9 of Segue alone: its agent goes on, and the next command follows it; one start."""
    feature.play(who, "hold('go'); default()")
    going = feature.start()
    start = feature.begun(who)
    going.kill()
    assert feature.state["phase"] == PHASES[who]
    assert start.pid in feature.box.agents(), "the agent outlives Segue"
    again = feature.start("--resume", feature=None)
    again.event("started")
    feature.box.release("go")
    done = again.end()
    assert done.code == 0, done.said
    assert Counter(feature.who) == Counter(["DESIGN", "REVIEW", "cp-1", "cp-2", "MERGE"])
    assert feature.checkpoints == {"cp-1": ("passed", 1), "cp-2": ("passed", 1)}
    assert feature.box.left_behind() == {}


def test_work_in_a_worktree_is_merged_though_the_project_has_changed(feature: Feature) -> None:
    """Killed while checkpoints work in worktrees, then a file of the project is edited (or a merge
    was cut off in the middle): the work in the worktrees is merged all the same."""
    feature.settle(cp("cp-1"), cp("cp-2"))
    feature.box.repository()
    for who in ("cp-1", "cp-2"):
        feature.play(who, "hold('go'); default()")
    going = feature.start()
    feature.begun("cp-1")
    feature.begun("cp-2")
    going.kill()
    (feature.root / "base.txt").write_text("mine\n")
    again = feature.start("--resume", feature=None)
    again.event("started")
    feature.box.release("go")
    done = again.end()
    assert done.code == 0, done.said
    assert feature.checkpoints == {"cp-1": ("passed", 1), "cp-2": ("passed", 1)}
    assert {"cp-1.txt", "cp-2.txt"} <= set(feature.box.git("ls-files").split())
    assert (feature.root / "base.txt").read_text() == "mine\n"


@pytest.mark.parametrize("who", ["DESIGN", "cp-1"])
def test_a_living_agent_is_not_doubled_when_the_memory_is_lost(feature: Feature, who: str) -> None:
    """Killed, then forgotten: the agent is waited for before its phase begins again."""
    feature.play(f"{who}.1", "hold('go'); default()")
    going = feature.start()
    start = feature.begun(who)
    going.kill()
    feature.box.forget()
    again = feature.start("--resume", feature=None)
    again.event("run_adopted")
    assert start.pid in feature.box.agents()
    assert feature.who.count(who) == 1
    feature.box.release("go")
    done = again.end()
    assert done.code == 0, done.said
    assert feature.box.left_behind() == {}


@pytest.mark.parametrize("who", PHASES)
def test_everything_dies(feature: Feature, who: str) -> None:
    """A power cut: that phase from its beginning, the checkpoint at its iteration; nothing before it."""
    feature.play(f"{who}.1", "hold('never')")
    feature.start()
    feature.begun(who)
    feature.box.power_cut()
    assert feature.state["phase"] == PHASES[who]
    before = feature.who
    done = feature.go_on()
    assert done.code == 0, done.said
    assert feature.who[len(before)] == who, "it begins where it stopped"
    assert Counter(feature.who) == Counter([*{"DESIGN", "REVIEW", "cp-1", "cp-2", "MERGE"}, who])
    assert feature.checkpoints == {"cp-1": ("passed", 1), "cp-2": ("passed", 1)}
    assert [path.name for path in feature.state_path.parent.iterdir()] == ["state.yaml"]


@pytest.mark.parametrize("iteration", [1, 2, 3])
@pytest.mark.parametrize("death", ["kill", "power_cut"])
def test_dead_in_an_iteration(feature: Feature, iteration: int, death: str) -> None:
    """The iteration is neither lost nor used up; the output of the one before is still handed over."""
    feature.settle(cp("cp-1", validate="cat said; test -e cp-1.txt"))
    for n in range(1, iteration):
        feature.play(f"cp-1.{n}", f"make('said', 'SAID-{n}')")
    feature.play(f"cp-1.{iteration}", "hold('go'); default()")
    going = feature.start()
    feature.begun("cp-1", iteration)
    assert feature.checkpoints == {"cp-1": ("in_progress", iteration)}
    if death == "kill":
        going.kill()
        feature.box.release("go")
        until(lambda: not feature.box.agents(), "the agent's end")
    else:
        feature.box.power_cut()
    done = feature.go_on()
    assert done.code == 0, done.said
    last = [str(iteration)] * (death == "power_cut")
    tries = [start.iteration for start in feature.starts("cp-1")]
    assert tries == [*map(str, range(1, iteration + 1)), *last]
    assert feature.checkpoints == {"cp-1": ("passed", iteration)}
    if iteration > 1:
        assert f"SAID-{iteration - 1}" in feature.starts("cp-1")[-1].prompt


def test_dead_while_a_validation_runs(feature: Feature) -> None:
    """The validation runs again, the agent does not, and no iteration is used up."""
    feature.settle(
        cp(
            "cp-1",
            validate=f"echo v >> {feature.out}/v; {feature.box.hold('go')}; test -e cp-1.txt",
        )
    )
    going = feature.start()
    until(lambda: feature.box.notes("v"), "the validation")
    going.kill()
    again = feature.start("--resume", feature=None)
    again.event("started")
    feature.box.release("go")
    assert again.end().code == 0
    assert len(feature.starts("cp-1")) == 1
    assert feature.checkpoints == {"cp-1": ("passed", 1)}
    assert feature.box.left_behind() == {}


def test_dead_while_all_is_validated(feature: Feature) -> None:
    """In MERGE, before its agent: MERGE begins again, the checkpoints do not."""
    once = f"test -e cp-1.txt && {{ test ! -e {feature.out}/first || {{ touch {feature.out}/up; {feature.box.hold('go')}; }}; touch {feature.out}/first; }}"
    feature.settle(cp("cp-1", validate=once))
    feature.start()
    until((feature.out / "up").exists, "the validation of the whole")
    assert feature.state["phase"] == "MERGE"
    feature.box.power_cut()
    feature.box.release("go")
    done = feature.go_on()
    assert done.code == 0, done.said
    assert feature.who == ["DESIGN", "REVIEW", "cp-1", "MERGE"]


def test_dead_side_by_side_in_worktrees(feature: Feature) -> None:
    """Two in their worktrees: both go on, both are merged once, nothing is left."""
    feature.settle(cp("cp-1"), cp("cp-2"), cp("cp-3", "cp-1", "cp-2"))
    feature.box.repository()
    feature.play("cp-1", "default(); hold('go')")
    feature.play("cp-2", "default(); hold('go')")
    going = feature.start("--jobs", "2")
    feature.begun("cp-1")
    feature.begun("cp-2")
    going.kill()
    feature.box.release("go")
    done = feature.go_on("--jobs", "2")
    assert done.code == 0, done.said
    assert Counter(feature.who) == Counter(["DESIGN", "REVIEW", "cp-1", "cp-2", "cp-3", "MERGE"])
    assert {"cp-1.txt", "cp-2.txt", "cp-3.txt"} <= set(feature.box.git("ls-files").split())
    assert len(feature.box.git("worktree", "list").splitlines()) == 1
    assert feature.box.git("branch", "--format=%(refname:short)").split() == ["main"]


def test_a_power_cut_side_by_side_in_worktrees(feature: Feature) -> None:
    """What had passed is not done again; the other begins anew at its iteration."""
    feature.settle(cp("cp-1"), cp("cp-2"))
    feature.box.repository()
    feature.play("cp-2.1", "make('cp-2.txt', 'half'); hold('never')")
    feature.start("--jobs", "2")
    feature.begun("cp-2")
    until(lambda: feature.checkpoints["cp-1"] == ("passed", 1), "cp-1 passed")
    feature.box.power_cut()
    done = feature.go_on("--jobs", "2")
    assert done.code == 0, done.said
    assert [len(feature.starts(who)) for who in ("cp-1", "cp-2", "MERGE")] == [1, 2, 1]
    assert (feature.root / "cp-1.txt").read_text() == "made\n"
    assert (feature.root / "cp-2.txt").read_text() == "made\n"
    assert len(feature.box.git("worktree", "list").splitlines()) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("who", ["DESIGN", "cp-2"])
def test_ctrl_c_keeps_the_place(feature: Feature, number: signal.Signals, who: str) -> None:
    """Exit 130, no process is left, no iteration is used up; `--resume` goes on."""
    feature.play(f"{who}.1", "hold('never')")
    going = feature.start()
    feature.begun(who)
    going.send(number)
    done = going.end()
    assert done.code == 130, done.said
    until(lambda: not feature.box.left_behind(), "nothing left")
    assert feature.state["phase"] == PHASES[who]
    again = feature.go_on()
    assert again.code == 0, again.said
    assert feature.checkpoints == {"cp-1": ("passed", 1), "cp-2": ("passed", 1)}
    assert len(feature.starts(who)) == 2


def test_two_at_once(feature: Feature) -> None:
    """A second command beside a living one is refused in words and changes nothing."""
    feature.play("cp-1", "hold('go'); default()")
    going = feature.start()
    feature.begun("cp-1")
    before = feature.state_path.read_bytes()
    for args in (("--resume",), ("--fresh",), ()):
        done = feature.develop(*args)
        assert done.code in (2, 3), done.said
        assert feature.state_path.read_bytes() == before
    feature.box.release("go")
    assert going.end().code == 0
    assert len(feature.who) == 5


def wait_and_kill(feature: Feature, going: Going, chance: random.Random) -> bool:
    """Let it do something, wait a moment, kill it; whether it died by that."""
    known = len(feature.who) + chance.randint(0, 1)
    until(lambda: going.process.poll() is not None or len(feature.who) >= known, "a start")
    until(lambda: going.process.poll() is not None or going.result.events, "an event")
    try:
        going.process.wait(chance.random() * 0.5)
    except subprocess.TimeoutExpired:
        going.kill()
        return True
    return False


@pytest.mark.parametrize(("seed", "is_git"), [(1, False), (2, True), (3, False)])
def test_killed_at_random(feature: Feature, seed: int, is_git: bool) -> None:
    """Killed ten times at any moment: every part was done once, failures counted once."""
    feature.settle(cp("cp-1"), cp("cp-2"), cp("cp-3", "cp-1"), cp("cp-4", "cp-2", "cp-3"))
    slow = "import time; time.sleep(0.2); "
    feature.play("cp-3.1", slow + "print('not yet')")
    for who in ("DESIGN", "REVIEW", "cp-1", "cp-2", "cp-3", "cp-4", "MERGE"):
        feature.play(who, slow + "default()")
    if is_git:
        feature.box.repository()
    chance = random.Random(seed)
    deaths = 0
    while deaths < 10 and not (feature.state_path.exists() and feature.state["phase"] == "DONE"):
        is_known = feature.state_path.exists()
        going = feature.start(*(["--resume"] * is_known), feature=None if is_known else FEATURE)
        deaths += wait_and_kill(feature, going, chance)
    if feature.state["phase"] != "DONE":
        done = feature.go_on()
        assert done.code == 0, done.said
    assert deaths >= 3
    assert feature.state["phase"] == "DONE"
    passed = {"cp-1": 1, "cp-2": 1, "cp-3": 2, "cp-4": 1}
    assert feature.checkpoints == {name: ("passed", n) for name, n in passed.items()}
    counts = Counter(feature.who)
    assert {who: counts[who] for who in passed} == passed
    assert feature.box.left_behind() == {}
    if is_git:
        assert {f"cp-{n}.txt" for n in range(1, 5)} <= set(feature.box.git("ls-files").split())
        assert len(feature.box.git("worktree", "list").splitlines()) == 1
