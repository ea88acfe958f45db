"""What every host of panes does alike: look while it is open, and tell whether it is there."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from contextlib import suppress
from types import TracebackType
from typing import Self

from segue.drivers.panes import HostBack, HostGone, PaneEvents


class PaneHost(ABC):
    """Open with `async with`: `_keep` runs until it is closed, and says when it has `_looked`."""

    def __init__(self) -> None:
        self._events = PaneEvents()
        self._looked = asyncio.Event()
        self._is_gone = False
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._keep())
        looked = asyncio.create_task(self._looked.wait())
        try:
            await asyncio.wait([looked, self._task], return_when=asyncio.FIRST_COMPLETED)
        finally:
            looked.cancel()
        if self._task.done():
            await self._task  # a bug: it never ends by itself
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._task is not None
        self._task.cancel()
        try:
            with suppress(asyncio.CancelledError):
                await self._task
        finally:
            await self._close()
            self._events.close()

    def events(self) -> PaneEvents:
        return self._events

    @abstractmethod
    async def _keep(self) -> None:
        """Look at what is there whenever it is time to, for ever."""

    async def _close(self) -> None:  # noqa: B027 - not every host holds something
        """Let go of what `_keep` holds."""

    def _found(self) -> None:
        if self._is_gone:
            self._is_gone = False
            self._events.put(HostBack())

    def _lost(self, reason: str) -> None:
        if not self._is_gone:
            self._is_gone = True
            self._events.put(HostGone(reason))
        self._looked.set()
