"""The locks of a project's plans."""

from __future__ import annotations

from pathlib import Path

import pytest

from segue.engine.locks import check_held, lock_path, notices_lock
from segue.errors import UserError
from segue.store.lock import Holder
from segue.work.project import Project


def test_each_plan_has_a_lock_of_its_own(tmp_path: Path) -> None:
    """By its path, beside the one for notices."""
    project = Project(tmp_path)
    one, other = (lock_path(project, tmp_path / name) for name in ("A.md", "B.md"))
    assert len({one, other, notices_lock(project)}) == 3
    assert one == lock_path(project, tmp_path / "A.md")
    assert one.parent == project.locks


def test_a_plan_that_somebody_runs_is_refused_in_words() -> None:
    """Who it is, since when, and how to end it; nothing where nobody does."""
    check_held(None, "PLAN.md")
    with pytest.raises(UserError) as error:
        check_held(Holder(42, "noon", "segue run PLAN.md"), "PLAN.md")
    assert error.value.problem.code == "plan_locked"
    assert "42" in error.value.problem.message and "segue stop" in (error.value.problem.hint or "")
