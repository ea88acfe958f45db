"""Claude Code's output as a conversation."""

from __future__ import annotations

import json
from typing import Any

from segue.dialects.conversation.claude import ClaudeReader
from segue.dialects.conversation.item import Item


def items(*lines: dict[str, Any]) -> list[Item]:
    reader = ClaudeReader()
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    return [*reader.feed(data), *reader.close()]


def assistant(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": list(blocks)}, **more}


def called(name: str, given: dict[str, Any], id: str = "t1") -> dict[str, Any]:
    return assistant({"type": "tool_use", "id": id, "name": name, "input": given})


def result(text: Any, id: str = "t1", *, is_error: bool = False) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error}
    return {"type": "user", "message": {"content": [block]}}


def test_a_call_is_shown_at_once_and_again_with_its_result() -> None:
    begun, ended = items(called("Bash", {"command": "make"}), result("it is made"))
    assert (begun.n, begun.kind, begun.tool, begun.text) == (1, "tool", "Bash", "make")
    assert begun.result is None
    assert (ended.n, ended.result, ended.is_error) == (1, "it is made", False)


def test_a_failed_tool_is_an_error_of_that_tool() -> None:
    assert items(called("Bash", {"command": "x"}), result("no", is_error=True))[-1].is_error


def test_results_of_unknown_calls_are_left_out() -> None:
    assert items(result("whose?", id="other")) == []


def test_results_come_as_blocks_as_well() -> None:
    found = items(called("Read", {"file_path": "a"}), result([{"type": "text", "text": "one"}]))
    assert found[-1].result == "one"


def test_an_edit_is_a_diff() -> None:
    (edit,) = items(called("Edit", {"file_path": "a.py", "old_string": "1", "new_string": "2"}))
    assert (edit.kind, edit.input) == ("diff", "a.py")
    assert edit.text.splitlines()[-2:] == ["-1", "+2"]


def test_a_new_file_is_a_diff_from_nothing() -> None:
    (edit,) = items(called("Write", {"file_path": "a.py", "content": "x\ny"}))
    assert edit.text.splitlines()[-2:] == ["+x", "+y"]


def test_its_list_is_shown_with_the_state_of_each_entry() -> None:
    todos = [{"content": "one", "status": "completed"}, {"content": "two", "status": "pending"}]
    (found,) = items(called("TodoWrite", {"todos": todos}))
    assert (found.kind, found.text) == ("todos", "[x] one\n[ ] two")


def test_an_api_error_is_shown_once() -> None:
    message = "You've hit your 5-hour limit"
    found = items(
        assistant({"type": "text", "text": message}, is_api_error_message=True),
        {"type": "result", "is_error": True, "result": message},
    )
    assert [(item.kind, item.text) for item in found] == [("error", message)]


def test_the_input_that_it_repeats_is_a_message() -> None:
    line = {
        "type": "user",
        "isReplay": True,
        "message": {"content": [{"type": "text", "text": "hi"}]},
    }
    assert [item.kind for item in items(line)] == ["message"]


def test_a_retry_of_its_own_says_which() -> None:
    line = {
        "type": "system",
        "subtype": "api_retry",
        "attempt": 2,
        "max_retries": 10,
        "error": "overloaded",
    }
    assert items(line)[0].text == "overloaded (2/10)"
