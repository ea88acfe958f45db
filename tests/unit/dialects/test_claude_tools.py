"""The tools of Claude Code."""

from __future__ import annotations

from typing import Any

import pytest

from segue.dialects.claude_tools import OPTIONS_MAX, asked, what
from segue.dialects.events import Asked, Garbled, PermissionAsked
from segue.dialects.text import FIELD_CHARS_MAX


def request(tool: object, given: object, id: object = "r1") -> dict[str, Any]:
    wanted = {"subtype": "can_use_tool", "tool_name": tool, "input": given}
    return {"type": "control_request", "request_id": id, "request": wanted}


def question(text: str, *labels: str) -> dict[str, Any]:
    return {"question": text, "options": [{"label": label} for label in labels]}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"description": "list", "command": "ls"}, "ls"),
        ({"content": "x", "file_path": "/a"}, "/a"),
        ({"other": "words"}, "words"),
        ({"command": 5, "query": "q"}, "q"),
        ({"command": "a\n  b"}, "a …"),
        ({}, ""),
    ],
)
def test_what_a_tool_is_used_with(given: dict[str, Any], expected: str) -> None:
    """In one line, by its most telling field."""
    assert what(given) == expected


def test_a_request_for_permission_has_the_whole_input() -> None:
    """What is shown is a part of it."""
    given = {"command": "ls", "timeout": 5}
    assert list(asked(request("Bash", given))) == [PermissionAsked("r1", "Bash", "ls", given)]


@pytest.mark.parametrize(
    "bad",
    [request("", {}), request("Bash", {}, id=""), request(5, {}), request("Bash", {}, id=None)],
)
def test_a_request_that_nobody_can_answer_is_told(bad: dict[str, Any]) -> None:
    """It has no name, or no number to answer to."""
    (event,) = asked(bad)
    assert isinstance(event, Garbled)


def test_other_requests_are_none_of_ours() -> None:
    """Whatever is in them."""
    assert list(asked({"request": {"subtype": "initialize"}})) == []
    assert list(asked({"request": "x"})) == []


def test_its_question_tool_is_the_question() -> None:
    """The first with its options; the others stand in the text with theirs."""
    given = {
        "questions": [question("Which?", "A", "B"), question("How?", "x", "y"), question("Why?")]
    }
    (event,) = asked(request("AskUserQuestion", given))
    assert event == Asked("Which?\nHow? (x / y)\nWhy?", ("A", "B"), category="choice")


@pytest.mark.parametrize(
    "given", [{}, {"questions": []}, {"questions": [question("  ")]}, {"questions": 5}]
)
def test_a_question_tool_without_a_question_asks_for_permission(given: dict[str, Any]) -> None:
    """As any other tool does."""
    (event,) = asked(request("AskUserQuestion", given))
    assert isinstance(event, PermissionAsked)


def test_a_question_is_bounded() -> None:
    """In its length and in its options."""
    given = {"questions": [question("x" * 2 * FIELD_CHARS_MAX, *map(str, range(100)))]}
    (event,) = asked(request("AskUserQuestion", given))
    assert isinstance(event, Asked)
    assert (len(event.question), len(event.options)) == (FIELD_CHARS_MAX, OPTIONS_MAX)
