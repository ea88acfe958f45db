"""What an agent writes into git's settings is never run by Segue's git: each way is tried."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kit.git import git
from segue.engine.worktree import Worktrees
from segue.errors import AgentError
from segue.work.feature import git as around_a_feature

HOOKS = (
    "pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-merge-commit",
    "post-merge", "post-checkout", "reference-transaction", "post-index-change", "pre-auto-gc",
)  # fmt: skip


class Scene:
    """A project with a worktree of one task, and a note that any attack would leave."""

    def __init__(self, tmp: Path) -> None:
        self.root, self.note = tmp / "repo", tmp / "ran"
        self.program = tmp / "evil"
        self.program.write_text(f'#!/bin/sh\necho "$0 $@" >> {self.note}\nenv >> {self.note}\n')
        self.program.chmod(0o755)
        self.root.mkdir()
        git(self.root, "init", "-q", "-b", "main")
        (self.root / "PLAN.md").write_text("- [ ] **T-1**: one\n")
        (self.root / "app.txt").write_text("first\n")
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "-m", "start")
        (self.root / ".segue").mkdir()
        (self.root / ".segue" / ".gitignore").write_text("*\n")
        self.trees = Worktrees(self.root, self.root / ".segue" / "worktrees", self.root / "PLAN.md")
        self.folder = self.trees.make("T-1")
        (self.folder / "new.txt").write_text("x\n")
        (self.folder / "app.txt").write_text("changed\n")

    def config(self, key: str, value: str | None = None) -> None:
        git(self.folder, "config", key, str(self.program) if value is None else value)

    def everything(self) -> None:
        """All that Segue does with git around a task."""
        self.trees.check()
        for step in (
            lambda: self.trees.commit("T-1", "T-1: done"),
            lambda: self.trees.take_back("T-1"),
            lambda: self.trees.merge("T-1", "T-1: done"),
            lambda: self.trees.close("T-1"),
            lambda: self.trees.make("T-2"),
            lambda: self.trees.set_aside("T-2"),
            lambda: around_a_feature.changed(self.root, besides=self.root / "design.md"),
            lambda: around_a_feature.commit_design(self.root, self.root / "new.md", "f"),
        ):
            try:
                step()
            except AgentError:
                continue  # refused, in words


def hooks(scene: Scene) -> None:
    folder = scene.root / ".git" / "hooks"
    folder.mkdir(exist_ok=True)
    for name in HOOKS:
        (folder / name).symlink_to(scene.program)


def hooks_elsewhere(scene: Scene) -> None:
    own = scene.folder / "hooks"
    own.mkdir()
    for name in HOOKS:
        (own / name).symlink_to(scene.program)
    scene.config("core.hooksPath", str(own))


def monitor(scene: Scene) -> None:
    scene.config("core.fsmonitor")


def monitor_by_include(scene: Scene) -> None:
    (scene.folder / "more").write_text(f"[core]\n\tfsmonitor = {scene.program}\n")
    scene.config("include.path", str(scene.folder / "more"))


def monitor_of_the_worktree(scene: Scene) -> None:
    scene.config("extensions.worktreeConfig", "true")
    git(scene.folder, "config", "--worktree", "core.fsmonitor", str(scene.program))


def monitor_of_a_repository_inside(scene: Scene) -> None:
    inside = scene.folder / "inside"
    inside.mkdir()
    git(inside, "init", "-q")
    git(inside, "commit", "-q", "--allow-empty", "-m", "inside")
    git(scene.folder, "add", "inside")
    git(inside, "config", "core.fsmonitor", str(scene.program))
    (inside / "dirty").write_text("x")


def filters(scene: Scene) -> None:
    (scene.folder / ".gitattributes").write_text("* filter=own diff=own merge=own\n")
    for key in ("filter.own.clean", "filter.own.smudge", "diff.own.textconv", "diff.own.command",
                "merge.own.driver", "diff.external"):  # fmt: skip
        scene.config(key)
    (scene.root / "other.txt").write_text("main's\n")
    (scene.root / "app.txt").write_text("main's\n")
    git(scene.root, "add", "other.txt")
    git(scene.root, "-c", "filter.own.clean=cat", "commit", "-q", "-am", "main goes on")


def a_filter_process(scene: Scene) -> None:
    (scene.root / ".git" / "info").mkdir(exist_ok=True)
    (scene.root / ".git" / "info" / "attributes").write_text("* filter=own\n")
    scene.config("filter.own.process")


def signing(scene: Scene) -> None:
    for key in ("commit.gpgSign", "merge.verifySignatures", "log.showSignature"):
        scene.config(key, "true")
    scene.config("gpg.program")


def programs_of_git(scene: Scene) -> None:
    for key in ("core.sshCommand", "core.editor", "core.pager", "core.askPass", "core.gitProxy",
                "credential.helper", "core.alternateRefsCommand", "sequence.editor",
                "uploadpack.packObjectsHook", "trailer.x.cmd", "interactive.diffFilter"):  # fmt: skip
        scene.config(key)


def _missing_head(scene: Scene, url: str) -> None:
    for key, value in (
        ("core.repositoryformatversion", "1"), ("extensions.partialClone", "evil"),
        ("remote.evil.promisor", "true"), ("remote.evil.url", url), ("protocol.allow", "always"),
        ("remote.evil.uploadpack", str(scene.program)),
    ):  # fmt: skip
        scene.config(key, value)
    own = scene.root / ".git" / "refs" / "heads" / scene.trees.branch("T-1")
    own.write_text("1" * 40 + "\n")


def a_partial_clones_remote(scene: Scene) -> None:
    _missing_head(scene, f"file://{scene.root}")


def a_remote_helper(scene: Scene) -> None:
    _missing_head(scene, f"ext::{scene.program} %S")


def another_git_file(scene: Scene) -> None:
    other = scene.folder.parent / "other"
    subprocess.run(["cp", "-a", str(scene.root / ".git"), str(other)], check=True)
    git(scene.folder, "--git-dir", str(other), "config", "core.fsmonitor", str(scene.program))
    (scene.folder / ".git").write_text(f"gitdir: {other}\n")


def a_git_folder(scene: Scene) -> None:
    (scene.folder / ".git").unlink()
    git(scene.folder, "init", "-q")
    git(scene.folder, "config", "core.fsmonitor", str(scene.program))


def a_git_of_the_workspace(scene: Scene) -> None:
    (scene.folder / "git").symlink_to(scene.program)
    (scene.root / "git").symlink_to(scene.program)


ATTACKS = (
    hooks, hooks_elsewhere, monitor, monitor_by_include, monitor_of_the_worktree,
    monitor_of_a_repository_inside, filters, a_filter_process, signing, programs_of_git,
    a_partial_clones_remote, a_remote_helper, another_git_file, a_git_folder,
    a_git_of_the_workspace,
)  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_program_of_an_agents_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, attack: Callable[[Scene], None]
) -> None:
    """Whatever an agent wrote: what Segue does with git around its task starts none of it, and
    nothing ends but in words."""
    scene = Scene(tmp_path)
    attack(scene)
    scene.note.unlink(missing_ok=True)  # the agent's own git may have run it
    if attack is a_git_of_the_workspace:
        monkeypatch.setenv("PATH", f".:{os.environ['PATH']}:")
    scene.everything()
    assert not scene.note.exists(), scene.note.read_text()


@pytest.mark.parametrize("attack", [hooks, monitor, filters, signing, programs_of_git])
def test_the_work_itself_is_merged_all_the_same(
    tmp_path: Path, attack: Callable[[Scene], None]
) -> None:
    """Settings that Segue does not use do not stop it."""
    scene = Scene(tmp_path)
    attack(scene)
    scene.trees.commit("T-1", "T-1: done")
    scene.trees.take_back("T-1")
    if attack is filters:  # both changed a file, differently: only the driver could have hidden it
        with pytest.raises(AgentError):
            scene.trees.merge("T-1", "T-1: done")
        return
    scene.trees.merge("T-1", "T-1: done")
    assert (scene.root / "new.txt").read_text() == "x\n"


@pytest.mark.parametrize("how", ["file", "folder", "link", "gone", "commondir"])
def test_a_changed_git_file_is_noticed(tmp_path: Path, how: str) -> None:
    """`.git` of a worktree is compared, never followed: nothing is committed or merged."""
    scene = Scene(tmp_path)
    assert not scene.trees.is_changed("T-1")
    pointer = scene.folder / ".git"
    records = Path(pointer.read_text().removeprefix("gitdir: ").strip())
    if how == "commondir":
        (records / "commondir").write_text(str(tmp_path / "elsewhere"))
    else:
        pointer.unlink()
    if how == "file":
        pointer.write_text(f"gitdir: {scene.root / '.git'}\n")
    elif how == "folder":
        git(scene.folder, "init", "-q")
    elif how == "link":
        pointer.symlink_to(scene.root / ".git")
    assert scene.trees.is_changed("T-1")
    assert not scene.trees.has("T-1")
    with pytest.raises(AgentError):
        scene.trees.commit("T-1", "T-1: done")
    kept = scene.trees.keep_folder("T-1")
    assert (kept / "new.txt").read_text() == "x\n"
    assert not (kept / ".git").exists(), "git finds nothing to follow in what is kept"
    assert scene.trees.make("T-1").is_dir()


def test_where_files_go_is_not_the_repositorys_to_say(tmp_path: Path) -> None:
    """`core.worktree` leads elsewhere: a merge writes into the project, and nowhere else."""
    scene = Scene(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    git(scene.root, "config", "core.worktree", str(elsewhere))
    scene.trees.commit("T-1", "T-1: done")
    scene.trees.take_back("T-1")
    scene.trees.merge("T-1", "T-1: done")
    assert list(elsewhere.iterdir()) == []
    assert (scene.root / "new.txt").exists()


def test_a_checkout_that_was_cut_off_is_finished(tmp_path: Path) -> None:
    """Some files of a merge are there and the branch has not moved: the merge is made again."""
    scene = Scene(tmp_path)
    scene.trees.commit("T-1", "T-1: done")
    scene.trees.take_back("T-1")
    (scene.root / "new.txt").write_text("x\n")
    scene.trees.merge("T-1", "T-1: done")
    assert (scene.root / "app.txt").read_text() == "changed\n"
    assert git(scene.root, "status", "--porcelain") == ""
