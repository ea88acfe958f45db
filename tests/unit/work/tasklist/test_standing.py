"""How a task list stands: by its marks, and by what the tables know."""

from __future__ import annotations

from pathlib import Path

import pytest

from segue.engine.standing import Known, Standing
from segue.work.project import Project
from segue.work.tasklist.standing import facts, is_plan, standing


def stands(folder: Path, plan: str) -> Standing:
    path = folder / "PLAN.md"
    path.write_text(plan)
    return standing(path, Known.of(Project(folder)))


@pytest.mark.parametrize(
    ("plan", "state"),
    [
        ("- [ ] T-1: a\n", "pending"),
        ("- [~] T-1: a\n", "interrupted"),
        ("- [x] T-1: a\n", "finished"),
        ("- [x] T-1: a\n- [!] T-2: b\n", "failed"),
    ],
)
def test_the_marks_say_how_it_stands(tmp_path: Path, plan: str, state: str) -> None:
    """Without any memory of Segue's."""
    found = stands(tmp_path, plan)
    assert (found.kind, found.state) == ("tasklist", state)
    assert sum(found.counts.values()) == plan.count("\n")


def test_what_resuming_would_do(tmp_path: Path) -> None:
    """The task that was cut off begins again, then the rest."""
    told = facts(stands(tmp_path, "- [~] T-1: a\n- [ ] T-2: b\n"))
    assert told["resumable"]
    assert told["why"] == "it was interrupted during T-1"
    assert told["redone"] == "T-1"
    assert "run the 1 remaining task" in told["next"]


def test_a_plan_with_an_error_cannot_be_resumed(tmp_path: Path) -> None:
    """The error says where."""
    found = stands(tmp_path, "- [~] T-1: a\n- [ ] T-1: b\n")
    assert found.problem is not None
    assert "PLAN.md:2" in found.problem
    assert not facts(found)["resumable"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- [ ] T-1: a\n", True),
        ("- [~] buy milk\n", True),
        ("- [ ] buy milk\n", False),
        ("- [x] T-1: a\n", False),
        ("# Notes\n", False),
    ],
)
def test_not_every_checklist_is_a_plan(tmp_path: Path, text: str, expected: bool) -> None:
    """Its tasks have ids, or it was begun; and something is left."""
    path = tmp_path / "a.md"
    path.write_text(text)
    assert is_plan(path) is expected
    assert not is_plan(tmp_path / "missing.md")
