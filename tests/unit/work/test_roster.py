"""The agents of a project: by name, by task, and what a plan lacks of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from segue.core.plan import Task, TaskState
from segue.errors import UserError
from segue.plans.tasklist import Document
from segue.work.roster import AgentRoster
from segue.work.settings import config

SETTINGS = 'agent = "mine"\n[agents.mine]\nkind = "command"\ncommand = ["./agent"]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "segue.toml").write_text(SETTINGS)
    program = tmp_path / "agent"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return tmp_path


def roster(folder: Path, default: str | None = None) -> AgentRoster:
    return AgentRoster(config.load(folder, None), folder, {"PATH": "/bin"}, default)


def document(text: str) -> Document:
    return Document.parse(text.encode(), file="PLAN.md")


def test_a_task_names_its_agent_else_the_command_line_else_the_settings(folder: Path) -> None:
    """In this order."""
    task = Task("T-1", "a", TaskState.PENDING)
    named = Task("T-2", "b", TaskState.PENDING, agent="shell")
    assert roster(folder).profile_for(task).name == "mine"
    assert roster(folder, "shell").profile_for(task).name == "shell"
    assert roster(folder).profile_for(named).name == "shell"


def test_an_agent_of_an_earlier_run_may_be_gone(folder: Path) -> None:
    """That is no error where it is only looked for."""
    assert roster(folder).profile_named("nobody") is None
    with pytest.raises(UserError):
        roster(folder).profile("nobody")


def test_each_task_that_is_to_run_needs_its_agent(folder: Path) -> None:
    """With the line that names it; what is done needs none."""
    plan = "- [ ] T-1: a\n  - agent: nobody\n- [x] T-2: b\n  - agent: nobody\n"
    (problem,) = roster(folder).check(document(plan))
    assert (problem.file, problem.line) == ("PLAN.md", 2)


def test_the_shell_agent_needs_a_command(folder: Path) -> None:
    """The task has one, or the plan is refused."""
    (problem,) = roster(folder, "shell").check(document("- [ ] T-1: a\n"))
    assert (problem.code, problem.line) == ("no_command", 1)
    assert roster(folder, "shell").check(document("- [ ] T-1: a\n  - run: true\n")) == []
