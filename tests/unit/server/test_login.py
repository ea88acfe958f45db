"""The login form, its link and the way out."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from fastapi import FastAPI

from kit.front import HOST, Client
from kit.tokens import TokensInMemory
from segue.server import login
from segue.server.auth import COOKIE, Auth, By
from segue.server.bounds import Meter, Rate

TOKEN = "a-token"


class Room:
    """An application that has the login alone: whoever is outside can reach it."""

    def __init__(self) -> None:
        self.auth = Auth(
            TOKEN, ["127.0.0.1"], lambda: datetime(2025, 3, 1, tzinfo=UTC), TokensInMemory()
        )
        self.failures = Meter(Rate(burst=2, per_s=0.1), lambda: 0.0)
        app = FastAPI()
        login.add(app.router, self.auth, self.failures)
        self._runner = asyncio.Runner()
        self.client = Client(self._runner, app, {})

    def close(self) -> None:
        self.client.close()
        self._runner.close()


@pytest.fixture
def room() -> Iterator[Room]:
    made = Room()
    yield made
    made.close()


def test_the_link_with_the_token_logs_in_at_once(room: Room) -> None:
    answer = room.client.get("/login", params={"token": TOKEN, "next": "/inbox"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/inbox")
    cookie = f"{COOKIE}={answer.cookies[COOKIE]}".encode()
    shown = room.auth.seen({b"cookie": cookie})
    assert shown is not None
    assert shown.by is By.COOKIE


def test_the_cookie_is_for_our_pages_alone(room: Room) -> None:
    """Secure only where the connection is: a browser would not send it back otherwise."""
    plain = room.client.post("/login", data={"token": TOKEN}).headers["set-cookie"].lower()
    assert "httponly" in plain
    assert "samesite=strict" in plain
    assert "secure" not in plain.replace("segue_login", "")
    over_tls = HOST.replace("http:", "https:") + "/login"
    assert (
        "; secure"
        in room.client.post(over_tls, data={"token": TOKEN}).headers["set-cookie"].lower()
    )


def test_a_wrong_token_shows_the_form_again_with_its_place(room: Room) -> None:
    answer = room.client.post("/login", data={"token": "no", "next": "/tasks/1"})
    assert answer.status_code == 401
    assert 'role="alert"' in answer.text
    assert 'value="/tasks/1"' in answer.text
    assert "set-cookie" not in answer.headers


def test_guesses_are_counted_and_the_right_token_is_not_one(room: Room) -> None:
    """Who mistyped twice has to wait with the third guess, never with the token itself."""
    guesses = [room.client.post("/login", data={"token": "no"}) for _n in range(3)]
    assert [guess.status_code for guess in guesses] == [401, 401, 429]
    assert guesses[2].headers["retry-after"] == "10"
    assert room.client.get(f"/login?token={TOKEN}").status_code == 303
    assert room.client.post("/login", data={"token": "no"}).status_code == 401


@pytest.mark.parametrize(
    "place",
    ["//evil.example", "/\\evil.example", "https://evil.example", "", "tasks", "/a\nb", "/a\\b"],
)
def test_nobody_is_led_away_by_a_link_to_us(room: Room, place: str) -> None:
    answer = room.client.get("/login", params={"token": TOKEN, "next": place})
    assert answer.headers["location"] == "/"


def test_what_the_link_brings_is_text_on_the_page(room: Room) -> None:
    answer = room.client.get("/login", params={"next": '/"><script>alert(1)</script>'})
    assert answer.status_code == 200
    assert "<script>" not in answer.text


@pytest.mark.parametrize(
    "body", [b"", b"\xff\xfe", b"token", b"&".join([b"a=1"] * 50), b"token=%ff&next=%00"]
)
def test_a_form_that_makes_no_sense_is_a_wrong_token(room: Room, body: bytes) -> None:
    """Anyone can send one: it is no failure of the server."""
    assert room.client.post("/login", content=body).status_code == 401


def test_who_logs_out_has_no_cookie_any_more(room: Room) -> None:
    room.client.get(f"/login?token={TOKEN}")
    assert COOKIE in room.client.cookies
    answer = room.client.post("/logout")
    assert (answer.status_code, answer.headers["location"]) == (303, "/login")
    assert COOKIE not in room.client.cookies
