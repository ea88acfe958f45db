"""Nothing can be kept: what passes by itself, and how a deleted memory is restored."""

from __future__ import annotations

import asyncio
import errno
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pytest

from kit.plain_agent import NOON
from segue.core.machines import PlanState
from segue.engine import outage
from segue.engine.outage import Memory
from segue.errors import UserError
from segue.store.changes import Add
from segue.store.lock import Lock
from segue.store.sqlite import Store

FULL = UserError("disk_full", "no space", file="/p/segue.db")


@pytest.mark.parametrize(
    ("error", "is_trouble", "is_passing"),
    [
        (FULL, True, True),
        (UserError("database_busy", "…"), True, True),
        (UserError("read_only", "…"), True, False),
        (UserError("usage", "…"), False, False),
        (OSError(errno.ENOSPC, "full"), True, True),
        (OSError(errno.EROFS, "read-only"), True, False),
        (OSError(errno.EACCES, "no"), False, False),
        (ValueError("…"), False, False),
    ],
)
def test_what_may_pass(error: Exception, is_trouble: bool, is_passing: bool) -> None:
    """At a terminal a person must see to what lasts; a server waits for that, too."""
    assert outage.is_trouble(error) is is_trouble
    assert outage.is_passing(error) is is_passing


def test_waits_double_up_to_a_bound() -> None:
    """Soon at first, then every five seconds."""
    assert list(islice(outage.waits_s(), 7)) == [0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    (tmp_path / "memory").mkdir()
    made = Store.open(tmp_path / "memory" / "segue.db")
    row = {"path": "/p/PLAN.md", "kind": "tasklist"}
    assert made.move(Add("work", "p", PlanState.RUNNING, row), at=NOON)
    yield made
    made.close()


def test_writing_is_tried_without_a_trace(store: Store, tmp_path: Path) -> None:
    """In the database and in the folder."""
    before = sorted(tmp_path.iterdir())
    assert outage.can_write(store, tmp_path, NOON)
    assert store.all("SELECT * FROM settings") == []
    assert sorted(tmp_path.iterdir()) == before
    assert outage.is_of_database(UserError("disk_full", "…", file=str(store.path)), store)
    assert not outage.is_of_database(FULL, store)


@dataclass
class Runs:
    """What follows the runs of a work."""

    claims: int = 0

    def claim_again(self) -> None:
        self.claims += 1


def memory(store: Store, runs: Runs, lost: str = "") -> Memory:
    folder = store.path.parent
    lock = Lock(folder / "work.lock")
    assert lock.take(since="now", command="segue run") is None
    return Memory(
        store,
        lock,
        (folder,),
        lambda: folder.mkdir(exist_ok=True),
        take_lock=lambda: pytest.fail("taken") if lock.take_again() else None,
        claim_again=runs.claim_again,
        look_again=lambda: None,
        lost=lambda gone: lost if gone else "",
    )


def kept(memory: Memory) -> str | None:
    async def keep() -> str | None:
        return memory.keep()

    return asyncio.run(keep())


def test_what_is_in_place_is_left_alone(store: Store) -> None:
    """Nothing to say either."""
    runs = Runs()
    assert kept(memory(store, runs)) is None
    assert runs.claims == 0


@pytest.mark.parametrize("lost", ["", ".segue/logs"])
def test_a_deleted_memory_is_restored_from_what_is_open(store: Store, lost: str) -> None:
    """Rows, lock and claims; people learn what is lost."""
    runs = Runs()
    held = memory(store, runs, lost)
    shutil.rmtree(store.path.parent)
    told = kept(held)
    assert told is not None
    assert "records were removed" in told
    assert lost in told
    assert (runs.claims, held.lock.is_in_place, store.is_in_place) == (1, True, True)
    again = Store.open_readonly(store.path)
    assert again is not None
    assert [row["id"] for row in again.all("SELECT id FROM works")] == ["p"]
    again.close()
    assert kept(held) is None
