"""Who sends the notices of a project's plans, and when."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from segue.core.leash import parse_quiet
from segue.drivers.notify import Notice
from segue.engine import outbox as outbox_module
from segue.engine.notices import WorkNotices, notice
from segue.engine.outbox import NoticeSender, Outbox
from segue.errors import UserError
from segue.store.lock import Turn
from segue.store.rows import PANES
from segue.store.sqlite import Store

NIGHT = datetime(2026, 11, 16, 3, tzinfo=UTC)
QUIET = parse_quiet("23:00-07:00")


class Hand:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.at = NIGHT

    def now(self) -> datetime:
        return self.at


class Kept:
    """A way that keeps what it is given."""

    name = "kept"

    def __init__(self) -> None:
        self.got: list[str] = []

    async def send(self, notice: Notice) -> None:
        self.got.append(notice.id)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store.open(tmp_path / "segue.db")
    yield made
    made.close()


def tell(store: Store, work: str, kind: str = "completed", about: str = "end") -> None:
    told = notice(work, about, kind, "2 done", NIGHT, title="PLAN.md", place="/p/PLAN.md")
    assert store.move(told, at=NIGHT)


async def until_sent(way: Kept, count: int) -> None:
    async with asyncio.timeout(30):
        while len(way.got) < count:
            await asyncio.sleep(0.01)


def test_a_living_owner_sends_what_quiet_held_back_when_it_ends(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a new start, and without anything else that happens; what presses comes at once."""
    monkeypatch.setattr(outbox_module, "LOOK_EVERY_S", 0.01)
    clock, way = Hand(), Kept()

    async def scene() -> None:
        notice_sender = NoticeSender(Outbox(WorkNotices(store), clock, [way], QUIET))
        tell(store, "plan", "completed", "end")
        tell(store, "plan", "question", "gate")
        await until_sent(way, 1)
        clock.at += timedelta(hours=3, minutes=59)
        await asyncio.sleep(0)
        assert way.got == ["plan-2"]
        clock.at += timedelta(minutes=1)
        await until_sent(way, 2)
        await notice_sender.close(0)

    asyncio.run(scene())
    assert way.got == ["plan-2", "plan-1"]


def test_another_owner_of_the_project_sends_what_was_left(store: Store) -> None:
    """The rows of every plan, with the ids that they had, and none of the panes: those are told by
    the user's own channels."""
    clock, way = Hand(), Kept()
    for work in ("one", "two", PANES):
        tell(store, work)

    async def scene() -> None:
        notice_sender = NoticeSender(Outbox(WorkNotices(store), clock, [way]))
        await notice_sender.close()

    asyncio.run(scene())
    assert sorted(way.got) == ["one-1", "two-2"]


SENDER = """
import asyncio, os, sys
from datetime import UTC, datetime
from pathlib import Path
from segue.store.lock import Turn
from segue.store.rows import PANES
from segue.store.sqlite import Store
from segue.engine.notices import WorkNotices
from segue.engine.outbox import NoticeSender, Outbox

class Way:
    name = "kept"
    async def send(self, notice):
        await asyncio.sleep(0.02)
        fd = os.open("told", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(fd, f"{notice.id}\\n".encode())
        os.close(fd)

class Clock:
    def now(self):
        return datetime.now(UTC)

async def main():
    store = Store.open(Path("segue.db"))
    Path(f"ready-{sys.argv[1]}").touch()
    while not Path("go").exists():
        await asyncio.sleep(0.001)
    sender = NoticeSender(Outbox(WorkNotices(store), Clock(), [Way()], turn=Turn(Path("lock"))))
    await sender.close(60)
    store.close()

asyncio.run(main())
"""


def test_owners_that_live_at_once_send_each_notice_once(store: Store, tmp_path: Path) -> None:
    """Three processes, each of which finds the same rows due."""
    for n in range(60):
        tell(store, "plan", about=f"{n}")
    senders = [
        subprocess.Popen([sys.executable, "-c", SENDER, f"{n}"], cwd=tmp_path) for n in range(3)
    ]
    while not all((tmp_path / f"ready-{n}").exists() for n in range(3)):
        assert all(sender.poll() is None for sender in senders)
    (tmp_path / "go").touch()
    assert [sender.wait(90) for sender in senders] == [0, 0, 0]
    told = Counter((tmp_path / "told").read_text().split())
    assert len(told) == 60
    assert set(told.values()) == {1}
    assert all(json.loads(row["sent"]) for row in store.all("SELECT sent FROM notices"))


def test_what_could_not_be_marked_is_left_to_nobody_else(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full when a notice was sent: the turn is kept until the row says so."""
    way, turn = Kept(), Turn(tmp_path / "lock")
    outbox = Outbox(WorkNotices(store), Hand(), [way], turn=turn)
    tell(store, "plan")
    real = Store.move

    def full(*args: object, **more: object) -> bool:
        raise UserError("disk_full", "no space")

    def is_free() -> bool:
        asked = "import sys; from pathlib import Path; from segue.store.lock import Turn\n"
        asked += f"sys.exit(not Turn(Path({str(tmp_path / 'lock')!r})).take())"
        return subprocess.run([sys.executable, "-c", asked], check=False).returncode == 0

    monkeypatch.setattr(Store, "move", full)
    with pytest.raises(UserError):
        asyncio.run(outbox.send_due())
    assert not is_free()
    monkeypatch.setattr(Store, "move", real)
    assert asyncio.run(outbox.send_due())
    assert way.got == ["plan-1"]
    assert is_free()
