"""The application as a whole: its routes, its options and its end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI

from kit.front import FakeCommands, Front
from kit.tokens import TokensInMemory
from segue.server.app import LOOPBACK, make_app
from segue.server.bounds import Rate


@pytest.fixture
def fronts() -> Iterator[list[Front]]:
    made: list[Front] = []
    yield made
    for front in made:
        front.close()


def opened(fronts: list[Front], commands: FakeCommands, **more: Any) -> Front:
    fronts.append(Front(commands, **more))
    return fronts[-1]


def test_there_is_no_other_documentation_than_the_document(front: Front) -> None:
    """Pages of the framework would load scripts of other sites."""
    assert front.app.openapi_url == "/api/openapi.json"
    for path in ("/docs", "/redoc", "/openapi.json"):
        assert front.api.get(path).status_code == 404


def test_a_path_is_taken_as_it_is(front: Front) -> None:
    """No redirect to a path that looks alike: a POST would lose its body."""
    assert front.api.get("/api/tasks/").status_code == 404


def test_pages_are_there_if_they_are_wanted(commands: FakeCommands, fronts: list[Front]) -> None:
    def pages(app: FastAPI) -> None:
        async def page() -> str:
            return "a page"

        app.get("/", include_in_schema=False)(page)

    assert opened(fronts, commands).api.get("/").status_code == 404
    front = opened(fronts, commands, pages=pages)
    assert front.api.get("/").json() == "a page"


def test_it_answers_for_the_hosts_it_was_given(commands: FakeCommands, fronts: list[Front]) -> None:
    front = opened(fronts, commands, hosts=["box.example"])
    assert front.api.get("/health", headers={"Host": "box.example:1"}).status_code == 200
    assert front.api.get("/health").status_code == 421
    plain = opened(fronts, commands)
    for host in LOOPBACK:
        name = f"[{host}]" if ":" in host else host
        assert plain.api.get("/health", headers={"Host": name}).status_code == 200


def test_bodies_and_rates_are_bounded_as_it_was_given(
    commands: FakeCommands, fronts: list[Front]
) -> None:
    front = opened(fronts, commands, body_bytes_max=40, rate=Rate(2, 0.001))
    assert front.api.post("/api/tasks", json={"title": "x" * 50}).status_code == 413
    assert front.api.get("/health").status_code == 200
    assert front.api.get("/health").status_code == 429


def test_guesses_by_header_and_by_form_count_together(
    commands: FakeCommands, fronts: list[Front]
) -> None:
    """One who guesses has not twice as many tries by using both ways."""
    front = opened(fronts, commands, failed_logins=Rate(2, 0.001))
    wrong = {"Authorization": "Bearer wrong"}
    assert front.stranger.get("/api/tasks", headers=wrong).status_code == 401
    assert front.stranger.get("/login?token=wrong").status_code == 401
    assert front.stranger.get("/login?token=wrong").status_code == 429
    assert front.stranger.get("/api/tasks", headers=wrong).status_code == 429


def test_a_list_is_made_anew_after_each_commit(front: Front, commands: FakeCommands) -> None:
    assert front.api.get("/api/tasks").json()["total"] == 0
    reads = commands.reads
    front.api.get("/api/tasks")
    assert commands.reads == reads
    front.task()
    assert front.api.get("/api/tasks").json()["total"] == 1


def test_the_hub_is_there_to_be_closed(front: Front) -> None:
    front.app.state.hub.close()
    answer = front.api.get("/api/events")
    assert (answer.status_code, answer.text.count("retry:")) == (200, 1)


def test_a_server_without_a_token_is_not_made(commands: FakeCommands) -> None:
    with pytest.raises(ValueError, match="empty token"):
        make_app(commands, token="", replies=Front.__new__(Front), tokens=TokensInMemory())  # type: ignore[arg-type]
