"""Tests wait for conditions, in one way: they look again and again, and fail after a long time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, Literal, TypeVar

T = TypeVar("T")
WAIT_S = 90.0  # as long as a machine with much to do may take for anything
LOOK_S = 0.01


# A lambda in a loop binds the loop's variable by a default: hence conditions with `...`.


def until(
    condition: Callable[..., T | Literal[False] | None],
    what: str = "it",
    wait_s: float = WAIT_S,
    every_s: float = LOOK_S,
) -> T:
    """Wait for a condition; its value."""
    deadline = time.monotonic() + wait_s
    while not (value := condition()):
        assert time.monotonic() < deadline, f"{what} never happened"
        time.sleep(every_s)
    return value


async def until_async(
    condition: Callable[..., T | Literal[False] | None],
    what: str = "it",
    wait_s: float = WAIT_S,
    every_s: float = LOOK_S,
) -> T:
    """As `until`, while the loop runs and by its time."""

    async def look() -> T | Literal[False] | None:
        return condition()

    return await until_awaited(look, what, wait_s, every_s)


async def until_awaited(
    condition: Callable[..., Coroutine[Any, Any, T | Literal[False] | None]],
    what: str = "it",
    wait_s: float = WAIT_S,
    every_s: float = LOOK_S,
) -> T:
    """As `until_async` for a condition that is itself waited for."""
    now = asyncio.get_running_loop().time
    deadline = now() + wait_s
    while not (value := await condition()):
        assert now() < deadline, f"{what} never happened"
        await asyncio.sleep(every_s)
    return value


def stays(condition: Callable[[], bool], what: str, span_s: float = 0.6) -> None:
    """That something does not change for a while (where there is nothing to wait for)."""
    end = time.monotonic() + span_s
    while time.monotonic() < end:
        assert condition(), what
        time.sleep(0.05)
