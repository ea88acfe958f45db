"""Whole plans in the dialects that people write, and what Segue reads in them."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest

from segue.core.plan import Task
from segue.plans.check import check
from segue.plans.tasklist import Document

FOLDER = Path(__file__).parents[2] / "golden" / "tasklist"
CASES = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())


DEFAULT = Task(id="", title="")


def shown(task: Task) -> dict[str, object]:
    """A task as the golden files tell it: only what differs from the default."""
    told: dict[str, object] = {}
    for field in fields(Task):
        value = getattr(task, field.name)
        if value == getattr(DEFAULT, field.name) or field.name == "order":
            continue
        if field.name == "steps":
            value = [[step.state.value, step.text, step.line] for step in task.steps]
        elif field.name == "priority":
            value = task.priority.name.lower()
        elif field.name == "body":
            value = task.body.split("\n")
        told[field.name] = list(value) if isinstance(value, tuple) else value
    return told


def read(case: str) -> dict[str, object]:
    document = Document.parse((FOLDER / case / "plan.md").read_bytes())
    assert [task.order for task in document.tasks] == list(range(len(document.tasks)))
    return {
        "tasks": [shown(task) for task in document.tasks],
        "problems": [
            {
                "line": problem.line,
                "code": problem.code,
                "message": problem.message,
                "hint": problem.hint,
            }
            for problem in check(document)
        ],
    }


def test_there_are_cases() -> None:
    """The folder of golden cases is where the tests look for it."""
    assert len(CASES) >= 12


@pytest.mark.parametrize("case", CASES)
def test_a_plan_is_read_as_expected(case: str) -> None:
    """Each plan gives the tasks and problems that its expected.json tells."""
    expected = FOLDER / case / "expected.json"
    assert expected.exists(), f"{case} has no expected.json"
    assert read(case) == json.loads(expected.read_text(encoding="utf-8"))
