"""How often something that costs time may be done again.

Never more often than every so many seconds, and less often where once takes long: it may take a
tenth of the time at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

SHARE_MAX = 0.1
REST_S_MAX = 60.0  # also where the clock was set while it was done


@dataclass(slots=True)
class Pace:
    every_s: float
    _ended: datetime | None = None
    _rest: timedelta = timedelta()

    @property
    def was_done(self) -> bool:
        return self._ended is not None

    def left_s(self, now: datetime) -> float:
        """How long to wait until it may be done again; 0: now."""
        if self._ended is None or now < self._ended:  # never done yet, or the clock was set back
            return 0.0
        return max(0.0, (self._ended + self._rest - now).total_seconds())

    def done(self, began: datetime, ended: datetime) -> None:
        took_s = (ended - began).total_seconds()
        # Of the time from one beginning to the next, it takes its share and rests for the others.
        rest_s = max(self.every_s, took_s * (1 - SHARE_MAX) / SHARE_MAX)
        self._rest = timedelta(seconds=min(rest_s, max(REST_S_MAX, self.every_s)))
        self._ended = ended
