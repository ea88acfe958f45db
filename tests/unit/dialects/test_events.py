"""Events are values, and every dialect speaks in them."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import get_args

import pytest

from segue.dialects.events import (
    Asked,
    ConversationLost,
    Dialect,
    Event,
    Finished,
    Garbled,
    LimitHit,
    Opened,
    PermissionAsked,
    Retrying,
    Said,
    StepDone,
    ToolUsed,
    Used,
    WindowUsed,
)
from segue.dialects.script import Script
from segue.dialects.text import Text

ONE_OF_EACH = (
    Said("x"),
    StepDone(1),
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
)


def test_events_are_values() -> None:
    """Each kind can be compared, used as a key, and not be changed."""
    assert {type(event) for event in ONE_OF_EACH} == set(get_args(Event))
    assert len(set(ONE_OF_EACH)) == len(ONE_OF_EACH)
    with pytest.raises(FrozenInstanceError):
        ONE_OF_EACH[0].text = "y"  # type: ignore[misc]


@pytest.mark.parametrize("dialect", [Text("n0nce"), Script()])
def test_closing_twice_tells_nothing_twice(dialect: Dialect) -> None:
    """What was left over is told at the first close alone."""
    assert list(dialect.feed(b"half a line")) == []
    assert list(dialect.close()) == [Said("half a line")]
    assert list(dialect.close()) == []
