"""Signals that a command acts on, and those that it was started to ignore."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator

import pytest

from segue.engine import signals


@pytest.fixture(autouse=True)
def afterwards() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGUSR1, signal.SIGUSR2)}
    yield
    for number, action in before.items():
        signal.signal(number, action)


def test_what_was_ignored_stays_ignored_and_the_rest_is_handled() -> None:
    """Inside and afterwards."""
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)

    async def go() -> list[str]:
        heard: list[str] = []
        came = asyncio.Event()

        def two() -> None:
            heard.append("two")
            came.set()

        with signals.handled({signal.SIGUSR1: lambda: heard.append("one"), signal.SIGUSR2: two}):
            os.kill(os.getpid(), signal.SIGUSR1)
            os.kill(os.getpid(), signal.SIGUSR2)
            await asyncio.wait_for(came.wait(), 60)
        return heard

    assert asyncio.run(go()) == ["two"]
    assert signals.is_ignored(signal.SIGUSR1)
    assert signal.getsignal(signal.SIGUSR2) == signal.SIG_DFL
