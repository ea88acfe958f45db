"""How often a pane's output is told, on an event loop whose clock the test turns."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from segue.drivers.tmux.client import Replies
from segue.drivers.tmux.control_mode import Printed
from segue.drivers.tmux.throttle import CLUE_S, HELD_FROM_BYTES, REST_S, REST_S_MAX, OutputThrottle

SOME = Printed(100, False)
CLUE = Printed(100, True)
MUCH = Printed(HELD_FROM_BYTES + 1, False)


class Loop(asyncio.SelectorEventLoop):
    """Time passes when the test says so."""

    now = 1_000.0

    def time(self) -> float:
        return self.now


class Bench:
    """A pace, what it told and ordered, and tmux's answers when the test gives them."""

    def __init__(self, loop: Loop) -> None:
        self.told: list[str] = []
        self.orders: list[str] = []
        self.waiting: list[asyncio.Future[Replies]] = []
        self.loop = loop
        self.throttle = OutputThrottle(self.told.append, self.order)

    def order(self, command: str) -> asyncio.Future[Replies]:
        self.orders.append(command.removeprefix("refresh-client "))
        future: asyncio.Future[Replies] = self.loop.create_future()
        self.waiting.append(future)
        return future

    async def answer(self, replies: Replies) -> None:
        for future in self.waiting:
            future.set_result(replies)
        self.waiting.clear()
        await self.after(0)

    async def after(self, seconds: float) -> None:
        self.loop.now += seconds
        for _turn in range(3):
            await asyncio.sleep(0)

    def prints(self, printed: Printed = SOME, *panes: str) -> None:
        self.throttle.on_output(dict.fromkeys(panes or ("%1",), printed))

    def take(self) -> list[str]:
        told = list(self.told)
        self.told.clear()
        return told


def play(scene: Callable[[Bench], object]) -> None:
    loop = Loop()

    async def main() -> None:
        bench = Bench(loop)
        await scene(bench)  # type: ignore[misc]
        bench.throttle.close()

    try:
        loop.run_until_complete(main())
    finally:
        loop.close()


def test_first_output_is_told_at_once_and_the_rest_after_a_rest() -> None:
    """Told at once; what follows within the rest is told once, at its end; then nothing."""

    async def scene(bench: Bench) -> None:
        bench.prints()
        assert bench.take() == ["%1"]
        bench.prints()
        bench.prints()
        await bench.after(REST_S / 2)
        assert bench.take() == []
        await bench.after(REST_S)
        assert bench.take() == ["%1"]
        await bench.after(10 * REST_S_MAX)
        assert bench.take() == []
        assert bench.orders == []

    play(scene)


def test_output_that_goes_on_is_told_ever_more_rarely() -> None:
    """A minute of repainting twenty times a second is told about once in the longest rest."""

    async def scene(bench: Bench) -> None:
        for _n in range(60 * 20):
            bench.prints()
            await bench.after(0.05)
        times = len(bench.take())
        assert 60 / REST_S_MAX * 0.8 < times < 60 / REST_S_MAX * 1.2 + 5
        assert bench.orders == [], "so little need not be held back"

    play(scene)


def test_after_a_silence_it_is_told_at_once_again() -> None:
    """However long its rests had become."""

    async def scene(bench: Bench) -> None:
        for _n in range(100):
            bench.prints()
            await bench.after(0.05)
        await bench.after(2 * REST_S_MAX)
        await bench.after(2 * REST_S_MAX)
        bench.take()
        bench.prints()
        assert bench.take() == ["%1"]

    play(scene)


def test_a_word_about_a_limit_ends_the_rest_of_a_busy_pane() -> None:
    """It is told within a moment; a pane that is full of such words makes no storm."""

    async def scene(bench: Bench) -> None:
        for _n in range(100):
            bench.prints()
            await bench.after(0.05)
        bench.take()
        bench.prints(CLUE)
        await bench.after(CLUE_S)
        assert bench.take() == ["%1"]
        for _n in range(60 * 20):
            bench.prints(CLUE)
            await bench.after(0.05)
        assert len(bench.take()) < 2 * 60 / REST_S_MAX

    play(scene)


def test_a_flood_is_held_back_and_told_when_tmux_sends_again() -> None:
    """tmux holds it back; the pane is told after tmux has said that it sends again."""

    async def scene(bench: Bench) -> None:
        bench.prints(MUCH)
        assert bench.orders == ['-A "%1:pause"']
        bench.prints(MUCH)  # it was on its way
        await bench.answer([])
        assert len(bench.orders) == 1
        bench.take()
        await bench.after(2 * REST_S)
        assert bench.orders[1:] == ['-A "%1:continue"']
        assert bench.take() == [], "not before tmux sends again"
        await bench.answer([])
        assert bench.take() == ["%1"]

    play(scene)


def test_floods_share_orders_and_a_quiet_pane_does_not_wait_for_them() -> None:
    """Several at once are one order; another is told at once beside them."""

    async def scene(bench: Bench) -> None:
        bench.prints(MUCH, "%1", "%2")
        assert bench.orders == ['-A "%1:pause" -A "%2:pause"']
        bench.take()
        bench.prints(SOME, "%3")
        assert bench.take() == ["%3"]

    play(scene)


def test_tmux_that_lost_patience_is_asked_to_go_on() -> None:
    """What it passed over is told, after it sends again."""

    async def scene(bench: Bench) -> None:
        bench.throttle.on_paused("%1")
        await bench.after(2 * REST_S)
        assert bench.orders == ['-A "%1:continue"']
        await bench.answer([])
        assert bench.take() == ["%1"]

    play(scene)


def test_panes_that_are_gone_are_forgotten() -> None:
    """They are not told any more, nor asked about."""

    async def scene(bench: Bench) -> None:
        bench.prints(MUCH, "%1", "%2")
        bench.take()
        bench.throttle.keep_only(["%2"])
        await bench.after(2 * REST_S)
        assert bench.orders[1:] == ['-A "%2:continue"']
        bench.throttle.keep_only([])
        await bench.answer([])
        assert bench.take() == []

    play(scene)


def test_a_client_that_was_closed_tells_nothing_more() -> None:
    """Whoever attaches anew tells of all its panes."""

    async def scene(bench: Bench) -> None:
        bench.prints(MUCH)
        bench.take()
        await bench.after(2 * REST_S)
        await bench.answer(None)
        assert bench.take() == []

    play(scene)
