"""Which state folder belongs to a project, and which does not."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path

import pytest

from segue.errors import UserError
from segue.store import files
from segue.store.lock import Lock
from segue.store.sqlite import Store
from segue.work import state_folder
from segue.work.project import Project


def started(root: Path) -> Project:
    """A project in which Segue has worked."""
    root.mkdir(exist_ok=True)
    project = Project(root)
    project.prepare()
    Store.open(project.database).close()
    return project


def told_by(project: Project) -> list[str]:
    told: list[str] = []
    project.prepare(told.append)
    return told


def test_the_state_is_the_users_own_and_outside_of_the_project(tmp_path: Path) -> None:
    """By the name of the folder, below `$XDG_STATE_HOME/segue`; nobody else enters it."""
    project = started(tmp_path / "My Shop")
    state = project.state
    assert state.parent == Path(os.environ["XDG_STATE_HOME"]) / "segue"
    assert state.name.startswith("my-shop-")
    for path in (project.database, project.evidence, project.locks, project.keys):
        assert path.is_relative_to(state)
    for folder in (state, project.evidence, project.locks, project.memory):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for path in state.rglob("*"):
        assert path.is_dir() or stat.S_IMODE(path.stat().st_mode) == 0o600, path
    assert not list(project.memory.rglob("segue.db*"))


def test_a_link_to_a_project_is_that_project(tmp_path: Path) -> None:
    project = started(tmp_path / "shop")
    (tmp_path / "link").symlink_to(project.root)
    assert Project(tmp_path / "link").state == project.state


def test_two_projects_of_one_name_have_two_states(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    one, two = started(tmp_path / "a" / "shop"), started(tmp_path / "b" / "shop")
    assert one.state != two.state


def test_a_folder_made_anew_does_not_inherit(tmp_path: Path) -> None:
    """The same path, and perhaps the same inode: it is another folder."""
    project = started(tmp_path / "shop")
    before = project.state
    project.root.rename(tmp_path / "old")
    project.root.mkdir()
    assert project.state != before
    assert not project.database.exists()


def test_what_was_left_in_the_project_may_be_deleted(tmp_path: Path) -> None:
    """The records stay, and the user hears once what is lost."""
    project = started(tmp_path / "shop")
    before = project.database.stat().st_ino
    for path in sorted(project.memory.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    project.memory.rmdir()
    (told,) = told_by(project)
    assert ".segue/ was deleted. Lost: the logs" in told
    assert project.database.stat().st_ino == before
    assert told_by(project) == []


def test_a_moved_project_takes_its_state_along(tmp_path: Path) -> None:
    """Seen at once, and renamed at the next start; then its `.segue/` may be deleted as ever."""
    before = started(tmp_path / "shop")
    database = before.database.stat().st_ino
    before.root.rename(tmp_path / "store")
    project = Project(tmp_path / "store")
    assert project.database.stat().st_ino == database
    (told,) = told_by(project)
    assert str(project.state) in told
    assert project.state == state_folder.folder_of(project.root)
    assert project.database.stat().st_ino == database
    assert told_by(project) == []
    (project.memory / "state").unlink()
    assert project.database.stat().st_ino == database


def test_a_moved_project_is_not_renamed_under_its_owner(tmp_path: Path) -> None:
    before = started(tmp_path / "shop")
    lock = Lock(before.locks / "server.lock")
    assert lock.take(since="now", command="segue serve") is None
    state = before.state
    before.root.rename(tmp_path / "store")
    project = Project(tmp_path / "store")
    assert told_by(project) == []
    assert project.state == state
    lock.release()


def test_a_copied_project_starts_with_records_of_its_own(tmp_path: Path) -> None:
    """Two folders never share one database."""
    before = started(tmp_path / "shop")
    shutil.copytree(before.root, tmp_path / "copy")
    project = Project(tmp_path / "copy")
    (told,) = told_by(project)
    assert str(before.root) in told and str(before.state) in told
    assert project.state != before.state
    assert not project.database.exists()
    assert before.database.exists()


def test_a_project_that_came_back_from_a_backup_has_its_state(tmp_path: Path) -> None:
    """Another inode at the same path, with the `.segue/` of before."""
    before = started(tmp_path / "shop")
    database = before.database.stat().st_ino
    shutil.copytree(before.root, tmp_path / "backup")
    shutil.rmtree(before.root)
    shutil.copytree(tmp_path / "backup", before.root)
    before.prepare()
    assert before.database.stat().st_ino == database


def test_another_state_home_does_not_make_a_second_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service may run with another environment than the user's shell."""
    project = started(tmp_path / "shop")
    before = project.database
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    assert project.database == before


def test_a_planted_pointer_leads_nowhere(tmp_path: Path) -> None:
    """To another project's state, or to a folder that came along and says what it likes."""
    other = started(tmp_path / "other")
    theirs = tmp_path / "shop"
    theirs.mkdir()
    (theirs / ".segue").mkdir()
    pointer = theirs / ".segue" / "state"
    planted = theirs / "planted"
    planted.mkdir(mode=0o700)
    owner = state_folder.owner_of(theirs)
    told = {"path": owner.path, "inode": owner.inode, "born": owner.born}
    (planted / "project.json").write_text(json.dumps(told))
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o700)
    (outside / "project.json").write_text(json.dumps({**told, "inode": 1}))
    own = state_folder.folder_of(theirs)
    names = (str(other.state), str(planted), str(outside), "../other", "/", "x" * 99_999, "\0", "")
    for name in names:
        pointer.write_text(f"{name}\n")
        assert Project(theirs).state == own, name
    pointer.unlink()
    pointer.symlink_to(other.state)
    assert Project(theirs).state == own
    pointer.unlink()
    os.mkfifo(pointer)
    assert Project(theirs).state == own


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"path": 1}', b"[" * 9_999, b"\xff"])
def test_a_damaged_record_is_nobodys(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "project.json").write_bytes(text)
    assert state_folder.read_record(tmp_path) is None


@pytest.mark.parametrize(
    ("environ", "base"),
    [
        ({"XDG_STATE_HOME": "/s", "HOME": "/h"}, "/s/segue"),
        ({"HOME": "/h"}, "/h/.local/state/segue"),
        ({"XDG_STATE_HOME": "", "HOME": "/h"}, "/h/.local/state/segue"),
        ({"XDG_STATE_HOME": "relative", "HOME": "/h"}, "/h/.local/state/segue"),
    ],
)
def test_where_states_are(
    environ: dict[str, str], base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_STATE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert files.state_base() == Path(base)


def test_without_a_home_the_one_of_the_user_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_STATE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    assert files.state_base().is_absolute()
    assert "~" not in str(files.state_base())


def test_where_no_state_can_be_made_the_cure_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    root = tmp_path / "shop"
    root.mkdir()
    with pytest.raises(UserError) as caught:
        Project(root).prepare()
    assert "XDG_STATE_HOME" in str(caught.value.problem.hint)
    assert str(tmp_path / "file") in str(caught.value.problem.file)
