"""How one piece of work stands, and what the memory of a project knows of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.bench import Bench
from kit.standing import standing
from segue.dialects.events import LimitHit, Opened
from segue.engine.standing import Known
from segue.store.lock import Holder
from segue.work.project import Project

PLAN = "- [ ] T-1: Build\n"


@pytest.mark.parametrize(
    ("state", "is_interrupted"),
    [("interrupted", True), ("parked", True), ("failed", True), ("finished", False)],
)
def test_what_can_be_resumed(tmp_path: Path, state: str, is_interrupted: bool) -> None:
    """Something is left to do, and nobody is at it."""
    assert standing(tmp_path, state).is_interrupted is is_interrupted
    held = standing(tmp_path, state, holder=Holder(1, "now", "segue run"))
    assert not held.is_interrupted
    assert held.to_json()["holder"] == 1


def test_the_memory_knows_parks_gates_and_runs(bench: Bench) -> None:
    """By the names that the plan has for its tasks."""
    bench.begin(PLAN)
    bench.starts()
    bench.says(Opened("talk-1"), LimitHit("session_limit", wait_s=60))
    bench.ends(1)
    bench.close()
    known = Known.of(Project(bench.root))
    path = bench.root / "PLAN.md"
    parks, gates = known.waits(path)
    assert ([park["task"] for park in parks], gates) == (["T-1"], [])
    assert [run["task"] for run in known.runs(path, ["T-1", "T-9"])] == ["T-1"]
    assert known.has(path)
    assert not known.has(bench.root / "OTHER.md")
    known.close()


def test_a_folder_without_memory_knows_nothing(bench: Bench) -> None:
    """Nothing is made by looking."""
    bench.start(PLAN)
    known = Known.of(Project(bench.root))
    other = bench.root / "OTHER.md"
    assert known.waits(other) == ([], [])
    assert known.runs(other, ["T-1"]) == []
    assert known.usage(other)["input_tokens"] == 0
    known.close()
