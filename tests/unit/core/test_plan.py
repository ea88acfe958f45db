"""What a plan says."""

from __future__ import annotations

import pytest

from segue.core.plan import FINISHED, MARKS, Priority, Task, TaskState


def test_what_is_finished_never_starts_by_itself() -> None:
    """Done, failed and skipped; what waits or runs is not."""
    assert set(MARKS) - FINISHED == {TaskState.PENDING, TaskState.IN_PROGRESS}
    assert not FINISHED & {TaskState.DRAFT, TaskState.REVIEW}


def test_the_most_urgent_sorts_first() -> None:
    """In the order in which a scheduler takes them."""
    assert sorted(Priority) == [
        Priority.CRITICAL, Priority.HIGH, Priority.NORMAL, Priority.LOW,
    ]  # fmt: skip


@pytest.mark.parametrize(("used", "is_past"), [(0, False), (2, False), (3, True)])
def test_a_task_is_past_its_limit_when_it_was_retried_more_often_than_it_may(
    used: int, is_past: bool
) -> None:
    """As often as it may is not too often."""
    assert Task("T-1", "one", retries=2, retries_used=used).is_past_limit is is_past
