"""The introduction to a tmux server: what is said, in which order, in which pieces."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from kit.waiting import until
from segue.drivers.panes import PaneError
from segue.drivers.tmux.connection import HandshakeConnection, ProcessConnection, connection_to

FLAGS, DONE, COMMAND, EXIT, READY = 100, 106, 200, 203, 207
STDIN, STDOUT = 104, 110
NARROW, WIDE = "=IHHII", "=IIII"
WORDS = ["attach-session", "-t", "$1"]

Piece = tuple[bytes, list[int]]


class Server:
    """Listens as tmux would, and keeps every piece as it came."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "s"
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.path))
        self._listener.listen()
        self.line: socket.socket | None = None

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_about: object) -> None:
        self._listener.close()
        if self.line:
            self.line.close()

    def pieces(self) -> list[Piece]:
        self.line, _address = self._listener.accept()
        self.line.setblocking(False)
        found: list[Piece] = []
        while True:
            try:
                data, fds, _flags, _from = socket.recv_fds(self.line, 65535, 1)
            except BlockingIOError:
                return found
            found.append((data, fds))


def introduce(
    folder: Path, version: str, play: Callable[[Server, list[Piece], list[str]], None]
) -> list[str]:
    """Let an connection come, and play the server's part; that it was told to go, if it was."""
    ended: list[str] = []

    async def main(server: Server) -> None:
        ours, theirs = socket.socketpair()
        connection = connection_to(server.path, version, "tmux", {})

        def on_end() -> None:
            if not ended:
                ended.append("end")
                connection.close()

        with ours, theirs:
            await connection.open(theirs, WORDS, on_end)
            pieces = server.pieces()
            for _data, fds in pieces:
                for fd in fds:
                    assert os.path.sameopenfile(fd, theirs.fileno())
                    os.close(fd)
            await asyncio.to_thread(play, server, pieces, ended)
        connection.close()

    with Server(folder) as server:
        asyncio.run(main(server))
    return ended


def messages(data: bytes, header: str) -> list[tuple[int, bytes]]:
    found = []
    while data:
        kind, size, *_rest = struct.unpack_from(header, data)
        size &= 0xFFFF
        found.append((kind, data[struct.calcsize(header) : size]))
        data = data[size:]
    return found


@pytest.mark.parametrize(
    ("version", "header"),
    [("3.2", NARROW), ("3.3a", NARROW), ("3.5a", NARROW), ("3.6", WIDE), ("3.6b", WIDE)],
)
def test_what_endangers_the_server_comes_last_and_at_once(
    tmp_path: Path, version: str, header: str
) -> None:
    def play(_server: Server, pieces: list[Piece], _ended: list[str]) -> None:
        *before, (last, no_fds) = pieces
        kinds = [kind for data, _fds in before for kind, _body in messages(data, header)]
        assert FLAGS not in kinds
        assert DONE not in kinds
        assert {STDIN, STDOUT} <= set(kinds)
        assert [len(fds) for data, fds in before if fds] == [1, 1]
        assert no_fds == []
        (flags, value), (done, nothing), (command, words) = messages(last, header)
        assert (flags, done, command) == (FLAGS, DONE, COMMAND)
        assert struct.unpack("=i", value) == (0x12000,)  # a control client, which takes UTF-8
        assert nothing == b""
        assert words == struct.pack("=i", 3) + b"attach-session\0-t\0$1\0"

    introduce(tmp_path, version, play)


@pytest.mark.parametrize(("version", "header"), [("3.3a", NARROW), ("3.6", WIDE)])
def test_the_server_sends_it_away(tmp_path: Path, version: str, header: str) -> None:
    def message(kind: int, body: bytes) -> bytes:
        size = struct.calcsize(header) + len(body)
        rest = (8, 1) if header == WIDE else (0, 8, 1)
        return struct.pack(header, kind, size, *rest) + body

    def play(server: Server, _pieces: list[Piece], ended: list[str]) -> None:
        assert server.line
        for byte in message(READY, b"") + message(218, b"12345678") + message(READY, b""):
            server.line.send(bytes([byte]))
        server.line.setblocking(True)
        assert ended == []
        server.line.send(message(EXIT, struct.pack("=i", 0)))
        assert server.line.recv(1) == b""  # it was told, and went

    assert introduce(tmp_path, version, play) == ["end"]


def test_a_server_that_dies(tmp_path: Path) -> None:
    def play(server: Server, _pieces: list[Piece], ended: list[str]) -> None:
        assert server.line
        server.line.close()
        until(lambda: ended, "the end")

    assert introduce(tmp_path, "3.3a", play) == ["end"]


def test_nobody_listens(tmp_path: Path) -> None:
    async def main() -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs, pytest.raises(PaneError, match=r"cannot connect to tmux at .*/nothing"):
            connection = connection_to(tmp_path / "nothing", "3.3a", "tmux", {})
            await connection.open(theirs, WORDS, lambda: None)

    asyncio.run(main())


@pytest.mark.parametrize("version", ["3.7", "3.7c", "3.8", "3.10", "4.2", "next-3.6", "3.6-rc", ""])
def test_what_is_not_known_is_entered_by_its_own_program(version: str) -> None:
    assert isinstance(connection_to(Path("s"), version, "tmux", {}), ProcessConnection)
    assert isinstance(connection_to(Path("s"), "3.6a", "tmux", {}), HandshakeConnection)
