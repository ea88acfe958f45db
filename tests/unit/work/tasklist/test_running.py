"""From a path to a plan that can be run: everything is checked, nothing is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from segue.errors import UserError
from segue.work.tasklist.running import CommandOptions, open_plan

ENVIRON = {"PATH": "/bin", "HOME": "/nowhere"}


def test_a_plan_is_opened_with_its_project_and_its_agents(tmp_path: Path) -> None:
    """Segue's folder is not made by that."""
    path = tmp_path / "PLAN.md"
    path.write_text("- [ ] T-1: a\n  - run: true\n")
    project, file, roster, _settings = open_plan(CommandOptions(path, agent="shell"), ENVIRON)
    assert (project.root, file.path) == (tmp_path, path)
    assert roster.profile_for(file.task("T-1")).name == "shell"
    assert not project.memory.exists()


def test_a_plan_with_errors_is_refused_with_all_of_them(tmp_path: Path) -> None:
    """Each with its line."""
    path = tmp_path / "PLAN.md"
    path.write_text("- [ ] T-1: a\n- [ ] T-1: b\n- [ ] T-2: c\n  - blocked by: T-9\n")
    with pytest.raises(UserError) as refused:
        open_plan(CommandOptions(path, agent="shell"), ENVIRON)
    assert {problem.line for problem in refused.value.problems} == {2, 4}


def test_an_unknown_agent_is_refused_before_the_plan_is_read(tmp_path: Path) -> None:
    """Whatever stands in it."""
    path = tmp_path / "PLAN.md"
    path.write_text("- [ ] T-1: a\n")
    with pytest.raises(UserError, match="nobody"):
        open_plan(CommandOptions(path, agent="nobody"), ENVIRON)
