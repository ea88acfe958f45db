"""Interrupted work of any kind: `segue resume` and `segue` ask each kind about its own."""

from __future__ import annotations

from pathlib import Path

from segue.core.machines import PlanState
from segue.engine.kind import Found, found
from segue.i18n import _
from segue.work.kinds import KINDS
from segue.work.overview import look


def find(path: Path) -> list[Found]:
    """Everything that was begun under this path, of every kind."""
    begun = [one for one in look(path) if one.state is not PlanState.PENDING]
    return [found(KINDS[one.kind], one) for one in begun]


def nothing_here() -> str:
    """The sentence of the original, and below it what a task list takes."""
    begin = _("Found no interrupted work here. Start with: segue write-all")
    return f"{begin}\n" + _("Start a task list with: segue run PLAN.md")
