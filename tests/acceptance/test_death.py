"""Segue dies without warning; nothing is lost and nothing is done twice."""

from __future__ import annotations

import random
import subprocess
from functools import partial

import pytest

from kit.box import Box
from kit.command import Going
from kit.waiting import until


def test_a_living_agent_is_adopted_not_started_twice(box: Box) -> None:
    """kill -9 of Segue: its agent goes on, the next run follows it to its end; one start."""
    box.plan(
        f"- [ ] T-1: a\n  - steps:\n    - [ ] one\n    - [ ] two\n"
        f"  - run: {box.note()}; {box.note('pid', '$$')}; echo '=== STEP 1 DONE ===';"
        f" {box.hold('go')}; echo said-later\n"
        f"- [ ] T-2: b (deps: T-1)\n  - run: {box.note()}\n"
    )
    going = box.start_run()
    until(lambda: "- [x] one" in box.text(), "the first step")
    agent = int(box.notes("pid")[0])
    going.kill()
    assert box.marks()["T-1"] == "~"
    assert agent in box.agents(), "the agent outlives Segue"
    again = box.start_run()
    again.event("started")
    until(lambda: again.process.poll() is not None or len(again.result.events) > 1, "adoption")
    assert agent in box.agents(), "adopted, not ended"
    box.release("go")
    done = again.end()
    assert done.code == 0
    assert box.notes() == ["T-1", "T-2"]
    assert done.tasks("task_completed") == ["T-1", "T-2"]
    assert box.left_behind() == {}
    logs = "".join(path.read_text() for path in (box.root / ".segue/logs").glob("*T-1*"))
    assert logs.count("said-later") == 1


def test_an_agent_that_ended_meanwhile_is_not_run_again(box: Box) -> None:
    """What ended well while no Segue lived is taken as it is, checked and completed."""
    box.plan(
        f"- [ ] T-1: a\n  - run: {box.note()}; {box.hold('go')}; echo made > made.txt\n"
        f"  - verify: {box.note('v', 'v')}; test -e made.txt\n"
    )
    going = box.start_run()
    until(box.notes, "the agent up")
    going.kill()
    box.release("go")
    until(lambda: not box.agents(), "its end")
    done = box.run()
    assert done.code == 0
    assert box.notes() == ["T-1"]
    assert box.notes("v") == ["v"]
    assert box.marks() == {"T-1": "x"}


def test_a_failure_meanwhile_counts_as_one_try(box: Box) -> None:
    """What failed while no Segue lived is one failed try, not none and not two."""
    box.plan(f"- [ ] T-1: a\n  - retries: 1\n  - run: {box.note()}; {box.hold('go')}; exit 5\n")
    going = box.start_run()
    until(box.notes, "the agent up")
    going.kill()
    box.release("go")
    until(lambda: not box.agents(), "its end")
    assert box.run().code == 1
    assert box.notes() == ["T-1", "T-1"]
    assert "<!-- retries: 1/1 -->" in box.text()


def test_a_task_cut_off_with_its_agent_starts_from_the_beginning(box: Box) -> None:
    """Everything dies (a power cut): steps are reset, it runs again, and no retry is used up."""
    box.plan(
        "- [ ] T-1: a\n  - retries: 0\n  - steps:\n    - [ ] one\n    - [ ] two\n"
        f"  - run: cp PLAN.md {box.out}/seen; {box.note()}; echo '=== STEP 1 DONE ==='; {box.hold('go')}\n"
    )
    box.start_run()
    until(lambda: "- [x] one" in box.text(), "the first step")
    box.power_cut()
    box.release("go")
    done = box.run()
    assert done.code == 0, box.text()
    assert box.notes() == ["T-1", "T-1"]
    assert "- [ ] one" in (box.out / "seen").read_text()
    assert "<!--" not in box.text()


def stubborn(box: Box) -> None:
    """A task whose first agent does not end when it is asked to; the next one notes whether that
    one is still there."""
    box.plan(
        f"- [ ] T-1: a\n  - run: if [ -e {box.out}/pid ]; then kill -0 $(cat {box.out}/pid) &&"
        f" {box.note('overlap')}; {box.note()}; else trap 'echo asked > {box.out}/asked' TERM;"
        f" {box.note('pid', '$$')};"
        f" {box.hold('never')}; fi\n"
    )


@pytest.mark.parametrize("dies", [False, True])
def test_a_restart_waits_for_the_end_of_the_old_agent(box: Box, dies: bool) -> None:
    """`resume --restart` beside a living agent: the new one starts when the old one is gone, also
    where Segue is killed while it waits for that."""
    stubborn(box)
    going = box.start_run()
    until(lambda: box.notes("pid"), "the agent up")
    going.kill()
    again = box.start("resume", "--restart", "--json")
    if dies:
        until(lambda: box.notes("asked"), "the old agent asked to end")
        again.kill()
        again = box.start("resume", "--restart", "--json")
    done = again.end()
    assert done.code == 0, done
    assert box.notes() == ["T-1"]
    assert box.notes("overlap") == [], "two agents for one task"
    assert box.left_behind() == {}


def test_death_while_a_check_runs(box: Box) -> None:
    """The agent is not run again for a check that was cut off, and no check is left behind."""
    box.plan(
        f"- [ ] T-1: a\n  - run: {box.note()}\n"
        f"  - verify: {box.note('v', 'v')}; {box.hold('go')}; test -e made\n  - retries: 0\n"
    )
    going = box.start_run()
    until(lambda: box.notes("v"), "the check up")
    going.kill()
    (box.root / "made").touch()
    again = box.start_run()
    again.event("started")
    box.release("go")
    assert again.end().code == 0
    assert box.notes() == ["T-1"]
    assert box.left_behind() == {}
    assert box.marks() == {"T-1": "x"}


def numbered(box: Box) -> None:
    parts = ["---\nretries: 0\n---\n"]
    for n in range(1, 31):
        deps = f" (deps: T-{n - 3})" if n > 3 else ""
        steps = "  - steps:\n    - [ ] s\n" if n % 5 == 0 else ""
        check = f"  - verify: test -e {box.out}/made-$SEGUE_TASK\n" if n % 2 else ""
        run = f"{box.note()}; sleep 0.2{n % 7}; touch {box.out}/made-$SEGUE_TASK"
        parts.append(f"- [ ] **T-{n}**: task {n}{deps}\n{steps}  - run: {run}\n{check}")
    box.plan("".join(parts))


def has_moved(going: Going, events: int) -> bool:
    return going.process.poll() is not None or len(going.result.events) >= events


@pytest.mark.parametrize("seed", [1, 2])
def test_killed_twenty_times_each_task_runs_exactly_once(box: Box, seed: int) -> None:
    """Thirty tasks, Segue killed at random moments: every task ran once, nothing is left running."""
    numbered(box)
    chance = random.Random(seed)
    deaths = 0
    while deaths < 20 and any(mark != "x" for mark in box.marks().values()):
        going: Going = box.start_run("--jobs", "3")
        until(partial(has_moved, going, chance.randint(0, 3)), "some progress")
        try:
            going.process.wait(chance.random() * 0.15)
        except subprocess.TimeoutExpired:  # still running: that is when it dies
            deaths += 1
        going.kill()
    assert deaths >= 8, "the plan was long enough to be killed often"
    done = box.run("--jobs", "3")
    assert done.code == 0, box.text()
    assert sorted(box.notes(), key=lambda name: int(name[2:])) == [f"T-{n}" for n in range(1, 31)]
    assert set(box.marks().values()) == {"x"}
    assert box.left_behind() == {}
    assert "<!--" not in box.text()
