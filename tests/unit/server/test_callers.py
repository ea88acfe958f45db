"""Whose process a connection comes from."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from segue.drivers.lineage import RUN
from segue.drivers.peer import Caller
from segue.drivers.sockets import End
from segue.server import callers
from segue.server.callers import Attempt, Connection


class Transport(asyncio.Transport):
    """A transport that knows what a test says."""

    def __init__(self, **known: Any) -> None:
        super().__init__(known)


@pytest.fixture
def link() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Both ends of a connection: ours and the client's."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        theirs = socket.create_connection(listener.getsockname())
        ours, _address = listener.accept()
    with ours, theirs:
        yield ours, theirs


def of(link: socket.socket) -> Transport:
    return Transport(socket=link, peername=link.getpeername(), sockname=link.getsockname())


def look(connection: Connection) -> Caller:
    return asyncio.run(connection.caller())


def test_a_client_of_this_very_process_belongs_to_no_run(
    link: tuple[socket.socket, socket.socket],
) -> None:
    assert look(Connection(of(link[0]))) == Caller()


def test_a_client_that_has_closed_its_end_has_hung_up(
    link: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel is asked whether the other end is still there; a closed socket is not."""

    def ask(_peer: End, _own: End, is_connected: Callable[[], bool]) -> Caller:
        return Caller(has_hung_up=not is_connected())

    monkeypatch.setattr(callers, "find_caller", ask)
    ours, theirs = link
    assert not look(Connection(of(ours))).has_hung_up
    theirs.close()
    assert look(Connection(of(ours))).has_hung_up
    closed = of(ours)
    ours.close()
    assert look(Connection(closed)).has_hung_up


def test_a_connection_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its requests are many, its other end stays the same."""
    asked: list[tuple[End, End]] = []

    def find(peer: End, own: End, _is_connected: object) -> Caller:
        asked.append((peer, own))
        return Caller({RUN: "T-1"})

    monkeypatch.setattr(callers, "find_caller", find)
    known = {"peername": ("::1", 5, 0, 0), "sockname": ("::1", 80, 0, 0)}
    connection = Connection(Transport(**known))
    assert look(connection) == look(connection) == Caller({RUN: "T-1"})
    assert asked == [(("::1", 5), ("::1", 80))]


@pytest.mark.parametrize(
    "known",
    [
        {"peername": ("192.0.2.1", 5), "sockname": ("192.0.2.2", 80)},
        {"peername": None, "sockname": ("127.0.0.1", 80)},
        {"peername": "", "sockname": "/run/segue.sock"},
    ],
)
def test_another_machine_is_not_looked_up(
    known: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is a connection without addresses: no run of this machine can be at its other end."""

    def never(*_given: object) -> Caller:
        raise AssertionError

    monkeypatch.setattr(callers, "find_caller", never)
    assert look(Connection(Transport(**known))) == Caller()


def test_an_attempt_names_what_was_tried_and_not_its_query() -> None:
    """The query may hold the token; a path may be endless."""
    scope = {"method": "POST", "path": "/api/tasks/1/submit", "query_string": b"token=secret"}
    made = Attempt.of({RUN: "T-1"}, scope, is_change=True)
    assert (made.via, made.tried, made.is_change) == ("rest", "POST /api/tasks/1/submit", True)
    page = Attempt.of({RUN: "T-1"}, {"method": "GET", "path": "/" + "x" * 999}, is_change=False)
    assert page.via == "page"
    assert len(page.tried) == len("GET ") + callers.PATH_CHARS_MAX


def test_the_name_of_a_run_is_shown_on_one_line_and_without_escapes() -> None:
    """The run's own environment names it: an agent may have written anything there."""
    made = Attempt({RUN: "T-1\x1b[31m\nevil"}, "rest", "GET /", is_change=False)
    assert "\n" not in made.name
    assert "\x1b" not in made.name
    assert made.name.startswith("T-1")
