"""Refused again: longer and longer waits, never a storm; too far ahead asks a person."""

from __future__ import annotations

import pytest

from contract.scenes import DAY_S, VAGUE, limit, stop, turn
from contract.subjects import Subject
from contract.subjects.records import DONE, PARKED, WAITING, Park

pytestmark = pytest.mark.moments


def test_waits_double_when_no_time_is_given(subject: Subject) -> None:
    """1 s, 2 s, 4 s where `default_wait_time` is 1 s."""
    subject.plays(*[turn(stop(VAGUE))] * 3)
    subject.begin()
    subject.started(0, 4)
    subject.wait(0, DONE)
    _one, _two, three, four = subject.starts(0)[:4]
    assert four.at - three.at >= 2.8, subject.transcript()


def test_a_reset_already_past_is_a_short_wait(subject: Subject) -> None:
    """Refused again with a time that is over: about a minute, neither a storm nor a day."""
    subject.plays(turn(limit(1)), turn(limit(-5)))
    subject.begin()
    second = subject.started(0, 2)

    def later() -> list[Park]:
        assert len(subject.starts(0)) == 2, f"started again: {subject.transcript()}"
        return [park for park in subject.parks() if park.wakes_at and park.wakes_at > second.at]

    (park,) = subject.until(later, "its park")
    assert park.wakes_at is not None
    assert 20 <= park.wakes_at - second.at <= 600


def test_a_reset_further_than_eight_days_asks_a_person(subject: Subject) -> None:
    """A gate, no park: the work does not wait for weeks without a word."""
    subject.plays(turn(limit(20 * DAY_S)))
    subject.begin()
    subject.wait(0, WAITING, unless=[PARKED])
    assert len(subject.starts(0)) == 1
