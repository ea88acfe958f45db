"""A disk that is full while somebody asks: told as such, and nothing is done twice or half."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
from pathlib import Path

import pytest

from kit.front import FakeCommands, Front
from segue.errors import UserError
from segue.server import hub as hubs
from segue.server import log
from segue.server.hub import Hub


@pytest.mark.parametrize(
    ("number", "status"),
    [(errno.ENOSPC, 503), (errno.EDQUOT, 503), (errno.EROFS, 503), (errno.EINVAL, 500)],
)
def test_what_the_file_system_refuses_is_told(
    front: Front, commands: FakeCommands, monkeypatch: pytest.MonkeyPatch, number: int, status: int
) -> None:
    """A full disk passes, and the client is told when to come back; the rest is our own fault."""

    def fail(_id: str) -> None:
        raise OSError(number, "no", "/a/path/of/ours")

    monkeypatch.setattr(commands, "deliverables", fail)
    answer = front.api.get(f"/api/tasks/{front.task()['id']}/deliverables.zip")
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert ("retry-after" in answer.headers) == (status == 503)
    assert "/a/path/of/ours" not in answer.text


def test_events_that_cannot_be_read_now_come_later(
    commands: FakeCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The journal fails once: the client gets its events all the same."""
    monkeypatch.setattr(hubs, "TROUBLE_S", 0.01)
    real = commands.events_after
    calls = []

    def once_full(*given: object) -> object:
        calls.append(given)
        if len(calls) == 1:
            raise UserError("disk_full", "the disk is full")
        return real(*given)  # type: ignore[arg-type]

    async def test() -> None:
        hub = Hub(commands)
        client = hub.join(None, None)
        monkeypatch.setattr(commands, "events_after", once_full)
        commands.happen("task_1")
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
            logging.getLogger("segue.work.phases").error(
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
