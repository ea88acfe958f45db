"""An agent reads no key, no memory of Segue's and no other workspace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kit.attack import WITHIN, WITHOUT, Stranger, both_ways, copy, needs_sandbox
from kit.box import Box


@both_ways
def test_keys_in_the_home_folder_are_not_there(stranger: Stranger, sandbox: str) -> None:
    """Without the sandbox an agent reads the user's private key; in it the home is empty."""
    found = stranger.tries(copy(stranger.key) + '; ls -A "$HOME" >> found', sandbox)
    assert ("the private key" in found) is (sandbox == WITHOUT)
    assert (".ssh" in found) is (sandbox == WITHOUT)


@both_ways
def test_the_database_of_segue_is_not_there(stranger: Stranger, sandbox: str) -> None:
    """The tables that say what is done are not even readable."""
    script = """
for place in "$SEGUE_PROJECT/.segue" "$HOME/.local/state/segue"; do
  find "$place" -name 'segue.db' -exec head -c 15 {} \\; >> found
done"""
    found = stranger.tries(script, sandbox)
    assert ("SQLite format" in found) is (sandbox == WITHOUT)


@both_ways
def test_what_another_run_printed_is_not_there(stranger: Stranger, sandbox: str) -> None:
    """The logs of other runs may hold what those were told."""
    logs = stranger.memory("logs")
    logs.mkdir(parents=True)
    (logs / "other.log").write_text("told to another task\n")
    found = stranger.tries(copy(logs / "other.log"), sandbox)
    assert ("another task" in found) is (sandbox == WITHOUT)


@both_ways
def test_a_file_beside_the_project_is_not_there(stranger: Stranger, sandbox: str) -> None:
    """Another project on the same disk is another workspace."""
    other = stranger.box.tmp / "other-project"
    other.mkdir()
    (other / ".env").write_text("TOKEN=theirs\n")
    found = stranger.tries(copy(other / ".env") + f"; cd {other} && pwd >> found", sandbox)
    assert ("TOKEN=theirs" in found) is (sandbox == WITHOUT)


@both_ways
def test_a_worktree_shows_neither_the_others_nor_the_project(
    stranger: Stranger, sandbox: str
) -> None:
    """With worktrees each agent has its own folder, and only that."""
    box = stranger.box
    (box.root / ".gitignore").write_text("secret.txt\nfound\n")
    (box.root / "secret.txt").write_text("of the project\n")
    box.config("")
    box.repository()
    plan = "- [ ] **T-1**: a\n- [ ] **T-2**: b\n"
    script = f"""
cat {box.root}/secret.txt
case $SEGUE_TASK in
T-1) echo mine > theirs; i=0; until [ -e stop ] || [ $i -ge 100 ]; do i=$((i+1)); sleep 0.02; done ;;
T-2) i=0; until cat {box.root}/.segue/worktrees/*/T-1/theirs || [ $i -ge 50 ]
     do i=$((i+1)); sleep 0.02; done ;;
esac
true"""
    stranger.tries(script, sandbox, "--isolate", "worktree", "--jobs", "2", plan=plan)
    log = stranger.log()
    assert ("of the project" in log) is (sandbox == WITHOUT)
    assert (log.count("mine\n") > 0) is (sandbox == WITHOUT)


@both_ways
def test_a_link_in_the_workspace_leads_nowhere(stranger: Stranger, sandbox: str) -> None:
    """A planted link is followed inside the sandbox only."""
    script = f"ln -s {stranger.key} link; cat link >> found; rm link"
    found = stranger.tries(script, sandbox)
    assert ("the private key" in found) is (sandbox == WITHOUT)


@both_ways
def test_passwords_of_the_system_are_not_there(stranger: Stranger, sandbox: str) -> None:
    """Whoever runs Segue as root does not hand the agent what only root may read."""
    if os.geteuid() != 0:
        pytest.skip("only root may read /etc/shadow at all")
    found = stranger.tries("head -c 5 /etc/shadow >> found", sandbox)
    assert ("root:" in found) is (sandbox == WITHOUT)


@needs_sandbox
def test_a_repository_that_the_agent_points_elsewhere_opens_nothing(
    stranger: Stranger, tmp_path: Path
) -> None:
    """A `.git` file that an agent wrote does not make another repository visible to its next
    run."""
    (tmp_path / "x").mkdir()
    other = Box(tmp_path / "x")
    other.repository()
    (stranger.box.root / ".git").write_text(f"gitdir: {other.root}/.git\n")
    found = stranger.tries(f"ls {other.root}/.git >> found; touch {other.root}/.git/x", WITHIN)
    assert "HEAD" not in found
    assert not (other.root / ".git" / "x").exists()


@needs_sandbox
def test_the_agents_program_may_live_in_the_home(stranger: Stranger) -> None:
    """What an agent is started from is readable wherever it lies, and only that."""
    tool = stranger.box.home / "tools" / "agent"
    tool.parent.mkdir()
    (tool.parent / "words.txt").write_text("beside it\n")
    tool.write_text(
        f'#!/bin/sh\ncat "{tool.parent}/words.txt" > found\nls "{stranger.key.parent}"\n'
    )
    tool.chmod(0o755)
    box = stranger.box
    box.config(
        f'agent = "mine"\n[agents.mine]\nkind = "command"\ncommand = ["{tool}"]\nsandbox = "auto"\n'
    )
    box.plan("- [ ] T-1: a\n")
    assert box.run(env={"SEGUE_SANDBOX": ""}).code == 1  # there is no .ssh to list
    assert Path(box.root, "found").read_text() == "beside it\n"
