"""`segue task add, submit, pause, …`: what is asked of the server, and what is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kit.hand_client import ONE, HandClient, refusal, task
from kit.shell import Shell

CHECKPOINTS = f"tasks/{ONE}/checkpoints"


def test_a_task_is_made_from_its_options(segue: Shell, client: HandClient) -> None:
    """What it waits for may be named by the beginning of its id."""
    said = segue(
        "task", "add", "Shop", "-d", "A small shop", "--type", "create_app", "--agent", "codex",
        "--after", "0000", "--priority", "4", "--submit",
    )  # fmt: skip
    assert (said.code, said.out) == (0, f"○ {ONE}  pending  Shop\n")
    assert client.posted == [
        ("tasks", {"title": "Shop", "description": "A small shop", "type": "create_app",
                   "agent": "codex", "dependsOn": [ONE], "priority": 4, "submit": True})
    ]  # fmt: skip


def test_a_description_may_come_from_a_file_or_from_outside(
    segue: Shell, alone: Path, client: HandClient
) -> None:
    (alone / "about.md").write_text("한글\n")
    segue("task", "add", "Shop", "--file", "about.md")
    segue("task", "add", "Shop", "-d", "-", said="piped\n")
    segue("task", "add", "Shop")
    assert [body["description"] for _path, body in client.posted] == ["한글\n", "piped", ""]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("-d", "x", "--file", "about.md"), "use either --description or --file"),
        (("--file", "about.md"), "cannot read this as text"),
        (("--file", "nowhere.md"), "nowhere.md"),
        (("--priority", "high"), "high"),
    ],
)
def test_what_cannot_be_read_makes_no_task(
    segue: Shell, alone: Path, client: HandClient, options: tuple[str, ...], said: str
) -> None:
    (alone / "about.md").write_bytes(b"\xff\xfe")
    error = segue.refused("task", "add", "Shop", *options)
    assert (error["code"], said in error["message"]) == ("usage", True)
    assert client.posted == []


@pytest.mark.parametrize(
    ("args", "path", "body"),
    [
        (("submit", "0000"), "submit", {}),
        (("pause", "0000"), "pause", {}),
        (("resume", "0000"), "resume", {}),
        (("go-without", "0000"), "go-without", {}),
        (("fail", "0000"), "fail", {}),
        (("cancel", "0000"), "cancel", {}),
        (("cancel", "0000", "--reason", "no"), "cancel", {"reason": "no"}),
        (("retry", "0000"), "retry", {"submit": False}),
        (("retry", "0000", "--submit"), "retry", {"submit": True}),
        (("fork", "0000"), "fork", {}),
        (("fork", "0000", "--checkpoint", "07"), "fork", {"checkpointId": "cp_07c1"}),
        (("rewind", "0000", "cp_0"), "rewind", {"checkpointId": "cp_07c1"}),
    ],
)
def test_each_verb_asks_for_what_it_is_called(
    segue: Shell, client: HandClient, args: tuple[str, ...], path: str, body: dict[str, Any]
) -> None:
    """The task as it is now is shown, or for programs all of it."""
    client.answers[CHECKPOINTS] = [{"id": "cp_07c1", "kind": "pause", "createdAt": ""}]
    assert segue("task", *args).out == f"○ {ONE}  pending  Shop\n"
    assert client.posted == [(f"tasks/{ONE}/{path}", body)]
    assert segue("task", *args, "--json").json == task()


def test_a_refusal_of_the_server_is_told_with_what_is_possible(
    segue: Shell, client: HandClient
) -> None:
    client.answers[f"POST tasks/{ONE}/pause"] = refusal(
        409, "not_allowed", allowedActions=["cancel"]
    )
    error = segue.refused("task", "pause", ONE)
    assert (error["code"], error["hint"]) == ("not_allowed", "possible now: cancel")


def test_a_checkpoint_that_is_not_there_rewinds_nothing(segue: Shell, client: HandClient) -> None:
    client.answers[CHECKPOINTS] = []
    assert segue.refused("task", "rewind", ONE, "cp_9")["code"] == "unknown_id"
    assert client.posted == []
