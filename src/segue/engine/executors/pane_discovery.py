"""Which panes hold an agent: by the processes in them, and where these cannot tell by the screen.

A pane without an agent is looked at when it appears and, now and then, while it prints: one that
is quiet costs nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from segue.dialects.frames import agent_shown
from segue.drivers.pane_agents import agent_of, may_hide_agent
from segue.drivers.panes import Pane, PaneError, Panes

PROCESSES_S = 2.0  # between two looks at a pane without an agent


@dataclass(frozen=True, slots=True)
class FoundAgent:
    """An agent in a pane. `is_by_screen`: no process shows it."""

    agent: str
    is_by_screen: bool = False


async def agent_in(pane: Pane, host: Panes) -> FoundAgent | None:
    """A look at the processes of this moment, and at the screen if they leave room for doubt."""
    if agent := agent_of(pane):
        return FoundAgent(agent)
    if not may_hide_agent(pane):
        return None
    try:
        shown = agent_shown(await host.screen(pane.id))
    except PaneError:  # gone, or silent: the next look tells
        return None
    return FoundAgent(shown, is_by_screen=True) if shown else None


@dataclass(slots=True, eq=False)
class _Other:
    """A pane that holds no agent now."""

    pane: Pane
    host: Panes
    looked_s: float
    timer: asyncio.TimerHandle | None = None


class PaneDiscovery:
    """`adopt` takes over a pane in which an agent was found, `do` runs something beside."""

    def __init__(
        self,
        adopt: Callable[[Pane, Panes, FoundAgent], Coroutine[Any, Any, None]],
        do: Callable[[Coroutine[Any, Any, None]], object],
    ) -> None:
        self._adopt, self._do = adopt, do
        self._others: dict[str, _Other] = {}

    def add(self, pane: Pane, host: Panes) -> None:
        """A pane that was just looked at, and holds no agent."""
        self._others[pane.id] = _Other(pane, host, asyncio.get_running_loop().time())

    def change(self, pane_id: str) -> None:
        """It printed something: a program may have been started in it."""
        other = self._others.get(pane_id)
        if other is not None and other.timer is None:
            at = max(asyncio.get_running_loop().time(), other.looked_s + PROCESSES_S)
            loop = asyncio.get_running_loop()
            other.timer = loop.call_at(at, lambda: self._do(self._find(other)))

    def drop(self, pane_id: str) -> None:
        self._cancel(self._others.pop(pane_id, None))

    def drop_host(self, host: Panes) -> None:
        for pane_id in [other.pane.id for other in self._others.values() if other.host is host]:
            self.drop(pane_id)

    def close(self) -> None:
        for other in self._others.values():
            self._cancel(other)

    async def _find(self, other: _Other) -> None:
        other.looked_s = asyncio.get_running_loop().time()
        other.timer = None  # what is printed from now on is worth another look
        found = await agent_in(other.pane, other.host)
        if found is not None and self._others.get(other.pane.id) is other:
            self.drop(other.pane.id)
            await self._adopt(other.pane, other.host, found)

    @staticmethod
    def _cancel(other: _Other | None) -> None:
        if other is not None and other.timer is not None:
            other.timer.cancel()
            other.timer = None
