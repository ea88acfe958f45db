"""The hub reads the journal once for all, and gives each client what it has not seen."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from kit.clock import play
from kit.front import FakeCommands
from segue.errors import UserError
from segue.server import hub as module
from segue.server.hub import Client, Hub, told


def numbers(wire: bytes) -> list[int]:
    """The ids of the events in it."""
    return [int(line[4:]) for line in wire.decode().split("\n") if line.startswith("id: ")]


async def flushed() -> None:
    """Whatever was committed is handed over after the pace."""
    await asyncio.sleep(2 * module.PACE_S)


async def all_of(hub: Hub, client: Client) -> list[int]:
    """Everything the client has not seen, piece after piece."""
    found: list[int] = []
    while True:
        position = client.position
        found += numbers(await hub.after(client))
        if client.position == position:
            return found


def on(scene: Callable[[FakeCommands, Hub], Coroutine[Any, Any, None]]) -> None:
    """Play a scene with commands and its hub, on a loop whose waits take no time."""

    async def test() -> None:
        commands = FakeCommands()
        await scene(commands, Hub(commands))

    play(test())


def test_an_event_is_one_message_whatever_its_text_has() -> None:
    """Line breaks stay inside the JSON, so no text can begin a field or a message of its own."""
    made = told({"seq": 7, "type": "note", "taskId": "t", "text": "a\n\nid: 9\r\n한\ud800"})
    head, _blank, rest = made.wire.decode().partition("\n\n")
    assert rest == ""
    lines = head.split("\n")
    assert lines[:2] == ["id: 7", "event: note"]
    assert json.loads(lines[2].removeprefix("data: "))["text"] == "a\n\nid: 9\r\n한?"
    assert (made.seq, made.task) == (7, "t")


def test_a_new_client_gets_what_happens_from_now_on() -> None:
    async def scene(commands: FakeCommands, hub: Hub) -> None:
        commands.happen("old")
        client = hub.join(None, None)
        assert await hub.after(client) == b""
        commands.happen("t")
        await flushed()
        assert client.wake.is_set()
        assert numbers(await hub.after(client)) == [2]
        assert await hub.after(client) == b""

    on(scene)


def test_a_client_that_comes_back_gets_its_gap_in_order_and_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From the journal in batches first, then from what is recent."""
    monkeypatch.setattr(module, "BATCH", 3)

    async def scene(commands: FakeCommands, hub: Hub) -> None:
        for _n in range(10):
            commands.happen("t")
        client = hub.join(1, None)
        commands.happen("t")
        await flushed()
        assert await all_of(hub, client) == list(range(2, 12))

    on(scene)


def test_a_number_of_the_future_counts_as_now() -> None:
    """A client of another database is not left without events until that number comes."""

    async def scene(commands: FakeCommands, hub: Hub) -> None:
        commands.happen("t")
        client = hub.join(99, None)
        commands.happen("t")
        await flushed()
        assert await all_of(hub, client) == [2]

    on(scene)


def test_a_client_of_one_task_gets_its_events_alone() -> None:
    """Also in its gap; what belongs to others moves its position all the same."""

    async def scene(commands: FakeCommands, hub: Hub) -> None:
        for task in ("a", "b", "a"):
            commands.happen(task)
        client = hub.join(0, "a")
        for task in ("b", "a", "b"):
            commands.happen(task)
        await flushed()
        assert await all_of(hub, client) == [1, 3, 5]
        assert client.position == 6

    on(scene)


def test_a_piece_is_bounded_and_the_rest_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that reads nothing can make us hold one piece."""
    monkeypatch.setattr(module, "PIECE_BYTES", 1)

    async def scene(commands: FakeCommands, hub: Hub) -> None:
        client = hub.join(None, None)
        for _n in range(3):
            commands.happen("t")
        await flushed()
        assert [numbers(await hub.after(client)) for _n in range(4)] == [[1], [2], [3], []]

    on(scene)


def test_a_slow_client_that_fell_out_of_the_list_misses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is recent is trimmed; the journal has it."""
    monkeypatch.setattr(module, "RECENT_MAX", 4)

    async def scene(commands: FakeCommands, hub: Hub) -> None:
        client = hub.join(None, None)
        for _n in range(11):
            commands.happen("t")
        await flushed()
        commands.happen("t")
        await flushed()
        assert await all_of(hub, client) == list(range(1, 13))

    on(scene)


def test_nothing_is_read_while_nobody_listens() -> None:
    async def scene(commands: FakeCommands, hub: Hub) -> None:
        hub.leave(hub.join(None, None))
        commands.happen("t")
        await flushed()
        assert (hub.clients, hub.events_total, commands.reads) == (0, 0, 0)
        client = hub.join(None, None)
        commands.happen("t")
        await flushed()
        assert await all_of(hub, client) == [2]

    on(scene)


def test_a_journal_that_cannot_be_read_now_is_read_later(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene(commands: FakeCommands, hub: Hub) -> None:
        client, whole = hub.join(None, None), commands.events_after

        def busy(*_given: object, **_more: object) -> list[dict[str, Any]]:
            raise UserError("database_busy", "the database is busy")

        monkeypatch.setattr(commands, "events_after", busy)
        commands.happen("t")
        await flushed()
        assert await hub.after(client) == b""
        monkeypatch.setattr(commands, "events_after", whole)
        await asyncio.sleep(module.TROUBLE_S)
        assert await all_of(hub, client) == [1]

    on(scene)


def test_a_quiet_client_is_woken_for_heartbeats() -> None:
    async def scene(_commands: FakeCommands, hub: Hub) -> None:
        client = hub.join(None, None)
        await asyncio.sleep(2.5 * module.HEARTBEAT_S)
        assert (client.beats, client.wake.is_set()) == (2, True)

    on(scene)


def test_after_the_end_nobody_stays() -> None:
    """Clients are ended, and one that comes then is ended at once."""

    async def scene(commands: FakeCommands, hub: Hub) -> None:
        client = hub.join(None, None)
        hub.close()
        commands.happen("t")
        await flushed()
        assert client.is_gone
        assert client.wake.is_set()
        assert hub.join(None, None).is_gone
        assert hub.events_total == 0

    on(scene)


def test_output_is_sent_without_a_number_to_those_who_listen() -> None:
    """Numbers are those of the journal: a client that comes back names one of them."""

    async def scene(commands: FakeCommands, hub: Hub) -> None:
        one, every = hub.join(None, "task_1"), hub.join(None, None)
        commands.say("task_1", "hello")
        commands.say("task_2", "there")
        wire = await hub.after(one)
        assert wire.startswith(b"event: output\ndata: {")
        assert b"hello" in wire
        assert b"there" not in wire
        assert await hub.after(one) == b""
        assert (await hub.after(every)).count(b"event: output") == 2
        late = hub.join(None, None)
        assert await hub.after(late) == b""
        for client in (one, every, late):
            hub.leave(client)
        assert commands.on_output is None, "nobody listens, so nothing is read"

    on(scene)


def test_output_that_nobody_takes_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that is slow loses the oldest of it; the conversation has it."""
    monkeypatch.setattr(module, "OUTPUT_BYTES_MAX", 3_000)

    async def scene(commands: FakeCommands, hub: Hub) -> None:
        client = hub.join(None, None)
        for number in range(20):
            commands.say("task_1", f"{number} {'x' * 500}")
        wire = await hub.after(client)
        assert len(wire) <= 3_000
        assert b'"19 x' in wire

    on(scene)
