"""A write-ahead log that SQLite discards is damage, not an empty memory."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from segue.store import wal
from segue.store.changes import Add
from segue.store.sqlite import Store, has_lost_commits

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def killed(tmp_path: Path) -> Path:
    """A database as a killed process leaves it: all that was written is in its log."""
    store = Store.open(tmp_path / "live.db")
    store.move(Add("work", "p1", "pending", {"path": "/x", "kind": "tasklist"}), at=NOW)
    store.move(Add("work", "p2", "pending", {"path": "/y", "kind": "tasklist"}), at=NOW)
    for end in ("", "-wal"):
        (tmp_path / f"dead.db{end}").write_bytes((tmp_path / f"live.db{end}").read_bytes())
    store.close()
    return tmp_path / "dead.db"


def test_a_whole_log_is_no_damage(tmp_path: Path) -> None:
    """After a kill everything is there."""
    assert not has_lost_commits(killed(tmp_path))
    store = Store.open(tmp_path / "dead.db")
    assert not has_lost_commits(tmp_path / "dead.db")
    assert not store.is_damaged
    assert len(store.all("SELECT * FROM works")) == 2
    store.close()
    assert not Store.open(tmp_path / "dead.db").is_damaged


@pytest.mark.parametrize("at", [0, 9, 17, 25, 32 + 9, 32 + 24 + 100])
def test_one_wrong_bit_is_damage(tmp_path: Path, at: int) -> None:
    """In the log's header, in a frame's header or in a page: what follows it is lost, and known
    to be."""
    path = killed(tmp_path)
    log = Path(f"{path}-wal")
    data = bytearray(log.read_bytes())
    data[at] ^= 1
    log.write_bytes(data)
    for _look in range(2):  # a look changes nothing
        assert has_lost_commits(path)
    store = Store.open(path)
    assert store.is_damaged
    assert store.all("SELECT * FROM works") == []


def test_a_commit_that_was_never_finished_is_no_damage(tmp_path: Path) -> None:
    """Killed in the middle of a write: the last pages are there without their commit."""
    path = killed(tmp_path)
    log = Path(f"{path}-wal")
    log.write_bytes(log.read_bytes()[: -4096 - 24 - 100])
    assert not has_lost_commits(path)
    assert not Store.open(path).is_damaged


def test_no_log_and_an_empty_one_are_no_damage(tmp_path: Path) -> None:
    """A database that was closed in order has no log, or an empty one."""
    path = tmp_path / "new.db"
    Store.open(path).close()
    assert not Store.open(path).is_damaged
    sqlite3.connect(tmp_path / "other.db").close()
    Path(f"{tmp_path}/other.db-wal").touch()
    assert not Store.open(tmp_path / "other.db").is_damaged


@pytest.mark.parametrize("ahead", [1, wal.HEADER_IS_BAD])
def test_a_commit_under_way_elsewhere_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ahead: int
) -> None:
    """The log was read when it was ahead of what SQLite took in, or its head half written."""
    path = killed(tmp_path)
    read = wal.frames_committed
    monkeypatch.setattr(wal, "frames_committed", lambda log: read(log) + ahead)
    assert not has_lost_commits(path)
    assert not Store.open(path).is_damaged


OPENS_AND_WRITES = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from segue.store.changes import Add
from segue.store.sqlite import Store, has_lost_commits

path, number = Path(sys.argv[1]), sys.argv[2]
for turn in range(25):
    store = Store.open(path)
    if store.is_damaged or has_lost_commits(path):
        sys.exit("damaged")
    for n in range(3):
        row = {"path": f"/{number}/{turn}/{n}", "kind": "tasklist"}
        add = Add("work", f"{number}-{turn}-{n}", "pending", row)
        assert store.move(add, at=datetime(2026, 1, 1, tzinfo=UTC))
    store.close()
"""


def test_those_that_open_and_write_at_once_find_no_damage(tmp_path: Path) -> None:
    """Four processes in a new project: none of them sees what another one just writes as lost."""
    path = tmp_path / "new.db"
    program = [sys.executable, "-c", OPENS_AND_WRITES, str(path)]
    workers = [
        subprocess.Popen([*program, str(n)], stderr=subprocess.PIPE, text=True) for n in range(4)
    ]
    assert [worker.communicate(timeout=120)[1] for worker in workers] == [""] * 4
    with closing(Store.open(path)) as store:
        assert len(store.all("SELECT * FROM works WHERE kind = 'tasklist'")) == 4 * 25 * 3


@pytest.mark.parametrize("look", [has_lost_commits, lambda path: Store.open(path).close()])
def test_a_look_does_not_drop_the_locks_of_this_process(
    tmp_path: Path, look: Callable[[Path], object]
) -> None:
    """Another process that comes and leaves takes no log away that is still written here."""
    path = tmp_path / "shared.db"
    with closing(Store.open(path)) as store:
        store.move(Add("work", "p1", "pending", {"path": "/x", "kind": "tasklist"}), at=NOW)
        look(path)
        subprocess.run([sys.executable, "-c", OPENS_AND_WRITES, str(path), "1"], check=True)
        store.move(Add("work", "p2", "pending", {"path": "/y", "kind": "tasklist"}), at=NOW)
        seen = "import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).execute(sys.argv[2]))"
        sql = "SELECT id FROM works WHERE id = 'p2'"
        done = subprocess.run(
            [sys.executable, "-c", seen, str(path), sql], check=True, capture_output=True, text=True
        )
    assert "p2" in done.stdout
