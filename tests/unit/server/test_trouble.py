"""A disk that is full while somebody asks: told as such, and nothing is done twice or half."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from front_kit import FakeDesk, Front, Replies

from segue.errors import UserError
from segue.server import hub as hubs
from segue.server import log
from segue.server.hub import Hub
from segue.server.replies import Reply

KEY = {"Idempotency-Key": "k-1"}
BODY = {"title": "t", "description": "d", "type": "custom"}


class FullAtTimes(Replies):
    """A book on a disk that may be full."""

    is_full = False
    left = -1  # how many more writes it takes, if that is not endless

    def _check(self) -> None:
        if self.is_full or self.left == 0:
            raise UserError("disk_full", "the disk is full")
        self.left -= 1

    def keep(self, reply: Reply) -> None:
        self._check()
        super().keep(reply)

    def drop(self, key: str) -> None:
        self._check()
        super().drop(key)


@pytest.fixture
def book() -> FullAtTimes:
    return FullAtTimes()


@pytest.fixture
def kept(desk: FakeDesk, book: FullAtTimes) -> Iterator[Front]:
    made = Front(desk, replies=book)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("number", "status"),
    [(errno.ENOSPC, 503), (errno.EDQUOT, 503), (errno.EROFS, 503), (errno.EINVAL, 500)],
)
def test_what_the_file_system_refuses_is_told(
    front: Front, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch, number: int, status: int
) -> None:
    """A full disk passes, and the client is told when to come back; the rest is our own fault."""

    def fail(_id: str) -> None:
        raise OSError(number, "no", "/a/path/of/ours")

    monkeypatch.setattr(desk, "deliverables", fail)
    answer = front.api.get(f"/api/tasks/{front.task()['id']}/deliverables.zip")
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert ("retry-after" in answer.headers) == (status == 503)
    assert "/a/path/of/ours" not in answer.text


def test_a_key_that_could_not_be_claimed_makes_nothing(
    kept: Front, desk: FakeDesk, book: FullAtTimes
) -> None:
    """First the claim, then the deed."""
    book.is_full = True
    assert kept.api.post("/api/tasks", json=BODY, headers=KEY).status_code == 503
    assert not desk.tasks
    book.is_full = False
    assert kept.api.post("/api/tasks", json=BODY, headers=KEY).status_code == 201


def test_a_deed_whose_answer_could_not_be_kept_is_done_once(
    kept: Front, desk: FakeDesk, book: FullAtTimes
) -> None:
    """It is answered, because it was done; and the same key finds it again."""
    book.left = 1  # the claim, and no more
    first = kept.api.post("/api/tasks", json=BODY, headers=KEY)
    assert first.status_code == 201
    assert kept.api.post("/api/tasks", json=BODY, headers=KEY).status_code == 503
    book.left = -1
    again = kept.api.post("/api/tasks", json=BODY, headers=KEY)
    assert (again.status_code, again.json()["id"]) == (201, first.json()["id"])
    assert len(desk.tasks) == 1


def test_a_claim_that_could_not_be_dropped_is_not_answered_by_another_task(
    kept: Front, desk: FakeDesk, book: FullAtTimes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The deed failed and its claim stayed; what others make since then is not its answer."""
    book.left = 1
    with monkeypatch.context() as patch:

        def fail(_given: object) -> None:
            raise UserError("disk_full", "the disk is full")

        patch.setattr(desk, "create_task", fail)
        assert kept.api.post("/api/tasks", json=BODY, headers=KEY).status_code == 503
    book.left = -1
    desk.create_task(given_by_page())  # not by this way
    other = kept.api.post("/api/tasks", json=BODY)
    mine = kept.api.post("/api/tasks", json=BODY, headers=KEY)
    assert (other.status_code, mine.status_code) == (201, 201)
    assert len({task["id"] for task in (other.json(), mine.json())}) == 2
    assert len(desk.tasks) == 3


def given_by_page() -> object:
    from segue.work.server.desk import NewTask

    return NewTask("of a page", "d")


def test_events_that_cannot_be_read_now_come_later(
    desk: FakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The journal fails once: the client gets its events all the same."""
    monkeypatch.setattr(hubs, "TROUBLE_S", 0.01)
    real = desk.events_after
    calls = []

    def once_full(*given: object) -> object:
        calls.append(given)
        if len(calls) == 1:
            raise UserError("disk_full", "the disk is full")
        return real(*given)  # type: ignore[arg-type]

    async def test() -> None:
        hub = Hub(desk)
        client = hub.join(None, None)
        monkeypatch.setattr(desk, "events_after", once_full)
        desk.happen("task_1")
        async with asyncio.timeout(10):
            while not (wire := await hub.after(client)):
                await client.wake.wait()
                client.wake.clear()
        assert b"task_1" in wire
        hub.close()

    asyncio.run(test())


def test_what_goes_wrong_inside_is_a_line_of_the_log(tmp_path: Path) -> None:
    """JSON like the others, with the task and the traceback."""
    path = tmp_path / "server.log"
    handler = log.to_file(path)
    try:
        try:
            raise RuntimeError("the inside")
        except RuntimeError as error:
            logging.getLogger("segue.work.server").error(
                "task %s: unexpected", "task_1", exc_info=error, extra={"task": "task_1"}
            )
        logging.getLogger("segue.notices").info("this is nobody's trouble")
    finally:
        log.stop(handler)
    (line,) = [json.loads(text) for text in path.read_text("utf-8").splitlines()]
    assert (line["level"], line["task"], line["said"]) == (
        "error", "task_1", "task task_1: unexpected",
    )  # fmt: skip
    assert "RuntimeError: the inside" in line["traceback"]
