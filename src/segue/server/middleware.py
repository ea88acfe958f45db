"""The door that every request passes: plain ASGI, because each request pays for it.

In this order: the host it is meant for, how often its client comes, whether an agent's process
sent it, who it is, where it comes from, how much it brings. On the way out every response gets
the headers that keep browsers careful; then the request is counted and logged.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from time import perf_counter
from urllib.parse import quote

from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from segue.i18n import _
from segue.server import bounds, callers, log
from segue.server.auth import SAFE, Auth, By, Headers, Pass
from segue.server.metrics import Requests
from segue.server.problems import of_crash, problem, too_many
from segue.store.actors import SEGUE, Actor, acting

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
SECURITY = [
    (b"content-security-policy", CONTENT_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
NO_STORE = (b"cache-control", b"no-store")
LOGIN, LOGOUT = "/login", "/logout"
PASS = "segue.pass"  # noqa: S105 - where it is in the scope
OPEN = frozenset({"/health", "/api/health", LOGIN})
OPEN_BELOW = "/static/"
STREAMS = "/events"  # routes that end in it last as long as their client wants

logger = logging.getLogger("segue.server")


def is_open(path: str) -> bool:
    """What anyone may see."""
    return path in OPEN or path.startswith(OPEN_BELOW)


class AccessMiddleware:
    def __init__(
        self,
        app: ASGIApp,
        *,
        auth: Auth,
        requests: Requests,
        body_bytes_max: int = bounds.BODY_BYTES_MAX,
        visits: bounds.Meter,
        failures: bounds.Meter,
        on_agent: callers.OnAttempt,
        is_open: Callable[[str], bool] = is_open,
    ) -> None:
        self._app, self._auth, self._requests = app, auth, requests
        self._body_bytes_max = body_bytes_max
        self._is_open = is_open
        self._visits, self._failures = visits, failures
        self._on_agent = on_agent

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return  # there are no web sockets here
        began = perf_counter()
        visit = Visit(send)
        try:
            await self._serve(scope, receive, visit)
        except bounds.Gone:
            visit.status = 499
        except Exception:
            logger.exception("request %s failed", visit.id)
            if visit.status:
                raise
            await of_crash()(scope, receive, visit.send)
        finally:
            self._record(scope, visit, perf_counter() - began)

    async def _serve(self, scope: Scope, receive: Receive, visit: Visit) -> None:
        headers: Headers = dict(scope["headers"])
        refusal = (
            self._turned_away(scope, headers)
            or await self._of_agent(scope)
            or self._unproven(scope, headers)
        )
        if refusal is None and scope["method"] not in SAFE:
            body = await self._body(scope, receive, headers)
            if isinstance(body, Response):
                refusal = body
            else:
                scope["segue.body"] = body
                receive = bounds.replayed(body, receive)
        with acting(_actor(scope)):
            await (refusal or self._app)(scope, receive, visit.send)

    def _turned_away(self, scope: Scope, headers: Headers) -> Response | None:
        if not self._is_for_us(scope, headers):
            detail = _(
                "this server does not serve that host name; to allow it: segue "
                "serve --allow-host NAME"
            )
            return problem(421, "wrong_host", detail)
        wait_s = self._visits.take(_client(scope))
        return too_many(wait_s) if wait_s else None

    async def _of_agent(self, scope: Scope) -> Response | None:
        """An agent is never a person, also one with the token: it does not even learn whether
        that is right."""
        connection: callers.Connection | None = scope.get(callers.SCOPE)
        if connection is None or (self._is_open(scope["path"]) and scope["path"] != LOGIN):
            return None
        caller = await connection.caller()
        if caller.has_hung_up:
            raise bounds.Gone
        if caller.run is None:
            return None
        is_change = scope["method"] not in SAFE
        attempt = callers.Attempt.of(caller.run, scope, is_change=is_change)
        self._on_agent(attempt)
        detail = _(
            "only a person may do this, but the request comes from an agent's process: {run}"
        )
        return problem(403, "in_a_run", detail.format(run=attempt.name), {"run": attempt.name})

    def _unproven(self, scope: Scope, headers: Headers) -> Response | None:
        client = _client(scope)
        shown = self._auth.seen(headers)
        by = shown.by if shown else None
        if by is By.TOKEN:
            self._failures.forget(client)
        is_guess = by is None and b"authorization" in headers  # whatever it asks for
        if is_guess and (wait_s := self._failures.take(client)):
            return too_many(wait_s)
        if by is None and not self._is_open(scope["path"]):
            return self._stranger(scope, headers)
        is_change = scope["method"] not in SAFE
        if is_change and not self._auth.may_change(by or By.TOKEN, headers):
            return problem(403, "wrong_origin", _("the request comes from another site"))
        if is_change and shown and not shown.grant.may_act and scope["path"] != LOGOUT:
            detail = _("the token `{name}` may only read").format(name=shown.grant.name)
            return problem(403, "read_only_token", detail, {"scope": shown.grant.scope})
        scope[PASS] = shown
        return None

    def _is_for_us(self, scope: Scope, headers: Headers) -> bool:
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        return len(hosts) == 1 and self._auth.answers_for(hosts[0].decode("latin-1"))

    def _stranger(self, scope: Scope, headers: Headers) -> Response:
        path = scope["path"]
        wants_page = b"text/html" in headers.get(b"accept", b"") and scope["method"] == "GET"
        if wants_page and not path.startswith("/api/"):
            return RedirectResponse(f"/login?next={quote(path)}", 303)
        detail = _("this needs a token: Authorization: Bearer TOKEN")
        return problem(401, "no_token", detail, headers={"WWW-Authenticate": "Bearer"})

    async def _body(self, scope: Scope, receive: Receive, headers: Headers) -> bytes | Response:
        limit = self._body_bytes_max
        try:
            body = await bounds.read_body(receive, _length(headers), limit)
        except bounds.TooLarge:
            detail = _("the request body is larger than {limit} bytes").format(limit=limit)
            answer = problem(413, "too_large", detail, headers={"Connection": "close"})
            return bounds.BeforeItsEnd(answer)
        except TimeoutError:
            detail = _("the request body did not arrive in time")
            return problem(408, "too_slow", detail, headers={"Connection": "close"})
        if body and scope["path"].startswith("/api/") and not _is_json(headers):
            return problem(415, "not_json", _("the request body must be application/json"))
        return body

    def _record(self, scope: Scope, visit: Visit, duration_s: float) -> None:
        route = getattr(scope.get("route"), "path", None) or "-"
        if not route.endswith(STREAMS):
            self._requests.done(scope["method"], route, visit.status, duration_s)
        log.request_done(
            method=scope["method"],
            route=route,
            status=visit.status,
            duration_s=duration_s,
            request=visit.id,
            client=_client(scope),
            parameters=scope.get("path_params") or {},
        )


class Visit:
    """One request on its way out: its id, and the status once there is one."""

    __slots__ = ("_send", "id", "status")

    def __init__(self, send: Send) -> None:
        self._send = send
        self.id = secrets.token_hex(8)
        self.status = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = [*message.get("headers", ()), *SECURITY, (b"x-request-id", self.id.encode())]
            if not any(name == b"cache-control" for name, _value in headers):
                headers.append(NO_STORE)
            message = {**message, "headers": headers}
        await self._send(message)


def refusing(answer: Response) -> ASGIApp:
    """Gives everybody the same answer: there is no server behind it yet that could know anyone."""

    async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
        await bounds.BeforeItsEnd(answer)(scope, receive, Visit(send).send)

    return refuse


def _actor(scope: Scope) -> Actor:
    """In whose name a request is served: the journal has it."""
    shown: Pass | None = scope.get(PASS)
    if shown is None:
        return SEGUE
    return Actor(shown.grant.name, "page" if shown.by is By.COOKIE else "token")


def _client(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else "-"


def _length(headers: Headers) -> int | None:
    given = headers.get(b"content-length", b"")
    return int(given) if given.isdigit() and len(given) < 16 else None


def _is_json(headers: Headers) -> bool:
    kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    return kind == b"application/json" or (
        kind.startswith(b"application/") and kind.endswith(b"+json")
    )
