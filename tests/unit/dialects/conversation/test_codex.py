"""Codex's output as a conversation."""

from __future__ import annotations

import json
from typing import Any

from segue.dialects.conversation.codex import CodexReader
from segue.dialects.conversation.item import Item


def items(*lines: dict[str, Any]) -> list[Item]:
    reader = CodexReader()
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    return [*reader.feed(data), *reader.close()]


def entry(stage: str, **facts: Any) -> dict[str, Any]:
    return {"type": f"item.{stage}", "item": {"id": "i1", **facts}}


def test_a_command_is_shown_without_its_shell_and_with_its_output() -> None:
    command = {"type": "command_execution", "command": "/bin/bash -lc 'make all'"}
    begun, ended = items(
        entry("started", **command),
        entry("completed", **command, aggregated_output="bad\n", exit_code=2, status="failed"),
    )
    assert (begun.text, begun.input, begun.result) == ("make all", "make all", None)
    assert (ended.result, ended.is_error) == ("bad\nexit 2", True)


def test_a_tool_that_is_only_told_at_its_end_has_a_result_too() -> None:
    command = {"type": "command_execution", "command": "ls"}
    found = items(entry("completed", **command, aggregated_output="a", exit_code=0))
    assert [item.result for item in found] == [None, "a"]


def test_changed_files_are_listed() -> None:
    changes = [{"path": "a.py", "kind": "add"}, {"path": "b.py", "kind": "update"}]
    found = items(entry("completed", type="file_change", changes=changes))
    assert (found[0].kind, found[0].text) == ("diff", "A a.py\nM b.py")


def test_the_same_failure_is_shown_once() -> None:
    found = items(
        {"type": "error", "message": "usage limit"},
        {"type": "turn.failed", "error": {"message": "usage limit"}},
    )
    assert [(item.kind, item.text) for item in found] == [("error", "usage limit")]


def test_chatter_of_its_start_is_left_out() -> None:
    assert (
        items(entry("completed", type="error", message="Model metadata for `x` not found.")) == []
    )


def test_its_list_is_shown_each_time_it_changes() -> None:
    listed = [{"text": "one", "completed": True}, {"text": "two", "completed": False}]
    assert items(entry("updated", type="todo_list", items=listed))[0].text == "[x] one\n[ ] two"
