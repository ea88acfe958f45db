"""Which panes hold an agent."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from kit import clock as virtual_time
from kit.pane_bench import FakeHost
from segue.drivers.panes import Pane, Panes
from segue.engine.executors.pane_discovery import (
    PROCESSES_S,
    FoundAgent,
    PaneDiscovery,
    agent_in,
)

AUTO = "  ⏵⏵ auto mode on (shift+tab to cycle)"


def test_an_agent_that_no_process_shows_is_known_by_its_screen(tmp_path: Path) -> None:
    """A pane that is gone holds none."""

    async def scene() -> None:
        host = FakeHost(str(tmp_path))
        pane = host.add("%1", "⏺ I begin.")
        assert await agent_in(pane.pane, host) is None
        pane.status = AUTO
        assert await agent_in(pane.pane, host) == FoundAgent("claude", is_by_screen=True)
        host.kill(pane)
        assert await agent_in(pane.pane, host) is None

    virtual_time.play(scene())


def test_a_pane_without_an_agent_is_looked_at_while_it_prints(tmp_path: Path) -> None:
    """Not more often than every so many seconds, and once an agent is there not again."""

    async def scene() -> None:
        host, found, looks = FakeHost(str(tmp_path)), [], []
        read = host.screen

        async def screen(pane_id: str, *, history_lines: int = 0) -> Any:
            looks.append(asyncio.get_running_loop().time())
            return await read(pane_id)

        host.screen = screen  # type: ignore[method-assign]
        pane = host.add("%1", "$")

        async def adopt(pane: Pane, host: Panes, agent: FoundAgent) -> None:
            found.append(agent)

        tasks: list[asyncio.Task[None]] = []

        def attend(work: Coroutine[Any, Any, None]) -> None:
            tasks.append(asyncio.create_task(work))

        discovery = PaneDiscovery(adopt, attend)
        discovery.add(pane.pane, host)
        for _n in range(100):
            discovery.change("%1")
            await asyncio.sleep(0.1)
        assert len(looks) <= 10 / PROCESSES_S
        pane.status = AUTO
        discovery.change("%1")
        await asyncio.sleep(2 * PROCESSES_S)
        assert found == [FoundAgent("claude", is_by_screen=True)]
        count = len(looks)
        discovery.change("%1")
        await asyncio.sleep(2 * PROCESSES_S)
        assert len(looks) == count
        discovery.close()

    virtual_time.play(scene())
