"""An agent that says nothing for too long is ended and continued."""

from __future__ import annotations

import pytest

from contract.scenes import hang, say, turn
from contract.subjects import Subject
from contract.subjects.records import DONE, is_alive

pytestmark = pytest.mark.moments


def test_a_silent_agent_is_ended_and_the_task_continues(subject: Subject) -> None:
    """Past `silence_max`: the process is gone, and the task has another start."""
    subject.retries = 1
    subject.settings.agent = {"silence_after": "1s", "silence_max": "2s"}
    subject.plays(turn(say("I begin."), hang()))
    subject.begin()
    first = subject.started(0)
    subject.started(0, 2)
    assert not is_alive(first.pid)
    subject.wait(0, DONE)


def test_a_long_silence_is_reported_with_what_the_agent_does(subject: Subject) -> None:
    """People learn of it, and whether its processes live and have connections; it is left alone."""
    subject.settings.agent = {"silence_after": "1s"}
    subject.plays(turn(say("I begin."), hang()))
    subject.begin()
    first = subject.started(0)
    subject.until(lambda: "connections" in subject.transcript(), "the report")
    assert is_alive(first.pid)
