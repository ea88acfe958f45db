"""What Claude Code takes on its standard input."""

from __future__ import annotations

import json
from typing import Any

import pytest

from segue.dialects import claude_input
from segue.dialects.events import PermissionAsked

ASKED = PermissionAsked("req-1", "Bash", "ls", {"command": "ls", "timeout": 5})


def told(data: bytes) -> Any:
    """One JSON object in one line."""
    assert data.endswith(b"\n") and data.count(b"\n") == 1
    return json.loads(data)


@pytest.mark.parametrize("text", ["hello", "two\nlines\r\n", "한국어", '"}', "\u2028"])
def test_a_prompt_is_one_line_whatever_is_in_it(text: str) -> None:
    """It arrives as it was given."""
    assert told(claude_input.user_message(text)) == {
        "type": "user", "message": {"role": "user", "content": text},
    }  # fmt: skip


def test_a_permission_repeats_the_input_that_was_asked_about() -> None:
    """With the number of the request, so that no other tool call can use it."""
    response = told(claude_input.allow(ASKED))["response"]
    assert (response["subtype"], response["request_id"]) == ("success", "req-1")
    assert response["response"] == {"behavior": "allow", "updatedInput": dict(ASKED.input)}


def test_a_refusal_says_why() -> None:
    """The agent reads it and continues without the tool."""
    response = told(claude_input.deny(ASKED, "not here"))["response"]
    assert response["request_id"] == "req-1"
    assert response["response"] == {"behavior": "deny", "message": "not here"}


def test_an_interrupt_is_a_request_of_its_own() -> None:
    """It answers nothing."""
    assert told(claude_input.interrupt()) == {
        "type": "control_request", "request_id": "interrupt", "request": {"subtype": "interrupt"},
    }  # fmt: skip
