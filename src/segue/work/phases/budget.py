"""The budget of the server's tasks, all together; what running agents report counts at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from segue.core.machines import Trigger
from segue.engine.budget import BUDGET, NO, YES, is_used_up
from segue.engine.question_texts import text_of
from segue.store.changes import Change
from segue.store.rows import SERVER, GateRow, gate_row
from segue.work.phases import moves

if TYPE_CHECKING:
    from segue.work.phases.supervisor import Supervisor

OF_BUDGET = f"FROM gates WHERE work = '{SERVER}' AND category = '{BUDGET}' AND task IS NULL"
ASKED = f"SELECT * {OF_BUDGET} AND state = 'pending'"
GRANTED = f"SELECT count(*) {OF_BUDGET} AND answer = '{YES}'"
COST = f"SELECT coalesce(sum(cost_usd), 0) FROM runs WHERE work = '{SERVER}'"  # noqa: S608


def held(supervisor: Supervisor) -> str | None:
    """Why nothing new may start, if the budget is used up; then a person is asked, once."""
    asked = _asked(supervisor)
    budget = supervisor.budget_usd
    if budget is None or not is_used_up(budget, _cost(supervisor), _granted(supervisor)):
        if asked is not None:  # the settings allow more now
            supervisor.commit(*moves.settle_gate(asked, Trigger.CLOSE, supervisor.clock.now()))
        return None
    if asked is None and not supervisor.is_budget_refused and _is_anything_left(supervisor):
        supervisor.commit(*_question(supervisor, budget))
    return BUDGET


def answered(
    supervisor: Supervisor, gate: GateRow, answer: str, then: Callable[[], Iterable[Change]] = tuple
) -> bool:
    """Yes grants as much again; otherwise nothing new starts until the next start asks again."""
    settled = moves.settle_gate(gate, Trigger.ANSWER, supervisor.clock.now(), answer=answer)
    if not supervisor.commit(*settled, then=then):
        return False
    supervisor.is_budget_refused = answer != YES
    supervisor.kick()
    return True


def _question(supervisor: Supervisor, budget: float) -> list[Change]:
    now = supervisor.clock.now()
    about = {"budget": budget, "cost": _cost(supervisor)}
    text = text_of(BUDGET, about)
    gate, add = moves.open_gate(
        None, "question", "q",
        category=BUDGET, text=text, options=moves.as_json((YES, NO)), preset=NO,
        about=moves.as_json(about),
    )  # fmt: skip
    return [add, moves.notice("", "question", text, now, gate)]


def _asked(supervisor: Supervisor) -> GateRow | None:
    row = supervisor.records.store.one(ASKED)
    return gate_row(row) if row else None


def _granted(supervisor: Supervisor) -> int:
    row = supervisor.records.store.one(GRANTED)
    return int(row[0]) if row else 0


def _cost(supervisor: Supervisor) -> float:
    row = supervisor.records.store.one(COST)
    live = (one.used.cost_usd or 0.0 for one in supervisor.attempts.values() if one.used)
    return (float(row[0]) if row else 0.0) + sum(live)


def _is_anything_left(supervisor: Supervisor) -> bool:
    """Whether something could cost more."""
    attempts, records = supervisor.attempts.values(), supervisor.records
    if any(attempt.may_cost_more for attempt in attempts) or records.parks() or records.queue():
        return True
    return bool(set(records.at_work()) - {attempt.run.task for attempt in attempts})
