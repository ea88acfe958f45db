"""The alarm: an instant of the wall clock, whatever the clock does meanwhile."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from datetime import timedelta

import pytest

from kit.clock import START, HandClock
from kit.waiting import until_async
from segue.drivers.clock_jumps import ClockJumps, open_timer, set_timer
from segue.engine.alarm import Alarm

AT = START


class Kernel:
    """Tells of jumps when the test says so."""

    def __init__(self) -> None:
        self.fd = os.eventfd(0, os.EFD_NONBLOCK)
        self.armed = 0

    def jumps(self, on_jump: Callable[[], None]) -> ClockJumps:
        return ClockJumps(on_jump, lambda: os.dup(self.fd), self.arm)

    def arm(self, fd: int) -> None:
        self.armed += 1

    def jump(self) -> None:
        os.eventfd_write(self.fd, 1)


def test_a_jump_of_the_clock_rings_at_once() -> None:
    """Not after a minute; each time, and only while an instant is waited for."""

    async def scene() -> None:
        kernel, rung = Kernel(), []
        alarm = Alarm(HandClock(), lambda: rung.append(1), kernel.jumps)
        for n in (1, 2):
            alarm.set(AT + timedelta(hours=9))
            kernel.jump()
            await until_async(lambda n=n: len(rung) == n)
        kernel.jump()
        await until_async(lambda: kernel.armed == 4)
        assert len(rung) == 2, "nothing is waited for"
        alarm.close()
        kernel.jump()
        await asyncio.sleep(0.01)
        assert (len(rung), kernel.armed) == (2, 4)
        os.close(kernel.fd)

    asyncio.run(scene())


def test_without_such_a_timer_the_clock_is_looked_at_from_time_to_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An old kernel, or no descriptor left."""
    monkeypatch.setattr("segue.engine.alarm.SLEEP_S_MAX", 0.01)

    def none() -> int:
        raise OSError("no such call")

    async def scene() -> None:
        rung: list[int] = []
        alarm = Alarm(HandClock(), lambda: rung.append(1), lambda jump: ClockJumps(jump, none))
        alarm.set(AT + timedelta(hours=9))
        await until_async(lambda: rung)
        alarm.close()

    asyncio.run(scene())


def test_the_kernel_takes_the_timer() -> None:
    """It is set to the far instant, and nothing is told while the clock stands as it is."""
    fd = open_timer()
    set_timer(fd)
    set_timer(fd)
    with pytest.raises(BlockingIOError):
        os.read(fd, 8)
    os.close(fd)
