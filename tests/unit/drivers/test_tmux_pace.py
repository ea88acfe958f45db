"""How often a pane's output is told, by a clock that the test turns."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from segue.drivers.tmux_client import Replies
from segue.drivers.tmux_pace import REST_S, REST_S_MAX, Pace


class Bench:
    """A pace, what it told and ordered, and tmux's answers when the test gives them."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.orders: list[str] = []
        self.waiting: list[asyncio.Future[Replies]] = []
        self.loop = asyncio.get_running_loop()
        self.pace = Pace(self.told.append, self.order)

    def order(self, command: str) -> asyncio.Future[Replies]:
        self.orders.append(command.removeprefix("refresh-client "))
        future: asyncio.Future[Replies] = self.loop.create_future()
        self.waiting.append(future)
        return future

    async def answer(self, replies: Replies) -> None:
        for future in self.waiting:
            future.set_result(replies)
        self.waiting.clear()
        await asyncio.sleep(0)

    async def ordered(self, count: int) -> None:
        async with asyncio.timeout(5):
            while len(self.orders) < count:
                await asyncio.sleep(0.005)


def play(scene: Callable[[Bench], Awaitable[None]]) -> None:
    async def main() -> None:
        bench = Bench()
        await scene(bench)
        bench.pace.close()

    asyncio.run(main())


def test_first_output_is_told_and_held_back_for_a_while() -> None:
    """Told at once; tmux holds it back; told again after tmux has said that it sends again."""

    async def scene(bench: Bench) -> None:
        began = bench.loop.time()
        bench.pace.on_output({"%1"})
        assert (bench.told, bench.orders) == (["%1"], ['-A "%1:pause"'])
        bench.pace.on_output({"%1"})  # it was on its way
        await bench.answer([])
        assert len(bench.orders) == 1
        await bench.ordered(2)
        assert bench.loop.time() - began >= REST_S / 2
        assert bench.orders[1] == '-A "%1:continue"'
        assert bench.told == ["%1"], "not before tmux sends again"
        await bench.answer([])
        assert bench.told == ["%1", "%1"]

    play(scene)


def test_output_that_goes_on_is_told_ever_more_rarely() -> None:
    """Each rest is longer than the one before, up to the longest; nothing is told between."""

    async def scene(bench: Bench) -> None:
        rests = []
        for n in range(6):
            began = bench.loop.time()
            bench.pace.on_output({"%1"})
            await bench.answer([])
            await bench.ordered(2 * n + 2)
            rests.append(bench.loop.time() - began)
            await bench.answer([])
            assert len(bench.told) == n + 2
        assert rests[0] < rests[1] < rests[2]
        assert REST_S_MAX / 2 < max(rests) < 3 * REST_S_MAX

    play(scene)


def test_panes_share_orders_and_have_their_own_time() -> None:
    """Several that print at once are one order; a quiet one is told at once beside a busy one."""

    async def scene(bench: Bench) -> None:
        bench.pace.on_output(["%1", "%2"])
        assert bench.orders == ['-A "%1:pause" -A "%2:pause"']
        for _n in range(3):
            await bench.answer([])
            await bench.ordered(len(bench.orders) + 1)
            await bench.answer([])
            bench.pace.on_output(["%1"])
        count, told = len(bench.orders), len(bench.told)
        began = bench.loop.time()
        bench.pace.on_output(["%3"])
        assert bench.told[told:] == ["%3"]
        await bench.ordered(count + 2)
        assert bench.orders[-1] == '-A "%3:continue"', "it does not wait for the busy one"
        assert bench.loop.time() - began < REST_S_MAX

    play(scene)


def test_tmux_that_lost_patience_is_asked_to_go_on() -> None:
    """What it passed over is told, and it sends again after the rest."""

    async def scene(bench: Bench) -> None:
        bench.pace.on_paused("%1")
        assert bench.told == ["%1"]
        await bench.ordered(2)
        assert bench.orders[-1] == '-A "%1:continue"'

    play(scene)


def test_panes_that_are_gone_are_forgotten() -> None:
    """They are not told any more, nor asked about."""

    async def scene(bench: Bench) -> None:
        bench.pace.on_output(["%1", "%2"])
        bench.pace.keep_only(["%2"])
        await bench.ordered(2)
        assert bench.orders[1] == '-A "%2:continue"'
        bench.pace.keep_only([])
        await bench.answer([])
        assert bench.told == ["%1", "%2"]

    play(scene)


def test_a_client_that_was_closed_tells_nothing_more() -> None:
    """Whoever attaches anew tells of all its panes."""

    async def scene(bench: Bench) -> None:
        bench.pace.on_output(["%1"])
        await bench.ordered(2)
        await bench.answer(None)
        assert bench.told == ["%1"]

    play(scene)
