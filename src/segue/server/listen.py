"""Where the server listens, and how it ends: in order.

The socket is bound first, so that its address is known before it is printed. Beyond the machine
itself nothing is bound without TLS, unless a person says so.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp

from segue.engine import signals as engine_signals
from segue.errors import UserError
from segue.i18n import _
from segue.server.app import LOOPBACK
from segue.server.auth import PAGE_HOST
from segue.server.protocol import BoundedProtocol

GRACE_S = 5.0
BACKLOG = 2_048
CONNECTIONS_MAX = 8_000
STUCK_MS = 60_000  # what a client does not take for so long, it will not
ANY = ("0.0.0.0", "::")  # noqa: S104 - compared with, not bound to


@dataclass(frozen=True, slots=True)
class Tls:
    certificate: Path
    key: Path | None = None


def bind(
    host: str, port: int, *, tls: Tls | None = None, is_exposed: bool = False
) -> socket.socket:
    """A socket that listens; port 0 takes a free one."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise UserError(
            "unknown_host", _("unknown host {host}: {why}").format(host=host, why=error)
        ) from error
    family, kind, protocol, _name, address = found[0]
    if not (tls or is_exposed or ipaddress.ip_address(address[0]).is_loopback):
        raise UserError(
            "not_loopback",
            _("other machines can reach {host}, and it has no TLS").format(host=host),
            hint=_("bind to 127.0.0.1, pass a certificate, or pass --insecure"),
        )
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, STUCK_MS)
        sock.bind(address)
        sock.listen(BACKLOG)  # clients may connect as soon as the address is printed
    except OSError as error:
        sock.close()
        raise _in_words(error, host, port) from error
    sock.setblocking(False)
    return sock


def url(sock: socket.socket, host: str, tls: Tls | None = None) -> str:
    """Where a browser on this machine finds it."""
    name = "127.0.0.1" if host in ANY else host
    shown = f"[{name}]" if ":" in name else name
    return f"{'https' if tls else 'http'}://{shown}:{sock.getsockname()[1]}"


def page_url(url: str) -> str:
    """Where browsers are sent: a host name of our own, where this machine knows it. Cookies of a
    host name go to all its ports, and 127.0.0.1 has many servers."""
    parts = urlsplit(url)
    if parts.scheme != "http" or parts.hostname not in LOOPBACK:
        return url
    try:
        found = socket.getaddrinfo(PAGE_HOST, parts.port, type=socket.SOCK_STREAM)
    except OSError:
        return url
    if any(entry[4][0] == parts.hostname for entry in found):
        return f"http://{PAGE_HOST}:{parts.port}"
    return url


def hosts(host: str, more: Iterable[str] = ()) -> tuple[str, ...]:
    """The names it answers for: this machine's own, the one it is bound to, and those given."""
    own = (socket.gethostname(),) if host in ANY else (host,)
    return (*LOOPBACK, PAGE_HOST, *own, *more)


class _Server(uvicorn.Server):
    """Signals are for the whole program, not for its HTTP part."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve(
    app: FastAPI, sock: socket.socket, stop: asyncio.Event, *, tls: Tls | None = None
) -> None:
    """Answer until `stop`; then take nothing new, end the streams, finish what was begun."""
    server = _Server(_config(app, tls))

    async def end() -> None:
        await stop.wait()
        server.should_exit = True
        app.state.hub.close()

    ending = asyncio.create_task(end())
    try:
        await server.serve([sock])
    finally:
        ending.cancel()
        app.state.hub.close()
        sock.close()


@contextlib.asynccontextmanager
async def answering(
    app: ASGIApp, sock: socket.socket, *, tls: Tls | None = None
) -> AsyncIterator[None]:
    """Answer in the meantime; afterwards `serve` uses the same socket for new clients."""
    server = _Server(_config(app, tls))
    serving = asyncio.create_task(server.serve([sock.dup()]))  # it closes what it is given
    try:
        yield
    finally:
        server.should_exit = True
        await serving


def _config(app: ASGIApp, tls: Tls | None) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=BoundedProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        limit_concurrency=CONNECTIONS_MAX,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=int(GRACE_S),
        ssl_certfile=tls.certificate if tls else None,
        ssl_keyfile=tls.key if tls else None,
    )


@contextlib.contextmanager
def signals(stop: asyncio.Event) -> Iterator[None]:
    """SIGTERM and SIGINT ask for an end in order; again, and it is as it always was. So does a
    terminal that is closed, however often the signal comes."""
    loop = asyncio.get_running_loop()

    def once(number: signal.Signals) -> None:
        loop.remove_signal_handler(number)
        stop.set()

    actions: dict[signal.Signals, Callable[[], object]] = {
        number: partial(once, number) for number in (signal.SIGTERM, signal.SIGINT)
    }
    with engine_signals.handled({**actions, signal.SIGHUP: stop.set}):
        yield


def _in_words(error: OSError, host: str, port: int) -> UserError:
    place = f"{host}:{port}"
    match error.errno:
        case errno.EADDRINUSE:
            return UserError(
                "port_in_use",
                _("another program already listens on {place}").format(place=place),
                hint=_("choose another port, or 0 for a free one"),
            )
        case errno.EACCES:
            return UserError(
                "port_not_allowed",
                _("no permission to listen on {place}").format(place=place),
                hint=_("choose a port of 1024 or more"),
            )
        case _:
            return UserError(
                "cannot_listen",
                _("cannot listen on {place}: {why}").format(place=place, why=error),
            )
