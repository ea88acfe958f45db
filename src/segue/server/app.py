"""The application: its routes, and the middleware before them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from fastapi import FastAPI

from segue import __version__
from segue.server import (
    bounds,
    callers,
    documenting,
    downloads,
    events,
    gates,
    login,
    output,
    problems,
    system,
    tasks,
)
from segue.server.auth import Auth, KnownTokens
from segue.server.commands import Commands
from segue.server.hub import HEARTBEAT_S, Hub
from segue.server.idempotency import Idempotent, ReplyBook
from segue.server.metrics import Requests
from segue.server.middleware import AccessMiddleware
from segue.server.rendering import PageCache
from segue.server.strict_routes import StrictRoute
from segue.server.works import Works
from segue.server.works import add as add_works

ABOUT = (
    "Tasks with phases and reviews. Errors are problem documents "
    "(RFC 9457); lists are paged; POST takes an `Idempotency-Key`."
)
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def make_app(
    commands: Commands,
    *,
    token: str,
    replies: ReplyBook,
    tokens: KnownTokens,
    hosts: Iterable[str] = LOOPBACK,
    pages: Callable[[FastAPI], None] | None = None,
    works: Works | None = None,
    body_bytes_max: int = bounds.BODY_BYTES_MAX,
    rate: bounds.Rate = bounds.REQUESTS,
    failed_logins: bounds.Rate = bounds.FAILED_LOGINS,
    heartbeat_s: float = HEARTBEAT_S,
    on_agent: callers.OnAttempt = lambda _attempt: None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> FastAPI:
    """`pages` adds what browsers see; `works`: what else stands in the served folder; `on_agent`
    hears what agents tried; `app.state.hub` is to be closed at the end."""
    app = FastAPI(
        title="Segue",
        version=__version__,
        description=ABOUT,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=documenting.operation_id,
    )
    app.router.route_class = StrictRoute
    auth = Auth(token, hosts, now, tokens)
    failures = bounds.Meter(failed_logins, time.monotonic)
    requests, hub, page_cache = Requests(), Hub(commands, heartbeat_s=heartbeat_s), PageCache()
    idempotent = Idempotent(commands, replies, auth, now)
    commands.on_commit(page_cache.clear)
    tasks.add(app.router, commands, idempotent, page_cache)
    downloads.add(app.router, commands)
    output.add(app.router, commands, idempotent)
    gates.add(app.router, commands, idempotent, page_cache, works)
    if works is not None:
        add_works(app.router, commands, works)
    events.add(app.router, commands, hub)
    system.add(app.router, commands, hub, requests)
    login.add(app.router, auth, failures)
    if pages is not None:
        pages(app)
    problems.install(app)
    documenting.install(app)
    app.add_middleware(
        AccessMiddleware,
        auth=auth,
        requests=requests,
        body_bytes_max=body_bytes_max,
        visits=bounds.Meter(rate, time.monotonic),
        failures=failures,
        on_agent=on_agent,
    )
    app.state.hub = hub
    return app
