"""The door: what is checked, in which order, and what every response has."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import Any

import pytest
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from kit.clock import play
from kit.tokens import TokensInMemory
from segue.drivers.lineage import RUN
from segue.drivers.peer import Caller
from segue.server import bounds, callers
from segue.server.auth import Auth
from segue.server.bounds import Meter, Rate
from segue.server.callers import Attempt
from segue.server.metrics import Requests
from segue.server.middleware import AccessMiddleware, is_open, refusing

TOKEN = "a-token"
BEARER = (b"authorization", b"Bearer a-token")
GUESS = (b"authorization", b"Bearer wrong")
HOST = (b"host", b"127.0.0.1")


class Got:
    """What a client got."""

    def __init__(self, messages: list[Message]) -> None:
        self.started = [each for each in messages if each["type"] == "http.response.start"]
        self.status: int = self.started[0]["status"] if self.started else 0
        self.headers = dict(self.started[0]["headers"]) if self.started else {}
        self.body = b"".join(each.get("body", b"") for each in messages)


class Room:
    """A door with an application behind it that says what reached it."""

    def __init__(self, **more: Any) -> None:
        self.inside: list[tuple[str, bytes]] = []
        self.attempts: list[Attempt] = []
        self.requests = Requests()
        self.answer: Response | Exception = Response(b"in")
        self.caller: Caller | None = None
        rate: Rate = more.pop("rate", Rate(1_000, 1))
        self.door = AccessMiddleware(
            self._app,
            auth=Auth(
                TOKEN, ["127.0.0.1"], lambda: datetime(2025, 3, 1, tzinfo=UTC), TokensInMemory()
            ),
            requests=self.requests,
            visits=Meter(rate, lambda: 0.0),
            failures=Meter(Rate(2, 0.1), lambda: 0.0),
            on_agent=self.attempts.append,
            **more,
        )

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = b""
        if scope["method"] == "POST":
            body = (await receive())["body"]
        self.inside.append((scope["path"], body))
        if isinstance(self.answer, Exception):
            raise self.answer
        await self.answer(scope, receive, send)

    def ask(
        self, path: str, *headers: tuple[bytes, bytes], method: str = "GET", body: bytes = b""
    ) -> Got:
        named = {name for name, _value in headers}
        scope: Scope = {
            "type": "http",
            "method": method,
            "path": path,
            "headers": [*([] if b"host" in named else [HOST]), *headers],
            "client": ("127.0.0.1", 5),
        }
        if self.caller is not None:
            scope[callers.SCOPE] = Known(self.caller)
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        play(self.door(scope, receive, send))
        return Got(sent)


class Known:
    """A connection whose other end is known."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def caller(self) -> Caller:
        return self._caller


def test_only_health_the_login_and_static_files_are_open() -> None:
    assert all(map(is_open, ("/health", "/api/health", "/login", "/static/segue.css")))
    assert not any(map(is_open, ("/", "/api/tasks", "/static", "/login/x", "/healthy")))


def test_a_stranger_gets_a_problem_and_a_browser_the_login() -> None:
    room = Room()
    problem = room.ask("/api/tasks", (b"accept", b"text/html"))
    assert (problem.status, problem.headers[b"www-authenticate"]) == (401, b"Bearer")
    page = room.ask("/tasks/é", (b"accept", b"text/html"))
    assert (page.status, page.headers[b"location"]) == (303, b"/login?next=/tasks/%C3%A9")
    assert room.inside == []


@pytest.mark.parametrize(
    "headers",
    [[(b"host", b"evil.example")], [HOST, (b"host", b"127.0.0.1")], [(b"host", b"")]],
)
def test_a_request_for_another_host_is_refused_before_its_token(
    headers: list[tuple[bytes, bytes]],
) -> None:
    """Also for what is open to all: a page of another site can make a browser ask for it."""
    room = Room()
    assert room.ask("/health", BEARER, *headers).status == 421
    assert room.inside == []


def test_a_body_reaches_the_application_whole() -> None:
    room = Room()
    json = (b"content-type", b"application/merge-patch+json; charset=utf-8")
    assert room.ask("/api/tasks", BEARER, json, method="POST", body=b"{}").status == 200
    assert room.inside == [("/api/tasks", b"{}")]


@pytest.mark.parametrize("kind", [b"text/plain", b"", b"application/x-www-form-urlencoded"])
def test_the_api_takes_json_alone_and_pages_take_forms(kind: bytes) -> None:
    room = Room()
    header = (b"content-type", kind)
    assert room.ask("/api/tasks", BEARER, header, method="POST", body=b"x").status == 415
    assert room.ask("/new", BEARER, header, method="POST", body=b"x").status == 200
    assert room.ask("/api/tasks/1/submit", BEARER, header, method="POST").status == 200


def test_a_body_that_is_too_large_never_reaches_the_application() -> None:
    room = Room(body_bytes_max=3)
    answer = room.ask("/new", BEARER, method="POST", body=b"1234")
    assert (answer.status, answer.headers[b"connection"]) == (413, b"close")
    declared = (b"content-length", b"4")
    assert room.ask("/new", BEARER, declared, method="POST", body=b"").status == 413
    assert room.inside == []


def test_a_form_of_another_site_is_refused_also_at_the_login() -> None:
    room = Room()
    origin = (b"origin", b"http://evil.example")
    for path, headers in (("/login", [origin]), ("/new", [origin, BEARER])):
        assert room.ask(path, *headers, method="POST").status == 403
    assert room.ask("/login", method="POST").status == 200
    assert room.inside == [("/login", b"")]


def test_guesses_are_counted_on_open_paths_too() -> None:
    """The right token is never counted, and ends the count."""
    room = Room()
    assert [room.ask("/health", GUESS).status for _n in range(3)] == [200, 200, 429]
    assert room.ask("/api/tasks", BEARER).status == 200
    assert room.ask("/api/tasks", GUESS).status == 401


def test_a_client_that_asks_too_often_is_told_when_to_come_back() -> None:
    room = Room(rate=Rate(1, 0.25))
    assert room.ask("/health").status == 200
    answer = room.ask("/health")
    assert (answer.status, answer.headers[b"retry-after"]) == (429, b"4")


def test_an_agent_is_refused_whatever_token_it_has() -> None:
    """It is told nothing of the token, and what it tried is passed on."""
    room = Room()
    room.caller = Caller({RUN: "T-1"})
    for header in (BEARER, GUESS):
        answer = room.ask("/api/tasks", header, method="POST")
        assert (answer.status, b'"code": "in_a_run"' in answer.body) == (403, True)
    assert room.ask("/login", method="GET").status == 403
    assert [attempt.is_change for attempt in room.attempts] == [True, True, False]
    assert room.ask("/health").status == 200
    assert room.inside == [("/health", b"")]


def test_a_client_that_has_hung_up_gets_nothing_done() -> None:
    room = Room()
    room.caller = Caller(has_hung_up=True)
    assert room.ask("/api/tasks", BEARER, method="POST").started == []
    assert room.inside == []
    assert any('status="499"' in line for line in room.requests.lines())


def test_every_response_keeps_browsers_careful_and_has_an_id() -> None:
    """What may be kept says so itself; all else is not stored."""
    room = Room()
    for path in ("/health", "/api/tasks"):
        headers = room.ask(path).headers
        assert b"default-src 'none'" in headers[b"content-security-policy"]
        assert headers[b"x-content-type-options"] == b"nosniff"
        assert headers[b"cache-control"] == b"no-store"
        assert len(headers[b"x-request-id"]) == 16
    room.answer = Response(b"css", headers={"Cache-Control": "public"})
    assert room.ask("/static/a.css").headers[b"cache-control"] == b"public"


def test_a_crash_is_logged_and_told_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    room = Room()
    room.answer = RuntimeError("a secret")
    with caplog.at_level(logging.ERROR):
        answer = room.ask("/api/tasks", BEARER)
    assert (answer.status, b"a secret" in answer.body) == (500, False)
    assert answer.headers[b"x-request-id"].decode() in caplog.text
    assert "a secret" in caplog.text


def test_there_are_no_web_sockets() -> None:
    """Nothing is answered, and the application does not see it; its life span it does see."""
    room = Room()
    seen: list[str] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        seen.append(scope["type"])

    room.door._app = app

    async def nothing(*_message: Message) -> Any:
        raise AssertionError

    for kind in ("websocket", "lifespan"):
        play(room.door({"type": kind}, nothing, nothing))
    assert seen == ["lifespan"]


def test_before_the_server_is_there_everybody_gets_the_same_answer() -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    async def scene() -> None:
        scope: Scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
        await refusing(Response(b"wait", 503))(scope, receive, send)

    play(scene())
    got = Got(sent)
    assert (got.status, got.body) == (503, b"wait")
    assert got.headers[b"x-frame-options"] == b"DENY"


def test_a_body_that_does_not_arrive_in_time_is_408(monkeypatch: pytest.MonkeyPatch) -> None:
    async def slow(*_given: object) -> bytes:
        raise TimeoutError

    monkeypatch.setattr(bounds, "read_body", slow)
    answer = Room().ask("/new", BEARER, method="POST")
    assert (answer.status, answer.headers[b"connection"]) == (408, b"close")
