"""Watched panes as one of the kinds of work."""

from __future__ import annotations

from pathlib import Path

import pytest

from segue.engine.standing import Known
from segue.errors import Bug
from segue.store.sqlite import Store
from segue.work.panes.kind import PanesKind
from segue.work.project import Project


def test_a_pane_that_needs_a_person_is_woken() -> None:
    """What is asked in it is settled there."""
    kind = PanesKind()
    assert kind.gate_acts("pane") == ("wake",)


def test_a_memory_without_panes_has_no_such_work(tmp_path: Path) -> None:
    """Neither has any file."""
    project = Project(tmp_path)
    project.prepare()
    Store.open(project.database).close()
    known = Known.of(project)
    assert PanesKind().in_memory(known) is None
    with pytest.raises(Bug):
        PanesKind().standing(tmp_path, known)
    known.close()
