"""An agent reaches the hosts that its settings name, and no others."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from kit.attack import WITHIN, WITHOUT, Stranger, both_ways, needs_sandbox

ASK = f"{sys.executable} -I - <<'END' >> found\n"


class Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = f"reached {self.path}\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: tests print what failed."""


@pytest.fixture
def port() -> Iterator[int]:
    """A server on this machine, which stands for any host."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def fetch(url: str) -> str:
    """Shell: as any program that honours the usual variables."""
    return f"""{ASK}
import urllib.request
try:
    print(urllib.request.urlopen("{url}", timeout=5).read().decode())
except Exception as error:
    print(type(error).__name__, getattr(error, "code", ""), error)
    if hasattr(error, "read"):
        print(error.read().decode())
END
"""


def connect(port: int) -> str:
    """Shell: straight, whatever the variables say."""
    return f"""{ASK}
import socket
try:
    socket.create_connection(("127.0.0.1", {port}), 5).close()
    print("connected")
except OSError as error:
    print("not connected", error)
END
"""


def proxied(lines: str) -> str:
    """Shell: these bytes to the proxy, and what it answers."""
    return f"""{ASK}
import os, socket
from urllib.parse import urlsplit
proxy = urlsplit(os.environ["HTTPS_PROXY"])
with socket.create_connection((proxy.hostname, proxy.port), 5) as s:
    s.sendall({lines!r}.encode())
    s.shutdown(socket.SHUT_WR)
    data = b""
    while chunk := s.recv(4096):
        data += chunk
print(data.decode())
END
"""


@both_ways
def test_without_a_network_nothing_is_reached(stranger: Stranger, sandbox: str, port: int) -> None:
    """`network = "none"`: not even this machine."""
    script = connect(port) + fetch(f"http://127.0.0.1:{port}/x")
    found = stranger.tries(script, sandbox, settings='network = "none"')
    assert ("reached /x" in found) is (sandbox == WITHOUT)
    assert ("not connected" in found) is (sandbox == WITHIN)


@needs_sandbox
def test_a_full_network_is_the_default(stranger: Stranger, port: int) -> None:
    """The sandbox alone takes no network away: agents need their models."""
    assert "reached /x" in stranger.tries(fetch(f"http://127.0.0.1:{port}/x"), WITHIN)


@needs_sandbox
@pytest.mark.parametrize("named", ["localhost", "localhost:{port}", "127.0.0.1:{port}"])
def test_a_named_host_is_reached(stranger: Stranger, port: int, named: str) -> None:
    """Through the proxy of `HTTP_PROXY`, by plain requests and by CONNECT; never straight."""
    script = (
        fetch(f"http://127.0.0.1:{port}/plain")
        + proxied(f"CONNECT localhost:{port} HTTP/1.1\r\n\r\nGET /tunnel HTTP/1.0\r\n\r\n")
        + connect(port)
    )
    found = stranger.tries(script, WITHIN, settings=f'network = ["{named.format(port=port)}"]')
    assert "reached /plain" in found
    assert "reached /tunnel" in found
    assert "not connected" in found
    log = next(stranger.memory("logs").glob("*.network.log")).read_text()
    assert f"allowed 127.0.0.1:{port}" in log


@needs_sandbox
@pytest.mark.parametrize("named", ["example.com", "localhost:1", "127.0.0.1.example.com"])
def test_another_host_is_refused(stranger: Stranger, port: int, named: str) -> None:
    """A host that is not named, or not with this port, is refused with a reason, and logged."""
    script = fetch(f"http://localhost:{port}/x") + proxied(
        f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n"
    )
    found = stranger.tries(script, WITHIN, settings=f'network = ["{named}"]')
    assert "reached" not in found
    assert found.count("does not name") == 2
    assert "403" in found
    log = next(stranger.memory("logs").glob("*.network.log")).read_text()
    assert f"refused http://localhost:{port}/x" in log


@needs_sandbox
@pytest.mark.parametrize(
    "lines",
    [
        "GET /x HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n",
        "GET ftp://localhost:{port}/x HTTP/1.1\r\n\r\n",
        "CONNECT localhost HTTP/1.1\r\n\r\n",
        "CONNECT localhost:{port}@example.com:80 HTTP/1.1\r\n\r\n",
        "GET http://example.com@localhost:{port}/ HTTP/1.1\r\n\r\n",
        "GET http://localhost:{port}\\@example.com/ HTTP/1.1\r\n\r\n",
        "\x05\x01\x00",
        "nonsense\r\n\r\n",
    ],
)
def test_all_else_is_refused(stranger: Stranger, port: int, lines: str) -> None:
    """The proxy speaks two kinds of requests; anything else is a 403."""
    script = proxied(lines.format(port=port))
    found = stranger.tries(script, WITHIN, settings='network = ["example.com"]')
    assert "HTTP/1.1 403 Forbidden" in found
    assert "reached" not in found


@needs_sandbox
def test_a_second_request_reaches_the_first_host_only(stranger: Stranger, port: int) -> None:
    """A connection that was let through is not a way to another host."""
    lines = (
        f"GET http://localhost:{port}/one HTTP/1.1\r\n\r\n"
        "GET http://example.com/two HTTP/1.1\r\n\r\n"
    )
    found = stranger.tries(proxied(lines), WITHIN, settings='network = ["localhost"]')
    assert "reached /one" in found
    assert "reached http://example.com" not in found
    assert "reached /two" not in found


@needs_sandbox
def test_the_agent_ends_as_it_ends_behind_the_proxy(stranger: Stranger) -> None:
    """The proxy passes on the agent's exit code, and a closed pipe still ends a program."""
    script = "(yes; echo $? >> found) | head -1 > /dev/null; exit 7"
    stranger.tries(script, WITHIN, settings='network = ["localhost"]')
    assert set(stranger.found.split()) == {"141"}  # in each of its tries
    assert "exit code 7" in stranger.result.out
