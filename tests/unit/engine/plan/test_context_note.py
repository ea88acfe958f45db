"""The words of a context note: what an agent that has lost its context must know."""

from __future__ import annotations

from dataclasses import replace

from kit.plain_agent import STRUCTURED, run_row
from segue.core.plan import Step, Task, TaskState
from segue.engine.plan.attempts import Attempt
from segue.engine.plan.context_note import STEPS_MAX, boxes, described, one_line, steps_done

TASK = Task("T-1", "Build a house", TaskState.IN_PROGRESS, retries=2, files=("a.py",))
STEPS = tuple(Step(text, TaskState.PENDING, 1) for text in ("stones", "lamp"))


def attempt(task: Task = TASK) -> Attempt:
    return Attempt(run=run_row(), task=task, profile=STRUCTURED)


def test_a_note_names_task_plan_and_try() -> None:
    """And what is to be read again first, each file once."""
    text = described(attempt(), "PLAN.md", reread=["design.md", "a.py"])
    assert "**T-1** of PLAN.md, attempt 1 of 3" in text
    assert "Next: continue this task" in text
    assert "Read these files again first: design.md, a.py\n" in text


def test_the_next_step_is_the_first_that_is_open() -> None:
    """Steps are boxes: an agent that stops is told of the open ones."""
    text = described(attempt(), "PLAN.md", steps=STEPS, done=[1])
    assert "- [x] 1. stones\n- [ ] 2. lamp\n" in text
    assert "Next: step 2" in text
    assert "all steps are done" in described(attempt(), "PLAN.md", steps=STEPS, done=[1, 2])


def test_of_very_many_steps_those_around_the_first_open_one_are_shown() -> None:
    """With their numbers, and how many there are."""
    many = tuple(Step(f"step {n}", TaskState.PENDING, 1) for n in range(200))
    shown = boxes(many, range(1, 101))
    assert len(shown) == STEPS_MAX + 1
    assert "- [ ] 101. step 100" in shown
    assert shown[-1] == "(200 steps in total)"


def test_steps_are_done_by_their_marks_and_by_word() -> None:
    """What the agent reported since counts, too."""
    steps = (Step("stones", TaskState.COMPLETED, 1), *STEPS)
    told = attempt(replace(TASK, steps=steps))
    told.steps_done.add(3)
    assert steps_done(told, told.task) == {1, 3}


def test_a_long_text_is_one_short_line() -> None:
    """Whatever an agent or a person wrote."""
    assert one_line("a\n  b\tc") == "a b c"
    assert len(one_line("x" * 10_000)) == 300
