"""At the reset one run goes first; when it works for real the others follow, spaced out."""

from __future__ import annotations

import time

import pytest

from contract.scenes import Step, hold, limit, pause, say, turn, work
from contract.subjects import Subject
from contract.subjects.records import DONE, PARKED, RUNNING, Start

pytestmark = pytest.mark.moments
TASKS = 3
RESET_S = 4
SILENCE_S = 6  # longer than Segue waits between two that follow


def limited_together(subject: Subject, *later: list[Step], tasks: int = TASKS) -> None:
    """All tasks of one account hit the same limit at once."""
    subject.plays(turn(hold("all"), limit(RESET_S)), *later)
    subject.begin(tasks)
    for task in range(tasks):
        subject.wait(task, RUNNING)
        subject.started(task)
    subject.release("all")
    for task in range(tasks):
        subject.wait(task, PARKED)


def woken(subject: Subject, tasks: int = TASKS) -> list[Start]:
    """The second start of each task, in their order."""
    for task in range(tasks):
        subject.wait(task, DONE)
        assert len(subject.starts(task)) == 2, "once"
    return sorted((subject.starts(task)[1] for task in range(tasks)), key=lambda start: start.at)


def test_the_rest_wait_until_the_first_one_works_for_real(subject: Subject) -> None:
    """A first word is no proof: the others follow when it has worked for about 5 s or ended well."""
    limited_together(subject, turn(say("Hello."), pause(SILENCE_S), work(1)), tasks=2)
    canary, second = woken(subject, 2)
    least_s = 4.5 if subject.is_pane else SILENCE_S  # a pane that draws for 5 s is at work
    assert second.at - canary.at > least_s, subject.transcript()


def test_the_rest_follow_one_by_one(subject: Subject) -> None:
    """Once the first one works, the others start at different times."""
    limited_together(subject, turn(work(1)))
    canary, second, third = woken(subject)
    assert canary.at < second.at
    assert third.at - second.at > 0.3, subject.transcript()


def test_a_refusal_does_not_open_the_account(structured: Subject) -> None:
    """The first one greets and is refused again: no other run is sent into the same wall."""
    silence_s = 2 if structured.is_pane else SILENCE_S
    limited_together(structured, turn(say("Hello."), pause(silence_s), limit(30)))
    structured.until(lambda: len(structured.starts()) > TASKS, "the first one")
    canary = structured.starts()[-1]
    structured.until(lambda: time.time() > canary.at + silence_s + 2, "its refusal")
    assert len(structured.starts()) == TASKS + 1, structured.transcript()


def test_killed_while_the_first_one_is_under_way(subject: Subject) -> None:
    """kill -9 between the first one and the rest: each of them is woken once, none is lost."""
    limited_together(subject, turn(work(2)))
    subject.until(lambda: len(subject.starts()) > TASKS, "the first one")
    subject.kill()
    subject.drive()
    woken(subject)
