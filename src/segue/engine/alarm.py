"""One instant of the wall clock that is waited for, whatever the clock does meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime

from segue.drivers.clock_jumps import ClockJumps
from segue.engine.clock import Clock

SLEEP_S_MAX = 60.0  # the clock is looked at again at least so often, in case a jump is not reported


class Alarm:
    """Rings once for each instant that it is set to: when it has come, and earlier when the clock
    jumped or the machine slept, so that waiters look at the clock again."""

    def __init__(
        self,
        clock: Clock,
        ring: Callable[[], None],
        jumps: Callable[[Callable[[], None]], ClockJumps] = ClockJumps,
    ) -> None:
        self._clock, self._ring, self._make_jumps = clock, ring, jumps
        self._timer: asyncio.TimerHandle | None = None
        self._jumps: ClockJumps | None = None

    def set(self, at: datetime | None) -> None:
        """To another instant, or to none."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if at is None:
            return
        wait_s = max(0.0, (at - self._clock.now()).total_seconds())
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(min(wait_s, SLEEP_S_MAX), self._now)
        if self._jumps is None:
            self._jumps = self._make_jumps(self._jumped)

    def close(self) -> None:
        self.set(None)
        if self._jumps is not None:
            self._jumps.close()
            self._jumps = None

    def _jumped(self) -> None:
        if self._timer is not None:
            self._now()

    def _now(self) -> None:
        self.set(None)
        self._ring()
