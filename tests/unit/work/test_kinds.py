"""The kinds of work: each says of itself what status, resume and the inbox ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.standing import standing
from segue.store.rows import PANES, SERVER
from segue.work.kind import Kind, found
from segue.work.kinds import KINDS
from segue.work.project import Project
from segue.work.standing import Known, Standing


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_is_found_by_its_own_name(name: str) -> None:
    """It is what the tables have in `works.kind`."""
    assert KINDS[name].name == name


def test_all_kinds_are_there() -> None:
    """A new one is a line in `kinds.py`."""
    assert set(KINDS) == {"tasklist", "book", "develop", SERVER, PANES}


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_a_question_can_be_answered_in_every_kind(kind: Kind) -> None:
    """Whatever is unknown can be settled by nobody."""
    assert kind.gate_acts("question") == ("answer",)
    assert kind.gate_acts("nonsense") == ()


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_nothing_is_in_memory_where_there_is_none(kind: Kind, tmp_path: Path) -> None:
    """A folder that Segue has never worked in."""
    known = Known.of(Project(tmp_path))
    assert kind.in_memory(known) is None


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
