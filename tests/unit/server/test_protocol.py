"""The bounds on the head of a request, and the connection that each request carries."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import uvicorn
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from kit.clock import play
from segue.server import callers, protocol
from segue.server.protocol import BoundedProtocol


class Wire(asyncio.Transport):
    """What the server wrote, and whether it has closed."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 5), "sockname": ("127.0.0.1", 80)})
        self.written = b""
        self.is_closed = False

    def write(self, data: Any) -> None:
        if not self.is_closed:
            self.written += bytes(data)

    def close(self) -> None:
        self.is_closed = True

    def is_closing(self) -> bool:
        return self.is_closed

    def get_write_buffer_size(self) -> int:
        return 0


class Link:
    """A connection to an application that notes what came."""

    def __init__(self) -> None:
        self.scopes: list[Scope] = []
        config = uvicorn.Config(self._app, log_config=None, lifespan="off", interface="asgi3")
        self.protocol = BoundedProtocol(config, ServerState(), {})
        self.wire = Wire()
        self.protocol.connection_made(self.wire)

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scopes.append(scope)
        await Response(b"hello")(scope, receive, send)

    async def send(self, data: bytes) -> None:
        self.protocol.data_received(data)
        await asyncio.sleep(0.01)

    def lose(self) -> None:
        self.protocol.connection_lost(None)


def on(scene: Callable[[Link], Coroutine[Any, Any, None]]) -> None:
    async def test() -> None:
        link = Link()
        await scene(link)
        link.lose()

    play(test())


HEAD = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


def test_all_requests_of_a_connection_carry_the_same_one() -> None:
    """So the process at its other end is looked up once."""

    async def scene(link: Link) -> None:
        for _n in range(2):
            await link.send(HEAD)
        first, second = (scope[callers.SCOPE] for scope in link.scopes)
        assert isinstance(first, callers.Connection)
        assert first is second

    on(scene)


def test_an_endless_header_is_cut_off_with_431() -> None:
    async def scene(link: Link) -> None:
        await link.send(b"GET / HTTP/1.1\r\nHost: x\r\nX: ")
        for _n in range(protocol.HEAD_BYTES_MAX // 1_000):
            assert not link.wire.is_closed
            await link.send(b"x" * 1_000)
        assert link.wire.is_closed
        assert link.wire.written.startswith(b"HTTP/1.1 431 ")
        assert link.scopes == []

    on(scene)


def test_a_long_body_is_no_long_head() -> None:
    """What follows the head is bounded elsewhere; the next head counts from its own beginning."""

    async def scene(link: Link) -> None:
        size = 2 * protocol.HEAD_BYTES_MAX
        head = f"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n\r\n".encode()
        for _n in range(2):
            await link.send(head)
            await link.send(b"x" * size)
        assert len(link.scopes) == 2
        assert not link.wire.is_closed

    on(scene)


def test_many_heads_on_one_connection_are_counted_one_by_one() -> None:
    async def scene(link: Link) -> None:
        large = HEAD.replace(b"\r\n\r\n", b"\r\nX: " + b"x" * 30_000 + b"\r\n\r\n")
        for _n in range(4):
            await link.send(large)
        assert len(link.scopes) == 4
        assert not link.wire.is_closed

    on(scene)


def test_who_sends_no_head_is_let_go() -> None:
    """Neither silence nor half a head keeps a connection open."""
    for begun in (b"", b"GET / HTTP/1.1\r\nHo"):

        async def scene(link: Link, begun: bytes = begun) -> None:
            if begun:
                await link.send(begun)
            await asyncio.sleep(protocol.HEAD_WAIT_S - 1)
            assert not link.wire.is_closed
            await asyncio.sleep(2)
            assert link.wire.is_closed

        on(scene)


def test_a_request_that_takes_long_is_not_ended_by_the_wait_for_heads() -> None:
    """Its head is complete; a body or an answer has time of its own."""

    async def scene(link: Link) -> None:
        await link.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1")
        await asyncio.sleep(2 * protocol.HEAD_WAIT_S)
        assert link.protocol._patience is None

    on(scene)


def test_a_second_head_that_never_ends_is_waited_for_as_long_as_the_first() -> None:
    async def scene(link: Link) -> None:
        link.protocol.timeout_keep_alive = 10_000
        await link.send(HEAD)
        await link.send(b"GET / HTTP/1.1\r\nHo")
        await asyncio.sleep(protocol.HEAD_WAIT_S + 1)
        assert link.wire.is_closed

    on(scene)
