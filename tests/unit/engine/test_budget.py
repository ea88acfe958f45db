"""The budget of a work: when a person is asked, and when nobody needs to be any more."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from kit.plain_agent import PlainAgent, attempt_of, run_row
from segue.core.machines import RunState
from segue.dialects.events import Used
from segue.engine.attempt import Attempt
from segue.engine.budget import About, Budget, Spending, live_cost_usd, used_by
from segue.engine.question_texts import BUDGET
from segue.store.rows import GateRow


@dataclass
class Work:
    """A work that has cost so much."""

    now: Spending
    gate: GateRow | None = None
    asked: list[str] = field(default_factory=list)
    withdrawn: list[str] = field(default_factory=list)

    def spending(self) -> Spending:
        return self.now

    def budget_gate(self) -> GateRow | None:
        return self.gate

    def ask_for_budget(self, text: str, about: About) -> None:
        self.asked.append(text)
        self.gate = GateRow("q-1", None, None, "question", text, category=BUDGET, about=about)

    def reword_budget(self, gate: GateRow, text: str, about: About) -> None:
        self.gate = replace(gate, text=text, about=about)

    def withdraw_budget(self, gate: GateRow) -> None:
        self.gate = None
        self.withdrawn.append(gate.id)


def work(cost_usd: float, *, may_cost_more: bool = True, is_at_work: bool = True) -> Work:
    return Work(Spending(cost_usd, may_cost_more, is_at_work))


def test_a_person_is_asked_once() -> None:
    """Used up to the cent counts; the question names both sums."""
    paid = work(20.0)
    budget = Budget(20.0, paid)
    assert [budget.holds(), budget.holds()] == [True, True]
    assert len(paid.asked) == 1
    assert "$20.00" in paid.asked[0]


@pytest.mark.parametrize("limit_usd", [None, 20.01])
def test_within_the_budget_nothing_happens(limit_usd: float | None) -> None:
    """Without one it is never used up."""
    paid = work(20.0)
    assert not Budget(limit_usd, paid).holds()
    assert (paid.asked, paid.withdrawn) == ([], [])


def test_yes_allows_as_much_again() -> None:
    """And as much again once that is used up, too."""
    paid = work(20.0)
    budget = Budget(20.0, paid)
    budget.holds()
    paid.gate = None
    budget.answered("yes")
    assert not budget.holds()
    paid.now = replace(paid.now, cost_usd=40.0)
    assert budget.holds()
    assert len(paid.asked) == 2


def test_no_holds_and_does_not_ask_again() -> None:
    """Until the next start."""
    paid = work(20.0)
    budget = Budget(20.0, paid)
    budget.holds()
    paid.gate = None
    budget.answered("no")
    assert budget.holds()
    assert len(paid.asked) == 1


def test_nobody_is_asked_when_nothing_can_cost_more() -> None:
    """The last run has reported its end: it has cost everything."""
    paid = work(20.0, may_cost_more=False)
    assert Budget(20.0, paid).holds()
    assert paid.asked == []


def test_the_question_goes_with_the_last_run() -> None:
    """Not before its process has ended: what it did may have to be tried again."""
    paid = work(20.0)
    budget = Budget(20.0, paid)
    budget.holds()
    paid.now = replace(paid.now, may_cost_more=False)
    budget.holds()
    assert paid.withdrawn == []
    paid.now = replace(paid.now, is_at_work=False)
    budget.holds()
    assert paid.withdrawn == ["q-1"]


@pytest.mark.parametrize("limit_usd", [None, 50.0])
def test_the_question_goes_when_the_settings_allow_more(limit_usd: float | None) -> None:
    """At the next start."""
    paid = work(30.0)
    Budget(20.0, paid).holds()
    assert not Budget(limit_usd, paid).holds()
    assert paid.withdrawn == ["q-1"]


def test_the_question_names_the_sums_of_now() -> None:
    """Other settings, still used up: it is the same question in other words."""
    paid = work(30.0)
    Budget(20.0, paid).holds()
    Budget(25.0, paid).holds()
    assert paid.gate is not None
    assert "$25.00" in paid.gate.text
    assert (len(paid.asked), paid.withdrawn) == (1, [])


def test_what_a_question_knows_counts_until_the_agents_are_heard_again() -> None:
    """After a death of Segue their cost is in no row."""
    paid = work(30.0)
    Budget(20.0, paid).holds()
    paid.now = replace(paid.now, cost_usd=0.0)
    budget = Budget(20.0, paid)
    assert (budget.holds(), budget.is_spent, paid.withdrawn) == (True, True, [])


def spent(cost_usd: float | None, **more: Any) -> Attempt:
    agent = PlainAgent(counts_conversation=more.pop("counts_conversation", False))
    attempt = attempt_of(agent, used=Used(1, 1, cost_usd))
    attempt.run.resume_id = more.get("resume_id")
    return attempt


def test_what_agents_at_work_have_used_counts() -> None:
    """Not what has ended: that is a row. A price that is not reported is none."""
    ended = spent(100.0)
    ended.run = run_row(state=RunState.VERIFYING)
    attempts = [spent(1.5), spent(None), attempt_of(), ended]
    assert live_cost_usd(attempts, lambda run: Used(0, 0, 0.0)) == 1.5


def test_one_that_counts_its_conversation_pays_its_share() -> None:
    """What earlier runs used is not counted again."""
    attempt = spent(5.0, counts_conversation=True, resume_id="talk-1")
    assert used_by(attempt, lambda run: Used(1, 0, 3.0)) == Used(0, 1, 2.0)
