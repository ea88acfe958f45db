"""What a person wants, from another terminal than the one that drives the work."""

from __future__ import annotations

import pytest

from contract.scenes import HOUR_S, failing, hold, limit, turn, work
from contract.subjects import Subject
from contract.subjects.records import DONE, FAILED, PARKED, RUNNING, SKIPPED, WAITING, is_alive

pytestmark = pytest.mark.moments


def test_wake_ends_a_park(subject: Subject) -> None:
    """`segue wake TASK`, by the name that `status --json` shows: it resumes now, once."""
    subject.plays(turn(limit(HOUR_S)), turn(work(1)))
    subject.begin()
    subject.wait(0, PARKED)
    done = subject.wake(0)
    assert done.code == 0, done.said
    subject.started(0, 2)
    subject.wait(0, DONE)
    assert len(subject.starts(0)) == 2


def test_wake_of_what_is_not_parked_says_so(subject: Subject) -> None:
    """`segue wake TASK` of one that works: it fails, in the same words everywhere."""
    subject.plays(turn(hold("go")))
    subject.begin()
    subject.wait(0, RUNNING)
    done = subject.wake(0)
    assert done.code != 0
    assert f"{subject.name(0)} is not parked" in done.said


def test_park_moves_the_end_of_a_park(subject: Subject) -> None:
    """`segue park TASK --for 2h` of a parked task gives it another time."""
    subject.plays(turn(limit(60)))
    subject.begin()
    subject.wait(0, PARKED)
    done = subject.park(0, "2h")
    assert done.code == 0, done.said
    subject.until(lambda: [p for p in subject.parks() if p.wait_s > HOUR_S], "the later time")


def test_park_ends_a_run_and_wake_continues_it(subject: Subject) -> None:
    """A running task is parked: its agent ends; woken, it continues in its conversation."""
    subject.plays(turn(hold("never")), turn(work(1)))
    subject.begin()
    first = subject.started(0)
    subject.wait(0, RUNNING)
    done = subject.park(0)
    assert done.code == 0, done.said
    subject.wait(0, PARKED)
    subject.until(lambda: not is_alive(first.pid), "its end")
    assert subject.wake(0).code == 0
    second = subject.started(0, 2)
    assert second.conversation == first.conversation
    subject.wait(0, DONE)


def failed(subject: Subject) -> None:
    subject.plays(*failing(subject.fails_after), task=0)
    subject.begin()
    subject.wait(0, FAILED, WAITING)


def test_retry_gives_a_failed_task_another_chance(subject: Subject) -> None:
    """`segue retry TASK`."""
    failed(subject)
    done = subject.retry(0)
    assert done.code == 0, done.said
    subject.drive()
    again = subject.again(0)  # its last state is the failed one until it begins
    subject.until(lambda: subject.state(again) == DONE, "another try")


def test_skip_passes_a_failed_task_over(subject: Subject) -> None:
    """`segue skip TASK`."""
    failed(subject)
    starts = len(subject.starts(0))
    done = subject.skip(0)
    assert done.code == 0, done.said
    subject.drive()
    subject.until(lambda: subject.state(0) in (SKIPPED, DONE), "its end")
    assert len(subject.starts(0)) == starts
