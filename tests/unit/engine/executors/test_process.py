"""The engine's inbox, its one timer and the folders it watches; without any process."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from kit.clock import HandClock
from segue.dialects.events import Event, Said
from segue.drivers.follow import CHUNK_BYTES
from segue.drivers.launcher import Launcher
from segue.engine import alarm, bell, inbox
from segue.engine.executors import (
    ActsAdded,
    Answered,
    Due,
    Ended,
    Executor,
    Finished,
    Happening,
    Job,
    PlanTouched,
    StopWanted,
    process,
)
from segue.engine.executors.process import ProcessExecutor
from segue.errors import AgentError

Act = Callable[[ProcessExecutor], Awaitable[None]]


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def play(tmp_path: Path, clock: HandClock) -> Iterator[Callable[[Act], None]]:
    """Lets something be done with an engine, in a loop of its own."""

    def play(act: Act) -> None:
        async def go() -> None:
            (tmp_path / "runs").mkdir(exist_ok=True)
            engine = ProcessExecutor(tmp_path / "runs", clock, Launcher())
            try:
                async with asyncio.timeout(10):
                    await act(engine)
            finally:
                await engine.close()

        asyncio.run(go())

    yield play


def test_the_process_executor_is_an_executor(play: Callable[[Act], None]) -> None:
    """It has all that the work asks of one."""

    wanted = [name for name in vars(Executor) if not name.startswith("_")]
    assert {"begin", "send", "end_input", "pause", "go_on", "look"} <= set(wanted)

    async def act(engine: ProcessExecutor) -> None:
        whole: Executor = engine
        assert all(callable(getattr(whole, name)) for name in wanted)

    play(act)


def test_what_happens_comes_in_order_and_all_at_once(play: Callable[[Act], None]) -> None:
    """Everything since the last look; nothing but an empty list after the timeout."""

    async def act(engine: ProcessExecutor) -> None:
        told: list[Happening] = [StopWanted(False), Answered("g", "yes"), ActsAdded()]
        for one in told:
            engine.notify(one)
        assert await engine.next() == told
        assert await engine.next(0.01) == []

    play(act)


def test_very_much_that_happened_comes_in_parts(play: Callable[[Act], None]) -> None:
    """Whoever works through it lets others have their turn after each part."""

    async def act(engine: ProcessExecutor) -> None:
        told: list[Happening] = [Answered(f"g{n}", "yes") for n in range(3 * inbox.TAKEN_MAX)]
        for one in told:
            engine.notify(one)
        turns = 0

        async def others() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        beside = asyncio.create_task(others())
        parts: list[list[Happening]] = []
        turns_seen: list[int] = []
        while sum(map(len, parts)) < len(told):
            parts.append(await engine.next())
            turns_seen.append(turns)
        beside.cancel()
        assert [one for part in parts for one in part] == told
        assert max(map(len, parts)) == inbox.TAKEN_MAX
        assert turns_seen == [1, 2, 3]

    play(act)


def test_a_run_that_ended_with_much_to_read_leaves_the_loop_its_turns(
    play: Callable[[Act], None], tmp_path: Path
) -> None:
    """Its end was found, and all that it had printed waits in its log: slice by slice."""
    slices: list[int] = []

    class Dialect:
        def feed(self, data: bytes) -> Iterator[Event]:
            slices.append(len(data))
            yield Said("x")

        def feed_err(self, data: bytes) -> Iterator[Event]:
            return self.feed(data)

        def close(self) -> Iterator[Event]:
            return iter(())

    async def act(engine: ProcessExecutor) -> None:
        for run in ("r1", "r2"):
            (tmp_path / f"{run}.log").write_bytes(b"x" * (20 * CHUNK_BYTES))
            end = {"code": 0, "signal": None, "by": "itself", "ended_at": 0.0, "error": None}
            (tmp_path / "runs" / f"{run}.end").write_text(json.dumps(end))
            job = Job(run, ("true",), {}, tmp_path, tmp_path / f"{run}.log", Dialect())
            assert isinstance(engine.recover(job), Finished)
        seen = [0]

        async def others() -> None:
            while True:
                seen.append(len(slices))
                await asyncio.sleep(0)

        beside = asyncio.create_task(others())
        happened: list[Happening] = []
        while sum(isinstance(one, Ended) for one in happened) < 2:
            happened += await engine.next()
        beside.cancel()
        assert len(slices) == 40
        assert max(b - a for a, b in pairwise(seen)) <= 1

    play(act)


def test_one_that_waits_is_woken_by_the_first_thing(play: Callable[[Act], None]) -> None:
    """Nothing is polled for."""

    async def act(engine: ProcessExecutor) -> None:
        waiting = asyncio.create_task(engine.next())
        await asyncio.sleep(0)
        engine.want_stop(now=True)
        assert await waiting == [StopWanted(True)]

    play(act)


def test_an_error_in_an_action_is_raised_where_the_inbox_is_read(
    play: Callable[[Act], None],
) -> None:
    """It is not lost in the loop; what was told before it is still in order."""

    async def act(engine: ProcessExecutor) -> None:
        def fail() -> None:
            raise OSError("the disk is full")

        engine.soon(fail)
        with pytest.raises(OSError, match="the disk is full"):
            await engine.next()

    play(act)


@pytest.mark.parametrize("ahead_s", [-10.0, 0.0, 0.01])
def test_the_timer_tells_when_its_instant_has_come(
    play: Callable[[Act], None], clock: HandClock, ahead_s: float
) -> None:
    """At once for one that is past."""

    async def act(engine: ProcessExecutor) -> None:
        engine.wake_at(clock.at + timedelta(seconds=ahead_s))
        assert await engine.next() == [Due()]
        assert await engine.next(0.03) == [], "once"

    play(act)


def test_there_is_one_timer(play: Callable[[Act], None], clock: HandClock) -> None:
    """The last instant counts; none means none."""

    async def act(engine: ProcessExecutor) -> None:
        engine.wake_at(clock.at)
        engine.wake_at(clock.at + timedelta(hours=1))
        assert await engine.next(0.03) == []
        engine.wake_at(clock.at)
        engine.wake_at(None)
        assert await engine.next(0.03) == []

    play(act)


def test_a_far_instant_is_looked_at_again_before_it(
    play: Callable[[Act], None], clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clocks jump and machines sleep: a timer of hours would be wrong by as much."""
    monkeypatch.setattr(alarm, "SLEEP_S_MAX", 0.01)

    async def act(engine: ProcessExecutor) -> None:
        engine.wake_at(clock.at + timedelta(days=7))
        assert await engine.next() == [Due()]

    play(act)


def test_the_bell_is_heard(play: Callable[[Act], None], tmp_path: Path) -> None:
    """Each time that somebody rings; other files beside it say nothing."""

    async def act(engine: ProcessExecutor) -> None:
        engine.watch_bell(tmp_path)
        (tmp_path / "other").touch()
        assert await engine.next(0.03) == []
        for _time in range(2):
            bell.ring(tmp_path)
            assert await engine.next() == [ActsAdded()]

    play(act)


def test_only_the_plan_itself_is_told_of(play: Callable[[Act], None], tmp_path: Path) -> None:
    """Others may write in its folder as they like."""
    folder = tmp_path / "docs"
    folder.mkdir()

    async def act(engine: ProcessExecutor) -> None:
        engine.watch_plan(folder / "PLAN.md")
        (folder / "other.md").write_text("x")
        assert await engine.next(0.05) == []
        (folder / "PLAN.md").write_text("x")
        assert PlanTouched() in await engine.next()

    play(act)


def test_what_runs_left_long_ago_is_swept(
    play: Callable[[Act], None], tmp_path: Path, clock: HandClock
) -> None:
    """A week old, also a dangling link; younger things stay."""
    runs = tmp_path / "runs"
    runs.mkdir()
    now = clock.at.timestamp()
    ages = {"old": process.SWEEP_AFTER_S + 60, "young": process.SWEEP_AFTER_S - 60, "link": 1e7}
    for name, age_s in ages.items():
        path = runs / name
        if name == "link":
            path.symlink_to("nowhere")
        else:
            path.write_text("")
        os.utime(path, (now - age_s, now - age_s), follow_symlinks=False)

    async def act(engine: ProcessExecutor) -> None:
        engine.sweep()

    play(act)
    assert [path.name for path in runs.iterdir()] == ["young"]


def test_a_job_that_is_not_there_can_be_asked_for_nothing(play: Callable[[Act], None]) -> None:
    """Sending says so; all else does nothing."""

    async def act(engine: ProcessExecutor) -> None:
        with pytest.raises(AgentError):
            engine.send("nobody", b"x")
        engine.end_input("nobody")
        engine.pause("nobody")
        engine.go_on("nobody")
        engine.end_unknown("nobody")
        engine.forget("nobody")
        assert engine.look("nobody") is None
        assert await engine.next(0.01) == []

    play(act)
