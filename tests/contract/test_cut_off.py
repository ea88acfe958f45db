"""Death: what lives is adopted, a park wakes once, a cut-off run learns that it was interrupted."""

from __future__ import annotations

import pytest

from contract.scenes import hold, limit, turn, work
from contract.subjects import Subject
from contract.subjects.records import DONE, RUNNING

pytestmark = pytest.mark.moments


def test_a_living_agent_is_adopted(subject: Subject) -> None:
    """kill -9 of Segue alone: the agent works on, and its end counts; it starts once."""
    subject.plays(turn(hold("go")))
    subject.begin()
    subject.started(0)
    subject.wait(0, RUNNING)
    subject.kill()
    subject.drive()
    subject.release("go")
    subject.wait(0, DONE)
    assert len(subject.starts(0)) == 1


def test_a_park_survives_kill_9(subject: Subject) -> None:
    """Woken once, not before its time, in its conversation."""
    subject.plays(turn(limit(5)), turn(work(1)))
    subject.begin()
    park = subject.park_of(0)
    subject.kill()
    subject.drive()
    second = subject.started(0, 2)
    subject.wait(0, DONE)
    assert park.wakes_at is not None
    assert second.at >= park.wakes_at - 0.05
    assert second.is_resume
    assert second.conversation == subject.starts(0)[0].conversation
    assert len(subject.starts(0)) == 2


def cut_off(subject: Subject) -> None:
    """Everything dies in the middle of the first run; then the work is driven again."""
    subject.plays(turn(work(1), hold("never")))
    subject.begin()
    subject.started(0)
    subject.wait(0, RUNNING)
    subject.power_cut()
    subject.drive()
    subject.started(0, 2)


def says_so(prompt: str) -> bool:
    return "interrupted" in prompt.lower() and "unfinished" in prompt.lower()


def test_a_cut_off_run_learns_of_it_in_its_conversation(structured: Subject) -> None:
    """It runs again in its conversation; its prompt names the interruption and unfinished edits."""
    cut_off(structured)
    first, second = structured.starts(0)
    assert second.conversation == first.conversation
    assert says_so(second.prompt), second.prompt
    structured.wait(0, DONE)


def test_a_cut_off_run_without_a_conversation_learns_of_it(subject: Subject) -> None:
    """The prompt of every agent names the interruption and unfinished edits."""
    cut_off(subject)
    assert says_so(subject.starts(0)[1].prompt), subject.starts(0)[1].prompt
    subject.wait(0, DONE)
