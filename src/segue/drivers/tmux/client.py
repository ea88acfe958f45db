"""One client of a tmux server in control mode, attached to one of its sessions.

It leaves by giving up its way in, and lets the server end the stream. A server that sees the stream
end first keeps the client for a while as one that is about to leave, and no longer counts it. If
the session ends with its last user, it may end in that moment, and tmux crashes over the client
that is still in it: everything that runs in it is gone.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from segue.drivers.panes import PaneError, PaneSilentError
from segue.drivers.tmux.connection import Connection
from segue.drivers.tmux.control_mode import ControlReader, Notice, Output, Printed, Reply
from segue.i18n import _

ANSWER_S = 5.0
LEAVE_S = 2.0  # for the server to let go of a client; one that hangs must not hang us
ASKS_MAX = 256  # that wait for an answer; a server that lets so many wait is given up
ATTACHED = "session-changed"

Replies = list[Reply] | None  # None: the client was closed before all of them came


@dataclass(slots=True)
class _Ask:
    """A command on its way; its replies end with one that holds only the word `fence`."""

    fence: str
    done: asyncio.Future[Replies]
    replies: list[Reply] = field(default_factory=list)


class ControlClient(asyncio.Protocol):
    """Asks one thing after the other, and tells what happens meanwhile."""

    def __init__(
        self,
        on_output: Callable[[Mapping[str, Printed]], None],
        on_notice: Callable[[Notice], None],
        on_closed: Callable[[], None],
    ) -> None:
        self._on_output, self._on_notice, self._on_closed = on_output, on_notice, on_closed
        self._reader = ControlReader()
        self._asks: deque[_Ask] = deque()
        self._transport: asyncio.Transport | None = None
        self._connection: Connection | None = None
        self._is_attached = False
        self._settled = asyncio.Event()  # attached, or closed before it was
        self._closed = asyncio.Event()
        self._leaving: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()

    @property
    def is_open(self) -> bool:
        is_there = self._transport is not None and not self._transport.is_closing()
        return is_there and self._leaving is None

    async def attach(self, connection: Connection, target: str, flags: str) -> None:
        """Attach to a session by its id; PaneError if that cannot be done."""
        # -E: what we find in our environment is nothing for the programs of that session.
        words = ["attach-session", "-E", "-f", flags, "-t", target]
        ours, theirs = socket.socketpair()
        self._connection = connection
        await self._loop.create_connection(lambda: self, sock=ours)
        try:
            with theirs:
                await connection.open(theirs, words, self.close)
            # It answers questions before it is attached: only its own word tells.
            async with asyncio.timeout(ANSWER_S):
                await self._settled.wait()
        except TimeoutError as error:
            raise PaneSilentError(_("tmux does not respond")) from error
        finally:
            if not self._is_attached:
                self.close()
        if not self._is_attached:
            raise PaneError(_("tmux refused to attach to {target}").format(target=target))

    def close(self) -> None:
        """Detach; it is done when the server has let go of it."""
        if self._transport is None or self._leaving is not None:
            return
        self._leaving = self._loop.call_later(LEAVE_S, self._transport.abort)
        if self._connection is not None:
            self._connection.close()
        self._give_up()

    async def wait_closed(self) -> None:
        if self._connection is not None:
            await self._closed.wait()

    async def ask(self, command: str) -> Replies:
        """What the commands of one line printed, up to the first that failed."""
        done = self.begin(command)
        await asyncio.wait([done], timeout=ANSWER_S)
        if not done.done():
            raise PaneSilentError(_("tmux does not respond"))
        return done.result()

    def begin(self, command: str) -> asyncio.Future[Replies]:
        """The same, without waiting."""
        done: asyncio.Future[Replies] = self._loop.create_future()
        if self._transport is None or not self.is_open:
            done.set_result(None)
            return done
        ask = _Ask(secrets.token_hex(8), done)
        self._asks.append(ask)
        self._transport.write(f"{command}\ndisplay-message -p {ask.fence}\n".encode())
        if len(self._asks) > ASKS_MAX:
            self.close()
        return done

    # --- what the loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._leaving is not None:
            return
        try:
            heard = self._reader.feed(data)
        except PaneError:  # the replies make no sense any more: attach again
            self.close()
            return
        for event in heard:
            match event:
                case Reply():
                    self._take(event)
                case Output(panes):
                    self._on_output(panes)
                case Notice():
                    if event.name == ATTACHED:
                        self._is_attached = True
                        self._settled.set()
                    self._on_notice(event)

    def connection_lost(self, _error: Exception | None) -> None:
        self._transport = None
        if self._leaving is not None:
            self._leaving.cancel()
        if self._connection is not None:
            self._connection.close()
        self._give_up()
        self._closed.set()
        self._on_closed()

    def _give_up(self) -> None:
        """No awaited reply will arrive any more."""
        while self._asks:
            self._settle(self._asks.popleft(), None)
        self._settled.set()

    def _take(self, reply: Reply) -> None:
        if not self._asks:
            return
        ask = self._asks[0]
        if reply.lines == (ask.fence,):
            self._asks.popleft()
            self._settle(ask, ask.replies)
        else:
            ask.replies.append(reply)

    @staticmethod
    def _settle(ask: _Ask, replies: Replies) -> None:
        if not ask.done.done():
            ask.done.set_result(replies)
