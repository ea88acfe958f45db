"""`segue resume` for a task list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kit.shell import Shell
from segue import i18n
from segue.cli import resume_tasklist

PLAN = "- [x] T-1: a\n- [~] T-2: b\n- [ ] T-3: c\n"


@pytest.fixture
def plan(alone: Path) -> Path:
    path = alone / "PLAN.md"
    path.write_text(PLAN)
    return path


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The options of each run that would begin."""
    found: list[Any] = []

    def go(options: Any, environ: dict[str, str], *, as_json: bool) -> int:
        found.append(options)
        return 4

    monkeypatch.setattr("segue.cli.run.go", go)
    return found


def test_why_it_stopped_and_what_comes_next_is_said(segue: Shell, plan: Path) -> None:
    """With the four choices below; a pipe chooses by an option."""
    said = segue("resume")
    lines = said.out.splitlines()
    assert said.code == 3
    assert lines[0] == f"[1] {plan}"
    assert lines[1] == "    stopped: it was interrupted during T-2"
    assert lines[2].startswith("    next: restart T-2")
    assert lines[3:7] == [
        "  1. continue the work", "  2. restart the tasks in progress", "  3. show the state", "  4. reset",
    ]  # fmt: skip


@pytest.mark.parametrize(("choice", "restart"), [("--continue", False), ("--restart", True)])
def test_it_is_run_from_where_it_stopped_or_its_tasks_begin_again(
    segue: Shell, plan: Path, begun: list[Any], choice: str, restart: bool
) -> None:
    """The exit code is that of the run."""
    assert segue("resume", choice).code == 4
    assert [(one.plan, one.restart) for one in begun] == [(plan, restart)]


def test_the_state_is_shown_as_status_shows_it(segue: Shell, plan: Path, begun: list[Any]) -> None:
    said = segue("resume", "--status")
    assert said.code == 0
    assert said.out.startswith("⏸ PLAN.md  interrupted  1/3\n")
    assert begun == []


def test_a_reset_opens_every_task_and_keeps_the_old_plan(segue: Shell, plan: Path) -> None:
    said = segue("resume", "--reset")
    assert said.code == 0
    first, _colon, backup = said.out.splitlines()[-1].partition(". The old one is kept in ")
    assert first == "The plan starts over"
    assert Path(backup).read_text() == PLAN
    assert plan.read_text() == PLAN.replace("[x]", "[ ]").replace("[~]", "[ ]")


def test_there_is_nothing_to_rebuild(segue: Shell, plan: Path, begun: list[Any]) -> None:
    """The marks are its state."""
    error = segue.refused("resume", "--rebuild")
    assert (error["code"], begun) == ("usage", [])
    assert "cannot be rebuilt" in error["message"]


@pytest.mark.usefixtures("alone")
def test_the_question_is_asked_in_korean() -> None:
    assert resume_tasklist.question() == "What should Segue do?"
    i18n.use("ko")
    assert resume_tasklist.question() != "What should Segue do?"
