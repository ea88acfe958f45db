"""The pane executor on panes in memory: what it finds, reads, types and tells."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kit import clock as virtual_time
from kit.clock import LoopClock
from kit.pane_bench import FakeHost
from segue.core.machines import PaneState
from segue.drivers.pane_lock import PaneLock
from segue.drivers.panes import Pane, PaneError
from segue.engine.executors import Broke, Due, Ended, Found, Happening, Shown, Typed, Unreadable
from segue.engine.executors.pane import LOCKED_S, PaneExecutor, ScreenRules, job_id
from segue.engine.executors.pane_typing import Prompt, Resumed

STOP = "  ⎿ You've hit your 5-hour limit · try again in 2 hours"
Scene = Callable[["Bench"], Awaitable[None]]


@dataclass
class Bench:
    """An executor, its host, and what it told."""

    host: FakeHost
    told: list[Happening] = field(default_factory=list)
    claims: list[str] = field(default_factory=list)

    @asynccontextmanager
    async def at_work(self, **options: object) -> AsyncIterator[PaneExecutor]:
        hosts, clock = {"tmux": self.host}, LoopClock()
        executor = PaneExecutor(hosts, clock, ScreenRules(), **{"agent": "claude", **options})  # type: ignore[arg-type]
        await executor.open()
        executor.watch()
        try:
            yield executor
        finally:
            await executor.close()

    async def until(self, executor: PaneExecutor, kind: type[Happening]) -> Happening:
        """The next of a kind; the others are kept as well."""
        async with asyncio.timeout(60):
            while True:
                fresh = await executor.next()
                self.told += fresh
                for happening in fresh:
                    if isinstance(happening, kind):
                        return happening

    # the log of a try

    def claim(self, step: str, *, is_new: bool) -> bool:
        self.claims.append(step)
        return True

    def begun(self) -> None:
        pass

    def typed(self, action: str, text: str) -> None:
        pass

    def not_typed(self, error: PaneError) -> None:
        pass


@pytest.fixture
def play(tmp_path: Path) -> Callable[[Scene], Bench]:
    def run(scene: Scene) -> Bench:
        bench = Bench(FakeHost(str(tmp_path / "socket")))
        virtual_time.play(scene(bench))  # type: ignore[arg-type]
        return bench

    return run


def prompt_for(shown: Shown) -> Prompt:
    assert shown.reading.limit is not None
    return Prompt("계속", shown.reading.limit, "claude", recheck_s=0.1)


def test_a_pane_is_found_and_then_shown(play: Callable[[Scene], Bench]) -> None:
    """Under a job of its own, by the name that people use, with what its screen says."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", STOP)
        async with bench.at_work() as executor:
            shown = await bench.until(executor, Shown)
        job = job_id(pane.pane)
        assert bench.told[0] == Found(job, "%1", "claude")
        assert isinstance(shown, Shown)
        assert shown.reading.limit is not None
        assert (shown.job, shown.has_ended) == (job, False)

    play(scene)


def test_a_prompt_is_typed_and_its_outcome_told(play: Callable[[Scene], Bench]) -> None:
    """Meanwhile its screens are nobody's business but the typist's."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", STOP)
        async with bench.at_work() as executor:
            found = await bench.until(executor, Shown)
            assert isinstance(found, Shown)
            bench.told.clear()
            executor.begin(found.job, prompt_for(found), bench)
            assert executor.is_typing(found.job)
            typed = await bench.until(executor, Typed)
            assert not executor.is_typing(found.job)
        assert isinstance(typed, Typed)
        assert isinstance(typed.outcome, Resumed)
        assert typed.outcome.reading.state is PaneState.BUSY
        assert (pane.sent, bench.claims) == (["계속", "\r"], ["text"])
        assert bench.told == [typed]

    play(scene)


def test_a_pane_that_goes_while_something_is_typed_has_ended(
    play: Callable[[Scene], Bench],
) -> None:
    """Once."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.", "", STOP)

        async def kill(text: str) -> None:
            bench.host.kill(pane)

        bench.host.before_send = kill
        async with bench.at_work() as executor:
            found = await bench.until(executor, Shown)
            assert isinstance(found, Shown)
            executor.begin(found.job, prompt_for(found), bench)
            await bench.until(executor, Ended)
            executor.wake_at(LoopClock().now())
            await bench.until(executor, Due)
        assert len([told for told in bench.told if isinstance(told, Ended)]) == 1

    play(scene)


def test_a_pane_of_another_owner_is_found_anew_when_that_lets_go(
    play: Callable[[Scene], Bench],
) -> None:
    """Its process is named meanwhile."""

    async def scene(bench: Bench) -> None:
        pane = bench.host.add("%1", "⏺ I begin.")
        other = PaneLock(pane.pane)
        assert other.take() is None
        async with bench.at_work() as executor:
            found = await bench.until(executor, Found)
            assert isinstance(found, Found)
            assert found.holder
            other.release()
            began = asyncio.get_running_loop().time()
            while found.holder is not None:
                found = await bench.until(executor, Found)
                assert isinstance(found, Found)
            assert asyncio.get_running_loop().time() - began <= LOCKED_S

    play(scene)


def test_a_screen_that_cannot_be_read_is_not_an_unchanged_one(
    play: Callable[[Scene], Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told as such."""

    async def refuse(pane_id: str, *, history_lines: int = 0) -> None:
        raise PaneError("no answer")

    async def scene(bench: Bench) -> None:
        bench.host.add("%1", "⏺ I begin.")
        monkeypatch.setattr(bench.host, "screen", refuse)
        async with bench.at_work() as executor:
            told = await bench.until(executor, Unreadable)
        assert isinstance(told, Unreadable)
        assert (told.error, told.is_typing) == ("no answer", False)

    play(scene)


def test_an_error_of_our_own_comes_through_the_inbox(
    play: Callable[[Scene], Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that happens beside the loop is lost."""

    async def broken(pane_id: str, *, history_lines: int = 0) -> None:
        raise ZeroDivisionError

    async def scene(bench: Bench) -> None:
        bench.host.add("%1", "⏺ I begin.")
        monkeypatch.setattr(bench.host, "screen", broken)
        async with bench.at_work() as executor:
            broke = await bench.until(executor, Broke)
        assert isinstance(broke, Broke)
        assert isinstance(broke.error, ZeroDivisionError)

    play(scene)


def test_only_named_panes_are_found(play: Callable[[Scene], Bench]) -> None:
    """Whatever runs in them."""

    async def scene(bench: Bench) -> None:
        for number in (1, 2, 3):
            bench.host.add(f"%{number}", "$")
        async with bench.at_work(named=frozenset({"%2"}), agent=None) as executor:
            assert sorted(await executor.places()) == ["%1", "%2", "%3"]
            await bench.until(executor, Shown)
        assert [told.place for told in bench.told if isinstance(told, Found)] == ["%2"]

    play(scene)


def test_a_job_is_of_one_pane_and_no_other() -> None:
    """A new server gives the same numbers again."""
    pane = Pane("%1", "tmux", "/run/s", 24, 80, pid=7)
    others = [
        Pane("%2", "tmux", "/run/s", 24, 80, pid=7),
        Pane("%1", "tmux", "/run/t", 24, 80, pid=7),
        Pane("%1", "tmux", "/run/s", 24, 80, pid=8),
    ]
    assert job_id(pane) == job_id(Pane("%1", "tmux", "/run/s", 40, 90, title="x", pid=7))
    assert job_id(pane) not in map(job_id, others)
