"""What git says of the project around a feature."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from segue.work.feature import git


def run(root: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *words],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


@pytest.fixture(params=["", "below"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A project with one commit: a repository, or a folder of one."""
    run(tmp_path, "init", "-q")
    folder = tmp_path / str(request.param)
    folder.mkdir(exist_ok=True)
    (folder / "a.txt").write_text("a")
    run(folder, "add", "-A")
    run(folder, "commit", "-qm", "start")
    return folder


def design_of(root: Path) -> Path:
    design = root / "docs" / "design" / "채팅.md"
    design.parent.mkdir(parents=True)
    design.write_text("# Design")
    return design


def test_what_segue_wrote_itself_does_not_count_as_changed(root: Path) -> None:
    """The design, the state, Segue's memory, .gitignore."""
    design = design_of(root)
    for name in (".develop-workflow/state.yaml", ".segue/segue.db", ".gitignore"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("x")
    assert git.changed(root, besides=design) == []


@pytest.mark.parametrize("name", ["a.txt", "new.txt", "docs/design/other.md", "mit blank.txt"])
def test_what_a_person_has_not_committed_counts(root: Path, name: str) -> None:
    """Changed or new, by its path in the project."""
    design = design_of(root)
    (root / name).write_text("changed")
    assert git.changed(root, besides=design) == [name]


def test_the_design_is_committed_alone(root: Path) -> None:
    """What a person has staged stays staged; the second time there is nothing to do."""
    design = design_of(root)
    (root / "a.txt").write_text("changed")
    run(root, "add", "a.txt")
    git.commit_design(root, design, "a chat\nin two lines")
    git.commit_design(root, design, "a chat")
    assert run(root, "log", "--format=%s").splitlines() == ["design: a chat in two lines", "start"]
    assert run(root, "-c", "core.quotepath=off", "diff", "--cached", "--name-only").split() == [
        str((root / "a.txt").relative_to(Path(run(root, "rev-parse", "--show-toplevel").strip())))
    ]
