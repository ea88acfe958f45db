"""The budget of a plan: used up, it pauses and asks; what runs is never killed for it.

It is live: what the agents at work have told to have used so far counts like what runs used that
have ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from segue.core.machines import RunState
from segue.core.plan import TaskState
from segue.dialects.events import Used
from segue.engine import budget as engine_budget
from segue.engine.attempt import share_of
from segue.engine.budget import BUDGET, NO, YES
from segue.engine.question_texts import text_of
from segue.store.rows import GateRow
from segue.work.plans.attempts import Attempt

if TYPE_CHECKING:
    from segue.work.plans.plan_run import PlanRun


def is_used_up(run: PlanRun) -> bool:
    """Whether nothing new may start because of it; then a person is asked, once."""
    budget = run.options.budget_usd
    if budget is None or not _costs_more(run):
        return False
    gate = _open_gate(run)
    if not is_spent(run):
        if gate is not None:  # the settings allow more now
            _withdraw(run, gate)
        return False
    if gate is None and not run.is_budget_refused:
        about = {"budget": budget, "cost": spent(run)}
        text = text_of(BUDGET, about)
        run.open_gate(run.ledger.add_question(None, text, BUDGET, (YES, NO), NO, about))
    return True


def is_spent(run: PlanRun) -> bool:
    budget = run.options.budget_usd
    if budget is None:
        return False
    return engine_budget.is_used_up(budget, spent(run), run.budgets_granted)


def spent(run: PlanRun) -> float:
    """What the plan has cost so far, with what its agents have used that are at work."""
    at_work = [_cost(run, attempt) for attempt in run.jobs.values() if _is_at_work(attempt)]
    known = run.ledger.cost_usd + sum(at_work)
    gate = _open_gate(run)
    # Directly after a start the agents that outlived Segue have not been heard again.
    return known if gate is None else max(known, gate.about.get("cost", 0.0))


def used_by(run: PlanRun, attempt: Attempt) -> Used | None:
    """What a run used; of a program that counts over its conversation, what it used more."""
    used = attempt.used
    if used is None or not attempt.profile.counts_conversation or attempt.run.resume_id is None:
        return used
    before = run.ledger.usage_before(attempt.run)
    return share_of(used, Used(**before))


def withdraw_if_nothing_is_left(run: PlanRun) -> None:
    """The last run has ended: nobody has to decide about more money."""
    gate = _open_gate(run)
    if gate is not None and not _costs_more(run):
        _withdraw(run, gate)


def renewed(run: PlanRun, gate: GateRow) -> GateRow:
    """The question with the sums of now: it may be an earlier start's."""
    about = {"budget": run.options.budget_usd, "cost": spent(run)}
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


def _withdraw(run: PlanRun, gate: GateRow) -> None:
    run.questions.withdraw(gate.id)
    run.ledger.close_gate(gate, None)


def _costs_more(run: PlanRun) -> bool:
    """Whether anything is left that could."""
    is_waiting = run.frontier.counts[TaskState.PENDING] or run.ledger.parks
    at_work = filter(_is_at_work, run.jobs.values())
    return bool(is_waiting or any(attempt.may_cost_more for attempt in at_work))


def _is_at_work(attempt: Attempt) -> bool:
    """Not those that have ended and whose work is being checked: the tables have their cost."""
    return attempt.run.state in (RunState.INTENDED, RunState.RUNNING)


def _cost(run: PlanRun, attempt: Attempt) -> float:
    if attempt.used is None or attempt.used.cost_usd is None:
        return 0.0
    used = used_by(run, attempt)
    return (used.cost_usd if used else None) or 0.0
