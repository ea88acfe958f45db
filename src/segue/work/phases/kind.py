"""Tasks with phases: the server's, all of them one work in the tables alone."""

from __future__ import annotations

from typing import Any

from segue.engine.kind import TablesKind
from segue.engine.standing import Known, Standing
from segue.store.rows import SERVER

HAS_TASKS = "SELECT 1 FROM phase_tasks LIMIT 1"
OWN_GATES = {
    "review": ("approve", "request_changes"),
    "dependency": ("provide", "reject"),
    "stuck": ("retry", "go_without", "fail"),
}


class PhasesKind(TablesKind):
    name = SERVER
    failed_acts = ("retry",)

    def in_memory(self, known: Known) -> Standing | None:
        if known.store is None or known.store.one(HAS_TASKS) is None:
            return None
        from segue.work.phases.standing import tasks  # noqa: PLC0415 - few projects have any

        return tasks(known)

    def facts(self, standing: Standing) -> dict[str, Any]:
        from segue.work.phases.standing import facts  # noqa: PLC0415 - few projects have any

        return facts(standing)

    def gate_acts(self, gate: str) -> tuple[str, ...]:
        return OWN_GATES.get(gate) or super().gate_acts(gate)
