"""Segue's memory is its user's alone, whatever the umask."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from segue.store import files
from segue.store.sqlite import Store
from segue.work.phases.snapshots import Snapshots
from segue.work.project import Project


@pytest.fixture(autouse=True)
def _open_to_all() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {
        str(path.relative_to(folder.parent)): stat.S_IMODE(path.lstat().st_mode)
        for path in (folder, *folder.rglob("*"))
    }


def test_the_memory_is_private(tmp_path: Path) -> None:
    """Folders 0700, the database with all beside it and other files 0600; of an earlier
    version's memory, too."""
    (tmp_path / ".segue").mkdir(mode=0o755)
    (tmp_path / ".segue" / "segue.db").touch(mode=0o644)
    project = Project(tmp_path)
    project.prepare()
    store = Store.open(project.database)
    store.move(at=datetime.now(UTC))
    files.replace(project.memory / "note.json", b"{}")
    with open(project.memory / "some.log", "a", opener=files.private) as log:
        log.write("x")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.txt").write_text("a")
    Snapshots(project.memory / "snapshots").take(tmp_path / "work", "now")
    found = {**modes(project.memory), **modes(project.state)}
    store.close()
    assert any(name.endswith("-wal") for name in found)
    del found[".segue/.gitignore"]
    for name, mode in found.items():
        is_folder = any((top / name).is_dir() for top in (tmp_path, project.state.parent))
        assert mode & 0o077 == 0, (name, oct(mode))
        assert not is_folder or mode == 0o700, (name, oct(mode))


def test_other_files_are_as_ever(tmp_path: Path) -> None:
    """What Segue writes for people can be read by those who could before."""
    files.replace(tmp_path / "book.toml", b"")
    assert stat.S_IMODE((tmp_path / "book.toml").stat().st_mode) == 0o644
