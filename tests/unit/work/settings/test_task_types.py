"""The types of tasks: built in, and those of the settings."""

from __future__ import annotations

from segue.core.phases import Phase
from segue.work.settings.task_types import BUILT_IN, SELF, TaskType, Types


def test_a_type_of_the_settings_wins_over_a_built_in_one() -> None:
    """All of them can be named."""
    name = next(iter(BUILT_IN))
    own = TaskType(name, (Phase("draft", ("draft.md",), 10),))
    types = Types({name: own, "mine": TaskType("mine")})
    assert types.get(name) is own
    assert types.names() == sorted({*BUILT_IN, "mine"})
    assert types.get("nobody's") is None


def test_every_phase_of_a_built_in_type_delivers_something_that_is_reviewed() -> None:
    """By the task's own agent, in a new conversation."""
    phases = [phase for kind in BUILT_IN.values() for phase in kind.phases]
    assert phases
    assert all(phase.deliverables and phase.reviewer == SELF for phase in phases)
