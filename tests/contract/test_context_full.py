"""A full context is compacted, or the task begins afresh with a summary."""

from __future__ import annotations

from contract.scenes import full, say, turn, work
from contract.subjects import Subject
from contract.subjects.records import DONE


def test_a_full_context_is_compacted_first(structured: Subject) -> None:
    """The agent's own `/compact` in the same conversation, then the resume text."""
    structured.plays(turn(full()), turn(say("Conversation compacted")), turn(work(1)))
    structured.begin()
    structured.started(0, 2)
    structured.wait(0, DONE)
    structured.started(0, 3)
    first, compaction, after = structured.starts(0)
    assert compaction.prompt.strip() == "/compact"
    assert after.prompt.strip() == "continue"
    assert first.conversation == compaction.conversation == after.conversation


def test_an_agent_without_compaction_begins_afresh_with_a_summary(subject: Subject) -> None:
    """The prompt of a new conversation says what the old one had done."""
    subject.plays(turn(say("the schema is made"), full()))
    subject.begin()
    subject.wait(0, DONE)
    first, second = subject.starts(0)
    assert second.conversation != first.conversation
    assert "the schema is made" in second.prompt
