"""What people want of watched panes, and what of a pane needs them: acts and gates of `panes`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kit import clock as virtual_time
from kit.clock import LoopClock
from kit.pane_bench import Bench, FakePane, ignores, make_bench
from segue import i18n
from segue.core.machines import ActState
from segue.engine import acts
from segue.engine.acts import Verb, Wanted
from segue.store.actors import Actor
from segue.store.changes import stamp
from segue.store.rows import PANES, ActRow
from segue.work.panes.pane_acts import PaneActs
from segue.work.panes.pane_records import PaneRecords
from segue.work.panes.watcher import Watcher

LATER = "  ⎿ You've hit your 5-hour limit · try again in 2 hours"
BILLING = "  ⎿ Credit balance is too low"
now = LoopClock().now

Scene = Callable[[Bench], Awaitable[None]]


@pytest.fixture
def play(tmp_path: Path) -> Callable[[Scene], Bench]:
    def run(scene: Scene) -> Bench:
        i18n.use("en")
        bench = make_bench(tmp_path)
        virtual_time.play(scene(bench))  # type: ignore[arg-type]
        return bench

    return run


def wants(bench: Bench, watcher: Watcher, verb: Verb, pane: str = "%1", **data: str) -> ActRow:
    """A person wants it; the watcher hears the bell."""
    assert bench.store is not None
    wanted = Wanted(verb, PANES, Actor("kim", "terminal"), f"{PANES}/{pane}", data=data)
    id = acts.add(bench.store, wanted, now())
    PaneActs(bench.store, watcher, LoopClock()).take_in()
    return acts.outcome(bench.store, id)


def gates(bench: Bench) -> list[tuple[str, str]]:
    assert bench.store is not None
    rows = bench.store.all("SELECT state, category FROM gates WHERE work = ? ORDER BY rowid", PANES)
    return [(row["state"], row["category"]) for row in rows]


def test_a_pane_is_woken_from_another_terminal(play: Callable[[Scene], Bench]) -> None:
    """It is told to continue, once."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", LATER)
        async with bench.watching() as watcher:
            await bench.state(pane, "paused")
            assert wants(bench, watcher, Verb.WAKE).state is ActState.TAKEN
            await bench.state(pane, "busy")
            await asyncio.sleep(1)
        assert pane.sent == ["계속", "\r"]

    play(scene)


def test_a_parked_pane_gets_another_time(play: Callable[[Scene], Bench]) -> None:
    """In one transaction with the act."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", LATER)
        until = now() + timedelta(hours=9)
        async with bench.watching() as watcher:
            await bench.state(pane, "paused")
            assert wants(bench, watcher, Verb.PARK, until=stamp(until)).state is ActState.TAKEN
            assert watcher.panes["%1"].wakes_at == until

    play(scene)


@pytest.mark.parametrize("verb", [Verb.PARK, Verb.WAKE, Verb.RETRY])
def test_what_cannot_be_done_with_a_pane_is_refused(
    play: Callable[[Scene], Bench], verb: Verb
) -> None:
    """In words: Segue ends no program of a person's."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.")
        async with bench.watching() as watcher:
            await bench.state(pane, "idle")
            found = wants(bench, watcher, verb, until=stamp(now()))
            assert (found.state, bool(found.reason)) == (ActState.REFUSED, True)

    play(scene)


def test_a_pane_of_another_watcher_is_left_to_it(play: Callable[[Scene], Bench]) -> None:
    """The act waits."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", LATER)
        async with bench.watching() as watcher:
            await bench.state(pane, "paused")
            assert bench.store is not None
            PaneRecords(bench.store, LoopClock()).adopt("job", "%7", "claude", "work")
            assert wants(bench, watcher, Verb.WAKE, "%7").state is ActState.WAITING

    play(scene)


def resumes(bench: Bench, pane: FakePane) -> Any:
    pane.body[:], pane.is_busy = ["⏺ I continue."], True
    bench.host.change(pane)


def test_what_needs_a_person_is_a_gate_until_the_pane_continues(
    play: Callable[[Scene], Bench],
) -> None:
    """Opened with the pane's move, the same for the next watcher, withdrawn when it works."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", BILLING)
        async with bench.watching():
            await bench.state(pane, "blocked")
            assert gates(bench) == [("pending", "billing")]
        async with bench.watching():
            await asyncio.sleep(1)
            assert gates(bench) == [("pending", "billing")]
            resumes(bench, pane)
            await bench.state(pane, "busy")
            assert gates(bench) == [("withdrawn", "billing")]

    play(scene)


@pytest.mark.parametrize("verb", [Verb.WAKE, Verb.RETRY])
def test_a_pane_that_could_not_be_resumed_is_a_gate_and_can_be_woken(
    play: Callable[[Scene], Bench], verb: Verb
) -> None:
    """A person has seen to it, and wants another try."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", LATER.replace("2 hours", "1 second"))
        pane.reacts = ignores
        async with bench.watching() as watcher:
            await bench.state(pane, "error")
            assert gates(bench) == [("pending", "session_limit")]
            pane.reacts = None
            assert wants(bench, watcher, verb).state is ActState.TAKEN
            assert gates(bench) == [("withdrawn", "session_limit")]
            await bench.state(pane, "busy")

    play(scene)
