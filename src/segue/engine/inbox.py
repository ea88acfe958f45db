"""The inbox of a loop: what happened, in its order, and one timer."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Generic, TypeVar

from segue.engine.alarm import Alarm
from segue.engine.clock import Clock

Happening = TypeVar("Happening")
TAKEN_MAX = 1_000  # happenings at once: the consumer processes all of them in one go


class Inbox(Generic[Happening]):
    """`due`: what is put into the inbox when the timer is due."""

    def __init__(self, clock: Clock, due: Happening) -> None:
        self._queue: asyncio.Queue[Happening] = asyncio.Queue()
        self._alarm = Alarm(clock, lambda: self.notify(due))

    def __len__(self) -> int:
        return self._queue.qsize()

    def notify(self, happening: Happening) -> None:
        self._queue.put_nowait(happening)

    def wake_at(self, at: datetime | None) -> None:
        """One timer, for the nearest instant; None: none is needed."""
        self._alarm.set(at)

    async def next(self, timeout_s: float | None = None) -> list[Happening]:
        """What has happened since, at least one thing; empty only after the timeout."""
        if not self._queue.empty():
            await asyncio.sleep(0)  # others first: very much may wait here
            told = [self._queue.get_nowait()]
        else:
            try:
                async with asyncio.timeout(timeout_s):
                    told = [await self._queue.get()]
            except TimeoutError:
                return []
        while not self._queue.empty() and len(told) < TAKEN_MAX:
            told.append(self._queue.get_nowait())
        return told

    def close(self) -> None:
        """Nothing is due any more, and what was not taken is dropped."""
        self._alarm.close()
        while not self._queue.empty():
            self._queue.get_nowait()
