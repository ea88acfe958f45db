"""One entry of a conversation, and what its readers share."""

from __future__ import annotations

import difflib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from segue.dialects.events import Said, TodosListed
from segue.dialects.lines import plain_text
from segue.dialects.structured import Object, Objects, instant_of, text_of

TEXT, TOOL, TODOS, DIFF, ERROR, MESSAGE = "text", "tool", "todos", "diff", "error", "message"
RESULT_CHARS_MAX = 20_000
INPUT_CHARS_MAX = 4_000
DIFF_LINES_MAX = 2_000
CALLS_MAX = 1_000  # tool calls whose result is awaited
SIGNS = {"completed": "x", "in_progress": "~"}


@dataclass(frozen=True, slots=True)
class Item:
    """`n` counts the items of one run: one that comes again with the same number replaces the
    earlier one. `at` is None where the program names no time."""

    n: int
    kind: str
    text: str = ""
    tool: str | None = None
    input: str | None = None
    result: str | None = None
    at: datetime | None = None
    is_error: bool = False  # of a tool: it failed


class Reader(Protocol):
    """Reads the output of one run."""

    def feed(self, data: bytes) -> Iterator[Item]: ...

    def flush(self) -> Iterator[Item]:
        """Text that is held back because more of it may come; for a live view."""
        ...

    def peek(self) -> Iterator[Item]:
        """The same, still held back: it comes again, longer, under the same number."""
        ...

    def close(self) -> Iterator[Item]: ...


class JsonReader(ABC):
    """Reads a program that prints one JSON object per line."""

    def __init__(self) -> None:
        self._objects = Objects()
        self._count = 0
        self._calls: dict[str, Item] = {}
        self._at: datetime | None = None

    def feed(self, data: bytes) -> Iterator[Item]:
        for found in self._objects.feed(data):
            yield from self._one(found)

    def flush(self) -> Iterator[Item]:
        return iter(())

    def peek(self) -> Iterator[Item]:
        return iter(())

    def close(self) -> Iterator[Item]:
        for found in self._objects.close():
            yield from self._one(found)

    def _one(self, found: object) -> Iterator[Item]:
        if isinstance(found, dict):
            self._at = time_of(found.get("timestamp")) or self._at
            yield from self._object(found)
        elif isinstance(found, Said):
            yield self._item(TEXT, found.text)

    @abstractmethod
    def _object(self, found: Object) -> Iterator[Item]:
        """One object of its output."""

    # Making items

    def _item(self, kind: str, text: str = "", **facts: Any) -> Item:
        self._count += 1
        return Item(self._count, kind, plain_text(text).strip("\n"), at=self._at, **facts)

    def _text(self, text: object, kind: str = TEXT) -> Iterator[Item]:
        if shown := text_of(text).strip():
            yield self._item(kind, shown)

    def _call(self, id: object, item: Item) -> Item:
        """A tool call begins; its result comes later, under this id."""
        if isinstance(id, str) and len(self._calls) < CALLS_MAX:
            self._calls[id] = item
        return item

    def _result(self, id: object, result: str, *, is_error: bool = False) -> Iterator[Item]:
        call = self._calls.pop(id, None) if isinstance(id, str) else None
        if call is not None:
            yield replace(call, result=shortened(result, RESULT_CHARS_MAX), is_error=is_error)

    def _todos(self, listed: Iterator[TodosListed]) -> Iterator[Item]:
        for found in listed:
            lines = [f"[{SIGNS.get(todo.state, ' ')}] {todo.text}" for todo in found.todos]
            yield self._item(TODOS, "\n".join(lines))


def time_of(value: object) -> datetime | None:
    """ISO 8601, or seconds or milliseconds since 1970."""
    if isinstance(value, str) and len(value) < 64:
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            return None
        return found.astimezone(UTC) if found.tzinfo else None
    if type(value) is int:
        return instant_of(value) or instant_of(value / 1000)
    return None


def given(parameters: Mapping[str, object]) -> str:
    """What a tool is called with: one text as it is, several as JSON."""
    if len(parameters) == 1:
        only = next(iter(parameters.values()))
        if isinstance(only, str):
            return shortened(only, INPUT_CHARS_MAX)
    if not parameters:
        return ""
    return shortened(json.dumps(parameters, ensure_ascii=False), INPUT_CHARS_MAX)


def shortened(text: str, chars_max: int) -> str:
    """The beginning and the end of a text that is too long, harmless."""
    if len(text) > chars_max:
        text = f"{text[: chars_max // 2]}\n…\n{text[-chars_max // 2 :]}"
    return plain_text(text).strip("\n")


def difference(path: str, before: str, after: str) -> str:
    """An edit as a unified diff, with its beginning where it is very long."""
    if before.count("\n") + after.count("\n") > DIFF_LINES_MAX:
        before, after = before[:RESULT_CHARS_MAX], after[:RESULT_CHARS_MAX]
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), f"a/{path}", f"b/{path}", lineterm=""
    )
    return shortened("\n".join(lines), RESULT_CHARS_MAX)
