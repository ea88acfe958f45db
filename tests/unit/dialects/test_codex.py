"""Codex: what its golden cases cannot show."""

from __future__ import annotations

import json
from typing import Any

import pytest

from segue.dialects.codex import ITEMS_MAX, Codex
from segue.dialects.events import Event, Finished, LimitHit, Retrying, Said, ToolUsed, Used


def told(*objects: dict[str, Any]) -> list[Event]:
    dialect = Codex("a1b2c3")
    data = b"".join(json.dumps(part).encode() + b"\n" for part in objects)
    return [*dialect.feed(data), *dialect.close()]


def failed(message: str) -> tuple[dict[str, Any], dict[str, Any]]:
    return (
        {"type": "error", "message": message},
        {"type": "turn.failed", "error": {"message": message}},
    )


def command(id_: str, text: object, stage: str = "item.started") -> dict[str, Any]:
    return {"type": stage, "item": {"id": id_, "type": "command_execution", "command": text}}


def said(text: str) -> dict[str, Any]:
    return {"type": "item.completed", "item": {"id": "s", "type": "agent_message", "text": text}}


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("You’ve hit your usage limit. Try again at 7:27 PM.", "session_limit"),
        ("You've hit your usage limit for gpt-5. Try again in 3 days.", "session_limit"),
        ("You’ve reached your usage limit. Purchase additional credits.", "session_limit"),
        ("You've hit your usage limit (every 5h and every week.).", "session_limit"),
        ("You’ve hit your weekly usage limit. Try again at Nov 18th.", "weekly_limit"),
        ("You’ve hit your usage limit. Your weekly limit resets Monday.", "weekly_limit"),
        ("exceeded retry limit, last status: 429 Too Many Requests, request id: 9", "rate_limit"),
        ("rate limit exceeded: Rate limit reached for gpt-5.", "rate_limit"),
        ("Quota exceeded. Check your plan and billing details.", "billing"),
        ("Your workspace is out of credits. Add credits to continue.", "billing"),
        ("You hit your spend cap set in your workspace.", "billing"),
        ("You've reached your workspace credit limit", "billing"),
        ("To use Codex with your ChatGPT plan, upgrade to Plus: https://x.", "billing"),
        ("shared rollout token budget exhausted", "billing"),
        ("unexpected status 401 Unauthorized: no, url: http://h/s/429.x/v1", "auth"),
        ("unexpected status 403 Forbidden: <html>rate limit</html>", "auth"),
        ("Your access token could not be refreshed. Please log in again.", "auth"),
        ("Selected model is at capacity. Please try a different model.", "overloaded"),
        ("We’re currently experiencing high demand.", "overloaded"),
        ("unexpected status 502 Bad Gateway: connection refused", "overloaded"),
        ("Codex ran out of room in the model's context window.", "context_limit"),
        ("stream disconnected before completion: error sending request", "network"),
        ("timeout waiting for child process to exit", "network"),
    ],
)
def test_a_failure_has_the_kind_of_its_words(message: str, kind: str) -> None:
    """One limit with the whole text for whoever reads the time in it, then one end."""
    assert told({"type": "turn.started"}, *failed(message)) == [
        LimitHit(kind, text=message),
        Finished(True, message, "turn.failed"),
    ]


@pytest.mark.parametrize(
    "message",
    [
        '{"error": {"message": "Invalid value for connection in design in unit 429"}}',
        "unexpected status 404 Not Found: network error, url: http://h/401/v1",
        "internal error; agent loop died unexpectedly",
        "",
    ],
)
def test_another_failure_is_no_limit(message: str) -> None:
    """Waiting mends neither a wrong request nor a missing model."""
    assert [type(event) for event in told(*failed(message))] == [Finished]


def test_the_usage_of_a_resumed_thread_is_not_added_up() -> None:
    """Every turn tells the sum over its whole thread: the last one counts as it is."""
    turn = {"type": "turn.completed", "usage": {"input_tokens": 1000, "output_tokens": 42}}
    more = {"type": "turn.completed", "usage": {"input_tokens": 3000, "output_tokens": 84}}
    events = told({"type": "turn.started"}, turn, {"type": "turn.started"}, more)
    assert [e for e in events if isinstance(e, Used)] == [Used(1000, 42), Used(3000, 84)]
    assert len([e for e in events if isinstance(e, Finished)]) == 2


def test_an_error_after_which_it_works_is_none() -> None:
    """An error line counts at the end only if nothing came after it."""
    error = {"type": "error", "message": "You’ve hit your usage limit."}
    assert not any(isinstance(e, LimitHit | Finished) for e in told(error, said("I go on.")))
    assert [type(e) for e in told(said("I go on."), error)][1:] == [LimitHit, Finished]


def test_a_text_is_said_when_it_is_whole() -> None:
    """An item that has only begun may hold a part of its text."""
    begun = {**said("Half a"), "type": "item.started"}
    assert told(begun, {**begun, "type": "item.updated"}, said("Half a word.")) == [
        Said("Half a word.")
    ]


def test_retries_are_counted_where_they_have_no_number() -> None:
    """`waiting for network` has no end; its tries are counted anew after it worked."""
    waits = {"type": "error", "message": "Reconnecting... waiting for network (refused)"}
    numbered = {"type": "error", "message": "Reconnecting... 3/5 (last status: 503 x)"}
    events = told(waits, waits, said("hi"), waits, numbered)
    assert [e for e in events if isinstance(e, Retrying)] == [
        Retrying(1, text="refused"),
        Retrying(2, text="refused"),
        Retrying(1, text="refused"),
        Retrying(3, 5, status=503, text="last status: 503 x"),
    ]


@pytest.mark.parametrize(
    ("told_as", "shown"),
    [
        ("/bin/bash -lc 'make test'", "make test"),
        ("/usr/bin/zsh -c \"echo 'a b'\"", "echo 'a b'"),
        ("bash -lc 'unclosed", "bash -lc 'unclosed"),
        ("python -c 'print(1)'", "python -c 'print(1)'"),
        ("make", "make"),
        (["bash", "-lc", "x"], ""),
    ],
)
def test_a_command_is_shown_without_its_shell(told_as: object, shown: str) -> None:
    """What it does, not the shell that every command of it runs in."""
    assert told(command("a", told_as)) == [ToolUsed("command_execution", shown)]


def test_a_tool_is_told_once() -> None:
    """At its begin; at its end only if there was no begin. Those under way are bounded."""
    both = (command("a", "make"), command("a", "make", "item.completed"))
    assert told(*both, *both) == [ToolUsed("command_execution", "make")] * 2
    assert len(told(command("b", "make", "item.completed"))) == 1
    dialect = Codex("a1b2c3")
    many = [command(str(n), "x") for n in range(10 * ITEMS_MAX)]
    list(dialect.feed(b"".join(json.dumps(part).encode() + b"\n" for part in many)))
    assert len(dialect._begun) == ITEMS_MAX
