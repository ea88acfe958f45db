"""An agent uses git in its workspace, and changes nothing that git runs for others."""

from __future__ import annotations

from kit.attack import WITHIN, WITHOUT, Stranger, both_ways, needs_sandbox


def repository(stranger: Stranger) -> None:
    (stranger.box.root / ".gitignore").write_text("found\nstranger.sh\n")
    stranger.box.config("")
    stranger.box.repository()


@both_ways
def test_hooks_and_settings_cannot_be_planted(stranger: Stranger, sandbox: str) -> None:
    """A hook or a setting of the repository would run as the person at their next commit."""
    repository(stranger)
    script = """
echo 'touch /tmp/x' > .git/hooks/post-commit
git config core.fsmonitor /tmp/evil
git config core.hooksPath /tmp/evil
true"""
    stranger.tries(script, sandbox)
    git = stranger.box.root / ".git"
    assert (git / "hooks" / "post-commit").exists() is (sandbox == WITHOUT)
    assert ("evil" in (git / "config").read_text()) is (sandbox == WITHOUT)


@both_ways
def test_the_git_folder_cannot_be_replaced(stranger: Stranger, sandbox: str) -> None:
    """Nor can `.git` be moved away with all that is guarded in it, and another put there."""
    repository(stranger)
    stranger.tries("mv .git away && mkdir .git && echo planted > .git/planted; true", sandbox)
    assert (stranger.box.root / ".git" / "planted").exists() is (sandbox == WITHOUT)


@both_ways
def test_an_agent_commits_in_its_workspace(stranger: Stranger, sandbox: str) -> None:
    """What the sandbox must not break: git itself, with the person's name and none of their
    other settings."""
    repository(stranger)
    script = """
echo new > new.txt && git add new.txt && git commit -qm "by the agent"
git log -1 --format='%an %s' > found; git config --global --list >> found"""
    stranger.tries(script, sandbox)
    assert stranger.result.code == 0
    assert stranger.found.splitlines()[0] == "T by the agent"
    assert ("init.defaultbranch" in stranger.found) is (sandbox == WITHOUT)
    assert "by the agent" in stranger.box.git("log", "--format=%s")


@both_ways
def test_an_agent_commits_in_its_worktree(stranger: Stranger, sandbox: str) -> None:
    """A commit that the agent made by itself in its worktree is merged."""
    repository(stranger)
    script = 'echo new > new.txt && git add new.txt && git commit -qm "by the agent" && git status'
    stranger.tries(script, sandbox, "--isolate", "worktree")
    assert stranger.result.code == 0, stranger.log()
    assert "by the agent" in stranger.box.git("log", "--format=%s")
    assert (stranger.box.root / "new.txt").read_text() == "new\n"
    assert "segue/" not in stranger.box.git("branch", "--list", "segue/*")


@both_ways
def test_a_worktree_moves_no_branch_of_others(stranger: Stranger, sandbox: str) -> None:
    """From its worktree an agent changes neither branches nor hooks nor settings of the
    repository."""
    repository(stranger)
    stranger.box.git("branch", "other")
    before = stranger.box.git("rev-parse", "other")
    script = """
echo x > x.txt && git add x.txt && git commit -qm x
git update-ref refs/heads/other HEAD
git config core.fsmonitor /tmp/evil
common="$(git rev-parse --git-common-dir)"
echo evil > "$common/hooks/post-merge"; echo evil > "$common/commondir"
true"""
    stranger.tries(script, sandbox, "--isolate", "worktree")
    git = stranger.box.root / ".git"
    planted = [git / "hooks" / "post-merge", git / "commondir"]
    for path in planted:
        assert path.exists() is (sandbox == WITHOUT), path
        path.unlink(missing_ok=True)
    assert (stranger.box.git("rev-parse", "other") != before) is (sandbox == WITHOUT)
    assert ("evil" in (git / "config").read_text()) is (sandbox == WITHOUT)


@needs_sandbox
def test_the_history_of_the_repository_cannot_be_deleted(stranger: Stranger) -> None:
    """What is packed stays, whatever an agent deletes from its worktree."""
    repository(stranger)
    stranger.box.git("gc", "-q")
    script = 'rm -rf "$(git rev-parse --git-common-dir)/objects" 2>/dev/null; true'
    stranger.tries(script, WITHIN, "--isolate", "worktree")
    assert stranger.box.git("fsck", "--full") is not None
    assert stranger.box.git("log", "--format=%s").splitlines()[-1] == "begin"


@needs_sandbox
def test_another_common_folder_cannot_be_planted(stranger: Stranger) -> None:
    """A `commondir` in the project's own git folder would lead git to other settings."""
    repository(stranger)
    stranger.tries("mkdir -p evil; echo ../evil > .git/commondir; true", WITHIN)
    assert not (stranger.box.root / ".git" / "commondir").exists()
