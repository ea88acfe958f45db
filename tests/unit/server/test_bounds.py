"""Bodies are counted while they arrive, and clients while they ask."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from starlette.responses import Response
from starlette.types import Message, Receive

from kit.clock import play
from segue.server import bounds
from segue.server.bounds import Meter, Rate


class Sender:
    """A client that sends these pieces, and counts how many were taken."""

    def __init__(self, pieces: Iterable[Message]) -> None:
        self.pieces = list(pieces)
        self.taken = 0

    async def __call__(self) -> Message:
        self.taken += 1
        return self.pieces[self.taken - 1]


def body(*pieces: bytes) -> list[Message]:
    last = len(pieces) - 1
    return [
        {"type": "http.request", "body": piece, "more_body": n < last}
        for n, piece in enumerate(pieces)
    ]


def read(receive: Receive, declared: int | None, limit: int) -> bytes:
    return play(bounds.read_body(receive, declared, limit))


def test_a_body_is_put_together_from_its_pieces() -> None:
    """Up to the limit itself, also where a piece has no bytes or no body at all."""
    pieces = [*body(b"ab", b"", b"cd", b"")[:-1], {"type": "http.request"}]
    assert read(Sender(pieces), None, 4) == b"abcd"


def test_a_body_that_declares_too_much_is_not_read() -> None:
    sender = Sender(body(b"abcde"))
    with pytest.raises(bounds.TooLarge):
        read(sender, 5, 4)
    assert sender.taken == 0


def test_a_body_that_lies_about_its_length_is_cut_off_at_the_limit() -> None:
    """What comes is counted, whatever was declared; no more than one piece beyond is taken."""
    sender = Sender(body(b"ab", b"abc", b"never"))
    with pytest.raises(bounds.TooLarge):
        read(sender, 1, 4)
    assert sender.taken == 2


def test_a_client_that_leaves_in_the_middle_is_gone() -> None:
    sender = Sender([*body(b"ab", b"cd")[:1], {"type": "http.disconnect"}])
    with pytest.raises(bounds.Gone):
        read(sender, None, 4)


def test_a_body_that_never_comes_is_given_up() -> None:
    """After half a minute of the loop's time, which takes none here."""

    async def never() -> Message:
        import asyncio

        await asyncio.Event().wait()
        raise AssertionError

    with pytest.raises(TimeoutError):
        read(never, None, 4)


def test_a_body_that_was_read_is_given_once_more_and_then_the_connection() -> None:
    """Whoever waits for the client's end after the body sees it."""
    after = Sender([{"type": "http.disconnect"}])

    async def scene() -> list[Message]:
        again = bounds.replayed(b"abc", after)
        return [await again(), await again()]

    assert play(scene()) == [
        {"type": "http.request", "body": b"abc", "more_body": False},
        {"type": "http.disconnect"},
    ]


def test_an_early_answer_stays_open_until_the_client_has_sent_all() -> None:
    """The answer goes out at once, its end only after the body: else clients lose it."""
    sender = Sender(body(b"x" * 10, b"y" * 10, b"z"))
    seen: list[tuple[str, bytes, bool, int]] = []

    async def send(message: Message) -> None:
        more = message.get("more_body", True)
        seen.append((message["type"], message.get("body", b""), more, sender.taken))

    play(bounds.BeforeItsEnd(Response(b"no", 413))({"type": "http"}, sender, send))
    assert seen == [
        ("http.response.start", b"", True, 0),
        ("http.response.body", b"no", True, 0),
        ("http.response.body", b"", False, 3),
    ]


@pytest.mark.parametrize("does_hang", [False, True])
def test_an_endless_body_is_not_taken_for_ever(
    monkeypatch: pytest.MonkeyPatch, does_hang: bool
) -> None:
    """Neither one that never stops sending nor one that stops in the middle holds us."""
    monkeypatch.setattr(bounds, "DRAINED_BYTES_MAX", 100)
    taken = 0

    async def endless() -> Message:
        import asyncio

        nonlocal taken
        taken += 1
        if does_hang:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": b"x" * 30, "more_body": True}

    last: list[Message] = []

    async def send(message: Message) -> None:
        last.append(message)

    play(bounds.BeforeItsEnd(Response(b"no", 413))({"type": "http"}, endless, send))
    assert last[-1] == {"type": "http.response.body", "body": b"", "more_body": False}
    assert taken == (1 if does_hang else 4)


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_a_client_has_its_burst_and_then_its_rate() -> None:
    """What is refused does not count, so the wait that is told is enough."""
    clock = Clock()
    meter = Meter(Rate(burst=2, per_s=0.5), clock)
    assert [meter.take("a") for _n in range(4)] == [0.0, 0.0, 2.0, 2.0]
    clock.now_s += 1.5
    assert meter.take("a") == pytest.approx(0.5)
    clock.now_s += 0.5
    assert [meter.take("a"), meter.take("a")] == [0.0, 2.0]


def test_a_long_rest_gives_no_more_than_the_burst() -> None:
    clock = Clock()
    meter = Meter(Rate(burst=2, per_s=1), clock)
    meter.take("a")
    clock.now_s += 1_000
    assert [meter.take("a") for _n in range(3)] == [0.0, 0.0, 1.0]


def test_clients_are_counted_apart_and_can_be_forgotten() -> None:
    meter = Meter(Rate(burst=1, per_s=1), Clock())
    assert (meter.take("a"), meter.take("a"), meter.take("b")) == (0.0, 1.0, 0.0)
    meter.forget("a")
    meter.forget("never seen")
    assert (meter.take("a"), meter.take("b")) == (0.0, 1.0)


def test_only_so_many_clients_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest is forgotten: addresses cost no memory without end."""
    monkeypatch.setattr(bounds, "CLIENTS_MAX", 2)
    meter = Meter(Rate(burst=1, per_s=1), Clock())
    for client in "abc":
        meter.take(client)
    assert [meter.take(client) for client in "bca"] == [1.0, 1.0, 0.0]
