"""The server's tasks, driven by the one loop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.app import House
from segue.engine.loop import Rest
from segue.work.phases.app import App
from segue.work.phases.processes import Processes


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    """Opened, and not driven."""
    house = House(tmp_path)
    opened: list[App] = []

    async def open_it() -> None:
        async with house.open() as server:
            opened.append(server.app)

    asyncio.run(open_it())
    yield opened[0]


def test_a_server_that_stops_is_over_and_gives_no_more_turns(app: App) -> None:
    """What runs is left for the next start."""
    assert app.supervisor.is_stopping
    assert app.driver.rest() is Rest.OVER


def test_a_server_waits_for_what_happens_however_long(app: App) -> None:
    """Every commit is made at once: nothing is left to be written later."""
    app.supervisor.is_stopping = False
    assert (app.driver.rest(), app.driver.wait_s) == (Rest.WAIT, None)


def test_trouble_that_concerns_all_is_raised_at_the_next_turn(app: App) -> None:
    """There the loop waits until it is over."""
    app.supervisor.trouble = OSError("no space is left")
    with pytest.raises(OSError, match="no space"):
        app.driver.take_in()


def test_the_supervisor_gets_its_processes_from_the_driver(app: App) -> None:
    """Whoever commits rows asks it alone."""
    processes = getattr(app.supervisor.reconcile, "__self__", None)
    assert processes == Processes(app.supervisor)
