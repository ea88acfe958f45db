"""What a run learns about itself from its environment."""

from __future__ import annotations

import pytest

from segue.engine.agent import Facts

FACTS = ("T-1", "run-2", 2, "talk-1", "/project", "n0nce")


def test_a_resumed_run_is_told_so() -> None:
    """SEGUE_RESUME says that a conversation goes on, and only then."""
    assert Facts(*FACTS, is_resumed=True).environment()["SEGUE_RESUME"] == "1"
    assert "SEGUE_RESUME" not in Facts(*FACTS).environment()


@pytest.mark.parametrize("plan", ["", "/project/PLAN.md"])
def test_a_run_of_a_plan_says_whose_it_is(plan: str) -> None:
    """To a Segue that has lost its memory; the server's runs are known by their names."""
    env = Facts(*FACTS, plan=plan, agent="claude").environment()
    assert (env.get("SEGUE_PLAN"), env.get("SEGUE_AGENT")) == (
        (plan, "claude") if plan else (None, None)
    )
