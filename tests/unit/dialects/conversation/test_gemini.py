"""Gemini CLI's output as a conversation."""

from __future__ import annotations

import json
from typing import Any

from segue.dialects.conversation.gemini import GeminiReader
from segue.dialects.conversation.item import Item


def items(*lines: dict[str, Any]) -> list[Item]:
    reader = GeminiReader()
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    return [*reader.feed(data), *reader.close()]


def piece(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": text, "delta": True}


def test_pieces_are_one_text_until_a_tool_is_used() -> None:
    tool = {
        "type": "tool_use",
        "tool_id": "t",
        "tool_name": "run_shell_command",
        "parameters": {"command": "ls"},
    }
    found = items(piece("one "), piece("two"), tool, piece("three"))
    assert [(item.kind, item.text) for item in found] == [
        ("text", "one two"), ("tool", "ls"), ("text", "three"),
    ]  # fmt: skip


def test_the_prompt_that_it_repeats_is_left_out() -> None:
    assert items({"type": "message", "role": "user", "content": "do it"}) == []


def test_a_result_belongs_to_its_call() -> None:
    found = items(
        {"type": "tool_use", "tool_id": "t", "tool_name": "read_file", "parameters": {"path": "a"}},
        {"type": "tool_result", "tool_id": "t", "status": "error", "output": "not there"},
    )
    assert (found[-1].n, found[-1].result, found[-1].is_error) == (1, "not there", True)


def test_a_written_file_is_a_diff() -> None:
    given = {"file_path": "a.py", "old_string": "1", "new_string": "2"}
    (found,) = items(
        {"type": "tool_use", "tool_id": "t", "tool_name": "replace", "parameters": given}
    )
    assert (found.kind, found.text.splitlines()[-1]) == ("diff", "+2")


def test_a_failed_end_is_an_error() -> None:
    end = {"type": "result", "status": "error", "error": {"message": "no quota"}}
    assert [(item.kind, item.text) for item in items(end)] == [("error", "no quota")]


def test_who_watches_live_gets_what_has_come_so_far() -> None:
    reader = GeminiReader()
    assert [*reader.feed((json.dumps(piece("so far")) + "\n").encode())] == []
    assert [item.text for item in reader.flush()] == ["so far"]
    assert [*reader.close()] == []


def test_a_peek_shows_a_message_that_is_not_over() -> None:
    reader = GeminiReader()
    said = b'{"type":"message","role":"assistant","content":"one","delta":true}\n'
    assert list(reader.feed(said)) == []
    (held,) = reader.peek()
    (whole,) = reader.close()
    assert (held.n, held.text) == (whole.n, whole.text) == (1, "one")
