"""The state of a project that an earlier version kept in `.segue/` is moved: whole, and once."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from segue.store import wal
from segue.store.sqlite import Store
from segue.work import state_folder, state_move
from segue.work.project import Project

KILLED = 77
ROWS = 50
LEFT = {".gitignore", "state", "logs", "runs", "bell", "server", "backups"}


def old_project(root: Path) -> Project:
    """As an earlier version left it: all of its records in the project."""
    memory = root / ".segue"
    for name in ("evidence", "locks", "server", "logs", "runs", "backups"):
        (memory / name).mkdir(parents=True)
    Store.open(memory / "segue.db").close()
    with closing(sqlite3.connect(memory / "segue.db")) as db, db:
        for n in range(ROWS):
            db.execute("INSERT INTO settings (key, value) VALUES (?, ?)", (f"k{n}", "v"))
    (memory / "evidence" / "r1.log").write_text("checked\n")
    (memory / "server" / "token").write_text("t" * 43)
    (memory / "server" / "secrets.key").write_text("key")
    (memory / "backups" / "PLAN-1.md").write_text("old\n")
    return Project(root)


def rows(project: Project) -> int:
    with closing(sqlite3.connect(project.database)) as db:
        return int(db.execute("SELECT count(*) FROM settings WHERE key LIKE 'k%'").fetchone()[0])


def check_moved(project: Project) -> None:
    assert project.state == state_folder.folder_of(project.root)
    assert rows(project) == ROWS
    assert (project.evidence / "r1.log").read_text() == "checked\n"
    assert (project.keys / "token").read_text() == "t" * 43
    assert (project.keys / "secrets.key").read_text() == "key"
    assert (project.memory / "backups" / "PLAN-1.md").exists()
    assert {path.name for path in project.memory.iterdir()} <= LEFT
    assert list((project.memory / "server").iterdir()) == []
    assert not (project.state / "moving").exists()


def test_it_is_moved_at_the_first_start_and_told_once(tmp_path: Path) -> None:
    project, told = old_project(tmp_path), list[str]()
    assert rows(project) == ROWS, "seen before it is moved"
    project.prepare(told.append)
    check_moved(project)
    (text,) = told
    assert ".segue" in text and str(project.state) in text
    project.prepare(told.append)
    assert len(told) == 1


def test_a_death_at_any_moment_loses_nothing(tmp_path: Path) -> None:
    """Killed at every step in turn: there is one database that counts, with all rows, and the
    next start finishes the move."""
    steps = 0
    while True:
        root = tmp_path / str(steps)
        root.mkdir()
        project = old_project(root)
        is_killed = _killed_at(steps, project)
        assert rows(project) == ROWS, f"step {steps}"
        project.prepare(lambda text: None)
        check_moved(project)
        if not is_killed:
            break
        steps += 1
        shutil.rmtree(root)
    assert steps > 15


def _killed_at(step: int, project: Project) -> bool:
    """Whether the move was killed; False: it has no so late step."""
    child = os.fork()
    if child == 0:
        left = step

        def count(event: str, _args: object) -> None:
            nonlocal left
            if event in ("open", "os.rename", "os.remove", "os.link", "os.mkdir", "os.rmdir",
                         "os.chmod", "sqlite3.connect", "shutil.rmtree"):  # fmt: skip
                if left == 0:
                    os._exit(KILLED)
                left -= 1

        sys.addaudithook(count)
        try:
            state_move.bring(project.root, project.memory, state_folder.folder_of(project.root))
        except BaseException:  # noqa: BLE001 - it is a process of its own
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, KILLED)
    return code == KILLED


HOLDS = """
import sys
from pathlib import Path
from segue.store.lock import Lock
lock = Lock(Path(sys.argv[1]))
assert lock.take(since="now", command="segue serve") is None
print("held", flush=True)
sys.stdin.read()
"""


def test_what_an_owner_works_on_stays_until_it_ends(tmp_path: Path) -> None:
    """Everybody uses the old place meanwhile."""
    project, told = old_project(tmp_path), list[str]()
    command = [sys.executable, "-c", HOLDS, str(project.memory / "locks" / "server.lock")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as owner:
        assert owner.stdout is not None and owner.stdout.readline() == b"held\n"
        project.prepare(told.append)
        assert project.state == project.memory
        assert told == []
        owner.communicate()
    os.close(state_move._shared.pop(state_folder.folder_of(tmp_path) / "move.lock"))
    project.prepare(told.append)
    check_moved(project)
    assert len(told) == 1


def test_nobody_moves_what_a_process_of_this_version_uses(tmp_path: Path) -> None:
    """It has chosen the old place, and may open the database any moment."""
    project = old_project(tmp_path)
    place = state_folder.folder_of(tmp_path)
    place.mkdir(parents=True)
    state_move._share(place / "move.lock")
    code = f"""
import os, sys
from pathlib import Path
from segue.work.project import Project
project = Project(Path({str(tmp_path)!r}))
project.prepare()
assert project.state == project.memory
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    os.close(state_move._shared.pop(place / "move.lock"))
    project.prepare()
    check_moved(project)


def test_a_reader_of_the_old_place_delays_the_move(tmp_path: Path) -> None:
    project = old_project(tmp_path)
    with closing(sqlite3.connect(project.database, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM settings").fetchone()
        child = os.fork()
        if child == 0:
            moved = state_move.bring(tmp_path, project.memory, state_folder.folder_of(tmp_path))
            os._exit(int(moved))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "it was not moved"
    project.prepare()
    check_moved(project)


def test_of_a_damaged_log_its_owner_hears_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = old_project(tmp_path)
    monkeypatch.setattr(wal, "is_broken", lambda path: True)
    project.prepare()
    assert project.state == project.memory


def test_a_damaged_database_stays_where_it_is(tmp_path: Path) -> None:
    """Whoever opens it says so, and names the file."""
    project = old_project(tmp_path)
    project.database.write_bytes(b"no database at all" * 100)
    project.prepare()
    assert project.state == project.memory


def test_links_are_not_taken_along(tmp_path: Path) -> None:
    """An agent may have planted one: what it leads to is not evidence."""
    (tmp_path / "project").mkdir()
    project = old_project(tmp_path / "project")
    (tmp_path / "secret").write_text("of somebody else")
    (project.memory / "evidence" / "r2.log").symlink_to(tmp_path / "secret")
    project.prepare()
    assert (project.evidence / "r1.log").exists()
    assert not os.path.lexists(project.evidence / "r2.log")
    assert (tmp_path / "secret").exists()


def test_across_file_systems_it_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_args: object, **_named: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refused)
    project = old_project(tmp_path)
    project.prepare()
    check_moved(project)


def test_a_database_that_appears_later_is_not_used(tmp_path: Path) -> None:
    """An agent wrote it, or an earlier version that was started once more."""
    project = Project(tmp_path)
    project.prepare()
    Store.open(project.memory / "segue.db").close()
    assert project.database.parent == state_folder.folder_of(tmp_path)
    project.prepare()
    assert not project.database.exists()
