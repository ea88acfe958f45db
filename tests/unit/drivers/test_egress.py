"""The proxy of a sandbox: whom it lets through."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from segue.drivers import egress
from segue.drivers.egress import Exchange, Log, forwarded, is_inward, may_reach, shown, split_host


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Api.Example.COM", ("api.example.com", None)),
        ("api.example.com.", ("api.example.com", None)),
        ("api.example.com:443", ("api.example.com", 443)),
        ("127.0.0.1:80", ("127.0.0.1", 80)),
        ("[::1]:80", ("::1", 80)),
        ("::1", ("::1", None)),
        ("*.example.com", None),
        ("https://example.com", None),
        ("example.com/path", None),
        ("example.com:", None),
        ("example.com:0", None),
        ("example.com:99999", None),
        ("user@example.com", None),
        ("", None),
        ("ex ample.com", None),
        ("[::1", None),
        ("[::1]80", None),
    ],
)
def test_a_host_is_read_or_refused(text: str, found: tuple[str, int | None] | None) -> None:
    assert split_host(text) == found


@pytest.mark.parametrize(
    ("host", "port", "is_let_through"),
    [
        ("a.example", 443, True),
        ("b.example", 443, True),
        ("b.example", 80, False),
        ("sub.a.example", 443, False),
        ("localhost", 80, False),
        ("127.0.0.1", 443, False),
    ],
)
def test_a_named_host_on_any_port_or_on_its_own(host: str, port: int, is_let_through: bool) -> None:
    assert may_reach(host, port, [("a.example", None), ("b.example", 443)]) is is_let_through


def test_this_machine_has_three_names() -> None:
    for host in ("localhost", "127.0.0.1", "::1"):
        assert may_reach(host, 80, [("localhost", 80)])


@pytest.mark.parametrize(
    ("address", "is_so"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("169.254.169.254", True),
        ("fe80::1%eth0", True),
        ("0.0.0.0", True),
        ("192.0.2.1", False),
        ("10.0.0.1", False),
    ],
)
def test_addresses_of_this_machine_are_known(address: str, is_so: bool) -> None:
    assert is_inward(address) is is_so


def test_a_name_that_leads_to_this_machine_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever owns a named host could point it at the services of this machine."""
    answer = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 80))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_more: answer)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"CONNECT named.example:80 HTTP/1.1\r\n\r\n")
        Exchange(ours, [("named.example", None)], Log(str(tmp_path / "log"))).run()
        said = theirs.recv(4096).decode()
    assert said.startswith("HTTP/1.1 403")
    assert "leads to 127.0.0.1" in said
    assert "refused named.example:80" in (tmp_path / "log").read_text()


def test_a_request_is_passed_on_as_its_server_expects_it() -> None:
    head = b"GET http://a/x HTTP/1.1\r\nHost: other\r\nProxy-Authorization: x\r\nAccept: */*"
    assert forwarded(head, "GET", "/x", "a") == (
        b"GET /x HTTP/1.1\r\nHost: a\r\nAccept: */*\r\nConnection: close\r\n\r\n"
    )


def test_a_head_without_end_is_refused(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"GET http://a/" + b"x" * (egress.HEAD_BYTES_MAX + 2))
        theirs.shutdown(socket.SHUT_WR)
        Exchange(ours, [], Log("")).run()
        assert theirs.recv(4096).startswith(b"HTTP/1.1 431")


def test_the_log_is_bounded_and_plain(tmp_path: Path) -> None:
    log = Log(str(tmp_path / "log"))
    log.left = 100
    for _n in range(10):
        log.write("refused " + shown("\x1b[31mred\n" + "x" * 10))
    text = (tmp_path / "log").read_text()
    assert len(text) <= 100
    assert text.count("\n") == text.count("refused") == 2
    assert "\x1b" not in text


def test_a_log_that_cannot_be_opened_is_done_without(tmp_path: Path) -> None:
    Log(str(tmp_path / "gone" / "log")).write("x")
