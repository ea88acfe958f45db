"""When people are told again of what waits for them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from segue.work import reminders
from segue.work.settings.config import ReviewSettings

SINCE = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
STEPS = reminders.steps(ReviewSettings())
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("hours", "kind"),
    [(0, None), (23.9, None), (24, "remind"), (48, "urgent"), (71, "urgent"), (1000, "escalate")],
)
def test_only_the_last_that_is_due_counts(hours: float, kind: str | None) -> None:
    """Those that fell due while nobody ran the work are not sent one after the other."""
    assert reminders.due(SINCE, SINCE + hours * HOUR, STEPS) == kind


def test_the_next_one_is_the_first_of_all_that_wait() -> None:
    """What is over is not waited for again."""
    waiting = [SINCE, SINCE + 10 * HOUR]
    found = reminders.next_at(waiting, SINCE + 30 * HOUR, STEPS)
    assert found == SINCE + 34 * HOUR
    assert reminders.next_at(waiting, SINCE + 200 * HOUR, STEPS) is None
    assert reminders.next_at([], SINCE, STEPS) is None
