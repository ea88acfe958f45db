"""How a control client comes to a tmux server: by `tmux -C`, or by a way that cannot harm it.

Before 3.7 a server is in danger while `tmux -C` introduces itself. Its first message says that it
is a control client, but only after the last of several does the server make what such a client
needs. If a session begins or ends in between, or the client is killed there, the server crashes,
and everything that runs in it is gone. So to these servers we introduce ourselves, in another
order: that we are a control client stands in one write with the end of the introduction, which
the server takes in at once. The messages of these versions are known and will not change any more.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import socket
import struct
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from segue.drivers.panes import PaneError, PaneSilentError
from segue.drivers.processes import dies_with_us
from segue.i18n import _

_FRAGILE = re.compile(r"3\.([2-6])[a-z]?")
_WIDE_FROM = 6  # since 3.6 a message may be longer, and its header is another

_PROTOCOL = 8
_FLAGS, _TERM, _TTYNAME, _STDIN = 100, 101, 102, 104
_DONE, _CLIENTPID, _CWD, _FEATURES, _STDOUT = 106, 107, 108, 109, 110
_COMMAND = 200
_CHATTER = frozenset({207, 218})  # ready, flags; after anything else the client has to go
_CONTROL, _UTF8 = 0x2000, 0x10000

_numbers = itertools.count(1)


class Connection(Protocol):
    """One client's way into a server, and out again."""

    async def open(
        self, stream: socket.socket, words: Sequence[str], on_end: Callable[[], None]
    ) -> None:
        """Run a command as a control client which is spoken with over this stream. `on_end`: the
        server has done with it. PaneError: it cannot be had."""
        ...

    def close(self) -> None:
        """Go at once; nothing of it stays."""
        ...


def connection_to(
    socket_path: Path, version: str, program: str, env: Mapping[str, str]
) -> Connection:
    """The way to a server of this version."""
    if found := _FRAGILE.fullmatch(version):
        return HandshakeConnection(socket_path, is_wide=int(found[1]) >= _WIDE_FROM)
    return ProcessConnection([program, "-u", "-S", str(socket_path)], env)


class ProcessConnection:
    """By a `tmux -C` of our own."""

    def __init__(self, tmux: Sequence[str], env: Mapping[str, str]) -> None:
        self._tmux, self._env = tmux, env
        self._process: subprocess.Popen[bytes] | None = None

    async def open(
        self, stream: socket.socket, words: Sequence[str], _on_end: Callable[[], None]
    ) -> None:
        try:
            self._process = subprocess.Popen(
                [*self._tmux, "-C", *words],
                stdin=stream.fileno(),
                stdout=stream.fileno(),
                stderr=subprocess.DEVNULL,
                env=self._env,
                start_new_session=True,  # Ctrl-C is for Segue, which will close it
                preexec_fn=dies_with_us(),  # noqa: PLW1509 - there is one thread
            )
        except OSError as error:
            raise PaneError(_("cannot start tmux: {error}").format(error=error)) from error

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()  # it ends by itself now; one that hangs must not hang us
            self._process.wait()


class HandshakeConnection(asyncio.Protocol):
    """By a connection to the server's socket, over which we say who we are."""

    def __init__(self, socket_path: Path, *, is_wide: bool) -> None:
        self._socket_path = socket_path
        self._is_wide = is_wide
        self._header = struct.Struct("=IIII" if is_wide else "=IHHII")
        self._transport: asyncio.Transport | None = None
        self._heard = bytearray()

    async def open(
        self, stream: socket.socket, words: Sequence[str], on_end: Callable[[], None]
    ) -> None:
        self._on_end = on_end
        loop = asyncio.get_running_loop()
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        line.setblocking(False)
        try:
            await loop.sock_connect(line, str(self._socket_path))
            self._introduce(line, stream.fileno(), words)
        except BlockingIOError as error:
            line.close()
            raise PaneSilentError(_("tmux does not respond")) from error
        except OSError as error:
            line.close()
            text = _("cannot connect to tmux at {path}: {error}")
            reason = error.strerror or error
            raise PaneError(text.format(path=self._socket_path, error=reason)) from error
        await loop.create_connection(lambda: self, sock=line)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _introduce(self, line: socket.socket, stream: int, words: Sequence[str]) -> None:
        name = f"segue-{os.getpid()}-{next(_numbers)}"
        about = [
            self._message(_TERM, b"\0"),
            self._message(_FEATURES, struct.pack("=i", 0)),
            self._message(_TTYNAME, name.encode() + b"\0"),
            self._message(_CWD, b"/\0"),
            self._message(_CLIENTPID, struct.pack("=i", os.getpid())),
        ]
        command = struct.pack("=i", len(words)) + b"".join(word.encode() + b"\0" for word in words)
        last = [
            self._message(_FLAGS, struct.pack("=i", _CONTROL | _UTF8)),
            self._message(_DONE),
            self._message(_COMMAND, command),
        ]
        line.sendmsg([b"".join(about)])
        for kind in (_STDIN, _STDOUT):
            socket.send_fds(line, [self._message(kind, has_fd=True)], [stream])
        line.sendmsg([b"".join(last)])  # in one piece, see above

    def _message(self, kind: int, body: bytes = b"", *, has_fd: bool = False) -> bytes:
        size = self._header.size + len(body)
        if self._is_wide:
            head = self._header.pack(kind, size | (has_fd << 31), _PROTOCOL, os.getpid())
        else:
            head = self._header.pack(kind, size, has_fd, _PROTOCOL, os.getpid())
        return head + body

    # --- what the loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._heard += data
        while len(self._heard) >= self._header.size:
            kind, size, *_rest = self._header.unpack_from(self._heard)
            if kind not in _CHATTER:
                self._on_end()
                return
            if len(self._heard) < size:
                return
            del self._heard[:size]

    def connection_lost(self, _error: Exception | None) -> None:
        self._on_end()
