"""The kernel's word on the other end of a connection, by both ways of asking for it."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable

import pytest

from segue.drivers import sockets
from segue.drivers.sockets import End, Held, other_end

Ask = Callable[[End, End], Held | None]


@pytest.fixture(params=["asked", "listed"])
def ask(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """`other_end` where only one of the two ways works."""
    other = {"asked": "_listed", "listed": "_asked"}[request.param]
    monkeypatch.setattr(sockets, other, lambda _peer, _own: None)
    return other_end


@pytest.mark.parametrize(
    ("bound", "called"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("::1", "::1"),
        ("::", "127.0.0.1"),
        ("::", "::ffff:127.0.0.1"),
    ],
)
def test_the_other_end_is_found(ask: Ask, bound: str, called: str) -> None:
    """Over IPv4, IPv6, and IPv4 on a socket of both: the inode and user of the caller's socket;
    inode 0 when the caller has closed it."""
    family = socket.AF_INET6 if ":" in bound else socket.AF_INET
    try:
        listener = socket.create_server((bound, 0), family=family, dualstack_ipv6=bound == "::")
    except OSError:
        pytest.skip("no IPv6 here")
    with listener:
        caller = socket.create_connection((called, listener.getsockname()[1]))
        link, _address = listener.accept()
        with link:
            peer, own = link.getpeername()[:2], link.getsockname()[:2]
            inode = os.fstat(caller.fileno()).st_ino
            assert ask(peer, own) == Held(os.geteuid(), inode)
            caller.close()
            found = ask(peer, own)
            assert found is not None and found.inode == 0


def test_what_is_not_there_is_not_found(ask: Ask) -> None:
    """No such connection on this machine: that of another one."""
    assert ask(("127.0.0.1", 1), ("127.0.0.1", 2)) is None
    assert ask(("2001:db8::1", 1), ("2001:db8::2", 2)) is None


def test_a_kernel_that_does_not_answer_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that may not use netlink: the list is read."""

    def closed(*_arguments: object) -> None:
        raise PermissionError(1, "not permitted")

    monkeypatch.setattr(socket, "socket", closed)
    assert sockets._asked(("127.0.0.1", 1), ("127.0.0.1", 2)) is None


def test_which_addresses_are_this_machines() -> None:
    """Loopback in every form, and those that can be bound to; no others."""
    for own in ("127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"):
        assert sockets.is_local(own)
    for other in ("192.0.2.1", "2001:db8::1", "nonsense"):
        assert not sockets.is_local(other)
