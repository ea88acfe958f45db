"""Segue is killed while git makes a worktree for it, and git lives on."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kit.git import git
from kit.processes import all_gone
from kit.waiting import until
from segue.engine import worktree
from segue.engine.worktree import Worktrees
from segue.errors import AgentError

# Stands in for git: it stops once, before or after a command, until it is let go.
SLOW_GIT = """#!/bin/sh
stop() {{ if mkdir "{here}/stopped" 2>/dev/null; then
  echo $$ > "{here}/pid.part"; mv "{here}/pid.part" "{here}/pid"
  until [ -e "{here}/go" ]; do sleep 0.02; done; fi; }}
case "{when}:$*" in "before:"*"{command}"*) stop;; esac
"{git}" "$@"
code=$?
case "{when}:$*" in "after:"*"{command}"*) stop;; esac
exit $code
"""
MAKE = """
import sys
from pathlib import Path
from segue.engine.worktree import Worktrees
root = Path(sys.argv[1])
Worktrees(root, root / ".segue" / "worktrees", root / "PLAN.md").make("T-1")
"""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / ".gitignore").write_text(".segue\n")
    (root / "PLAN.md").write_text("- [ ] **T-1**: one\n")
    (root / "app.txt").write_text("first\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "start")
    return root


def make_and_die(root: Path, when: str, command: str) -> int:
    """A process that makes the worktree of T-1 is killed while its git command is under way; the
    process of that command."""
    here = root.parent
    folder = here / "bin"
    folder.mkdir()
    text = SLOW_GIT.format(here=here, git=shutil.which("git"), when=when, command=command)
    (folder / "git").write_text(text)
    (folder / "git").chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    dying = subprocess.Popen([sys.executable, "-c", MAKE, root], env={**os.environ, "PATH": path})
    until((here / "pid").exists, "git at work")
    dying.send_signal(signal.SIGKILL)
    dying.wait()
    return int((here / "pid").read_text())


def let_go(root: Path, pid: int) -> None:
    """The git command that outlived Segue comes to its end."""
    (root.parent / "go").touch()
    until(lambda: all_gone([pid]), "the end of git")


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("command", ["worktree add", "read-tree"])
def test_a_worktree_whose_making_was_cut_off_is_made_anew(
    repo: Path, when: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the git command of the earlier start lives, none works beside it; afterwards the
    worktree is made anew, and of the half one nothing is kept: no agent was ever in it."""
    pid = make_and_die(repo, when, command)
    trees = Worktrees(repo, repo / ".segue" / "worktrees", repo / "PLAN.md")
    monkeypatch.setattr(worktree, "EARLIER_S", 0.1)
    with pytest.raises(AgentError, match="earlier run"):
        trees.make("T-1")
    let_go(repo, pid)
    path = trees.make("T-1")
    assert (path / "app.txt").read_text() == "first\n"
    assert git(path, "status", "--porcelain") == ""
    assert git(repo, "branch", "--list", "segue/*").split() == ["+", "segue/PLAN/T-1"]
    assert [one.name for one in path.parent.iterdir() if not one.name.startswith(".")] == ["T-1"]
    (path / "app.txt").write_text("second\n")
    trees.commit("T-1", "T-1: done")
    trees.take_back("T-1")
    trees.merge("T-1", "T-1: done")
    assert (repo / "app.txt").read_text() == "second\n"
