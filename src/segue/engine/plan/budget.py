"""What a plan knows of its money: `engine/budget.py` says what follows from it."""

from __future__ import annotations

from dataclasses import dataclass

from segue.core.plan import TaskState
from segue.engine.budget import NO, YES, About, Spending, is_at_work, live_cost_usd
from segue.engine.plan.plan_run import PlanRun
from segue.engine.question_texts import BUDGET
from segue.store.rows import GateRow


@dataclass(frozen=True, slots=True)
class PaidPlan:
    run: PlanRun

    def spending(self) -> Spending:
        run = self.run
        at_work = [attempt for attempt in run.jobs.values() if is_at_work(attempt)]
        is_left = run.frontier.counts[TaskState.PENDING] or run.ledger.parks
        return Spending(
            cost_usd=run.ledger.cost_usd + live_cost_usd(at_work, run.ledger.usage_before),
            may_cost_more=bool(is_left or any(attempt.may_cost_more for attempt in at_work)),
            is_at_work=bool(run.jobs),
        )

    def budget_gate(self) -> GateRow | None:
        return next((g for g in self.run.ledger.gates.values() if g.category == BUDGET), None)

    def ask_for_budget(self, text: str, about: About) -> None:
        gate = self.run.ledger.add_question(None, text, BUDGET, (YES, NO), NO, about)
        self.run.open_gate(gate)

    def reword_budget(self, gate: GateRow, text: str, about: About) -> None:
        self.run.ledger.reword_gate(gate, text, about)

    def withdraw_budget(self, gate: GateRow) -> None:
        self.run.questions.withdraw(gate.id)
        self.run.ledger.close_gate(gate, None)
