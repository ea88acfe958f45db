"""Memory that somebody else put there is refused in words."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kit.git import git
from segue.errors import UserError
from segue.work.project import Project


def refused(root: Path) -> tuple[str, str | None]:
    with pytest.raises(UserError) as caught:
        Project(root).prepare()
    problem = caught.value.problem
    assert problem.code == "planted_memory"
    assert problem.hint
    return problem.message, problem.file


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """Neither in the place of the folder, nor in that of the database."""
    root, other = tmp_path / "project", tmp_path / "other"
    root.mkdir()
    other.mkdir()
    (root / ".segue").symlink_to(other)
    message, file = refused(root)
    assert "symbolic link" in message
    assert file == str(root / ".segue")
    (root / ".segue").unlink()
    (root / ".segue").mkdir()
    (root / ".segue" / "segue.db").symlink_to(other / "segue.db")
    assert refused(root)[1] == str(root / ".segue" / "segue.db")
    assert list(other.iterdir()) == []


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("name", [".segue", ".segue/segue.db"])
def test_another_user_s_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / ".segue").mkdir()
    (tmp_path / ".segue" / "segue.db").touch()
    os.chown(tmp_path / name, 65534, 65534)
    message, file = refused(tmp_path)
    assert "another user" in message
    assert file == str(tmp_path / name)


def test_a_database_that_came_with_the_repository_is_refused(tmp_path: Path) -> None:
    """Segue's own .gitignore keeps it out of every commit, so somebody forced it in."""
    (tmp_path / ".segue").mkdir()
    (tmp_path / ".segue" / "segue.db").touch()
    for words in (
        ("init", "-q"),
        ("add", "-f", ".segue/segue.db"),
        ("-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-qm", "x"),
    ):
        git(tmp_path, *words)
    assert "came with the repository" in refused(tmp_path)[0]


def test_one_s_own_is_fine(tmp_path: Path) -> None:
    """In a repository, too, and a second time."""
    git(tmp_path, "init", "-q")
    Project(tmp_path).prepare()
    (tmp_path / ".segue" / "segue.db").touch()
    Project(tmp_path).prepare()
