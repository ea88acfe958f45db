"""A real server on loopback, with commands in memory: what tests of the client side talk to."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from kit.front import TOKEN, FakeCommands, Replies
from kit.tokens import TokensInMemory
from segue.client import Client
from segue.server import listen
from segue.server.app import make_app
from segue.server.commands import Json
from segue.work.project import Project

T = TypeVar("T")


class Commands(FakeCommands):
    """As the real one tells what waits: with its kind and the title of its task."""

    def inbox(self, **wanted: Any) -> Json:
        found: Json = super().inbox(**wanted)
        for gate in found["items"]:
            gate["taskTitle"] = self.tasks[gate["taskId"]]["title"]
        return found


class Running:
    """The server, in a thread of its own; the commands are only touched there."""

    def __init__(self, commands: Commands, port: int = 0, token: str = TOKEN) -> None:
        self.commands, self.token = commands, token
        self._sock = listen.bind("127.0.0.1", port)
        self.port = int(self._sock.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}"
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        self.client = Client(self.url, token)
        self.client.health()

    def _run(self) -> None:
        async def main() -> None:
            app = make_app(
                self.commands,
                token=self.token,
                replies=Replies(),
                tokens=TokensInMemory(),
                heartbeat_s=0.05,
            )
            self._sock.listen(100)
            await listen.serve(app, self._sock, self._stop)

        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(main())

    def do(self, act: Callable[..., T]) -> T:
        """On the server's own loop, as everything that touches the commands."""

        async def there() -> T:
            return act()

        return asyncio.run_coroutine_threadsafe(there(), self._loop).result(60)

    def close(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join()


@contextmanager
def running(commands: Commands | None = None, port: int = 0) -> Iterator[Running]:
    server = Running(commands or Commands(), port)
    try:
        yield server
    finally:
        server.close()


def leave_place(folder: Path, url: str, token: str | None = TOKEN) -> None:
    """The files that a running server leaves for clients."""
    place = Project(folder).keys
    place.mkdir(parents=True)
    (place / "server.json").write_text(json.dumps({"url": url}))
    if token is not None:
        (place / "token").write_text(f"{token}\n")
