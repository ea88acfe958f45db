"""The lists in which agents keep what they have to do: each brand has its own tool for it.

Most write the whole list each time. Claude Code's newer tools add and change one entry at a time;
its entries are numbered in their order.
"""

from __future__ import annotations

from collections.abc import Iterator

from segue.dialects.events import Todo, TodosListed
from segue.dialects.structured import Object, objects_of, one_line

TODOS_MAX = 200
PENDING, IN_PROGRESS, COMPLETED = "pending", "in_progress", "completed"
# The tools that write a whole list: Claude Code, opencode, Gemini CLI.
WHOLE = ("TodoWrite", "todowrite", "write_todos")

_TEXTS = ("content", "text", "description", "subject")


def listed(entries: object) -> Iterator[TodosListed]:
    """A whole list; nothing where it is none. What was given up is not to be done any more."""
    found = [_todo(entry) for entry in objects_of(entries)[:TODOS_MAX]]
    todos = tuple(todo for todo in found if todo is not None)
    if todos:
        yield TodosListed(todos)


def by_tool(tool: str, given: Object) -> Iterator[TodosListed]:
    """What a call of one of the tools that write a whole list says."""
    if tool in WHOLE:
        yield from listed(given.get("todos"))


def _todo(entry: Object) -> Todo | None:
    text = next((text for key in _TEXTS if (text := one_line(entry.get(key)))), "")
    state = entry.get("status")
    if state not in (PENDING, IN_PROGRESS, COMPLETED):
        if state is not None:
            return None
        state = COMPLETED if entry.get("completed") is True else PENDING
    return Todo(text, state) if text else None


class Entries:
    """The list of one process of Claude Code that is changed entry by entry."""

    def __init__(self) -> None:
        self._todos: dict[str, Todo] = {}

    def changed(self, tool: str, given: Object) -> Iterator[TodosListed]:
        match tool:
            case "TaskCreate":
                self._keep(str(len(self._todos) + 1), one_line(given.get("subject")), PENDING)
            case "TaskUpdate":
                self._update(one_line(given.get("taskId")), given)
            case _:
                yield from by_tool(tool, given)
                return
        if self._todos:
            yield TodosListed(tuple(self._todos.values()))

    def _update(self, id: str, given: Object) -> None:
        state = given.get("status")
        if state == "deleted":
            self._todos.pop(id, None)
            return
        before = self._todos.get(id)
        text = one_line(given.get("subject")) or (before.text if before else f"#{id}")
        is_known = state in (PENDING, IN_PROGRESS, COMPLETED)
        now = str(state) if is_known else before.state if before else PENDING
        self._keep(id, text, now)

    def _keep(self, id: str, text: str, state: str) -> None:
        if id and text and (id in self._todos or len(self._todos) < TODOS_MAX):
            self._todos[id] = Todo(text, state)
