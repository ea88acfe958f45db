"""A workspace that is a repository: a fork of it is one too, with its history, where it stood."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kit.git import git
from segue.errors import UserError
from segue.work.phases import repository
from segue.work.phases.repository import Head
from segue.work.phases.workspace import Workspace


def commit(folder: Path, name: str, text: str) -> str:
    """A file with this text, committed; the commit."""
    (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", f"{name}: {text}")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def space(tmp_path: Path) -> Workspace:
    made = Workspace(tmp_path / "data", "task_0123456789ab")
    made.make()
    git(made.path, "init", "-q")
    return made


def forked(space: Workspace, tell: list[str] | None = None) -> Path:
    """A fork of the workspace as it is now."""
    head = repository.head_of(space.path)
    told: list[str] = [] if tell is None else tell
    other = space.fork(space.snapshot("now"), "task_new", head, told.append)
    if tell is None:
        assert told == []
    return other.path


def test_a_fork_has_the_history_and_what_was_not_committed(space: Workspace) -> None:
    """Its log, branches and tags are those of the other; changed and new files show as such."""
    commit(space.path, "a", "1")
    git(space.path, "tag", "v1")
    git(space.path, "branch", "side")
    last = commit(space.path, "a", "2")
    (space.path / "a").write_text("changed")
    (space.path / "new").write_text("new")
    other = forked(space)
    assert git(other, "rev-parse", "HEAD") == last
    assert git(other, "symbolic-ref", "HEAD") == "refs/heads/main"
    assert git(other, "log", "--format=%s") == "a: 2\na: 1"
    assert git(other, "for-each-ref", "--format=%(refname:short)").split() == ["main", "side", "v1"]
    assert git(other, "status", "--porcelain").splitlines() == ["M a", "?? new"]
    assert (other / "a").read_text() == "changed"
    assert git(other, "fsck", "--strict") == ""


def test_neither_changes_with_the_other(space: Workspace) -> None:
    """A commit in one is not in the other; the end of the first leaves the fork whole."""
    first = commit(space.path, "a", "1")
    other = forked(space)
    commit(other, "b", "forked")
    assert git(space.path, "rev-parse", "HEAD") == first
    space.remove()
    assert git(other, "log", "--format=%s") == "b: forked\na: 1"
    assert git(other, "fsck", "--strict") == ""


def test_it_stands_where_it_stood_at_the_checkpoint(space: Workspace) -> None:
    """The branch may have gone on since, or its commit may be on no branch any more."""
    commit(space.path, "a", "1")
    then = commit(space.path, "a", "2")
    head = repository.head_of(space.path)
    snapshot = space.snapshot("then")
    git(space.path, "reset", "-q", "--hard", "HEAD~1")
    commit(space.path, "a", "another way")
    other = space.fork(snapshot, "task_new", head).path
    assert git(other, "rev-parse", "HEAD") == then
    assert git(other, "log", "--format=%s") == "a: 2\na: 1"
    assert git(other, "status", "--porcelain") == ""


def test_a_commit_that_was_thrown_away_is_not_missed(space: Workspace) -> None:
    """Gone for good: the history as it is now, and the files as they were."""
    commit(space.path, "a", "1")
    commit(space.path, "a", "2")
    head = repository.head_of(space.path)
    snapshot = space.snapshot("then")
    git(space.path, "reset", "-q", "--hard", "HEAD~1")
    git(space.path, "reflog", "expire", "--expire=now", "--all")
    git(space.path, "gc", "-q", "--prune=now")
    other = space.fork(snapshot, "task_new", head).path
    assert git(other, "log", "--format=%s") == "a: 1"
    assert git(other, "status", "--porcelain") == "M a"
    assert (other / "a").read_text() == "2"


def test_on_no_branch(space: Workspace) -> None:
    """A repository that stands on a commit alone is forked so."""
    first = commit(space.path, "a", "1")
    commit(space.path, "a", "2")
    git(space.path, "checkout", "-q", "--detach", first)
    other = forked(space)
    assert git(other, "rev-parse", "HEAD") == first
    with pytest.raises(subprocess.CalledProcessError):
        git(other, "symbolic-ref", "-q", "HEAD")


def test_before_the_first_commit(space: Workspace) -> None:
    """Nothing is committed yet, on the branch of the same name."""
    git(space.path, "symbolic-ref", "HEAD", "refs/heads/trunk")
    (space.path / "a").write_text("1")
    assert repository.head_of(space.path) == Head(None, "refs/heads/trunk")
    other = forked(space)
    assert git(other, "symbolic-ref", "HEAD") == "refs/heads/trunk"
    assert git(other, "status", "--porcelain") == "?? a"
    commit(other, "a", "2")


def test_remotes_and_names_are_taken_over_and_nothing_else(space: Workspace) -> None:
    """Where it came from and who commits; no commands that an agent wrote into its settings."""
    commit(space.path, "a", "1")
    git(space.path, "remote", "add", "origin", "https://example.org/a.git")
    for key, value in (
        ("branch.main.remote", "origin"), ("branch.main.merge", "refs/heads/main"),
        ("user.name", "An Agent"), ("core.fsmonitor", "touch ran"), ("alias.x", "!touch ran"),
    ):  # fmt: skip
        git(space.path, "config", key, value)
    kept = git(forked(space), "config", "--local", "--list")
    assert "remote.origin.url=https://example.org/a.git" in kept
    assert "remote.origin.fetch=+refs/heads/*:refs/remotes/origin/*" in kept
    assert "branch.main.merge=refs/heads/main" in kept
    assert "user.name=An Agent" in kept
    assert "fsmonitor" not in kept and "alias" not in kept


def test_nothing_that_an_agent_wrote_is_run(
    space: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hooks, filters and monitors stand still while Segue looks and copies."""
    ran = tmp_path / "ran"
    commit(space.path, ".gitattributes", "* filter=own\n")
    hooks = space.path / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "reference-transaction", "post-index-change", "pre-auto-gc"):
        (hooks / name).write_text(f"#!/bin/sh\necho {name} >> {ran}\n")
        (hooks / name).chmod(0o755)
    for key in ("core.fsmonitor", "filter.own.clean", "filter.own.smudge",
                "uploadpack.packObjectsHook", "core.sshCommand", "core.pager"):  # fmt: skip
        with (space.path / ".git" / "config").open("a") as file:
            section, _dot, name = key.rpartition(".")
            head = '[filter "own"]' if section.startswith("filter") else f"[{section}]"
            file.write(f"{head}\n\t{name} = echo {key} >> {ran}\n")
    monkeypatch.setenv("SEGUE_KEY", "a secret of ours")
    forked(space)
    assert not ran.exists(), ran.read_text()


def test_a_partial_clones_remote_is_never_asked(space: Workspace, tmp_path: Path) -> None:
    """A missing commit that an agent promises to be had from a program of its own: neither
    the look at where the workspace stands nor its copy starts that program."""
    ran = tmp_path / "ran"
    commit(space.path, "a", "1")
    (space.path / ".git" / "refs" / "heads" / "main").write_text("1" * 40 + "\n")
    for key, value in (
        ("core.repositoryformatversion", "1"), ("extensions.partialClone", "evil"),
        ("remote.evil.promisor", "true"), ("remote.evil.url", f"file://{space.path}"),
        ("remote.evil.uploadpack", f"sh -c 'env > {ran}'"),
    ):  # fmt: skip
        git(space.path, "config", key, value)
    assert repository.head_of(space.path) == Head("1" * 40, "refs/heads/main")
    told: list[str] = []
    forked(space, told)
    assert not ran.exists(), ran.read_text()
    assert len(told) == 1


def test_only_a_folder_is_a_repository(space: Workspace, tmp_path: Path) -> None:
    """Neither a link nor a file that leads elsewhere is followed; a broken one is none."""
    commit(space.path, "a", "1")
    (space.path / ".git").rename(tmp_path / "elsewhere")
    assert repository.head_of(space.path) is None
    (space.path / ".git").symlink_to(tmp_path / "elsewhere")
    assert repository.head_of(space.path) is None
    (space.path / ".git").unlink()
    (space.path / ".git").write_text(f"gitdir: {tmp_path / 'elsewhere'}\n")
    assert repository.head_of(space.path) is None
    (space.path / ".git").unlink()
    (space.path / ".git").mkdir()
    assert repository.head_of(space.path) is None


def test_what_cannot_be_copied_is_told_and_the_files_are_there(space: Workspace) -> None:
    """A repository that is gone or broken costs the fork its history, not its files."""
    commit(space.path, "a", "1")
    head = repository.head_of(space.path)
    snapshot = space.snapshot("then")
    for path in (space.path / ".git" / "objects").rglob("*"):
        if path.is_file():
            path.unlink()
    told: list[str] = []
    other = space.fork(snapshot, "task_new", head, told.append).path
    assert (other / "a").read_text() == "1"
    assert not (other / ".git").exists()
    assert len(told) == 1 and "repository" in told[0]


def test_a_broken_repository_leaves_nothing_behind(tmp_path: Path) -> None:
    """Where there is none to copy, it is an error in words and the folder is as it was."""
    (tmp_path / "from").mkdir()
    (tmp_path / "to").mkdir()
    with pytest.raises(UserError) as told:
        repository.copy(tmp_path / "from", tmp_path / "to", Head(None, "refs/heads/main"))
    assert told.value.problem.code == "repository_not_copied"
    assert list((tmp_path / "to").iterdir()) == []
