"""Who is let in, from where, with how much and how often."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from kit.front import HOST, TOKEN, FakeCommands, Front
from kit.tokens import TokensInMemory
from segue.server import log
from segue.server.auth import COOKIE, LOGIN_S
from segue.server.bounds import Rate

ORIGIN = {"Origin": HOST}


@pytest.fixture
def browser(front: Front) -> Front:
    """The stranger has logged in by the link that the server prints."""
    assert front.stranger.get(f"/login?token={TOKEN}").status_code == 303
    return front


CLOSED = ["/api/tasks", "/api/openapi.json", "/metrics", "/api/metrics", "/api/events", "/nowhere"]


@pytest.mark.parametrize("path", CLOSED)
@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", TOKEN, "Bearer é"],
)
def test_nothing_is_seen_without_the_token(
    front: Front, path: str, authorization: str | None
) -> None:
    """401 with a problem, whatever else is sent; also for paths that are not there."""
    headers = {} if authorization is None else {"Authorization": authorization.encode()}
    answer = front.stranger.get(path, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (401, "no_token")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("path", ["/health", "/api/health"])
def test_health_is_for_anyone(front: Front, path: str) -> None:
    """It says that the server answers, and no more."""
    answer = front.stranger.get(path)
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")


def test_an_empty_token_is_never_right(commands: FakeCommands) -> None:
    """A server whose token is empty would be open to everyone: there is no such server."""
    with pytest.raises(ValueError, match="empty"):
        from segue.server.auth import Auth

        Auth("", ["localhost"], lambda: datetime(2025, 3, 1, tzinfo=UTC), TokensInMemory())


def test_a_browser_is_let_in_by_the_link(front: Front) -> None:
    """The cookie is out of reach for scripts and other sites, and does not hold the token."""
    answer = front.stranger.get(f"/login?token={TOKEN}&next=/tasks/1")
    cookie = answer.headers["set-cookie"]
    assert answer.status_code == 303
    assert answer.headers["location"] == "/tasks/1"
    assert cookie.startswith(f"{COOKIE}=")
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert TOKEN not in cookie
    assert front.stranger.get("/api/tasks").status_code == 200


def test_a_browser_is_let_in_by_the_form(front: Front) -> None:
    """The page asks; a wrong token is told, the right one leads on."""
    assert "<form" in front.stranger.get("/login").text
    wrong = front.stranger.post("/login", data={"token": "no"}, headers=ORIGIN)
    assert wrong.status_code == 401
    assert front.stranger.get("/api/tasks").status_code == 401
    right = front.stranger.post("/login", data={"token": TOKEN, "next": "/x"}, headers=ORIGIN)
    assert (right.status_code, right.headers["location"]) == (303, "/x")
    assert front.stranger.get("/api/tasks").status_code == 200


def test_a_login_from_another_site_is_refused(front: Front) -> None:
    """Nobody is logged in behind their back."""
    sent = front.stranger.post(
        "/login", data={"token": TOKEN}, headers={"Origin": "http://evil.example"}
    )
    assert sent.status_code == 403
    assert "set-cookie" not in sent.headers


@pytest.mark.parametrize(
    "place", ["http://evil.example", "//evil.example", "/\\evil.example", "evil", "/a\r\nb", ""]
)
def test_a_login_leads_to_our_own_pages_alone(front: Front, place: str) -> None:
    """A link to us cannot send anybody elsewhere."""
    answer = front.stranger.get("/login", params={"token": TOKEN, "next": place})
    assert answer.headers["location"] == "/"


def test_what_is_shown_on_the_login_page_is_escaped(front: Front) -> None:
    """The place to go on to is text of others."""
    assert "<script>" not in front.stranger.get("/login?next=/<script>").text


def test_a_page_sends_strangers_to_the_login(front: Front) -> None:
    """A browser gets the form, and comes back where it wanted to go."""
    answer = front.stranger.get("/tasks/a b", headers={"Accept": "text/html"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=/tasks/a%20b")
    api = front.stranger.get("/api/tasks", headers={"Accept": "text/html"})
    assert api.status_code == 401


def test_a_login_ends(browser: Front) -> None:
    """The cookie is good for its time, and until the browser gives it back."""
    browser.at += timedelta(seconds=LOGIN_S - 1)
    assert browser.stranger.get("/api/tasks").status_code == 200
    browser.at += timedelta(seconds=1)
    assert browser.stranger.get("/api/tasks").status_code == 401


def test_a_browser_can_log_out(browser: Front) -> None:
    """The cookie is taken back."""
    assert browser.stranger.post("/logout", headers=ORIGIN).status_code == 303
    assert browser.stranger.get("/api/tasks").status_code == 401


@pytest.mark.parametrize("value", ["", ".", "99999999999.", "99999999999.ab", "x.y", "1" * 30, "é"])
def test_a_made_up_cookie_opens_nothing(front: Front, value: str) -> None:
    """Only what we signed counts."""
    headers = {"Cookie": f"{COOKIE}={value}".encode()}
    assert front.stranger.get("/api/tasks", headers=headers).status_code == 401


def test_cookies_of_other_programs_do_no_harm(browser: Front) -> None:
    """Ours is found among others that are badly made."""
    ours = browser.stranger.cookies[COOKIE]
    headers = {"Cookie": f'a{{"b"}}=c; =; {COOKIE}=old; {COOKIE}={ours}; z'}
    assert browser.client(**headers).get("/api/tasks").status_code == 200


CHANGE = {"title": "t", "type": "custom"}


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "http://127.0.0.1:9999",
        "http://127.0.0.1",
        "",
        "127.0.0.1:8765",
    ],
)
def test_a_change_from_another_site_is_refused(
    browser: Front, commands: FakeCommands, origin: str
) -> None:
    """By cookie, and even with the token: nothing happens."""
    for client in (browser.stranger, browser.api):
        answer = client.post("/api/tasks", json=CHANGE, headers={"Origin": origin})
        assert (answer.status_code, answer.json()["code"]) == (403, "wrong_origin")
    assert commands.calls == 0


def test_a_change_by_cookie_needs_an_origin(browser: Front, commands: FakeCommands) -> None:
    """A browser always says where it comes from; who does not is no browser of ours."""
    assert browser.stranger.post("/api/tasks", json=CHANGE).status_code == 403
    assert browser.stranger.delete("/api/tasks/x").status_code == 403
    assert browser.stranger.patch("/api/tasks/x", json={}).status_code == 403
    assert commands.calls == 0
    assert browser.stranger.post("/api/tasks", json=CHANGE, headers=ORIGIN).status_code == 201


def test_a_wrong_token_is_not_mended_by_a_cookie(browser: Front) -> None:
    """Whoever sends a token means it."""
    answer = browser.stranger.get("/api/tasks", headers={"Authorization": "Bearer wrong"})
    assert answer.status_code == 401


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8765", 200),
        ("127.0.0.1", 200),
        ("LOCALHOST:1", 200),
        ("localhost.", 200),
        ("[::1]:8765", 200),
        ("evil.example:8765", 421),
        ("127.0.0.1.evil.example", 421),
        ("127.0.0.1:40055.evil.example", 421),
        ("127.0.0.1:", 421),
        ("127.0.0.1:80:80", 421),
        ("[::1].evil.example", 421),
        ("127.0.0.1@evil.example", 421),
        ("", 421),
        (":8765", 421),
        ("[::2]", 421),
    ],
)
def test_other_names_for_this_machine_get_no_answer(front: Front, host: str, status: int) -> None:
    """A page whose name was made to lead here (DNS rebinding) is told that it is wrong."""
    for path in ("/api/tasks", "/health"):
        answer = front.api.get(path, headers={"Host": host})
        assert answer.status_code == status, answer.text


def test_two_hosts_are_none(front: Front) -> None:
    """Which of them would count is not left to chance."""
    headers = [
        ("Host", "127.0.0.1"),
        ("Host", "evil.example"),
        ("Authorization", f"Bearer {TOKEN}"),
    ]
    assert front.stranger.get("/api/tasks", headers=headers).status_code == 421


def test_every_response_keeps_browsers_careful(front: Front) -> None:
    """Refusals and pages too; there is no place for scripts that are not files of ours."""
    for answer in (
        front.api.get("/api/tasks"),
        front.stranger.get("/api/tasks"),
        front.stranger.get("/login"),
        front.api.get("/api/tasks", headers={"Host": "evil.example"}),
    ):
        policy = answer.headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["cache-control"] == "no-store"


def test_a_body_has_a_limit(commands: FakeCommands) -> None:
    """413 as soon as it is told or seen to be too large; exactly the limit is taken."""
    front = Front(commands, body_bytes_max=100)
    whole = b'{"type": "custom", "title": "' + b"x" * 69 + b'"}'
    assert len(whole) == 100
    headers = {"Content-Type": "application/json"}
    assert front.api.post("/api/tasks", content=whole, headers=headers).status_code == 201
    larger = whole + b" "
    told = front.api.post("/api/tasks", content=larger, headers=headers)

    async def pieces() -> AsyncIterator[bytes]:
        yield larger[:60]
        yield larger[60:]

    seen = front.api.post("/api/tasks", content=pieces(), headers=headers)
    for answer in (told, seen):
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert commands.calls == 1
    front.close()


def test_a_client_that_asks_too_often_has_to_wait(commands: FakeCommands) -> None:
    """429 says when to come back."""
    front = Front(commands, rate=Rate(burst=3, per_s=0.001))
    statuses = [front.api.get("/api/tasks").status_code for _n in range(4)]
    assert statuses == [200, 200, 200, 429]
    answer = front.api.get("/api/tasks")
    assert int(answer.headers["retry-after"]) > 1
    front.close()


WRONG = {"Authorization": "Bearer no"}


def test_who_guesses_has_to_wait_and_nobody_else(commands: FakeCommands) -> None:
    """Wrong tokens are counted for themselves, in headers, in the address and in the form, on
    every route; whoever shows none is no guesser, and the right one always opens."""
    front = Front(commands, failed_logins=Rate(burst=4, per_s=0.001))
    for _n in range(9):
        assert front.stranger.get("/api/tasks").status_code == 401
        assert front.stranger.get("/", headers={"Accept": "text/html"}).status_code == 303
    assert front.stranger.get("/api/tasks", headers=WRONG).status_code == 401
    assert front.stranger.post("/login", data={"token": "no"}).status_code == 401
    assert front.stranger.get("/login?token=no").status_code == 401
    front.stranger.get("/health", headers=WRONG)
    for path in ("/api/tasks", "/health", "/", "/login", "/api/nothing"):
        answer = front.stranger.get(path, headers=WRONG | {"Accept": "text/html"})
        assert answer.status_code == 429, path
    assert front.stranger.post("/login", data={"token": "no"}).status_code == 429
    assert front.api.get("/api/tasks").status_code == 200
    assert front.stranger.get("/api/tasks", headers=WRONG).status_code == 401, "in a row no more"
    front.close()


def test_twenty_guesses_are_enough(front: Front) -> None:
    """The twenty-first in a row from one address waits."""
    found = [front.stranger.get("/api/tasks", headers=WRONG).status_code for _n in range(21)]
    assert found == [401] * 20 + [429]


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    caplog.set_level(logging.DEBUG)
    assert log.logger.name == "segue.server.log"
    yield caplog


def test_tokens_and_bodies_are_never_logged(
    front: Front, commands: FakeCommands, lines: pytest.LogCaptureFixture
) -> None:
    """Whichever way they come."""
    front.stranger.get(f"/login?token={TOKEN}")
    front.stranger.get("/login?token=wrong-but-close")
    front.stranger.post("/login", data={"token": TOKEN}, headers=ORIGIN)
    id = commands.open("dependency", front.task(title="a-secret-title")["id"])
    front.api.post(f"/api/dependencies/{id}/provide", json={"value": "s3cret-value"})
    front.api.post(f"/api/dependencies/{id}/provide", json={"value": 7, "x": "s3cret-value"})
    ours = [record for record in lines.records if record.name.startswith(("segue", "uvicorn"))]
    text = "\n".join(record.getMessage() for record in ours)
    assert "/login" in text
    for secret in (TOKEN, "wrong-but-close", "s3cret-value", "a-secret-title"):
        assert secret not in text
