"""Claude Code's stream-json as a conversation."""

from __future__ import annotations

from collections.abc import Iterator

from segue.dialects import claude_tools
from segue.dialects.conversation.item import (
    DIFF,
    ERROR,
    MESSAGE,
    TOOL,
    Item,
    JsonReader,
    difference,
    given,
)
from segue.dialects.structured import Object, object_of, objects_of, one_line, text_of
from segue.dialects.todos import WHOLE, Entries

EDITS = ("Edit", "MultiEdit", "Write")
LISTS = (*WHOLE, "TaskCreate", "TaskUpdate")


class ClaudeReader(JsonReader):
    def __init__(self) -> None:
        super().__init__()
        self._entries = Entries()
        self._error = ""

    def _object(self, found: Object) -> Iterator[Item]:
        match found.get("type"):
            case "assistant":
                yield from self._assistant(found)
            case "user":
                yield from self._user(found)
            case "system" if found.get("subtype") == "api_retry":
                status = one_line(found.get("error_status")) or found.get("error_status") or ""
                text = f"{one_line(found.get('error'))} {status}".strip()
                yield self._item(ERROR, f"{text} ({_tries(found)})")
            case "result" if found.get("is_error") is True:
                text = text_of(found.get("result")).strip()
                if text and text != self._error:  # an API error was in the place of a message
                    yield self._item(ERROR, text)

    def _assistant(self, found: Object) -> Iterator[Item]:
        message = object_of(found.get("message"))
        is_error = found.get("is_api_error_message") is True or (
            message.get("model") == "<synthetic>" and isinstance(found.get("error"), str)
        )
        for block in objects_of(message.get("content")):
            match block.get("type"):
                case "text" if is_error:
                    self._error = text_of(block.get("text")).strip()
                    yield from self._text(block.get("text"), ERROR)
                case "text":
                    yield from self._text(block.get("text"))
                case "tool_use":
                    yield from self._tool(block)

    def _tool(self, block: Object) -> Iterator[Item]:
        name, arguments = one_line(block.get("name")), object_of(block.get("input"))
        if name in LISTS:
            yield from self._todos(self._entries.changed(name, arguments))
        elif name in EDITS and (changes := _changes(arguments)):
            path = one_line(arguments.get("file_path"))
            item = self._item(DIFF, changes, tool=name, input=path)
            yield self._call(block.get("id"), item)
        elif name:
            item = self._item(TOOL, claude_tools.what(arguments), tool=name, input=given(arguments))
            yield self._call(block.get("id"), item)

    def _user(self, found: Object) -> Iterator[Item]:
        """Results of tools; a person's words where the program repeats its input."""
        content = object_of(found.get("message")).get("content")
        for block in objects_of(content):
            if block.get("type") == "tool_result":
                is_error = block.get("is_error") is True
                result = _result_text(block.get("content"))
                yield from self._result(block.get("tool_use_id"), result, is_error=is_error)
            elif block.get("type") == "text" and found.get("isReplay") is True:
                yield from self._text(block.get("text"), MESSAGE)


def _tries(found: Object) -> str:
    return f"{found.get('attempt') or '?'}/{found.get('max_retries') or '?'}"


def _changes(arguments: Object) -> str:
    """What an editing tool changes, as a diff."""
    path = one_line(arguments.get("file_path"))
    edits = objects_of(arguments.get("edits")) or [arguments]
    parts = [
        difference(path, text_of(edit.get("old_string")), _after(edit))
        for edit in edits
        if isinstance(edit.get("new_string"), str) or isinstance(edit.get("content"), str)
    ]
    return "\n".join(part for part in parts if part)


def _after(edit: Object) -> str:
    key = "new_string" if isinstance(edit.get("new_string"), str) else "content"
    return text_of(edit.get(key))


def _result_text(content: object) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(text_of(block.get("text")) for block in objects_of(content))
