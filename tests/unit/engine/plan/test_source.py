"""What every plan of steps has: tasks by name, and nothing that a file of marks would need."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from segue.core.plan import Task, TaskState
from segue.engine.plan.plan_run import PlanRun
from segue.engine.plan.source import Source
from segue.errors import Problem
from segue.plans.task_edit import TaskEdit

NOTHING = cast(Any, None)


class Two(Source[PlanRun]):
    kind = "two"

    def tasks(self) -> tuple[Task, ...]:
        return (Task("a", "A"), Task("b", "B"))


@pytest.fixture
def steps() -> Two:
    return Two(Path("/p/state"), "state")


def test_a_task_is_found_by_its_name(steps: Two) -> None:
    """Among those of now; another name is nobody's."""
    assert steps.task("b").title == "B"
    with pytest.raises(StopIteration):
        steps.task("c")


def test_steps_must_say_their_tasks() -> None:
    """There is no default for what is to be done."""
    with pytest.raises(NotImplementedError):
        Source[PlanRun](Path("/p/state"), "state").tasks()


def test_nobody_edits_marks_of_steps(steps: Two) -> None:
    """Reading finds no change, and an edit of the text is none."""
    assert steps.read() is False
    assert steps.edit("a", TaskEdit(error="none")) is None, "there is no document"
    assert [task.state for task in steps.tasks()] == [TaskState.PENDING] * 2


def test_steps_object_to_nothing_unless_they_say_so(steps: Two) -> None:
    """An agent that ended well has done its work, in a conversation of its own."""
    assert steps.object_to(NOTHING) is None
    assert steps.at_rest(NOTHING) is False
    assert steps.goes_on_from(NOTHING, NOTHING) is None


def test_a_problem_is_what_breaks_it(steps: Two) -> None:
    """Nothing starts while there is one."""
    assert not steps.is_broken
    steps.problems.append(Problem("x", "y"))
    assert steps.is_broken
