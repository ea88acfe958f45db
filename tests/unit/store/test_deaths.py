"""The database when processes race and die, and when the disk will not have it."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from segue.errors import UserError
from segue.store.changes import Add, Move
from segue.store.sqlite import Store

NOW = datetime(2025, 3, 1, tzinfo=UTC)

MOVER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from segue.store.changes import Move, Note
from segue.store.sqlite import Store
store = Store.open(Path(sys.argv[1]))
now = datetime.now(UTC)
steps = [("pending", "in_progress", "start"), ("in_progress", "failed", "fail"),
         ("failed", "pending", "retry")]
print("ready", flush=True)
n = 0
while True:
    before, to, cause = steps[n % 3]
    sets = {"retries_used": n + 1}
    done = store.move(*(Move("task", f"p/T-{k}", before, to, cause, sets=sets) for k in range(5)),
                      at=now)
    assert done
    n += 1
    print(n, flush=True)
"""

RACER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from segue.store.changes import Move
from segue.store.sqlite import Store
store = Store.open(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
won = [store.move(Move("task", f"p/T-{n}", "pending", "in_progress", "start",
                       data={"by": sys.argv[2]}), at=datetime.now(UTC)) for n in range(100)]
print(sum(won), flush=True)
"""


def fill(path: Path, tasks: int) -> None:
    with closing(Store.open(path)) as store:
        changes = [Add("work", "p", "pending", {"path": "/p.md", "kind": "tasklist"})]
        for n in range(tasks):
            row = {"work": "p", "key": f"T-{n}", "title": "x"}
            changes.append(Add("task", f"p/T-{n}", "pending", row))
        assert store.move(*changes, at=NOW)


def python(code: str, *args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def read_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def test_kill_9_leaves_states_and_journal_in_agreement(tmp_path: Path) -> None:
    """Killed in the middle of many moves, again and again, every state is its newest journal
    row's, moves of one transaction are whole, and no move that was confirmed is missing."""
    path = tmp_path / "segue.db"
    fill(path, 5)
    for lines in (3, 31, 32, 55):
        with closing(Store.open(path)) as store:
            store._db.execute("UPDATE tasks SET state = 'pending'")
            store._db.execute("DELETE FROM journal WHERE cause != 'add'")
        process = python(MOVER, str(path))
        assert read_line(process) == "ready"
        confirmed = [read_line(process) for _ in range(lines)]
        end(process)
        with closing(Store.open(path)) as store:
            found = store.all(
                "SELECT state, retries_used,"
                " (SELECT to_state FROM journal WHERE entity_id = t.id ORDER BY seq DESC LIMIT 1)"
                " AS told, (SELECT count(*) FROM journal WHERE entity_id = t.id"
                " AND cause != 'add') AS moves FROM tasks t"
            )
            assert store.one("PRAGMA integrity_check")[0] == "ok"  # type: ignore[index]
        assert len({tuple(row) for row in found}) == 1, "five tasks move together"
        assert found[0]["state"] == found[0]["told"]
        assert found[0]["moves"] == found[0]["retries_used"] >= int(confirmed[-1])


def test_of_two_processes_that_race_one_wins_each_move(tmp_path: Path) -> None:
    """Each move is won exactly once; the loser gets False and leaves no journal row."""
    path = tmp_path / "segue.db"
    fill(path, 100)
    racers = [python(RACER, str(path), name) for name in ("one", "two")]
    try:
        assert [read_line(racer) for racer in racers] == ["ready", "ready"]
        for racer in racers:
            assert racer.stdin is not None
            racer.stdin.write("go\n")
            racer.stdin.flush()
        wins = [int(read_line(racer)) for racer in racers]
    finally:
        for racer in racers:
            end(racer)
    assert sum(wins) == 100
    with closing(Store.open(path)) as store:
        rows = store.all("SELECT entity_id FROM journal WHERE cause = 'start'")
        states = store.all("SELECT state, version FROM tasks")
    assert len(rows) == len({row["entity_id"] for row in rows}) == 100
    assert {tuple(row) for row in states} == {("in_progress", 2)}


MS_RDONLY, MS_REMOUNT, MNT_DETACH = 1, 32, 2


def mount(folder: Path, flags: int, data: bytes) -> bool:
    libc = ctypes.CDLL(None, use_errno=True)
    done: int = libc.mount(b"none", os.fsencode(folder), b"tmpfs", flags, data)
    return done == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    if not mount(folder, 0, b"size=1m"):
        pytest.skip("mounting a small file system is not allowed here")
    yield folder
    ctypes.CDLL(None).umount2(os.fsencode(folder), MNT_DETACH)


def fill_up(folder: Path) -> Path:
    hog = folder / "hog"
    with pytest.raises(OSError), hog.open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)
    return hog


def test_a_full_disk_is_told_and_the_move_is_undone(small_disk: Path) -> None:
    """On a full disk a move says so and changes nothing; with space again it can be made."""
    path = small_disk / "segue.db"
    fill(path, 1)
    with closing(Store.open(path)) as store:
        hog = fill_up(small_disk)
        big = Move("task", "p/T-0", "pending", "in_progress", "start", data={"x": "y" * 100_000})
        with pytest.raises(UserError) as caught:
            store.move(big, at=NOW)
        assert (caught.value.problem.code, caught.value.problem.file) == ("disk_full", str(path))
        row = store.one("SELECT state, version FROM tasks")
        assert row is not None
        assert tuple(row) == ("pending", 1)
        assert store.all("SELECT * FROM journal WHERE cause = 'start'") == []
        hog.unlink()
        assert store.move(big, at=NOW)
    with closing(Store.open(path)) as store:
        assert store.all("SELECT state FROM tasks")[0][0] == "in_progress"


def test_a_database_that_cannot_be_made_for_want_of_space_is_told(small_disk: Path) -> None:
    """Opening a new memory on a full disk fails in words."""
    fill_up(small_disk)
    with pytest.raises(UserError) as caught:
        Store.open(small_disk / "segue.db")
    assert caught.value.problem.code == "disk_full"


@pytest.fixture
def read_only_disk(small_disk: Path) -> Path:
    fill(small_disk / "segue.db", 1)
    if not mount(small_disk, MS_REMOUNT | MS_RDONLY, b"size=1m"):
        pytest.skip("mounting read-only is not allowed here")
    return small_disk


def test_a_read_only_database_is_told(read_only_disk: Path) -> None:
    """Opening for writing where nothing can be written fails in words."""
    with pytest.raises(UserError) as caught:
        Store.open(read_only_disk / "segue.db")
    assert caught.value.problem.code == "read_only"
    assert caught.value.problem.hint


def test_a_read_only_database_can_be_looked_at(read_only_disk: Path) -> None:
    """Looking needs no right to write: the states are shown from a read-only disk, too."""
    store = Store.open_readonly(read_only_disk / "segue.db")
    assert store is not None
    with closing(store):
        assert store.all("SELECT state FROM tasks")[0][0] == "pending"


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    """A database in a folder that does not exist fails in words, not as a bug."""
    with pytest.raises(UserError) as caught:
        Store.open(tmp_path / "nowhere" / "segue.db")
    assert caught.value.problem.code == "read_only"
