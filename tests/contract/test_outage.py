"""What Segue keeps is removed, or cannot be written: repaired, or waited out, in words."""

from __future__ import annotations

import shutil

import pytest

from contract.scenes import ask, hold, turn
from contract.subjects import Subject
from contract.subjects.records import RUNNING, WAITING

pytestmark = pytest.mark.moments


def test_a_memory_that_is_deleted_is_restored(subject: Subject) -> None:
    """An agent's `git clean -fdx` removes it under the run: what waits is still known afterwards,
    the same gate, and people learn of it."""
    subject.plays(turn(ask()), task=0)
    subject.plays(turn(hold("go")), task=1)
    subject.begin(2)
    gate = subject.gate_of(0)
    subject.wait(1, RUNNING)
    shutil.rmtree(subject.box.root / ".segue", ignore_errors=True)
    subject.until(lambda: [one.id for one in subject.gates()] == [gate.id], "the same gate")
    assert "records were removed" in subject.transcript()
    subject.release("go")
    subject.kill()
    subject.drive()
    assert subject.gate_of(0).id == gate.id
    assert subject.state(0) == WAITING
