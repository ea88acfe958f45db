"""Where a plan belongs, and Segue's memory in it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from segue.errors import UserError
from segue.work.project import Project, check_writable, find_plan


def test_the_nearest_folder_with_settings_or_a_repository_is_the_project(tmp_path: Path) -> None:
    """Upwards from the plan, the first folder with a segue.toml or a .git counts."""
    inner = tmp_path / "repo" / "part" / "docs"
    inner.mkdir(parents=True)
    plan = inner / "PLAN.md"
    plan.touch()
    (tmp_path / "repo" / ".git").mkdir()
    assert Project.containing(plan).root == tmp_path / "repo"
    (tmp_path / "repo" / "part" / "segue.toml").touch()
    assert Project.containing(plan).root == tmp_path / "repo" / "part"
    (inner / ".git").write_text("gitdir: elsewhere\n")  # as in a worktree
    assert Project.containing(plan).root == Project.containing(inner).root == inner


def test_without_either_the_plans_own_folder_is_the_project(tmp_path: Path) -> None:
    """A plan that stands alone keeps its memory beside it."""
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert Project.containing(inner / "PLAN.md").root == inner
    assert Project.containing(inner).root == inner


def test_the_memory_is_made_with_its_own_gitignore(tmp_path: Path) -> None:
    """git sees nothing of the memory; making it again keeps what is there."""
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    project = Project(tmp_path)
    project.prepare()
    (project.logs / "kept.log").touch()
    project.prepare()
    assert (project.logs / "kept.log").exists()
    for folder in (project.runs, project.evidence, project.locks):
        assert folder.is_dir()
    command = ["git", "status", "--porcelain", "--untracked-files=all"]
    found = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert found.stdout == ""


def test_a_memory_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """A file in the place of the memory is told in words, and stays."""
    (tmp_path / ".segue").write_bytes(b"mine")
    with pytest.raises(UserError) as caught:
        Project(tmp_path).prepare()
    assert caught.value.problem.file == str(tmp_path / ".segue")
    assert (tmp_path / ".segue").read_bytes() == b"mine"


def test_paths_are_shown_as_people_of_the_project_call_them(tmp_path: Path) -> None:
    """Within the project from its folder on; elsewhere whole."""
    project = Project(tmp_path)
    assert project.relative(tmp_path / "docs" / "PLAN.md") == "docs/PLAN.md"
    assert project.relative(Path("/elsewhere/x")) == "/elsewhere/x"


def test_a_plan_is_found_at_its_real_path(tmp_path: Path) -> None:
    """A link leads to the file itself: the lock and the marks are of that file."""
    plan = tmp_path / "real.md"
    plan.touch()
    link = tmp_path / "link.md"
    link.symlink_to(plan)
    assert find_plan(link) == find_plan(plan) == plan.resolve()


def test_what_is_no_plan_is_told(tmp_path: Path) -> None:
    """A missing file, a folder and a link to nowhere are told with the name that was given."""
    (tmp_path / "nowhere.md").symlink_to(tmp_path / "gone.md")
    for name, code in (
        ("missing.md", "plan_not_found"),
        ("nowhere.md", "plan_not_found"),
        (".", "plan_unreadable"),
    ):
        with pytest.raises(UserError) as caught:
            find_plan(tmp_path / name)
        problem = caught.value.problem
        assert (problem.code, problem.file) == (code, str(tmp_path / name))
        assert problem.hint


CHECK = """
import os, sys
from pathlib import Path
from segue.errors import UserError
from segue.work.project import Project, check_writable, find_plan
if os.getuid() == 0:  # who may do everything is told nothing
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
plan = Path(sys.argv[1])
os.environ["XDG_STATE_HOME"] = str(plan.parent.parent / "state")
try:
    check_writable(find_plan(plan), Project(plan.parent))
except UserError as error:
    print(error.problem.code, error.problem.file)
else:
    print("fine")
"""


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that every user of the machine may enter."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder).resolve()


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("nothing", "fine"),
        ("the plan", "read_only {plan}"),
        ("its folder", "read_only {folder}"),
        ("the memory", "read_only {memory}"),
        ("the state", "read_only {state}"),
        ("reading", "plan_unreadable {plan}"),
    ],
)
def test_what_cannot_be_written_is_told_before_anything_is_begun(
    public: Path, what: str, told: str
) -> None:
    """The plan, its folder and the memory must be writable for whoever runs Segue."""
    folder = public / "project"
    folder.mkdir()
    plan, memory, state = folder / "PLAN.md", folder / ".segue", public / "state"
    plan.touch()
    for place in (memory, state):
        place.mkdir()
    for place in (folder, memory, state):
        place.chmod(0o777)
    plan.chmod(0o666)
    if os.getuid() == 0:
        os.chown(memory, 65534, 65534)  # the user's own: another's is refused
    place, mode = {
        "nothing": (plan, 0o666),
        "the plan": (plan, 0o444),
        "its folder": (folder, 0o555),
        "the memory": (memory, 0o555),
        "the state": (state, 0o555),
        "reading": (plan, 0o222),
    }[what]
    place.chmod(mode)
    command = [sys.executable, "-c", CHECK, str(plan)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    folder.chmod(0o777)
    places = {"plan": plan, "folder": folder, "memory": memory, "state": state}
    assert done.stdout.strip() == told.format(**places), done.stderr


def test_a_project_that_can_be_written_passes(tmp_path: Path) -> None:
    """Without a memory yet, the project's folder is what must be writable."""
    (tmp_path / "PLAN.md").touch()
    check_writable(tmp_path / "PLAN.md", Project(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["PLAN.md"], "checking makes nothing"
