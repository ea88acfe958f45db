"""The budget of a work: used up, it pauses and asks; what runs is never killed for it."""

from __future__ import annotations

BUDGET = "budget"  # the category of the question
YES, NO = "yes", "no"


def is_used_up(budget_usd: float, cost_usd: float, granted: int) -> bool:
    """`granted`: how often a person allowed as much again."""
    return cost_usd >= budget_usd * (1 + granted)
