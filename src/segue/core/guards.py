"""The predicates of tasks with phases and of their agents. Each asks for facts by name; the one who
moves a task gives them."""

from __future__ import annotations

from segue.core.machine import Facts


def is_complete(facts: Facts) -> bool:
    """Title, type and description are there."""
    return bool(facts.get("title") and facts.get("type") and facts.get("description"))


def may_start(facts: Facts) -> bool:
    """A slot is free, and every task it depends on is completed."""
    return bool(facts.get("slot_is_free")) and not facts.get("waits_for")


def cannot_begin(facts: Facts) -> bool:
    """A task that it depends on failed or is gone: only a person gets it any further."""
    return bool(facts.get("is_stuck"))


def is_verified(facts: Facts) -> bool:
    """Deliverables there, verification passed."""
    return bool(facts.get("verified"))


def is_ungated(facts: Facts) -> bool:
    """A task without phases has no review."""
    return facts.get("phases_total") == 0


def has_next_phase(facts: Facts) -> bool:
    phase, total = facts.get("phase"), facts.get("phases_total")
    return isinstance(phase, int) and isinstance(total, int) and phase < total


def has_feedback(facts: Facts) -> bool:
    return bool(facts.get("feedback"))
