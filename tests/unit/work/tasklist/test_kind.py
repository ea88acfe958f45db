"""A task list as one of the kinds of work."""

from __future__ import annotations

from pathlib import Path

from segue.engine.standing import Known
from segue.work.project import Project
from segue.work.tasklist.kind import TasklistKind


def test_a_task_list_is_a_file_and_no_folder(tmp_path: Path) -> None:
    """It stands as its marks say."""
    path, kind = tmp_path / "PLAN.md", TasklistKind()
    path.write_text("- [~] T-1: a\n")
    found = kind.standing(path, Known.of(Project(tmp_path)))
    assert (found.kind, found.state, kind.marks) == ("tasklist", "interrupted", ())
    assert kind.facts(found)["redone"] == "T-1"
