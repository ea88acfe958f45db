"""The lines of `gemini --output-format stream-json` as a conversation."""

from __future__ import annotations

from collections.abc import Iterator

from segue.dialects import todos
from segue.dialects.conversation.item import (
    DIFF,
    ERROR,
    TEXT,
    TOOL,
    Item,
    JsonReader,
    difference,
    given,
)
from segue.dialects.jsonlines import spoken, what
from segue.dialects.lines import plain_text
from segue.dialects.structured import TEXT_CHARS_MAX, Object, object_of, one_line, text_of


class GeminiReader(JsonReader):
    """Its text comes in pieces, which are one message until something else comes."""

    def __init__(self) -> None:
        super().__init__()
        self._message = ""

    def _object(self, found: Object) -> Iterator[Item]:
        content = found.get("content")
        if found.get("type") == "message" and found.get("role") == "assistant":
            if found.get("delta") is not True:
                yield from self.flush()
            if isinstance(content, str):
                self._message += content[: TEXT_CHARS_MAX - len(self._message)]
            return
        yield from self.flush()
        match found.get("type"):
            case "tool_use":
                yield from self._tool(found)
            case "tool_result":
                is_error = found.get("status") == "error"
                text = text_of(found.get("output"))
                yield from self._result(found.get("tool_id"), text, is_error=is_error)
            case "error":
                yield from self._text(spoken(found.get("message")), ERROR)
            case "result" if found.get("status") != "success":
                yield from self._text(spoken(object_of(found.get("error")).get("message")), ERROR)

    def flush(self) -> Iterator[Item]:
        text, self._message = text_of(self._message).strip(), ""
        if text:
            yield self._item(TEXT, text)

    def peek(self) -> Iterator[Item]:
        if text := text_of(self._message).strip():
            yield Item(self._count + 1, TEXT, plain_text(text), at=self._at)

    def close(self) -> Iterator[Item]:
        yield from super().close()
        yield from self.flush()

    def _tool(self, found: Object) -> Iterator[Item]:
        name, arguments = one_line(found.get("tool_name")), object_of(found.get("parameters"))
        if name in todos.WHOLE:
            yield from self._todos(todos.by_tool(name, arguments))
        elif name:
            yield self._call(found.get("tool_id"), self._called(name, arguments))

    def _called(self, name: str, arguments: Object) -> Item:
        path, after = one_line(arguments.get("file_path")), arguments.get("content")
        if isinstance(arguments.get("new_string"), str):
            after = arguments["new_string"]
        if path and isinstance(after, str):
            before = text_of(arguments.get("old_string"))
            changes = difference(path, before, text_of(after))
            return self._item(DIFF, changes, tool=name, input=path)
        return self._item(TOOL, what(arguments), tool=name, input=given(arguments))
