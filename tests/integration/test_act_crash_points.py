"""A person's act takes effect once, wherever the command or the owner is killed with -9."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from kit.forks import forked
from kit.memory import Backup

WORKERS = 4
WAITS = 3

CONFIG = """\
[agents.asker]
kind = "script"
scenario = "asker.scenario"
"""
SCENARIO = """\
append done begun
ask "Which database?" PostgreSQL SQLite
append done continued
"""
PLAN = "- [ ] **T-1**: Asks\n  - agent: asker\n"


def segue(project: Path, die_at: int, *args: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "MOMENTS": str(project.parent / "moments"), "SEGUE_LANG": "en"}
    return forked("kit.crashing", ["plan", str(die_at), *args], project, env)


def moments(project: Path) -> int:
    return int((project.parent / "moments").read_text())


def run(project: Path, die_at: int = 0) -> int:
    return segue(project, die_at, "run", "PLAN.md").returncode


def gate(project: Path) -> str:
    (item,) = json.loads(segue(project, 0, "inbox", "--json").stdout)["items"]
    return str(item["id"])


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    """A plan whose one task has asked, with nobody who runs it."""
    project = tmp_path / "asked"
    project.mkdir()
    (project / "PLAN.md").write_text(PLAN)
    (project / "segue.toml").write_text(CONFIG)
    (project / "asker.scenario").write_text(SCENARIO)
    assert run(project) == WAITS
    return project


def check(project: Path, told: str) -> None:
    assert (project / "done").read_text().splitlines() == ["begun", "continued"], told
    assert "[x]" in (project / "PLAN.md").read_text(), told


def test_an_answer_whose_command_is_killed_counts_once(asked: Path) -> None:
    """Added or not, whoever answers again gets what is true; the agent hears one answer."""
    id, before = gate(asked), Backup(asked.parent, asked)
    assert segue(asked, 0, "answer", id, "SQLite").returncode == 0
    count = moments(asked)
    assert count >= 2
    for die_at in range(1, count + 1):
        before.restore()
        assert segue(asked, die_at, "answer", id, "SQLite").returncode == -9
        again = segue(asked, 0, "answer", id, "SQLite")
        told = f"killed at moment {die_at} of {count}: {again.stderr}"
        assert again.returncode == 0 or "already answered" in again.stderr, told
        assert run(asked) == 0, told
        check(asked, told)


@pytest.mark.parametrize("worker", range(WORKERS))
def test_an_answer_whose_owner_is_killed_counts_once(worker: int, asked: Path) -> None:
    """Before it is taken in, with it, and after: the next start continues the task, once."""
    id = gate(asked)
    assert segue(asked, 0, "answer", id, "SQLite").returncode == 0
    before = Backup(asked.parent, asked)
    assert run(asked) == 0
    count = moments(asked)
    for die_at in range(1 + worker, count + 1, WORKERS):
        before.restore()
        if run(asked, die_at) == -9:
            assert run(asked) == 0
        check(asked, f"killed at moment {die_at} of {count}")
