"""The kinds of work: each says of itself what status, resume and the inbox ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from segue.engine.kind import Kind
from segue.engine.standing import Known
from segue.store.rows import PANES, SERVER
from segue.work.kinds import KINDS
from segue.work.project import Project


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
