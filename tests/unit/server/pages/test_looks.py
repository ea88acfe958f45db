"""Pages to look at: which address shows what."""

from __future__ import annotations

from typing import Any

import pytest

from kit.front import Client, FakeCommands
from segue.core.plan import TaskState
from segue.core.serving import AgentState
from segue.server.pages.looks import TEXT_MAX


def test_the_board_finds_by_title_and_shows_the_archive_apart(
    visitor: Client, commands: FakeCommands, task: str
) -> None:
    assert "A title" in visitor.get("/").text
    assert "A title" not in visitor.get("/?query=else").text
    commands.tasks[task]["archived"] = True
    assert "A title" not in visitor.get("/").text
    assert "A title" in visitor.get("/?archived=true").text


def test_an_endless_query_is_cut(
    visitor: Client, commands: FakeCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commands never search for more than a title can have."""
    asked: set[int] = set()
    whole = commands.list_tasks

    def listing(**wanted: Any) -> dict[str, Any]:
        asked.add(len(wanted["query"]))
        return whole(**wanted)

    monkeypatch.setattr(commands, "list_tasks", listing)
    for place in ("/", "/states/draft"):
        assert visitor.get(f"{place}?query=" + "x" * 5_000).status_code == 200
    assert asked == {TEXT_MAX}


@pytest.mark.parametrize(
    "place",
    [
        "/states/flying",
        "/states/draft?page=0",
        "/states/draft?page=x",
        "/?archived=perhaps",
        "/tasks/{task}?older=-1",
        "/tasks/{task}/output?seen=x",
    ],
)
def test_an_address_that_makes_no_sense_is_refused(visitor: Client, task: str, place: str) -> None:
    assert visitor.get(place.format(task=task)).status_code == 422


@pytest.mark.parametrize(
    "place",
    ["/inbox", "/new", "/limits", "/settings", "/states/pending", "/states/draft?page=1000000"],
)
def test_pages_are_there_before_there_is_any_task(visitor: Client, place: str) -> None:
    answer = visitor.get(place)
    assert (answer.status_code, "<main" in answer.text) == (200, True)


def test_whatever_waits_for_a_limit_is_listed(
    visitor: Client, commands: FakeCommands, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tasks of the server with a link to them, those of other works by their names."""
    wait = {"account": "work", "kind": "weekly_limit", "wakesAt": "2026-11-18T12:00:00Z"}
    parks = [
        {"taskId": task, "title": "A title", "work": {"id": "server", "kind": "server"}, **wait},
        {"taskId": "%3", "title": "claude", "work": {"id": "panes", "kind": "panes"}, **wait},
    ]
    monkeypatch.setattr(commands, "limits", lambda: {"accounts": [], "parks": parks})
    text = visitor.get("/limits").text
    assert f'href="/tasks/{task}"' in text and "A title" in text
    assert "%3" in text and "/tasks/%3" not in text


def test_the_output_comes_only_when_there_is_more(
    visitor: Client, commands: FakeCommands, task: str
) -> None:
    """It is sent once more when the agent stands still: its state has changed then."""
    commands.put(task, TaskState.IN_PROGRESS, AgentState.RUNNING)
    commands.text = b"one\n"
    assert visitor.get(f"/tasks/{task}/output?seen=4").status_code == 204
    assert "one" in visitor.get(f"/tasks/{task}/output?seen=3").text
    commands.put(task, TaskState.IN_PROGRESS, AgentState.PAUSED)
    assert "one" in visitor.get(f"/tasks/{task}/output?seen=4").text


@pytest.mark.parametrize(
    "place", ["/tasks/no", "/tasks/no/edit", "/reviews/no", "/tasks/no/output"]
)
def test_what_is_not_there_is_404(visitor: Client, place: str) -> None:
    assert visitor.get(place).status_code == 404
