"""`budget_usd` counts while a run is under way, and asks; it never kills."""

from __future__ import annotations

import pytest

from contract.subjects import Subject
from contract.subjects.records import RUNNING

pytestmark = pytest.mark.moments


def test_a_budget_that_is_used_up_asks_while_the_run_works_on(spending: Subject) -> None:
    """The gate opens at once; the agent that spent it is left alone."""
    spending.settings.more += "[leash]\nbudget_usd = 20.0\n"
    spending.scenario("usage 1 1 30.0\nsay spent\nwait 1h\n")
    spending.begin()
    spending.wait(0, RUNNING)
    (gate,) = spending.until(spending.gates, "the gate")
    assert "$20" in gate.text, gate
    assert spending.box.agents(), "the agent lives"


def test_the_question_about_the_budget_survives_kill_9(spending: Subject) -> None:
    """The agent lives on, and what it had spent is in no row yet: still the same question."""
    spending.settings.more += "[leash]\nbudget_usd = 20.0\n"
    spending.scenario("usage 1 1 30.0\nsay spent\nwait 1h\n")
    spending.begin()
    spending.wait(0, RUNNING)
    (before,) = spending.until(spending.gates, "the gate")
    spending.kill()
    spending.drive()
    answered = spending.answer(before, "yes")
    assert answered.code == 0, answered.said
    spending.until(lambda: not spending.gates(), "what it may cost is allowed")
    assert spending.box.agents(), "the agent lives"
