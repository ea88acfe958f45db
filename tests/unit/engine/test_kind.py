"""What kinds of work have in common while nobody runs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.standing import standing
from segue.engine.kind import TablesKind, found
from segue.engine.run_files import RunFiles
from segue.engine.standing import Known, Standing
from segue.errors import Bug


def test_what_was_found_has_the_facts_of_its_kind(tmp_path: Path) -> None:
    """And those that every kind has: what it cost, who holds it."""

    class Own:
        def facts(self, one: Standing) -> dict[str, object]:
            told = dict.fromkeys(("why", "next", "redone", "lost"), "x")
            return {"resumable": True, "state": {"chapter": 3}, **told}

    used = {"input_tokens": 2, "output_tokens": 1, "cost_usd": 0.5}
    one = found(Own(), standing(tmp_path, "interrupted", usage=used))  # type: ignore[arg-type]
    assert (one.resumable, one.why, one.cost) == (True, "x", "so far 3 tokens ($0.50)")
    assert (one.state["chapter"], one.state["state"]) == (3, "interrupted")
    assert set(one.to_json()) == {
        "path", "kind", "resumable", "why", "next", "redone", "lost", "cost",
    }  # fmt: skip


def test_work_without_a_file_has_no_standing_by_its_path(tmp_path: Path) -> None:
    """Whoever asks for it has taken it for another kind; nothing of it is skipped by name."""
    kind, known = TablesKind(), Known(RunFiles(tmp_path, tmp_path, tmp_path), None, {}, str)  # type: ignore[arg-type]
    with pytest.raises(Bug):
        kind.standing(tmp_path, known)
    assert kind.find_task(standing(tmp_path, "finished"), "T-1") is None
