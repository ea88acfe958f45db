"""Another agent takes over while the account is parked for long."""

from __future__ import annotations

import json

import pytest

from contract.scenes import HOUR_S, limit, say, turn, work
from contract.subjects import Subject
from contract.subjects.records import DONE, PARKED

pytestmark = pytest.mark.moments


def with_fallback(subject: Subject, after: str) -> None:
    subject.settings.agent = {"fallback": "other", "fallback_after": after}
    table = {"kind": "command", "command": subject.player("other", "text"), "account": "spare"}
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in table.items())
    subject.settings.more += f"[agents.other]\n{lines}"


def test_the_fallback_takes_over(subject: Subject) -> None:
    """Parked for longer than `fallback_after`: the other agent does it and learns what was done."""
    with_fallback(subject, "30m")
    subject.plays(turn(say("half of it is made"), limit(2 * HOUR_S)))
    subject.begin()
    subject.wait(0, DONE, unless=[PARKED])
    assert [start.agent for start in subject.starts(0)] == ["actor", "other"]
    assert "half of it is made" in subject.starts(0)[1].prompt


def test_the_first_agent_returns_after_the_reset(subject: Subject) -> None:
    """What starts when the account is open again goes to the task's own agent."""
    with_fallback(subject, "1s")
    subject.plays(turn(limit(4)), turn(work(5)))
    subject.begin_in_turn()
    subject.until(lambda: len(subject.starts()) >= 3 or not subject.is_driven(), "three starts")
    assert [start.agent for start in subject.starts()][:3] == ["actor", "other", "actor"]
    subject.wait(subject.count - 1, DONE)
