"""One client's stream: hello, events, heartbeats, and an end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from starlette.types import Message

from kit.clock import play
from kit.front import FakeCommands
from kit.waiting import until_async
from segue.server import stream
from segue.server.hub import HEARTBEAT_S, Hub
from segue.server.stream import HEARTBEAT, HELLO, EventStream


class Wire:
    """A client of one stream: what it got, and when it goes."""

    def __init__(self, hub: Hub, after: int | None = None, task: str | None = None) -> None:
        self.got: list[Message] = []
        self.gone, self.takes = asyncio.Event(), asyncio.Event()
        self.takes.set()
        response = EventStream(hub, after, task)
        self.done = asyncio.create_task(response({"type": "http"}, self._receive, self._send))

    @property
    def bodies(self) -> list[bytes]:
        return [message["body"] for message in self.got if "body" in message]

    async def until(self, count: int) -> list[bytes]:
        await until_async(lambda: len(self.bodies) >= count, f"message {count}")
        return self.bodies

    async def _receive(self) -> Message:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        await self.takes.wait()
        self.got.append(message)


def on(scene: Callable[[FakeCommands, Hub], Coroutine[Any, Any, None]]) -> None:
    async def test() -> None:
        commands = FakeCommands()
        await scene(commands, Hub(commands))

    play(test())


def test_a_stream_begins_with_its_headers_and_a_hello() -> None:
    """The client learns at once that it is connected, and how soon to come back."""

    async def scene(commands: FakeCommands, hub: Hub) -> None:
        wire = Wire(hub)
        await wire.until(1)
        headers = dict(wire.got[0]["headers"])
        assert (wire.got[0]["type"], wire.got[0]["status"]) == ("http.response.start", 200)
        assert headers[b"content-type"] == b"text/event-stream; charset=utf-8"
        assert wire.bodies == [HELLO]
        wire.gone.set()
        await wire.done

    on(scene)


def test_events_follow_those_that_were_missed_first() -> None:
    async def scene(commands: FakeCommands, hub: Hub) -> None:
        for _n in range(2):
            commands.happen("t")
        wire = Wire(hub, after=1)
        assert b"id: 2\n" in (await wire.until(2))[1]
        commands.happen("t")
        assert b"id: 3\n" in (await wire.until(3))[2]
        wire.gone.set()
        await wire.done

    on(scene)


def test_a_quiet_stream_beats_and_each_beat_is_one_message() -> None:
    async def scene(commands: FakeCommands, hub: Hub) -> None:
        wire = Wire(hub)
        await asyncio.sleep(2.5 * HEARTBEAT_S)
        assert wire.bodies == [HELLO, HEARTBEAT, HEARTBEAT]
        wire.gone.set()
        await wire.done

    on(scene)


def test_a_stream_of_one_task_says_nothing_of_others() -> None:
    async def scene(commands: FakeCommands, hub: Hub) -> None:
        wire = Wire(hub, task="mine")
        await wire.until(1)
        commands.happen("other")
        await asyncio.sleep(1)
        assert wire.bodies == [HELLO]
        commands.happen("mine")
        assert b"id: 2\n" in (await wire.until(2))[1]
        wire.gone.set()
        await wire.done

    on(scene)


def test_a_client_that_goes_is_forgotten() -> None:
    async def scene(commands: FakeCommands, hub: Hub) -> None:
        wire = Wire(hub)
        await wire.until(1)
        assert hub.clients == 1
        wire.gone.set()
        await wire.done
        assert hub.clients == 0

    on(scene)


def test_the_end_of_the_server_ends_the_stream_in_order() -> None:
    """The last message says that nothing follows, so the client knows it is complete."""

    async def scene(commands: FakeCommands, hub: Hub) -> None:
        wire = Wire(hub)
        await wire.until(1)
        hub.close()
        await wire.done
        assert wire.got[-1] == {"type": "http.response.body", "body": b"", "more_body": False}

    on(scene)


def test_a_client_that_takes_nothing_is_let_go() -> None:
    """After half a minute, without an error: it can come back."""

    async def scene(commands: FakeCommands, hub: Hub) -> None:
        wire = Wire(hub)
        await wire.until(1)
        wire.takes.clear()
        commands.happen("t")
        await asyncio.sleep(stream.STUCK_S / 2)
        assert not wire.done.done()
        await asyncio.sleep(stream.STUCK_S)
        assert wire.done.done()
        wire.done.result()
        assert hub.clients == 0

    on(scene)
