"""The lines of `codex exec --json` as a conversation."""

from __future__ import annotations

from collections.abc import Iterator

from segue.dialects import codex, todos
from segue.dialects.conversation.item import DIFF, ERROR, TOOL, Item, JsonReader, given
from segue.dialects.jsonlines import spoken
from segue.dialects.structured import Object, object_of, objects_of, one_line, text_of


class CodexReader(JsonReader):
    def __init__(self) -> None:
        super().__init__()
        self._error = ""

    def _object(self, found: Object) -> Iterator[Item]:
        match found.get("type"):
            case "item.started" | "item.updated" | "item.completed" as stage:
                yield from self._entry(object_of(found.get("item")), stage == "item.completed")
            case "error":
                yield from self._failed(found.get("message"))
            case "turn.failed":
                yield from self._failed(object_of(found.get("error")).get("message"))

    def _failed(self, message: object) -> Iterator[Item]:
        text = spoken(message).strip()
        if text and text != self._error:  # the same failure comes in two forms
            self._error = text
            yield self._item(ERROR, text)

    def _entry(self, entry: Object, is_over: bool) -> Iterator[Item]:
        match entry.get("type"):
            case "agent_message":
                yield from self._text(entry.get("text")) if is_over else ()
            case "error":
                is_chatter = codex.Codex.chatter.match(text_of(entry.get("message")))
                yield from self._text(entry.get("message"), ERROR) if not is_chatter else ()
            case "todo_list":
                yield from self._todos(todos.listed(entry.get("items")))
            case _:
                yield from self._tool(entry, is_over)

    def _tool(self, entry: Object, is_over: bool) -> Iterator[Item]:
        id = entry.get("id")
        if not isinstance(id, str) or id not in self._calls:
            used = codex.tool_used(entry)
            if used is None:
                return
            kind = DIFF if used.tool == "file_change" else TOOL
            text = _files(entry) if kind == DIFF else used.what
            yield self._call(id, self._item(kind, text, tool=used.tool, input=_input(entry)))
        if is_over:
            is_error = entry.get("status") in ("failed", "declined")
            yield from self._result(id, _output(entry), is_error=is_error)


def _input(entry: Object) -> str:
    if isinstance(entry.get("command"), str):
        return text_of(codex.shell_command(entry["command"]))
    if entry.get("type") == "file_change":
        return ", ".join(one_line(change.get("path")) for change in _changes(entry))
    return given(object_of(entry.get("arguments"))) or one_line(entry.get("query"))


def _changes(entry: Object) -> list[Object]:
    return objects_of(entry.get("changes"))[:200]


def _files(entry: Object) -> str:
    """Codex names the files that it changes, not the lines."""
    signs = {"add": "A", "delete": "D"}
    return "\n".join(
        f"{signs.get(one_line(change.get('kind')), 'M')} {one_line(change.get('path'))}"
        for change in _changes(entry)
    )


def _output(entry: Object) -> str:
    """What a command printed or a tool answered; with its exit code where that is not 0."""
    text = text_of(entry.get("aggregated_output")) or text_of(
        object_of(entry.get("error")).get("message")
    )
    for block in objects_of(object_of(entry.get("result")).get("content")):
        text = f"{text}\n{text_of(block.get('text'))}".strip("\n")
    code = entry.get("exit_code")
    if isinstance(code, int) and code:
        text = f"{text.rstrip()}\nexit {code}".strip()
    return text
