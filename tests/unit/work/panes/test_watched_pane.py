"""A pane as its watcher knows it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from segue.core.machines import PaneState
from segue.work.panes.watched_pane import WatchedPane

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def pane(**values: Any) -> WatchedPane:
    given = {"state": PaneState.PAUSED, "wakes_at": AT, **values}
    return WatchedPane(
        "job", given.pop("place", "%3"), "claude", "work", version=1, task="panes/%3", **given
    )


@pytest.mark.parametrize(("place", "number"), [("%3", "3"), ("wezterm:12", "12"), ("pane", "pane")])
def test_a_pane_is_called_by_its_number(place: str, number: str) -> None:
    """As the log lines do."""
    assert pane(place=place).number == number


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, True),
        ({"wakes_at": None}, False),
        ({"state": PaneState.BUSY}, False),
        ({"holder": 7}, False),
        ({"is_held": True}, False),
        ({"is_attended": True}, False),
        ({"is_rehearsed": True}, False),
    ],
)
def test_who_is_resumed_at_its_time(values: dict[str, Any], expected: bool) -> None:
    """One that is parked, ours, and left alone by nobody's wish."""
    assert pane(**values).is_waiting is expected


def test_the_stop_that_it_is_in() -> None:
    """With the words that name it, by which it is known again."""
    limit = pane(kind="weekly_limit", evidence="resets 3pm", resets_at=AT).limit
    assert (limit.kind, limit.text, limit.resets_at) == ("weekly_limit", "resets 3pm", AT)
