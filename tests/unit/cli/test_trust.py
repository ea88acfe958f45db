"""`segue trust`: what a folder would run is shown, and trusted."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.git import git
from kit.shell import Shell

PLAN = "- [ ] **T-1**: Build\n  - run: touch made\n"


@pytest.fixture
def clone(alone: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    theirs = alone / "theirs"
    theirs.mkdir()
    git(theirs, "init", "-q", "-b", "main")
    (theirs / "PLAN.md").write_text(PLAN)
    git(theirs, "add", "-A")
    git(theirs, "commit", "-q", "-m", "x")
    git(alone, "clone", "-q", str(theirs), "mine")
    monkeypatch.chdir(alone / "mine")
    monkeypatch.delenv("SEGUE_TRUST", raising=False)
    return alone / "mine"


def test_a_clone_runs_nothing_before(clone: Path, segue: Shell) -> None:
    said = segue("run")
    assert (said.code, (clone / "made").exists()) == (3, False)
    assert "segue trust" in said.err


def test_it_shows_and_trusts_in_a_pipe(clone: Path, segue: Shell) -> None:
    said = segue("trust")
    assert said.code == 0
    assert "PLAN.md: T-1.run = touch made" in said.out
    assert segue("run").code == 0
    assert (clone / "made").exists()


@pytest.mark.usefixtures("clone")
def test_on_a_terminal_it_asks(segue: Shell) -> None:
    assert segue("trust", said="n\n", is_terminal=True).code == 3
    assert segue("run").code == 3
    assert segue("trust", "--yes", is_terminal=True).code == 0
    assert segue("run").code == 0


@pytest.mark.usefixtures("clone")
def test_programs_get_the_parts(segue: Shell) -> None:
    assert segue("trust", "--json").json["parts"] == [
        {"file": "PLAN.md", "name": "T-1.run", "text": "touch made"}
    ]


@pytest.mark.usefixtures("clone")
def test_run_can_trust_once_and_for_all(segue: Shell) -> None:
    assert segue("run", "--trust").code == 0
    assert segue("run").code == 0


@pytest.mark.usefixtures("clone")
def test_an_agent_may_not_trust(segue: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEGUE_RUN", "T-1-1")
    assert segue("trust").code == 2
    assert segue("run", "--trust").code == 2
    monkeypatch.delenv("SEGUE_RUN")
    assert segue("run").code == 3


def test_a_folder_that_runs_nothing_says_so(alone: Path, segue: Shell) -> None:
    assert segue("trust").out.splitlines()[0] == f"{alone} runs no commands of its own."
