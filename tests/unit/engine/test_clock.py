"""The clock of the machine."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from segue.engine.clock import SystemClock


def test_it_tells_this_instant_in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever zone the machine is set to."""
    monkeypatch.setenv("TZ", "Asia/Seoul")
    before = datetime.now(UTC)
    now = SystemClock().now()
    assert before <= now <= datetime.now(UTC)
    assert now.utcoffset() == timedelta()
