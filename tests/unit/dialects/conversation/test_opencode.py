"""opencode's output as a conversation."""

from __future__ import annotations

import json
from typing import Any

from segue.dialects.conversation.item import Item
from segue.dialects.conversation.opencode import OpencodeReader


def items(*lines: dict[str, Any]) -> list[Item]:
    reader = OpencodeReader()
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    return [*reader.feed(data), *reader.close()]


def tool(name: str, **state: Any) -> dict[str, Any]:
    return {"type": "tool_use", "part": {"tool": name, "state": state}}


def test_a_tool_comes_with_its_result() -> None:
    (found,) = items(tool("bash", status="completed", input={"command": "ls"}, output="a\nb"))
    assert (found.kind, found.text, found.result, found.is_error) == ("tool", "ls", "a\nb", False)


def test_a_refused_tool_is_an_error_of_it() -> None:
    (found,) = items(tool("bash", status="error", input={"command": "ls"}, error="refused"))
    assert (found.result, found.is_error) == ("refused", True)


def test_an_edit_shows_the_diff_that_it_names() -> None:
    state = {"input": {"filePath": "a.py"}, "metadata": {"diff": "-1\n+2"}}
    (found,) = items(tool("edit", status="completed", **state))
    assert (found.kind, found.input, found.text) == ("diff", "a.py", "-1\n+2")


def test_an_error_that_comes_twice_is_shown_once() -> None:
    error = {"type": "error", "error": {"name": "APIError", "data": {"message": "overloaded"}}}
    assert [(item.kind, item.text) for item in items(error, error)] == [("error", "overloaded")]
