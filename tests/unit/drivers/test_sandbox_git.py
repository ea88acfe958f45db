"""What a sandbox shows of a repository: enough to commit, nothing that git runs for others."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.box import Box
from segue.drivers.sandbox import Mount
from segue.drivers.sandbox_git import detach, git_mounts, unwelcome


@pytest.fixture
def box(tmp_path: Path) -> Box:
    made = Box(tmp_path)
    made.repository()
    return made


def test_hooks_and_settings_of_an_own_repository_are_guarded(box: Box) -> None:
    found = git_mounts(box.root, box.home)
    git = box.root / ".git"
    assert found[git] is Mount.WRITE
    assert found[git / "hooks"] is found[git / "config"] is Mount.READ


def test_a_git_folder_with_a_link_in_the_wrong_place_is_read_only(box: Box) -> None:
    git = box.root / ".git"
    (git / "hooks").rename(git / "other")
    (git / "hooks").symlink_to(git / "other")
    assert git_mounts(box.root, box.home) == {git: Mount.READ}


def test_a_git_folder_that_leads_elsewhere_is_read_only(box: Box) -> None:
    git = box.root / ".git"
    (git / "commondir").write_text("../evil\n")
    assert git_mounts(box.root, box.home) == {git: Mount.READ}
    assert unwelcome(box.root) == (git / "commondir",)


def test_a_project_below_the_top_sees_the_rest_of_its_repository(box: Box) -> None:
    """Else git would take all other files for deleted."""
    below = box.root / "below"
    below.mkdir()
    assert git_mounts(below, box.home)[box.root] is Mount.READ


def test_a_repository_of_the_home_is_not_the_projects(box: Box) -> None:
    below = box.root / "below"
    below.mkdir()
    assert git_mounts(below, box.root) == {}
    assert git_mounts(below, box.root / "below" / "home") == {}


def test_a_worktree_of_a_task_writes_its_own_records_and_objects(box: Box, tmp_path: Path) -> None:
    box.git("worktree", "add", "-q", "-b", "task", str(tmp_path / "tree"))
    git = box.root / ".git"
    found = git_mounts(tmp_path / "tree", box.home, is_isolated=True)
    assert {
        path.relative_to(git).as_posix() for path, how in found.items() if how is Mount.WRITE
    } == {
        "worktrees/tree",
        "objects",
    }
    assert found[git] is found[tmp_path / "tree" / ".git"] is Mount.READ
    assert found[git / "worktrees" / "tree" / "commondir"] is Mount.READ
    own = git_mounts(tmp_path / "tree", box.home)
    assert own[git / "refs"] is Mount.WRITE


def test_a_worktree_stands_on_its_commit_when_it_is_detached(box: Box, tmp_path: Path) -> None:
    box.git("worktree", "add", "-q", "-b", "task", str(tmp_path / "tree"))
    head = box.root / ".git" / "worktrees" / "tree" / "HEAD"
    commit = box.git("rev-parse", "task").strip()
    for _twice in range(2):
        detach(tmp_path / "tree")
        assert head.read_text().strip() == commit
    detach(box.root)
    assert (box.root / ".git" / "HEAD").read_text().startswith("ref:")


@pytest.mark.parametrize("planted", ["gitdir: {other}/.git\n", "gitdir: /etc\n", "nonsense"])
def test_a_planted_pointer_shows_nothing(tmp_path: Path, box: Box, planted: str) -> None:
    """A linked worktree counts only if the repository knows it, too."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / ".git").write_text(planted.format(other=box.root))
    assert git_mounts(tmp_path / "mine", box.home) == {}
    assert unwelcome(tmp_path / "mine") == ()
