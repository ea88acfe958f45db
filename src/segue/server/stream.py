"""A streamed response: the events of the journal to one client, as they come."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from segue.server.hub import Client, Hub

HELLO = b"retry: 2000\n: segue\n\n"
HEARTBEAT = b": heartbeat\n\n"
STUCK_S = 30.0  # a client that takes nothing for so long is let go; it can come back
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


class EventStream(Response):
    """Server-sent events from the hub, until the client goes or the server ends."""

    media_type = "text/event-stream"

    def __init__(self, hub: Hub, after: int | None, task: str | None) -> None:
        super().__init__()
        self._hub, self._after, self._task = hub, after, task

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = self._hub.join(self._after, self._task)
        watch = asyncio.create_task(_until_gone(receive, client))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
            with suppress(TimeoutError):
                await _write(send, HELLO)
                await self._follow(client, send)
                await _write(send, b"", more=False)
        finally:
            self._hub.leave(client)
            watch.cancel()

    async def _follow(self, client: Client, send: Send) -> None:
        while not client.is_gone:
            client.wake.clear()
            progress = client.progress
            wire = await self._hub.after(client)
            if wire:
                await _write(send, wire)
            if client.progress != progress:
                continue
            if client.beats:
                client.beats = 0
                await _write(send, HEARTBEAT)
                continue
            await client.wake.wait()


async def _write(send: Send, wire: bytes, *, more: bool = True) -> None:
    async with asyncio.timeout(STUCK_S):
        await send({"type": "http.response.body", "body": wire, "more_body": more})


async def _until_gone(receive: Receive, client: Client) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    client.end()
