"""What every plan of steps has: tasks worked out from a state, and nobody edits their marks."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from segue.core.plan import Task, TaskState
from segue.engine.plan.attempts import Attempt
from segue.engine.plan.plan_run import PlanRun
from segue.engine.plan.source import Source
from segue.errors import Problem
from segue.plans.task_edit import TaskEdit


class TwoSteps(Source[PlanRun]):
    def tasks(self) -> tuple[Task, ...]:
        return tuple(Task(id=name, title=name, state=TaskState.PENDING) for name in ("a", "b"))


def test_a_task_is_found_by_its_id() -> None:
    """Among those of now."""
    steps = TwoSteps(Path("night"), "night")
    assert steps.task("b").title == "b"
    with pytest.raises(StopIteration):
        steps.task("c")


def test_nothing_is_edited_and_nothing_objected_to(tmp_path: Path) -> None:
    """Unless a plan of steps says otherwise."""
    steps = TwoSteps(tmp_path, "night")
    assert (steps.path, steps.shown) == (tmp_path, "night")
    assert steps.read() is False
    assert steps.edit("a", TaskEdit(error="none")) is None, "a step has no text"
    steps.sync()
    attempt = cast(Attempt, None)  # it is not looked at
    steps.prepare(attempt)
    assert steps.object_to(attempt) is None


def test_a_problem_breaks_the_plan() -> None:
    """Nothing new is begun then."""
    steps = TwoSteps(Path("night"), "night")
    assert not steps.is_broken
    steps.problems.append(Problem("bad", "bad"))
    assert steps.is_broken


def test_steps_without_tasks_are_a_mistake() -> None:
    """Each kind of plan has its own."""
    with pytest.raises(NotImplementedError):
        Source[PlanRun](Path("night"), "night").tasks()
