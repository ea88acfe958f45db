"""The budget of a work: once it is used up, Segue asks a person, and nothing new starts meanwhile.
What runs is never ended for it.

It is live: what the agents at work have reported so far counts like what ended runs have used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from segue.core.machines import RunState
from segue.dialects.events import Used
from segue.engine.attempt import Attempt, share_of
from segue.engine.question_texts import BUDGET, text_of
from segue.store.rows import GateRow, RunRow
from segue.store.sqlite import Store

YES, NO = "yes", "no"
AT_WORK = (RunState.INTENDED, RunState.RUNNING)  # not one whose end, and so its cost, is a row
About = Mapping[str, float]
UsageBefore = Callable[[RunRow], Used]  # what the conversation of a run had used before it


@dataclass(frozen=True, slots=True)
class Spending:
    """What a work has cost so far, and whether anything is left that could cost more. One that
    has reported its end costs no more; `is_at_work`: its process may still live."""

    cost_usd: float
    may_cost_more: bool
    is_at_work: bool


class PaidWork(Protocol):
    """What a kind of work knows of its money, and how it asks about it."""

    def spending(self) -> Spending: ...

    def budget_gate(self) -> GateRow | None:
        """The question that waits, if one does."""
        ...

    def ask_for_budget(self, text: str, about: About) -> None: ...

    def reword_budget(self, gate: GateRow, text: str, about: About) -> None: ...

    def withdraw_budget(self, gate: GateRow) -> None: ...


@dataclass(slots=True)
class Budget:
    """`granted`: how often a person allowed as much again. `is_refused`: a person said no; the next
    start asks again."""

    limit_usd: float | None
    work: PaidWork
    granted: int = 0
    is_refused: bool = False

    def holds(self) -> bool:
        """Whether nothing new may start because of it; then a person is asked, once."""
        gate = self.work.budget_gate()
        if self.limit_usd is None and gate is None:
            return False
        spending = self.work.spending()
        is_used_up = self._is_used_up(self._cost_usd(spending, gate))
        is_over = not spending.may_cost_more and not spending.is_at_work
        if gate is not None and (not is_used_up or is_over):
            # the settings allow more now, or nothing is left to pay for
            self.work.withdraw_budget(gate)
        elif gate is not None and gate.about.get("budget") != self.limit_usd:
            self.renew(gate)
        elif gate is None and is_used_up and spending.may_cost_more and not self.is_refused:
            about = self._about(spending.cost_usd)
            self.work.ask_for_budget(text_of(BUDGET, about), about)
        return is_used_up

    @property
    def is_spent(self) -> bool:
        if self.limit_usd is None:
            return False
        return self._is_used_up(self._cost_usd(self.work.spending(), self.work.budget_gate()))

    def renew(self, gate: GateRow) -> None:
        """The question names the sums of now: it may be an earlier start's."""
        about = self._about(self._cost_usd(self.work.spending(), gate))
        if self.limit_usd is not None and about != gate.about:
            self.work.reword_budget(gate, text_of(BUDGET, about), about)

    def answered(self, answer: str) -> None:
        """A person decided, and that is committed."""
        if answer == YES:
            self.granted += 1
        self.is_refused = answer != YES

    def _is_used_up(self, cost_usd: float) -> bool:
        return self.limit_usd is not None and cost_usd >= self.limit_usd * (1 + self.granted)

    def _about(self, cost_usd: float) -> dict[str, float]:
        return {"budget": self.limit_usd or 0.0, "cost": cost_usd}

    def _cost_usd(self, spending: Spending, gate: GateRow | None) -> float:
        """Directly after a start the agents that outlived Segue have not been heard again: the
        question that waits says what they had spent."""
        known = gate.about.get("cost", 0.0) if gate is not None else 0.0
        return max(spending.cost_usd, known)


def used_by(attempt: Attempt, before: UsageBefore) -> Used | None:
    """What a run used; of a program that counts over its conversation, what it used more."""
    used, run = attempt.used, attempt.run
    if used is None or not attempt.profile.counts_conversation or run.resume_id is None:
        return used
    return share_of(used, before(run))


def live_cost_usd(attempts: Iterable[Attempt], before: UsageBefore) -> float:
    """What agents have used whose runs are under way."""
    used = (used_by(one, before) for one in attempts if is_at_work(one))
    return sum((one.cost_usd or 0.0) for one in used if one is not None)


def is_at_work(attempt: Attempt) -> bool:
    return attempt.run.state in AT_WORK


def grants(store: Store, work: str) -> int:
    """How often a person let a work continue past its budget."""
    sql = "SELECT count(*) FROM gates WHERE work = ? AND category = ? AND answer = ?"
    row = store.one(sql, work, BUDGET, YES)
    return int(row[0]) if row else 0
