"""`status --json` says the `state` of every kind of work by one rule."""

from __future__ import annotations

import pytest

from contract.scenes import HOUR_S, ask, failing, hold, limit, turn
from contract.subjects import Subject
from contract.subjects.records import DONE, FAILED, PARKED, RUNNING, WAITING

pytestmark = pytest.mark.moments


def state(subject: Subject) -> str:
    found = subject.status()
    assert len(found) == 1, f"not one entry of kind {subject.status_kind}: {found}"
    return str(found[0]["state"])


def test_running(subject: Subject) -> None:
    """An agent works."""
    subject.plays(turn(hold("go")))
    subject.begin()
    subject.wait(0, RUNNING)
    assert state(subject) == "running"


def test_waiting(subject: Subject) -> None:
    """A gate is open, and nothing runs."""
    subject.plays(turn(ask()))
    subject.begin()
    subject.wait(0, WAITING)
    assert state(subject) == "waiting"


def test_parked(subject: Subject) -> None:
    """Something waits for a time, and nothing for a person; the park is shown with its task."""
    subject.plays(turn(limit(HOUR_S)))
    subject.begin()
    subject.wait(0, PARKED)
    assert state(subject) == "parked"
    (park,) = subject.status()[0]["parks"]
    assert (park["task"], park["kind"]) == (subject.name(0), "session_limit")


def test_running_comes_before_waiting(subject: Subject) -> None:
    """A gate is open while another agent works."""
    subject.plays(turn(ask()), task=0)
    subject.plays(turn(hold("go")), task=1)
    subject.begin(2)
    subject.wait(0, WAITING)
    subject.wait(1, RUNNING)
    assert state(subject) == "running"


def test_waiting_comes_before_parked(subject: Subject) -> None:
    """A gate is open while another task waits for a time."""
    subject.plays(turn(hold("both"), ask()), task=0)
    subject.plays(turn(hold("both"), limit(HOUR_S)), task=1)
    subject.begin(2)
    for task in range(2):
        subject.wait(task, RUNNING)
    subject.release("both")
    subject.wait(0, WAITING)
    subject.wait(1, PARKED)
    assert state(subject) == "waiting"


def test_interrupted(subject: Subject) -> None:
    """Something is left, nothing drives it, and no agent lives."""
    subject.plays(turn(hold("never")))
    subject.begin()
    subject.started(0)
    subject.wait(0, RUNNING)
    subject.power_cut()
    assert state(subject) == "interrupted"


def test_failed(subject: Subject) -> None:
    """Something failed, and nothing else is left."""
    subject.plays(*failing(subject.fails_after))
    subject.begin()
    subject.wait(0, FAILED)
    assert state(subject) == "failed"


def test_finished(subject: Subject) -> None:
    """All is done."""
    subject.plays(turn())
    subject.begin()
    subject.wait(0, DONE)
    subject.until(lambda: state(subject) == "finished", "finished")
