"""Several owners in one project share its memory and its accounts."""

from __future__ import annotations

from contract.scenes import turn
from contract.subjects import Subject
from contract.subjects.book import Books
from contract.subjects.records import DONE


def test_owners_that_begin_at_once_share_the_memory(subject: Subject) -> None:
    """In a new project: none of them takes what another has just made for damaged."""
    assert isinstance(subject, Books)
    subject.plays(turn())
    subject.begin_at_once(4)
    for task in range(4):
        subject.wait(task, DONE)
    assert "damaged" not in subject.transcript()
