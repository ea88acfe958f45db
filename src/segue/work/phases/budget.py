"""What the server knows of the money of its tasks, all together: `engine/budget.py` says what
follows from it."""

from __future__ import annotations

from dataclasses import dataclass

from segue.engine import gates
from segue.engine.budget import NO, YES, About, Spending, live_cost_usd
from segue.engine.question_texts import BUDGET
from segue.store import usage
from segue.store.rows import SERVER, GateRow, gate_row
from segue.work.phases import moves
from segue.work.phases.supervisor import Supervisor

ASKED = "SELECT * FROM gates WHERE work = ? AND category = ? AND task IS NULL AND state = 'pending'"


@dataclass(frozen=True, slots=True)
class PaidTasks:
    supervisor: Supervisor

    def spending(self) -> Spending:
        attempts, records = self.supervisor.attempts.values(), self.supervisor.records
        waiting = set(records.at_work()) - {attempt.run.task for attempt in attempts}
        is_left = waiting or records.waiting_parks() or records.queue()
        ended = usage.of_plan(records.store, SERVER)["cost_usd"] or 0.0
        return Spending(
            cost_usd=ended + live_cost_usd(attempts, records.usage_before),
            may_cost_more=bool(is_left or any(attempt.may_cost_more for attempt in attempts)),
            is_at_work=bool(attempts),
        )

    def budget_gate(self) -> GateRow | None:
        row = self.supervisor.records.store.one(ASKED, SERVER, BUDGET)
        return gate_row(row) if row else None

    def ask_for_budget(self, text: str, about: About) -> None:
        now = self.supervisor.clock.now()
        wanted = GateRow(
            "", None, None, "question", text, (YES, NO), NO, BUDGET, about, work=SERVER
        )
        gate, add = gates.ask(wanted, now)
        told = moves.notice("", "question", text, now, gate.id)
        self.supervisor.commit(add, told)

    def reword_budget(self, gate: GateRow, text: str, about: About) -> None:
        self.supervisor.commit(gates.reword(gate, text, about)[1])

    def withdraw_budget(self, gate: GateRow) -> None:
        self.supervisor.commit(*gates.withdraw(gate, self.supervisor.clock.now()))
