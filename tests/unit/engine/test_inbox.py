"""The inbox of a loop: in order, not too much at once, one timer."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from kit.clock import HandClock
from segue.engine.inbox import TAKEN_MAX, Inbox


def test_what_happened_comes_in_its_order_and_in_parts() -> None:
    """Very much at once is taken in parts, so that others get their turn in between."""

    async def take() -> list[list[str]]:
        inbox = Inbox[str](HandClock(), "due")
        for n in range(TAKEN_MAX + 1):
            inbox.notify(str(n))
        assert len(inbox) == TAKEN_MAX + 1
        return [await inbox.next(), await inbox.next(), await inbox.next(0.01)]

    first, second, none = asyncio.run(take())
    assert (first[:2], len(first)) == (["0", "1"], TAKEN_MAX)
    assert (second, none) == ([str(TAKEN_MAX)], [])


def test_an_instant_that_has_come_is_told_once() -> None:
    """One that was put off is not; nothing is due in a closed inbox."""

    async def take() -> list[list[str]]:
        clock = HandClock()
        inbox = Inbox[str](clock, "due")
        inbox.wake_at(clock.now())
        told = [await inbox.next(), await inbox.next(0.03)]
        inbox.wake_at(clock.now())
        inbox.wake_at(clock.now() + timedelta(hours=1))
        told.append(await inbox.next(0.03))
        inbox.notify("old")
        inbox.close()
        told.append(await inbox.next(0.01))
        return told

    assert asyncio.run(take()) == [["due"], [], [], []]
