"""A write-ahead log that SQLite discards is damage, not an empty memory."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest

from segue.store.changes import Add
from segue.store.sqlite import Store

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def killed(tmp_path: Path) -> Path:
    """A database as a killed process leaves it: all that was written is in its log."""
    store = Store.open(tmp_path / "live.db")
    store.move(Add("plan", "p1", "pending", {"path": "/x", "kind": "tasklist"}), at=NOW)
    store.move(Add("plan", "p2", "pending", {"path": "/y", "kind": "tasklist"}), at=NOW)
    for end in ("", "-wal"):
        (tmp_path / f"dead.db{end}").write_bytes((tmp_path / f"live.db{end}").read_bytes())
    store.close()
    return tmp_path / "dead.db"


def test_a_whole_log_is_no_damage(tmp_path: Path) -> None:
    """After a kill everything is there."""
    store = Store.open(killed(tmp_path))
    assert not store.is_damaged
    assert len(store.all("SELECT * FROM plans")) == 2
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
    store = Store.open(path)
    assert store.is_damaged
    assert store.all("SELECT * FROM plans") == []


def test_a_commit_that_was_never_finished_is_no_damage(tmp_path: Path) -> None:
    """Killed in the middle of a write: the last pages are there without their commit."""
    path = killed(tmp_path)
    log = Path(f"{path}-wal")
    log.write_bytes(log.read_bytes()[: -4096 - 24 - 100])
    assert not Store.open(path).is_damaged


def test_no_log_and_an_empty_one_are_no_damage(tmp_path: Path) -> None:
    """A database that was closed in order has no log, or an empty one."""
    path = tmp_path / "new.db"
    Store.open(path).close()
    assert not Store.open(path).is_damaged
    sqlite3.connect(tmp_path / "other.db").close()
    Path(f"{tmp_path}/other.db-wal").touch()
    assert not Store.open(tmp_path / "other.db").is_damaged
