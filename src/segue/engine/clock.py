"""The clock as a parameter."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """This instant, UTC and aware."""
        ...


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)
