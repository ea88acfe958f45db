"""The event stream: numbered, without gaps, and nobody waits for a slow client."""

from __future__ import annotations

import asyncio

import pytest

from kit.front import FakeCommands, Front, running
from kit.waiting import until_async
from segue.server import hub as hub_module
from segue.server import stream

SEEN = "Last-Event-ID: {}"


def go(test: object) -> None:
    asyncio.run(asyncio.wait_for(test, 60))  # type: ignore[arg-type]


def open_streams() -> list[str]:
    names = (str(task.get_coro()) for task in asyncio.all_tasks())
    return [name for name in names if "_until_gone" in name or "run_asgi" in name]


def numbers(events: list[dict[str, object]]) -> list[object]:
    return [event["seq"] for event in events]


def test_events_come_as_they_happen(commands: FakeCommands) -> None:
    """From now on: id is the number, event the type, data the JSON of the journal."""

    async def test() -> None:
        commands.happen("task_old")
        async with running(commands) as server:
            wire = await server.follow()
            commands.happen("task_1", "submit", metadata={"text": "zwei\nZeilen ✓"})
            commands.happen("task_2")
            events = await wire.events(2)
            assert events == commands.events[1:]

    go(test())


def test_the_stream_says_what_it_is(commands: FakeCommands) -> None:
    """A browser's EventSource takes it; nothing on the way keeps or holds it back."""

    async def test() -> None:
        async with running(commands) as server:
            wire = await server.wire()
            await wire.ask("/api/events")
            status, headers = await wire.head()
            assert status == 200
            assert headers["content-type"].startswith("text/event-stream")
            assert headers["cache-control"] == "no-store"
            assert headers["x-accel-buffering"] == "no"

    go(test())


@pytest.mark.parametrize(
    ("path", "header"),
    [
        ("/api/events", SEEN.format(3)),
        ("/api/events?lastEventId=3", None),
        ("/api/events?lastEventId=1", SEEN.format(3)),  # the browser's own word is newer
    ],
)
def test_a_gap_is_filled_from_the_journal(
    commands: FakeCommands, path: str, header: str | None
) -> None:
    """What happened after the last event that was seen comes first, then what happens."""

    async def test() -> None:
        for _n in range(5):
            commands.happen("task_1")
        async with running(commands) as server:
            wire = await server.follow(path, *([header] if header else []))
            assert numbers(await wire.events(2)) == [4, 5]
            commands.happen("task_1")
            assert numbers(await wire.events(1)) == [6]

    go(test())


def test_a_long_gap_comes_in_order_while_more_happens(commands: FakeCommands) -> None:
    """Many batches, and events that happen meanwhile: each once, in order, for each client."""

    async def test() -> None:
        before, meanwhile = 7 * hub_module.BATCH + 3, 300
        for _n in range(before):
            commands.happen("task_1")
        async with running(commands) as server:
            wires = [await server.follow("/api/events", SEEN.format(n)) for n in (0, 0, 55)]

            async def more() -> None:
                for n in range(meanwhile):
                    commands.happen("task_2")
                    if n % 10 == 0:
                        await asyncio.sleep(0.001)

            async def all_of(n: int) -> list[object]:
                return numbers(await wires[n].events(before + meanwhile - (55 if n == 2 else 0)))

            *seen, _none = await asyncio.gather(*map(all_of, range(3)), more())
            total = before + meanwhile
            assert seen[0] == seen[1] == list(range(1, total + 1))
            assert seen[2] == list(range(56, total + 1))

    go(test())


def test_a_task_has_a_stream_of_its_own(commands: FakeCommands) -> None:
    """Only its events, in the gap and after it."""

    async def test() -> None:
        from segue.work.phases.commands import NewTask

        id = commands.create_task(NewTask("t"))["id"]
        for n in range(hub_module.BATCH * 2):
            commands.happen(id if n % 50 == 0 else "task_other")
        async with running(commands) as server:
            wire = await server.follow(f"/api/tasks/{id}/events?lastEventId=0")
            gap = await wire.events(5)
            assert numbers(gap) == [1, 2, 52, 102, 152]
            commands.happen("task_other")
            last = commands.happen(id)
            assert numbers(await wire.events(1)) == [last]

    go(test())


def test_a_number_that_never_was_is_taken_as_now(commands: FakeCommands) -> None:
    """A client of another database goes on with what happens here."""

    async def test() -> None:
        commands.happen("task_1")
        async with running(commands) as server:
            wire = await server.follow("/api/events", SEEN.format(999))
            commands.happen("task_1")
            assert numbers(await wire.events(1)) == [2]

    go(test())


@pytest.mark.parametrize("seen", ["x", "-1", "1.5", "9" * 30])
def test_a_number_that_is_none_is_refused(front: Front, seen: str) -> None:
    """422, like any other parameter."""
    answer = front.api.get("/api/events", headers={"Last-Event-ID": seen})
    assert answer.status_code == 422


def test_the_journal_is_read_once_for_all(commands: FakeCommands) -> None:
    """However many clients there are."""

    async def test() -> None:
        async with running(commands) as server:
            wires = [await server.follow() for _n in range(30)]
            reads = commands.reads
            commands.happen("task_1")
            for wire in wires:
                assert numbers(await wire.events(1)) == [1]
            assert commands.reads == reads + 1

    go(test())


def test_many_commits_are_handed_over_together(commands: FakeCommands) -> None:
    """A burst costs a few hand-overs, not one for each: so many in a second at most."""

    async def test() -> None:
        async with running(commands) as server:
            wire = await server.follow()
            clock, reads = asyncio.get_running_loop().time, commands.reads
            began = clock()
            for _n in range(200):
                commands.happen("task_1")
                await asyncio.sleep(0)
            assert numbers(await wire.events(200)) == list(range(1, 201))
            assert commands.reads - reads <= (clock() - began) / hub_module.PACE_S + 2

    go(test())


def test_a_quiet_stream_has_a_heartbeat(commands: FakeCommands) -> None:
    """A comment, so that both sides know of each other."""

    async def test() -> None:
        async with running(commands, heartbeat_s=0.02) as server:
            wire = await server.follow()
            assert [await wire.chunk() for _n in range(2)] == [stream.HEARTBEAT] * 2

    go(test())


def test_a_client_that_reads_nothing_slows_nobody(
    commands: FakeCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others get all events meanwhile; it gets what it missed when it reads again."""
    monkeypatch.setattr(hub_module, "RECENT_MAX", 64)

    async def test() -> None:
        async with running(commands) as server:
            slow, quick = await server.follow(), await server.follow()
            big = {"text": "x" * 50_000}
            for n in range(0, 200, 10):
                for _each in range(10):
                    commands.happen("task_1", metadata=big)
                assert numbers(await quick.events(10)) == list(range(n + 1, n + 11))
            assert len(server.hub._joined) < 10  # what was handed over is not kept
            held = [each.position for each in server.hub._clients]
            assert min(held) < 200 == max(held)
            assert numbers(await slow.events(200)) == list(range(1, 201))

    go(test())


def test_a_client_that_stays_stuck_is_let_go(
    commands: FakeCommands, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """After its time the stream ends; the client may come back."""
    monkeypatch.setattr(stream, "STUCK_S", 0.1)

    async def test() -> None:
        async with running(commands) as server:
            wire = await server.follow()
            transport = wire.writer.transport
            assert isinstance(transport, asyncio.Transport)
            transport.pause_reading()
            for _n in range(400):
                commands.happen("task_1", metadata={"text": "x" * 50_000})
            await until_async(lambda: server.hub.clients == 0)

    go(test())


def test_a_client_that_goes_leaves_nothing_behind(commands: FakeCommands) -> None:
    """Neither a place at the hub, nor a task on the loop."""

    async def test() -> None:
        async with running(commands) as server:
            wires = [await server.follow() for _n in range(10)]
            assert server.hub.clients == 10
            assert len(open_streams()) == 20
            for wire in wires:
                await wire.close()
            await until_async(lambda: server.hub.clients == 0)
            await until_async(lambda: not open_streams())

    go(test())


def test_nobody_listens_nothing_is_read(commands: FakeCommands) -> None:
    """Events without clients cost nothing; the next client starts after them."""

    async def test() -> None:
        async with running(commands) as server:
            await (await server.follow()).close()
            await until_async(lambda: server.hub.clients == 0)
            reads = commands.reads
            for _n in range(50):
                commands.happen("task_1")
            await asyncio.sleep(2 * hub_module.PACE_S)
            assert commands.reads == reads
            wire = await server.follow()
            commands.happen("task_1")
            assert numbers(await wire.events(1)) == [51]

    go(test())


def test_streams_end_with_the_server(commands: FakeCommands) -> None:
    """In order: the last piece says that there are no more; then the server is gone."""

    async def test() -> None:
        async with running(commands) as server:
            wires = [await server.follow() for _n in range(3)]
            server.stop.set()
            assert [await wire.chunk() for wire in wires] == [b"", b"", b""]
            await server.done
            with pytest.raises(OSError):
                await server.wire()

    go(test())


def test_there_are_only_so_many_streams(
    commands: FakeCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One more is told to come back later."""
    monkeypatch.setattr("segue.server.events.CLIENTS_MAX", 2)

    async def test() -> None:
        async with running(commands) as server:
            await server.follow()
            await server.follow()
            wire = await server.wire()
            await wire.ask("/api/events")
            status, headers = await wire.head()
            assert (status, headers["retry-after"]) == (429, "30")

    go(test())
