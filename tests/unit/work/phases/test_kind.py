"""The tasks of a server as one of the kinds of work."""

from __future__ import annotations

from pathlib import Path

import pytest

from segue.engine.standing import Known
from segue.errors import Bug
from segue.store.sqlite import Store
from segue.work.phases.kind import PhasesKind
from segue.work.project import Project


def test_what_waits_for_a_person_has_acts_of_its_own() -> None:
    """A review is approved or sent back, a dependency provided or refused."""
    kind = PhasesKind()
    assert kind.gate_acts("review") == ("approve", "request_changes")
    assert kind.gate_acts("dependency") == ("provide", "reject")
    assert kind.gate_acts("budget") == ("answer", "approve")


def test_a_memory_without_tasks_has_no_such_work(tmp_path: Path) -> None:
    """Neither has any file."""
    project = Project(tmp_path)
    project.prepare()
    Store.open(project.database).close()
    known = Known.of(project)
    assert PhasesKind().in_memory(known) is None
    with pytest.raises(Bug):
        PhasesKind().standing(tmp_path, known)
    known.close()
