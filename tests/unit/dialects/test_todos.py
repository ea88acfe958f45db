"""The lists in which agents keep what they have to do, brand by brand."""

from __future__ import annotations

import json

import pytest

from segue.dialects.claude import Claude
from segue.dialects.codex import Codex
from segue.dialects.events import Dialect, Todo, TodosListed
from segue.dialects.gemini import Gemini
from segue.dialects.opencode import Opencode
from segue.dialects.todos import TODOS_MAX

THREE = (
    Todo("Read the code", "completed"),
    Todo("Write it", "in_progress"),
    Todo("Try it", "pending"),
)


def listed(dialect: Dialect, *lines: object) -> list[TodosListed]:
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    return [event for event in dialect.feed(data) if isinstance(event, TodosListed)]


def by_claude(tool: str, given: object, parent: str | None = None) -> object:
    block = {"type": "tool_use", "id": "t1", "name": tool, "input": given}
    return {
        "type": "assistant",
        "session_id": "s1",
        "parent_tool_use_id": parent,
        "message": {"content": [block]},
    }


def whole(text: str = "content") -> list[dict[str, str]]:
    return [{text: todo.text, "status": todo.state} for todo in THREE]


def test_claudes_list() -> None:
    """`TodoWrite` has all of it each time; a subagent's list is not the agent's."""
    dialect = Claude("n")
    line = by_claude("TodoWrite", {"todos": whole()})
    (event,) = listed(dialect, line, by_claude("TodoWrite", {"todos": whole()}, "t0"))
    assert event == TodosListed(THREE)
    assert (event.done, event.current) == (1, "Write it")


def test_claudes_list_entry_by_entry() -> None:
    """Its newer tools add and change one at a time; entries are numbered in their order."""
    dialect = Claude("n")
    *_before, last = listed(
        dialect,
        *(by_claude("TaskCreate", {"subject": todo.text}) for todo in THREE),
        by_claude("TaskUpdate", {"taskId": "1", "status": "completed"}),
        by_claude("TaskUpdate", {"taskId": "2", "status": "in_progress"}),
    )
    assert last == TodosListed(THREE)
    (gone,) = listed(dialect, by_claude("TaskUpdate", {"taskId": "3", "status": "deleted"}))
    assert gone.todos == THREE[:2]


def test_codexs_list() -> None:
    """Told when it is made, whenever it changes, and at the end of the turn."""
    items = [{"text": "Read the code", "completed": True}, {"text": "Write it", "completed": False}]
    dialect = Codex("n")
    for stage in ("item.started", "item.updated", "item.completed"):
        line = {"type": stage, "item": {"id": "i", "type": "todo_list", "items": items}}
        (event,) = listed(dialect, line)
        assert (event.done, len(event.todos), event.current) == (1, 2, "Write it")


def test_the_lists_of_gemini_and_opencode() -> None:
    """Both write all of it by a tool."""
    given = {"todos": whole("description")}
    line = {"type": "tool_use", "tool_name": "write_todos", "tool_id": "1", "parameters": given}
    assert listed(Gemini("n"), line) == [TodosListed(THREE)]
    part = {"tool": "todowrite", "state": {"status": "completed", "input": {"todos": whole()}}}
    line = {"type": "tool_use", "sessionID": "ses_1", "part": {"type": "tool", **part}}
    assert listed(Opencode("n"), line) == [TodosListed(THREE)]


@pytest.mark.parametrize(
    "todos",
    [None, [], "x", [1, None, []], [{"status": "completed"}], [{"content": "a", "status": "gone"}]],
)
def test_what_is_no_list(todos: object) -> None:
    """Anything may come: then nothing is told."""
    assert listed(Claude("n"), by_claude("TodoWrite", {"todos": todos})) == []


def test_a_list_is_bounded() -> None:
    """And each of its entries is one line."""
    many = [{"content": "x\ny" * 999, "status": "pending"}] * (TODOS_MAX + 50)
    (event,) = listed(Claude("n"), by_claude("TodoWrite", {"todos": many}))
    assert len(event.todos) == TODOS_MAX
    assert all("\n" not in todo.text and len(todo.text) <= 200 for todo in event.todos)


def test_an_empty_list_is_at_nothing() -> None:
    """Once all is done there is no current entry."""
    done = TodosListed((Todo("a", "completed"),))
    assert (done.done, done.current) == (1, "")
