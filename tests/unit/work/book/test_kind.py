"""What makes a folder a book, and what a person can do about it."""

from __future__ import annotations

from segue.work.book.kind import BookKind


def test_a_chapter_that_failed_is_taken_up_again_by_unskip() -> None:
    """Its state file says how a chapter stands, whatever became of its last step."""
    kind = BookKind()
    assert kind.failed_acts == ("unskip",)
    assert kind.has_own_states
    assert "book.toml" in kind.marks
