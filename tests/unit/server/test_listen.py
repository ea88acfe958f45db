"""Where the server listens, what it takes on a connection, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket

import pytest

from kit.front import FakeCommands, Wire, running
from segue.errors import UserError
from segue.server import listen, protocol
from segue.server.listen import Tls, bind, hosts, url


def go(test: object) -> None:
    asyncio.run(asyncio.wait_for(test, 60))  # type: ignore[arg-type]


def test_a_free_port_is_known_before_anyone_is_told() -> None:
    """Port 0 picks a free port; whoever comes at once is not turned away."""
    with bind("127.0.0.1", 0) as sock:
        port = sock.getsockname()[1]
        assert url(sock, "127.0.0.1") == f"http://127.0.0.1:{port}"
        socket.create_connection(("127.0.0.1", port), timeout=60).close()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_beyond_this_machine_nothing_is_bound_without_tls(host: str) -> None:
    """The refusal says what to do instead."""
    with pytest.raises(UserError) as refused:
        bind(host, 0)
    assert refused.value.problem.code == "not_loopback"
    assert refused.value.problem.hint


@pytest.mark.parametrize("more", [{"is_exposed": True}, {"tls": Tls(certificate=None)}])  # type: ignore[arg-type]
def test_beyond_this_machine_by_a_word_or_by_tls(more: dict[str, object]) -> None:
    """A person may say so."""
    with bind("0.0.0.0", 0, **more) as sock:  # type: ignore[arg-type]
        assert url(sock, "0.0.0.0").startswith("http://127.0.0.1:")


def test_names_of_this_machine_are_loopback() -> None:
    """localhost needs no flag."""
    bind("localhost", 0).close()


def test_a_port_that_is_taken_is_told() -> None:
    """By its name, with a cure."""
    with bind("127.0.0.1", 0) as sock, pytest.raises(UserError) as refused:
        bind("127.0.0.1", sock.getsockname()[1])
    assert refused.value.problem.code == "port_in_use"


def test_a_host_that_is_not_there_is_told() -> None:
    """Neither a name nor an address."""
    with pytest.raises(UserError) as refused:
        bind("no such host", 0)
    assert refused.value.problem.code == "unknown_host"


def test_it_answers_for_its_own_names() -> None:
    """Loopback always; the name it is bound to; the names that were given."""
    assert set(hosts("127.0.0.1", ["segue.example"])) >= {"localhost", "::1", "segue.example"}
    assert socket.gethostname() in hosts("0.0.0.0")
    assert "0.0.0.0" not in hosts("0.0.0.0")


def test_sigterm_ends_it_in_order(commands: FakeCommands) -> None:
    """Nothing new is taken, what was begun is finished, and the signal kills nobody."""

    async def test() -> None:
        async with running(commands) as server:
            with listen.signals(server.stop):
                wire = await server.follow()
                os.kill(os.getpid(), signal.SIGTERM)
                assert await wire.chunk() == b""
                await server.done
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL

    go(test())


def test_a_request_that_was_begun_is_finished(commands: FakeCommands) -> None:
    """Its body arrives after the end was asked for; it is answered all the same."""

    async def test() -> None:
        async with running(commands) as server:
            wire = await server.wire()
            kind = "Content-Type: application/json"
            await wire.ask("/api/tasks", kind, "Content-Length: 32", method="POST")
            wire.writer.write(b'{"title"')
            await wire.writer.drain()
            await asyncio.sleep(0.05)
            server.stop.set()
            await asyncio.sleep(0.05)
            wire.writer.write(b': "t", "type": "custom"}')
            status, headers = await wire.head()
            assert status == 201
            assert headers["connection"] == "close"

    go(test())


def test_an_endless_head_is_cut_off(commands: FakeCommands) -> None:
    """One header that goes on and on, or many of them: the connection is closed, with 431 if
    the client looks before it sends more.
    """

    async def test() -> None:
        async with running(commands) as server:
            for filler in (b"x" * 1_000, b"a: b\r\n" * 200):
                wire = await server.wire()
                wire.writer.write(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")
                for _n in range(protocol.HEAD_BYTES_MAX // 1_000 + 1):
                    wire.writer.write(filler)
                    await asyncio.sleep(0)
                with contextlib.suppress(ConnectionError):
                    assert (await wire.head())[0] == 431
                    assert await wire.reader.read() == b""

    go(test())


def test_many_requests_on_a_connection_are_not_one_long_head(commands: FakeCommands) -> None:
    """The bound is for each request."""

    async def test() -> None:
        async with running(commands) as server:
            wire = await server.wire()
            for _n in range(150):
                await wire.ask("/health", "X: " + "x" * 1_000)
                status, headers = await wire.head()
                await wire.reader.readexactly(int(headers["content-length"]))
                assert status == 200

    go(test())


def test_who_says_nothing_is_let_go(
    commands: FakeCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection without a request, or with half of one, is closed after its time."""
    monkeypatch.setattr(protocol, "HEAD_WAIT_S", 0.1)

    async def test() -> None:
        async with running(commands) as server:
            for said in (b"", b"GET /health HTTP/1.1\r\nHost:"):
                wire = await server.wire()
                wire.writer.write(said)
                assert await asyncio.wait_for(wire.reader.read(), 60) == b""
            streaming = await server.follow()
            await asyncio.sleep(0.2)
            commands.happen("task_1")
            assert len(await streaming.events(1)) == 1

    go(test())


def test_a_body_that_never_comes_is_given_up(
    commands: FakeCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """408; nothing was done."""
    monkeypatch.setattr("segue.server.bounds.BODY_WAIT_S", 0.05)

    async def test() -> None:
        async with running(commands) as server:
            wire = await server.wire()
            kind = "Content-Type: application/json"
            await wire.ask("/api/tasks", kind, "Content-Length: 100", method="POST")
            assert (await wire.head())[0] == 408
            assert commands.calls == 0

    go(test())


def test_a_body_that_says_it_is_too_large_is_not_waited_for(commands: FakeCommands) -> None:
    """413 from its head alone."""

    async def test() -> None:
        async with running(commands, body_bytes_max=1_000) as server:
            wire = await server.wire()
            kind = "Content-Type: application/json"
            await wire.ask("/api/tasks", kind, "Content-Length: 1001", method="POST")
            status, headers = await asyncio.wait_for(wire.head(), 60)
            assert (status, headers["connection"]) == (413, "close")

    go(test())


def test_noise_is_answered_and_forgotten(commands: FakeCommands) -> None:
    """What is no HTTP gets 400; the next client is served."""

    async def test() -> None:
        async with running(commands) as server:
            noise = await server.wire()
            noise.writer.write(b"\x00\xff\x16\x03 nonsense\r\n\r\n")
            assert b"400" in await noise.reader.read()
            wire: Wire = await server.wire()
            await wire.ask("/health")
            assert (await wire.head())[0] == 200

    go(test())


@pytest.mark.parametrize(
    ("url", "known", "wanted"),
    [
        ("http://127.0.0.1:8765", "127.0.0.1", "http://segue.localhost:8765"),
        ("http://127.0.0.1:8765", "::1", "http://127.0.0.1:8765"),  # it would lead elsewhere
        ("http://127.0.0.1:8765", None, "http://127.0.0.1:8765"),
        ("https://127.0.0.1:8765", "127.0.0.1", "https://127.0.0.1:8765"),  # not in the certificate
        ("http://192.0.2.7:8765", "127.0.0.1", "http://192.0.2.7:8765"),
    ],
)
def test_browsers_get_a_host_name_of_their_own_where_it_resolves(
    monkeypatch: pytest.MonkeyPatch, url: str, known: str | None, wanted: str
) -> None:
    """A cookie of 127.0.0.1 goes to every server of the machine."""

    def resolve(_name: str, port: int | None, **_more: object) -> list[tuple[object, ...]]:
        if known is None:
            raise socket.gaierror
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (known, port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    assert listen.page_url(url) == wanted
