"""Events are values, and every dialect speaks in them."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import get_args

import pytest

from segue.dialects.events import (
    ActRefused,
    Asked,
    BlockUnclosed,
    ConversationLost,
    DependencyAsked,
    Dialect,
    ErrorReported,
    Event,
    Finished,
    Garbled,
    LimitHit,
    Opened,
    PermissionAsked,
    PhaseDone,
    Retrying,
    Said,
    StepDone,
    TaskDone,
    Todo,
    TodosListed,
    ToolUsed,
    Unsigned,
    Used,
    WindowUsed,
    by_importance,
)
from segue.dialects.script import Script
from segue.dialects.text import Text

ONE_OF_EACH = (
    Said("x"),
    StepDone(1),
    Unsigned("[ERROR]", "[ERROR n]"),
    TodosListed((Todo("a", "pending"),)),
    LimitHit("billing"),
    Asked("?"),
    Used(),
    Garbled(1),
    Opened("c1"),
    ToolUsed("Bash", "ls"),
    Retrying(1),
    WindowUsed("session_limit", 0.5),
    PermissionAsked("r1", "Bash", "ls", {"command": "ls"}),
    ConversationLost("x"),
    Finished(False),
    DependencyAsked("api_key", "KEY"),
    PhaseDone(1),
    TaskDone(),
    ErrorReported("fatal", "x", "checkpoint_and_fail"),
    BlockUnclosed("ERROR", 1),
    ActRefused("cli", "segue approve", "2026-03-01T12:00:00Z"),
)


def test_events_are_values() -> None:
    """Each kind can be compared, used as a key, and not be changed."""
    assert {type(event) for event in ONE_OF_EACH} == set(get_args(Event))
    assert len(set(ONE_OF_EACH)) == len(ONE_OF_EACH)
    with pytest.raises(FrozenInstanceError):
        ONE_OF_EACH[0].text = "y"  # type: ignore[misc]


def test_events_of_one_read_are_ordered_by_importance() -> None:
    """Errors before completions before dependencies before questions; what was said and done
    comes before all of them, the end of the turn behind, and among equals the first is first."""
    said, step, end = Said("x"), StepDone(1), Finished(False)
    error, again = ErrorReported("fatal", "1", ""), ErrorReported("fatal", "2", "")
    key, question = DependencyAsked("api_key", "KEY"), Asked("?")
    heard: list[Event] = [question, said, TaskDone(), end, key, error, step, PhaseDone(1), again]
    ordered: list[Event] = [said, step, error, again, TaskDone(), PhaseDone(1), key, question, end]
    assert by_importance(iter(heard)) == ordered
    assert by_importance(reversed(ordered[2:4])) == [again, error]
    assert by_importance([]) == []


@pytest.mark.parametrize("dialect", [Text("n0nce"), Script()])
def test_closing_twice_tells_nothing_twice(dialect: Dialect) -> None:
    """What was left over is told at the first close alone."""
    assert list(dialect.feed(b"half a line")) == []
    assert list(dialect.close()) == [Said("half a line")]
    assert list(dialect.close()) == []
