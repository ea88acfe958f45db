"""What needs a person, and the end of the work, goes out through every channel once."""

from __future__ import annotations

import pytest

from contract.scenes import ask, stop, turn
from contract.subjects import Subject
from contract.subjects.records import DONE, PARKED, WAITING

pytestmark = pytest.mark.moments


def events(subject: Subject) -> list[str]:
    """What went out; one that was under way at a kill may come again with the same id."""
    return list({notice["id"]: notice["event"] for notice in subject.notices()}.values())


def test_a_question_goes_out_once(subject: Subject) -> None:
    """Also when Segue is killed and started again in between."""
    subject.notify_by_command()
    subject.plays(turn(ask()))
    subject.begin()
    subject.wait(0, WAITING)
    subject.until(lambda: events(subject), "the notice")
    assert "Which database?" in str(subject.notices()[0])
    subject.kill()
    subject.drive()
    subject.wait(0, WAITING)
    assert len(events(subject)) == 1, subject.notices()


def test_the_end_goes_out_once(subject: Subject) -> None:
    """All is done: one notice, and none from a start that finds nothing to do."""
    subject.notify_by_command()
    subject.plays(turn())
    subject.begin()
    subject.wait(0, DONE)
    subject.until(lambda: "completed" in events(subject), "the notice")
    subject.kill()
    subject.drive()
    assert events(subject).count("completed") == 1


def test_an_account_without_money_goes_to_a_person(subject: Subject) -> None:
    """Billing does not wait: a gate and a notice, no park."""
    subject.notify_by_command()
    subject.plays(turn(stop("Credit balance is too low")))
    subject.begin()
    subject.wait(0, WAITING, unless=[PARKED])
    subject.until(lambda: events(subject), "the notice")
    assert len(events(subject)) == 1, subject.notices()
