"""Whose process sent a request: looked up once for each connection, beside the event loop."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from starlette.types import Scope

from segue.drivers.lineage import RUN
from segue.drivers.peer import Caller, find_caller
from segue.drivers.sockets import End, is_local
from segue.engine.refusals import shown

ESTABLISHED = 1  # of TCP_INFO: the other end is still open
SCOPE = "segue.connection"
PATH_CHARS_MAX = 200

_lookups = ThreadPoolExecutor(2, "segue-callers")  # not the threads in which work is saved


@dataclass(frozen=True, slots=True)
class Attempt:
    """What an agent tried. The query is left out: it may hold a token."""

    run: Mapping[str, str]
    via: str  # rest, page
    tried: str
    is_change: bool

    @classmethod
    def of(cls, run: Mapping[str, str], scope: Scope, *, is_change: bool) -> Attempt:
        path = scope["path"]
        via = "rest" if path.startswith("/api/") else "page"
        return cls(run, via, f"{scope['method']} {path[:PATH_CHARS_MAX]}", is_change)

    @property
    def name(self) -> str:
        return shown(self.run[RUN])


OnAttempt = Callable[[Attempt], None]


class Connection:
    """One connection of a client. Its requests are answered one after the other."""

    __slots__ = ("_caller", "_transport")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._caller: Caller | None = None

    async def caller(self) -> Caller:
        if self._caller is None:
            loop = asyncio.get_running_loop()
            self._caller = await loop.run_in_executor(_lookups, self._look)
        return self._caller

    def _look(self) -> Caller:
        peer = _end(self._transport.get_extra_info("peername"))
        own = _end(self._transport.get_extra_info("sockname"))
        if peer is None or own is None or not is_local(peer[0]):
            return Caller()
        return find_caller(peer, own, self._is_connected)

    def _is_connected(self) -> bool:
        link = self._transport.get_extra_info("socket")
        try:
            info: bytes = link.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)
        except OSError:  # closed meanwhile
            return False
        return info[0] == ESTABLISHED


def _end(name: object) -> End | None:
    return (name[0], name[1]) if isinstance(name, tuple) and len(name) >= 2 else None
