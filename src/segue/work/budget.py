"""The budget of a plan: used up, it pauses and asks; what runs is never killed for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segue.core.plan import TaskState
from segue.work.own_questions import BUDGET, text_of
from segue.work.rows import GateRow

if TYPE_CHECKING:
    from segue.work.plan_run import PlanRun

YES, NO = "yes", "no"


def is_used_up(run: PlanRun) -> bool:
    """Whether nothing new may start because of it; then a person is asked, once."""
    budget = run.options.budget_usd
    if budget is None:
        return False
    gate = _open_gate(run)
    if not (run.frontier.counts[TaskState.PENDING] or run.ledger.parks):
        return False  # nothing is left that could cost more
    if run.ledger.cost_usd < budget * (1 + run.budgets_granted):
        if gate is not None:  # the settings allow more now
            run.ledger.close_gate(gate, None)
        return False
    if gate is None and not run.is_budget_refused:
        about = {"budget": budget, "cost": run.ledger.cost_usd}
        text = text_of(BUDGET, about)
        run.open_gate(run.ledger.add_question(None, text, BUDGET, (YES, NO), NO, about))
    return True


def renewed(run: PlanRun, gate: GateRow) -> GateRow:
    """The question with the sums of now: it may be an earlier start's."""
    about = {"budget": run.options.budget_usd, "cost": run.ledger.cost_usd}
    if about["budget"] is None or about == gate.about:
        return gate
    return run.ledger.reword_gate(gate, text_of(BUDGET, about), about)


def answered(run: PlanRun, gate: GateRow, answer: str) -> None:
    if answer == YES:
        run.ledger.close_gate(gate, answer)
        run.budgets_granted += 1
    else:
        run.is_budget_refused = True  # for now: the question stays for the next start


def _open_gate(run: PlanRun) -> GateRow | None:
    return next((g for g in run.ledger.gates.values() if g.category == BUDGET), None)
