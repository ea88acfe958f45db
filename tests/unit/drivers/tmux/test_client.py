"""A control client leaves by its way in: the server must never see its stream end first."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence

import pytest

from segue.drivers.tmux import client as client_module
from segue.drivers.tmux.client import ControlClient

TAKEN = b"%session-changed $0 one\n"


class Server:
    """An connection, and what is behind it: a server that holds the other end of the stream."""

    def __init__(self) -> None:
        self.stream: socket.socket
        self.has_left = False

    async def open(
        self, stream: socket.socket, words: Sequence[str], on_end: Callable[[], None]
    ) -> None:
        self.stream = stream.dup()
        self.stream.setblocking(False)
        self.stream.send(TAKEN)

    def close(self) -> None:
        self.has_left = True

    @property
    def sees_end(self) -> bool:
        try:
            return self.stream.recv(65536) == b""
        except BlockingIOError:
            return False


async def attached(server: Server) -> ControlClient:
    client = ControlClient(lambda panes: None, lambda notice: None, lambda: None)
    await client.attach(server, "$0", "ignore-size")
    return client


def test_the_server_ends_the_stream() -> None:
    """Closed, it takes nothing more and gives up its way in; the stream stays until the server
    has let go of it."""

    async def scene() -> None:
        server = Server()
        client = await attached(server)
        asked = client.begin("list-panes")
        server.stream.recv(65536)
        client.close()
        assert (client.is_open, server.has_left) == (False, True)
        assert await asked is None, "nobody waits for an answer that will not come"
        assert await client.ask("list-panes") is None
        leaving = asyncio.create_task(client.wait_closed())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not server.sees_end
        assert not leaving.done()
        server.stream.close()
        await leaving

    asyncio.run(scene())


def test_a_server_that_does_not_let_go_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that hangs holds nobody up."""
    monkeypatch.setattr(client_module, "LEAVE_S", 0.01)

    async def scene() -> None:
        server = Server()
        client = await attached(server)
        client.close()
        await client.wait_closed()
        assert server.sees_end
        server.stream.close()

    asyncio.run(scene())
