"""A fake model that real programs talk to: no key, no internet, nothing but loopback.

`http://127.0.0.1:PORT/s/<lane>` is what a program is given as the address of its model's
service. How it asks (its wire format) is seen from the rest of the path; what it gets is said
by the modes of the lane (`modes.py`).
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from urllib.parse import quote

from segue.testing.models.http import HEAD_BYTES_MAX, ClientGoneError, Connection
from segue.testing.models.lanes import Lanes
from segue.testing.models.log import Asked, Log
from segue.testing.models.modes import Mode
from segue.testing.models.service import Service


class FakeModels:
    """The server. `async with` it in a loop of your own, or `with` it in a thread of its own."""

    def __init__(
        self,
        log: Path | None = None,
        *,
        port: int = 0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._log, self._lanes = Log(log), Lanes()
        self._service = Service(self._lanes, self._log, clock)
        self._port = port
        self._server: asyncio.Server | None = None
        self._talks: set[asyncio.Task[None]] = set()
        self._thread: threading.Thread | None = None
        self._end: Callable[[], object] = lambda: None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def lane(self, name: str, *modes: str) -> str:
        """Give a lane its modes; its address."""
        self._lanes.set(name, modes or ("ok",))
        return self.url(name)

    def url(self, lane: str) -> str:
        """The address of a lane; one never set plays the mode that its name begins with."""
        if lane:
            Mode.of(self._lanes.left(lane)[0])
        return f"{self.address}/s/{quote(lane, safe=':')}" if lane else self.address

    def requests(self, lane: str | None = None, *, side: bool = False) -> list[Asked]:
        """What was asked so far, oldest first; with `side` the side requests too."""
        found = [a for a in list(self._log.asked) if lane is None or a.lane == lane]
        return [asked for asked in found if side or not asked.side]

    async def start(self) -> None:
        self._server = await asyncio.start_server(
            self._accept, "127.0.0.1", self._port, limit=HEAD_BYTES_MAX
        )
        self._port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Close connections that still wait for an answer."""
        assert self._server is not None
        self._server.close()
        for talk in list(self._talks):
            talk.cancel()
        await asyncio.gather(*self._talks, return_exceptions=True)
        await self._server.wait_closed()

    async def __aenter__(self) -> FakeModels:
        await self.start()
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: object, _trace: TracebackType | None
    ) -> None:
        await self.stop()

    def __enter__(self) -> FakeModels:
        ready: Future[Callable[[], object]] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(ready)))
        self._thread.start()
        self._end = ready.result()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: object, _trace: TracebackType | None
    ) -> None:
        assert self._thread is not None
        self._end()
        self._thread.join()

    async def _serve(self, ready: Future[Callable[[], object]]) -> None:
        """Serve until what is given to `ready` is called, from whatever thread."""
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        try:
            await self.start()
        except OSError as error:
            ready.set_exception(error)
            return
        ready.set_result(lambda: loop.call_soon_threadsafe(ended.set))
        await ended.wait()
        await self.stop()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talk = asyncio.current_task()
        assert talk is not None
        self._talks.add(talk)
        connection = Connection(reader, writer)
        try:
            while (request := await connection.request()) is not None:
                await self._service.handle(connection, request)
        except (ClientGoneError, asyncio.CancelledError):
            connection.drop()
        finally:
            self._talks.discard(talk)
            await connection.close()
