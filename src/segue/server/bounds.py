"""How much one client may ask for: bytes in a body, requests in a second."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

BODY_BYTES_MAX = 1_000_000
BODY_WAIT_S = 30.0
DRAINED_BYTES_MAX = 64_000_000  # of a body that is refused
DRAIN_S = 10.0
CLIENTS_MAX = 10_000


class TooLarge(Exception):  # noqa: N818 - what is wrong with it
    """A body of more bytes than are taken."""


class Gone(Exception):  # noqa: N818 - what happened
    """The client left before its body was complete."""


class BeforeItsEnd(Response):
    """An answer that is given before the body was read. Many clients look for it only when they
    have sent all, and lose it with the connection: what they send is taken, within bounds."""

    def __init__(self, answer: Response) -> None:
        super().__init__(status_code=answer.status_code)
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def held_open(message: Message) -> None:
            await send({**message, "more_body": True} if "body" in message else message)

        await self._answer(scope, receive, held_open)
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_S):
                await _drain(receive)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _drain(receive: Receive) -> None:
    left = DRAINED_BYTES_MAX
    while left > 0:
        message = await receive()
        left -= len(message.get("body", b""))
        if not message.get("more_body", False):
            return


async def read_body(receive: Receive, declared: int | None, limit: int) -> bytes:
    """The whole body, counted while it arrives."""
    if declared is not None and declared > limit:
        raise TooLarge
    pieces: list[bytes] = []
    size = 0
    async with asyncio.timeout(BODY_WAIT_S):
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Gone
            piece = message.get("body", b"")
            size += len(piece)
            if size > limit:
                raise TooLarge
            pieces.append(piece)
            if not message.get("more_body", False):
                return b"".join(pieces)


def replayed(body: bytes, receive: Receive) -> Receive:
    """Replay the body to the inner application, then pass on what follows."""
    is_given = False

    async def again() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


@dataclass(frozen=True, slots=True)
class Rate:
    """So many at once, and so many more each second."""

    burst: float
    per_s: float


REQUESTS = Rate(burst=20_000, per_s=5_000)
FAILED_LOGINS = Rate(burst=20, per_s=1 / 30)


class Meter:
    """A bucket for each client: full at first, refilled with time."""

    def __init__(self, rate: Rate, clock: Callable[[], float]) -> None:
        self._rate, self._clock = rate, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def forget(self, client: str) -> None:
        """Start over."""
        self._buckets.pop(client, None)

    def take(self, client: str) -> float:
        """0 if it may continue, else the seconds until it may."""
        now = self._clock()
        left, at = self._buckets.get(client, (self._rate.burst, now))
        left = min(self._rate.burst, left + (now - at) * self._rate.per_s)
        if left < 1:
            return (1 - left) / self._rate.per_s
        self._buckets[client] = (left - 1, now)
        if len(self._buckets) > CLIENTS_MAX:
            self._buckets.popitem(last=False)
        return 0.0
