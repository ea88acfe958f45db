"""Watched panes: agents that people started, one work in the tables alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from segue.errors import Bug
from segue.store.rows import PANES
from segue.work.kind import GATE_ACTS
from segue.work.standing import Known, Standing

HAS_PANES = "SELECT 1 FROM panes LIMIT 1"


class PanesKind:
    name = PANES
    marks: tuple[str, ...] = ()
    failed_acts = ("retry", "skip")
    has_own_states = False

    def standing(self, path: Path, known: Known) -> Standing:
        raise Bug("panes have no file")

    def in_memory(self, known: Known) -> Standing | None:
        if known.store is None or known.store.one(HAS_PANES) is None:
            return None
        from segue.work.panes.standing import panes  # noqa: PLC0415 - few projects have any

        return panes(known)

    def facts(self, standing: Standing) -> dict[str, Any]:
        from segue.work.panes.standing import pane_facts  # noqa: PLC0415 - few projects have any

        return pane_facts(standing)

    def gate_acts(self, gate: str) -> tuple[str, ...]:
        return GATE_ACTS.get(gate, ())
