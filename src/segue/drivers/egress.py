"""The way out of a sandbox whose network is an allow list: a proxy that lets named hosts through.

The sandbox has a network namespace of its own, in which nothing but its own loopback can be
reached. Theory of operation:

    keeper ── this file (outside, the proxy) ── bwrap ── this file (inside) ── exec: the agent

Inside, this file makes a listening socket on the sandbox's loopback, hands it to the proxy (a
socket stays in the namespace it was made in), and becomes the agent. So the proxy accepts what the
agent connects to, and connects to the world by itself; no process is added inside. The proxy
belongs to the run, below its keeper: it lives on when Segue is killed, is stopped and ended with
the agent, and what it connects to on this machine sees a process of a run, never a person's.

It speaks `CONNECT` and requests with a whole address (`GET http://…`), and refuses all else. Both
parts are run by path in a bare interpreter: standard library only, as few imports as possible.
"""

from __future__ import annotations

import os
import signal
import socket
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # as in typing, which is slow to import; annotations are never evaluated here
    from pathlib import Path

LOOPBACK, PORT = "127.0.0.1", 3128
ADDRESS = f"http://{LOOPBACK}:{PORT}"
PROXIED = (
    "HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "all_proxy",
)  # fmt: skip
NOT_PROXIED = ("NO_PROXY", "no_proxy")
OWN_HOST = ("localhost", "127.0.0.1", "::1")  # one host by three names
HANDED = 3  # the descriptor of the channel between the two parts
HEAD_BYTES_MAX = 64 * 1024
CHUNK_BYTES = 64 * 1024
HEAD_S, CONNECT_S = 60.0, 30.0
CONNECTIONS_MAX = 512
LOG_BYTES_MAX = 1 << 20
HTTP_PORT = 80
FORBIDDEN = "403 Forbidden"
# Python ignores these two, and a program would inherit it.
IGNORED = (signal.SIGPIPE, signal.SIGXFSZ)

_BARE = (sys.executable, "-I", "-S", "-X", "utf8", __file__)
INSIDE = (*_BARE, "inside")


def outside(allowed: tuple[str, ...], log: Path | None) -> tuple[str, ...]:
    """The command line of the proxy; the sandbox's own follows."""
    return (*_BARE, "outside", str(log or ""), *allowed, "--")


# Which hosts


def split_host(text: str) -> tuple[str, int | None] | None:
    """`host`, `host:port` or `[address]:port`, in lower case; None: it is neither."""
    host, port = text, ""
    if text.startswith("["):
        host, closed, rest = text[1:].partition("]")
        if not closed or (rest and not rest.startswith(":")):
            return None
        port, has_port = rest[1:], bool(rest)
    elif text.count(":") > 1:  # an address of version 6 by itself
        has_port = False
    else:
        host, colon, port = text.partition(":")
        has_port = bool(colon)
    if has_port and not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        return None
    host = host.lower().rstrip(".")
    named = host.replace("-", "").replace(".", "").replace("_", "")
    is_name = named.isascii() and named.isalnum()
    if not is_name and not _is_address(host):
        return None
    return host, int(port) if has_port else None


def _is_address(host: str) -> bool:
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)
        except OSError:
            continue
        return True
    return False


def may_reach(host: str, port: int, allowed: list[tuple[str, int | None]]) -> bool:
    for name, named_port in allowed:
        is_host = name == host or (name in OWN_HOST and host in OWN_HOST)
        if is_host and named_port in (None, port):
            return True
    return False


def is_inward(address: str) -> bool:
    """This machine, or its network's own services: a name that leads there was not meant to."""
    import ipaddress  # noqa: PLC0415 - only the proxy needs it

    found = ipaddress.ip_address(address.partition("%")[0])
    found = getattr(found, "ipv4_mapped", None) or found
    return found.is_loopback or found.is_link_local or found.is_unspecified or found.is_multicast


class Refused(Exception):  # noqa: N818 - what the proxy says
    def __init__(self, status: str, why: str) -> None:
        super().__init__(why)
        self.status = status


# One connection


class Exchange:
    """One connection of the agent's, from its request to its end."""

    def __init__(
        self, client: socket.socket, allowed: list[tuple[str, int | None]], log: Log
    ) -> None:
        self.client, self.allowed, self.log = client, allowed, log

    def run(self) -> None:
        target = "?"
        try:
            self.client.settimeout(HEAD_S)
            head, rest = self.read_head()
            line = head.partition(b"\r\n")[0].decode("latin-1").split(" ")
            if len(line) != 3 or not line[2].startswith("HTTP/1."):
                raise Refused(FORBIDDEN, "not a request of HTTP/1")
            target = line[1]
            if line[0] == "CONNECT":
                with self.reach(target, None) as server:
                    self.client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                    pump(self.client, server, rest)
            else:
                host, path = self.whole_address(target)
                with self.reach(host, HTTP_PORT) as server:
                    pump(self.client, server, forwarded(head, line[0], path, host) + rest)
        except Refused as error:
            self.log.write(f"refused {shown(target)}: {error}")
            self.refuse(error)
        except OSError as error:  # either end is gone
            self.log.write(f"ended {shown(target)}: {error.strerror or error}")
        finally:
            self.client.close()

    def read_head(self) -> tuple[bytes, bytes]:
        data = b""
        while b"\r\n\r\n" not in data:
            if len(data) > HEAD_BYTES_MAX:
                raise Refused("431 Request Header Fields Too Large", "its head is too long")
            chunk = self.client.recv(CHUNK_BYTES)
            if not chunk:
                raise Refused(FORBIDDEN, "its head ended early")
            data += chunk
        head, _, rest = data.partition(b"\r\n\r\n")
        return head, rest

    def whole_address(self, target: str) -> tuple[str, str]:
        """The host and the path of `http://…`."""
        scheme, _, rest = target.partition("://")
        if scheme.lower() != "http" or not rest:
            raise Refused(FORBIDDEN, "only CONNECT and http:// addresses pass this proxy")
        cut = min((at for at in map(rest.find, "/?#") if at >= 0), default=len(rest))
        path = rest[cut:] or "/"
        return rest[:cut], path if path.startswith("/") else f"/{path}"

    def reach(self, target: str, port: int | None) -> socket.socket:
        """A connection to a host that the settings name; else `Refused`."""
        found = split_host(target)
        if found is None or (found[1] is None and port is None):
            raise Refused(FORBIDDEN, "it names no host and port")
        host, number = found[0], found[1] or port or 0
        if not may_reach(host, number, self.allowed):
            why = f"`network` of this agent does not name {host}:{number}"
            raise Refused(FORBIDDEN, why)
        is_meant = host in OWN_HOST or _is_address(host)
        try:
            answers = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)
        except OSError as error:
            raise Refused("502 Bad Gateway", f"{host}: {error.strerror or error}") from error
        last = "it has no address"
        for family, kind, protocol, _name, address in answers:
            if not is_meant and is_inward(str(address[0])):
                last = f"{host} leads to {address[0]}, which `network` does not name"
                continue
            server = socket.socket(family, kind, protocol)
            server.settimeout(CONNECT_S)
            try:
                server.connect(address)
            except OSError as error:
                server.close()
                last = f"{host}: {error.strerror or error}"
                continue
            self.log.write(f"allowed {host}:{number}")
            return server
        is_closed = "does not name" in last
        raise Refused(FORBIDDEN if is_closed else "502 Bad Gateway", last)

    def refuse(self, error: Refused) -> None:
        body = f"Segue: {error}\n".encode()
        head = (
            f"HTTP/1.1 {error.status}\r\nContent-Type: text/plain; charset=utf-8\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        try:
            self.client.sendall(head.encode() + body)
        except OSError as gone:
            self.log.write(f"ended: {gone.strerror or gone}")


def forwarded(head: bytes, method: str, path: str, host: str) -> bytes:
    """A request as its server expects it: one for each connection, so that no second one goes to
    a host that the first did not name."""
    lines = [f"{method} {path} HTTP/1.1".encode("latin-1"), f"Host: {host}".encode("latin-1")]
    for line in head.split(b"\r\n")[1:]:
        name = line.partition(b":")[0].strip().lower()
        if name not in (b"host", b"connection", b"proxy-connection", b"keep-alive") and (
            not name.startswith(b"proxy-")
        ):
            lines.append(line)
    return b"\r\n".join([*lines, b"Connection: close", b"", b""])


def pump(client: socket.socket, server: socket.socket, first: bytes) -> None:
    """Bytes in both directions until the server has ended. Each direction has a thread: neither
    waits for the other to be read."""
    import threading  # noqa: PLC0415 - only the proxy needs it

    client.settimeout(None)
    server.settimeout(None)

    def send() -> None:
        try:
            server.sendall(first)
            copy(client, server)
            server.shutdown(socket.SHUT_WR)
        except OSError:
            server.close()  # one of them is gone: the other direction finds it, too

    threading.Thread(target=send, daemon=True).start()
    copy(server, client)


def copy(source: socket.socket, target: socket.socket) -> None:
    while data := source.recv(CHUNK_BYTES):
        target.sendall(data)


def shown(text: str) -> str:
    """A name that an agent chose, on one line of a log."""
    return "".join(c if c.isascii() and c.isprintable() else "?" for c in text[:200])


class Log:
    """What was let through and what was not, for the person; bounded."""

    def __init__(self, path: str) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        self.left = LOG_BYTES_MAX
        try:
            self.fd = os.open(path or os.devnull, flags, 0o600)
        except OSError:  # its folder was removed: the agent's connections matter more
            self.fd = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)

    def write(self, text: str) -> None:
        import time  # noqa: PLC0415 - only the proxy needs it

        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        line = f"{at} {text}\n".encode()
        if (left := self.left - len(line)) > 0:
            self.left = left
            try:
                os.write(self.fd, line)
            except OSError:
                self.left = 0  # a full disk


# The two parts


def be_proxy(log: str, allowed: list[str], argv: list[str]) -> int:
    """Start the sandbox, serve what it connects to, and end as it ends."""
    # A handler, not "ignore", which the agent would inherit: who ends a run signals the agent.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    actions = [(os.POSIX_SPAWN_DUP2, theirs.fileno(), HANDED)]
    if theirs.fileno() == HANDED:  # it would be closed in the program
        moved = os.dup(HANDED)
        actions = [(os.POSIX_SPAWN_DUP2, moved, HANDED)]
    child = os.posix_spawnp(argv[0], argv, os.environ, file_actions=actions, setsigdef=IGNORED)
    theirs.close()
    named = [found for text in allowed if (found := split_host(text)) is not None]
    serve(ours, named, Log(log))
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return 128 + os.WTERMSIG(status)
    return os.WEXITSTATUS(status)


def serve(channel: socket.socket, allowed: list[tuple[str, int | None]], log: Log) -> None:
    """Answer in threads, until this process ends with its sandbox."""
    import threading  # noqa: PLC0415 - only the proxy needs it

    room = threading.BoundedSemaphore(CONNECTIONS_MAX)

    def answer(client: socket.socket) -> None:
        try:
            Exchange(client, allowed, log).run()
        finally:
            room.release()

    def accept() -> None:
        _data, handed, _flags, _from = socket.recv_fds(channel, 1, 1)
        if not handed:
            return  # the sandbox ended before it began
        with socket.socket(fileno=handed[0]) as listener:
            while True:
                room.acquire()
                client = listener.accept()[0]
                threading.Thread(target=answer, args=(client,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def become_agent(argv: list[str]) -> None:
    """Hand the listening socket out of the sandbox, then be the agent."""
    with socket.socket() as listener, socket.socket(fileno=HANDED) as channel:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, PORT))
        listener.listen(128)
        socket.send_fds(channel, [b"."], [listener.fileno()])
    for number in IGNORED:
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(argv[0], argv)  # noqa: S606 - the agent itself
    except OSError as error:
        print(f"{argv[0]}: {error.strerror}", file=sys.stderr)  # noqa: T201 - as bwrap says it
        sys.exit(127 if isinstance(error, FileNotFoundError) else 126)


if __name__ == "__main__":
    if sys.argv[1] == "inside":
        become_agent(sys.argv[2:])
    else:
        cut = sys.argv.index("--")
        code = be_proxy(sys.argv[2], sys.argv[3:cut], sys.argv[cut + 1 :])
        os._exit(code)  # threads still wait for connections
