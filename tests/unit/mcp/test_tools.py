"""A tool as a model sees it: what it takes, checked; what it says, made plain."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import Field

from segue.errors import Problem, UserError
from segue.mcp.tools import (
    PROBLEMS_SHOWN_MAX,
    TEXT_CHARS_MAX,
    Arguments,
    NoArguments,
    Refused,
    Tool,
    harmless,
)


class Book(Arguments):
    """Not for the model."""

    title: str = Field(description="Of the book.")
    pages: int = Field(default=1, ge=1)


def tool(call: Callable[[Any], Any] = lambda given: given.title) -> Tool:
    return Tool("lend", "Lends a book.", Book, call)


def raising(error: Exception) -> Tool:
    def call(given: Any) -> str:
        raise error

    return tool(call)


def refused(asked: Tool, given: dict[str, Any] | None = None) -> str:
    with pytest.raises(Refused) as caught:
        asked.answer({"title": "Night"} if given is None else given)
    return str(caught.value)


def test_the_schema_has_what_a_model_needs_and_no_more() -> None:
    """Names are not repeated as titles; a parameter that is called title stays."""
    assert tool().schema() == {
        "type": "object",
        "additionalProperties": False,
        "required": ["title"],
        "properties": {
            "title": {"type": "string", "description": "Of the book."},
            "pages": {"type": "integer", "default": 1, "minimum": 1},
        },
    }
    assert Tool("x", "", NoArguments, str).schema()["properties"] == {}


def test_wrong_arguments_are_named_and_nothing_is_done() -> None:
    """A name that the tool does not know is a mistake, too."""
    called: list[Any] = []
    text = refused(tool(called.append), {"pages": 0, "colour": "red"})
    assert text.splitlines()[0] == "lend: wrong arguments; nothing was done."
    assert [line.partition(":")[0] for line in text.splitlines()[1:]] == [
        "title", "pages", "colour",
    ]  # fmt: skip
    assert called == []


def test_blanks_around_a_text_do_not_count() -> None:
    assert tool().answer({"title": "  Night \n"}) == "Night"


def test_what_a_person_would_read_is_refused_in_the_same_words() -> None:
    """Where, what, and the cure; of many problems the first ones."""
    one = UserError("x", "no such plan", file="PLAN.md", line=3, hint="write one")
    assert refused(raising(one)) == "PLAN.md:3: no such plan (write one)"
    many = UserError.of([Problem("x", f"problem {n}") for n in range(9)])
    assert len(refused(raising(many)).splitlines()) == PROBLEMS_SHOWN_MAX


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            FileNotFoundError(2, "No such file or directory", "a.md"),
            "a.md: No such file or directory",
        ),
        (OSError(28, "No space left on device"), "No space left on device"),
        (OSError("cannot be opened"), "cannot be opened"),
    ],
)
def test_what_the_system_refused_is_told(error: OSError, text: str) -> None:
    """With the file, where it is known."""
    assert refused(raising(error)) == text


def test_a_fault_of_our_own_is_not_passed_off_as_a_refusal() -> None:
    with pytest.raises(ZeroDivisionError):
        raising(ZeroDivisionError()).answer({"title": "x"})


def test_facts_are_json_without_anything_that_acts() -> None:
    """The words of agents are data: names of fields as well, and none without an end."""
    told = tool(lambda given: {"a\x1b[2J": ["x\x00y", 1, None, ("z",)]}).answer({"title": "x"})
    assert json.loads(told) == {"a": ["xy", 1, None, ["z"]]}
    assert harmless("x" * (TEXT_CHARS_MAX + 1)) == "x" * TEXT_CHARS_MAX + "…"
    assert harmless("x" * TEXT_CHARS_MAX) == "x" * TEXT_CHARS_MAX
    assert "한글" in tool(lambda given: {"a": "한글"}).answer({"title": "x"})
