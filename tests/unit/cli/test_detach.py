"""`--detach`: what is said about an owner in the background."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kit.shell import Shell
from segue.cli import detach
from segue.store.lock import Lock
from segue.work.project import Project


def test_the_command_is_given_on_without_the_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["segue", "run", "--detach", "PLAN.md"])
    assert detach.argv_here() == ["run", "PLAN.md"]


def test_work_that_somebody_owns_is_not_started_again(alone: Path, segue: Shell) -> None:
    """The error names the process and how to follow and end it."""
    (alone / "PLAN.md").write_text("- [ ] T-1: Build\n  - run: true\n")
    assert segue("run", "PLAN.md").code == 0
    [held] = [path for path in Project(alone).locks.glob("*.lock") if "notices" not in path.name]
    lock = Lock(held)
    assert lock.take(since="2026-03-01T12:00:00Z", command="segue run PLAN.md") is None
    error = segue.refused("run", "PLAN.md", "--detach")
    lock.release()
    assert error["code"] == "already_running"
    assert "segue attach" in error["hint"]


def test_a_plan_that_is_not_there_is_told_at_once(segue: Shell) -> None:
    assert segue.refused("run", "other.md", "--detach")["code"] == "plan_not_found"
