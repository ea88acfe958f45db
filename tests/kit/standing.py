"""How a piece of work stands, made by hand: what `segue status` and its likes are given to show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from segue.core.machines import PlanState
from segue.work.overview import Standing

COUNTS = ("pending", "in_progress", "completed", "failed", "skipped")


def standing(path: Path, state: str = "pending", kind: str = "tasklist", **more: Any) -> Standing:
    """`more`: counts by their name, and the other fields of a standing."""
    counts = {name: more.pop(name, 0) for name in COUNTS if name != "failed"}
    failed = more.get("failed", [])
    return Standing(path, kind, PlanState(state), {**counts, "failed": len(failed)}, **more)
