"""Watched panes: agents that people started, one work in the tables alone."""

from __future__ import annotations

from typing import Any

from segue.engine.kind import TablesKind
from segue.engine.standing import Known, Standing
from segue.store.rows import PANES

HAS_PANES = "SELECT 1 FROM panes LIMIT 1"


class PanesKind(TablesKind):
    name = PANES

    def in_memory(self, known: Known) -> Standing | None:
        if known.store is None or known.store.one(HAS_PANES) is None:
            return None
        from segue.work.panes.standing import panes  # noqa: PLC0415 - few projects have any

        return panes(known)

    def facts(self, standing: Standing) -> dict[str, Any]:
        from segue.work.panes.standing import pane_facts  # noqa: PLC0415 - few projects have any

        return pane_facts(standing)
