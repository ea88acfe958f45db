"""Clocks in the hand of a test, and an event loop whose waits take no time.

Where nothing is ready on the loop, its next timer is due at once. What happens on it depends neither
on the machine nor on what else runs there. It is for code that waits with asyncio alone and asks a
`Clock` for the time.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

T = TypeVar("T")
TURNS_MAX = 10_000  # without a wait: somebody goes round and round
START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class _Selector(selectors.DefaultSelector):
    """Waits for nothing: what would be waited is added to the time that has passed."""

    passed_s = 0.0
    _turns = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self._turns = self._turns + 1 if timeout == 0 else 0
        assert self._turns < TURNS_MAX, "nobody waits, and nothing comes of it"
        ready = super().select(0 if timeout is not None else None)
        if not ready and timeout is not None and timeout > 0:
            self.passed_s += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """Its time is what would have been waited on it."""

    def __init__(self) -> None:
        self._waits = _Selector()
        super().__init__(self._waits)

    def time(self) -> float:
        return self._waits.passed_s


class HandClock:
    """Time passes when a test says so."""

    def __init__(self, at: datetime = START) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at

    def pass_s(self, seconds: float) -> datetime:
        self.at += timedelta(seconds=seconds)
        return self.at


class MovedClock:
    """The clock of the machine, set forward by as much as a test says."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead


class LoopClock:
    """The time of the loop that runs, as a clock on the wall."""

    def now(self) -> datetime:
        return START + timedelta(seconds=asyncio.get_running_loop().time())


def play(scene: Coroutine[Any, Any, T]) -> T:
    """Run a scene to its end."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(scene)
