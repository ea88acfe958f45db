"""The lines of `opencode run --format json` as a conversation."""

from __future__ import annotations

from collections.abc import Iterator

from segue.dialects import todos
from segue.dialects.conversation.item import DIFF, ERROR, TOOL, Item, JsonReader, given, shortened
from segue.dialects.conversation.item import RESULT_CHARS_MAX as LONG
from segue.dialects.jsonlines import spoken, what
from segue.dialects.structured import Object, object_of, one_line, text_of


class OpencodeReader(JsonReader):
    """It reports a tool when the tool has ended."""

    def __init__(self) -> None:
        super().__init__()
        self._error = ""

    def _object(self, found: Object) -> Iterator[Item]:
        part = object_of(found.get("part"))
        match found.get("type"):
            case "text":
                yield from self._text(part.get("text"))
            case "tool_use":
                yield from self._tool(part)
            case "error":
                error = object_of(found.get("error"))
                message = object_of(error.get("data")).get("message")
                text = spoken(message).strip() or one_line(error.get("name"))
                if text != self._error:  # the same error may come twice
                    self._error = text
                    yield from self._text(text, ERROR)

    def _tool(self, part: Object) -> Iterator[Item]:
        name, state = one_line(part.get("tool")), object_of(part.get("state"))
        arguments = object_of(state.get("input"))
        if name in todos.WHOLE:
            yield from self._todos(todos.by_tool(name, arguments))
            return
        if not name:
            return
        is_error = state.get("status") == "error"
        result = text_of(state.get("error")) if is_error else text_of(state.get("output"))
        changes = object_of(state.get("metadata")).get("diff")
        has_diff = isinstance(changes, str) and bool(changes.strip())
        yield self._item(
            DIFF if has_diff else TOOL,
            shortened(text_of(changes), LONG) if has_diff else what(arguments),
            tool=name,
            input=one_line(arguments.get("filePath")) if has_diff else given(arguments),
            result=shortened(result, LONG),
            is_error=is_error,
        )
