"""How a piece of work stands, made by hand: what `segue status` and its likes are given to show."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from segue.core.machines import PlanState
from segue.engine.standing import Standing

COUNTS = ("pending", "in_progress", "completed", "failed", "skipped")


def standing(path: Path, state: str = "pending", kind: str = "tasklist", **more: Any) -> Standing:
    """`more`: counts by their name, and the other fields of a standing."""
    counts = {name: more.pop(name, 0) for name in COUNTS if name != "failed"}
    failed = more.get("failed", [])
    return Standing(path, kind, PlanState(state), {**counts, "failed": len(failed)}, **more)


def found(path: Path, kind: str, **more: Any) -> Any:
    """Work that `segue resume` has found."""
    known = {"resumable": True, "why": "it was stopped", "next": "go on", "holder": None}
    return SimpleNamespace(
        **{"path": path, "kind": kind, **known, **more, "state": {"problem": None, "holder": None}}
    )


def stub_command(patch: pytest.MonkeyPatch, name: str) -> list[tuple[Path, bool]]:
    """`segue NAME` does nothing and ends with 7; where and whether with `--json` it was called."""
    called: list[tuple[Path, bool]] = []

    def callback(as_json: bool) -> int:
        called.append((Path.cwd(), as_json))
        return 7

    options: list[click.Parameter] = [click.Option(["--json", "as_json"], is_flag=True)]
    patch.setattr(
        f"segue.cli.{name}.command", click.Command(name, callback=callback, params=options)
    )
    return called
