"""The predicates of tasks with phases: each asks for facts by name, and what is missing is no."""

from __future__ import annotations

import pytest

from segue.core import guards


@pytest.mark.parametrize("missing", ["title", "type", "description"])
def test_a_task_needs_its_three_fields(missing: str) -> None:
    """An empty one is as bad as none."""
    facts = {"title": "a", "type": "b", "description": "c"}
    assert guards.is_complete(facts)
    assert not guards.is_complete({**facts, missing: ""})
    del facts[missing]
    assert not guards.is_complete(facts)


@pytest.mark.parametrize(
    ("slot_is_free", "waits_for", "may"),
    [(True, (), True), (False, (), False), (True, ("task_1",), False), (False, ("task_1",), False)],
)
def test_a_task_starts_in_a_free_slot_after_those_it_depends_on(
    slot_is_free: bool, waits_for: tuple[str, ...], may: bool
) -> None:
    """Both, or it waits."""
    facts = {"slot_is_free": slot_is_free, "waits_for": waits_for}
    assert guards.may_start(facts) is may


def test_without_facts_nothing_is_allowed() -> None:
    """A fact that nobody gave is no permission."""
    asked = (
        guards.is_complete, guards.may_start, guards.cannot_begin, guards.is_verified,
        guards.is_ungated, guards.has_next_phase, guards.has_feedback,
    )  # fmt: skip
    assert not any(guard({}) for guard in asked)


@pytest.mark.parametrize(
    ("phase", "total", "expected"),
    [(1, 2, True), (2, 2, False), (None, 2, False), (1, None, False)],
)
def test_a_phase_follows_until_the_last(
    phase: int | None, total: int | None, expected: bool
) -> None:
    """A task that has not begun, or has no phases, has no next one."""
    assert guards.has_next_phase({"phase": phase, "phases_total": total}) is expected


def test_only_a_task_without_phases_has_no_review() -> None:
    """None at all, not one."""
    assert guards.is_ungated({"phases_total": 0})
    assert not guards.is_ungated({"phases_total": 1})
