"""The supervisor's side of runs: start them, wait for them, end them, find them again.

A launch order goes to the nursery (`nursery.py`), which is started with the first one and replaced
when it died; its keepers answer through it. An order without an answer can be given again: the
claim lets only one keeper start the agent, whatever happens.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from segue.drivers import nursery, processes
from segue.drivers.runs import (
    ORPHANS_S,
    RUN_VARIABLE,
    End,
    Failure,
    Live,
    Lost,
    Order,
    Revoked,
    end_input,
    read_end,
    recover,
    send,
)
from segue.errors import AgentError, Bug
from segue.i18n import _

__all__ = [
    "End",
    "Failure",
    "Launcher",
    "Live",
    "Lost",
    "Order",
    "Revoked",
    "read_end",
    "recover",
    "send",
]

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
ANSWER_S = 30.0
CLOSE_S = 5.0
AT_ONCE_S = 5.0


class _NurseryGone(Exception):  # noqa: N818 - an event rather than an error
    pass


class _RefusedError(AgentError):
    """A keeper says why it cannot begin."""

    def __init__(self, number: int | None, reason: str) -> None:
        super().__init__(reason)
        self.errno = number


@dataclass(eq=False)
class _Nursery(asyncio.Protocol):
    """The nursery process and the orders it has not answered."""

    process: subprocess.Popen[bytes]
    transport: asyncio.Transport | None = None
    waiting: dict[str, asyncio.Future[Live]] = field(default_factory=dict)
    endings: dict[int, asyncio.Future[bool]] = field(default_factory=dict)  # by keeper
    idle: list[int] = field(default_factory=list)  # keepers whose last run is known to be over
    received: bytes = b""
    is_gone: bool = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        *lines, self.received = (self.received + data).split(b"\n")
        for line in lines:
            answer = json.loads(line)
            self._started(answer)
            if answer["ended"]:
                self._ended(answer)

    def _started(self, answer: dict[str, Any]) -> None:
        run = answer["run"]
        ending: asyncio.Future[bool] | None = None
        if not answer["ended"] and not answer["error"]:
            ending = self.endings[answer["keeper"]] = asyncio.get_running_loop().create_future()
        future = self.waiting.pop(run, None)
        if future is None or future.done():
            return  # the caller was cancelled; the claim records the run
        if answer["error"]:
            why = answer["error"]
            future.set_exception(_RefusedError(why["errno"], why["strerror"]))
        else:
            future.set_result(Live(run, answer["keeper"], answer["started"], ending))

    def _ended(self, answer: dict[str, Any]) -> None:
        """A run has ended, or (no run named) its keeper was killed."""
        keeper = answer["keeper"]
        ending = self.endings.pop(keeper, None)
        if ending is not None and not ending.done():
            ending.set_result(True)
        if answer["run"] is not None:
            self.idle.append(keeper)
        elif keeper in self.idle:
            self.idle.remove(keeper)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_gone = True
        self.process.poll()
        for future in self.waiting.values():
            if not future.done():
                future.set_exception(_NurseryGone())
        self.waiting.clear()
        for ending in self.endings.values():
            if not ending.done():
                ending.set_result(False)

    async def launch(self, order: Order) -> Live:
        if order.run in self.waiting:
            raise Bug(f"run {order.run} is being launched already")
        assert self.transport
        future: asyncio.Future[Live] = asyncio.get_running_loop().create_future()
        self.waiting[order.run] = future
        try:
            # Only now may the keeper of an earlier run have this one: no one signals that any more.
            keeper = self.idle.pop() if self.idle else 0
            self.transport.write(order.to_line(keeper))  # never half a line, also when cancelled
            return await future
        finally:
            self.waiting.pop(order.run, None)

    async def close(self) -> None:
        """Hang up, and wait until it is gone; its keepers are not concerned."""
        self.is_gone = True  # the transport says so a little later
        if self.transport:
            self.transport.close()
        if self.process.poll() is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_S):
                    await _gone(self.process.pid)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


async def _start_nursery() -> _Nursery:
    ours, theirs = socket.socketpair()
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-X", "utf8", nursery.__file__, str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,  # Ctrl-C is for the supervisor
            cwd="/",
        )
    except OSError:
        ours.close()
        raise
    finally:
        theirs.close()
    ours.setblocking(False)
    started = _Nursery(process)
    await asyncio.get_running_loop().create_unix_connection(lambda: started, sock=ours)
    return started


class Launcher:
    """Starts runs and sees them to their end. One for each supervisor."""

    def __init__(self) -> None:
        self._nursery: _Nursery | None = None
        self._starting = asyncio.Lock()

    @property
    def nursery(self) -> int | None:
        """The pid of the nursery, if there is one."""
        return self._nursery.process.pid if self._nursery else None

    async def launch(self, order: Order) -> Live:
        """Start a run; AgentError, or OSError where the disk is full: it did not start and never
        will.

        If this is cancelled, or the supervisor dies, `recover` knows what became of the run.
        """
        reason, number = "", None
        for _attempt in range(2):
            nursery = await self._living_nursery()
            try:
                async with asyncio.timeout(ANSWER_S):
                    return await nursery.launch(order)
            except _NurseryGone:
                reason = _("the process that starts agents was killed")
            except TimeoutError:
                reason = _("the process that starts agents does not respond")
                nursery.process.kill()
                await nursery.close()
            except _RefusedError as error:
                reason, number = str(error), error.errno
                break
        outcome = recover(order.claim, order.end, order.run)
        if isinstance(outcome, Live):
            return outcome
        if number in NO_ROOM:
            raise OSError(number, reason, str(order.claim))
        text = _("run {run} could not be started: {reason}")
        raise AgentError(text.format(run=order.run, reason=reason))

    async def prepare(self) -> None:
        """Let the nursery start while there is other work: the first launch need not wait."""
        await self._living_nursery()

    async def _living_nursery(self) -> _Nursery:
        async with self._starting:
            if self._nursery is None or self._nursery.is_gone:
                if self._nursery:
                    await self._nursery.close()
                self._nursery = await _start_nursery()
            return self._nursery

    async def ended(self, live: Live) -> None:
        """Return when the run has ended and its keeper has left the record, or is gone."""
        # Shielded: one waiter may be cancelled while another waits for the same.
        if live.ending is None or not await asyncio.shield(live.ending):
            await _gone(live.keeper, live.started)

    async def end(self, live: Live, *, now: bool = False) -> None:
        """End the run with all its processes, gently or at once; return when they are gone."""
        process = (live.keeper, live.started)
        if live.is_over:
            process = (0, 0)
        # SIGCONT: a person may have stopped the keeper with the rest.
        processes.send_signals(process, signal.SIGQUIT if now else signal.SIGTERM, signal.SIGCONT)
        try:
            async with asyncio.timeout(AT_ONCE_S if now else None):
                await self.ended(live)
        except TimeoutError:
            if processes.is_alive(*process):
                processes.kill_tree(live.keeper)
        # A keeper that was killed left its agent behind.
        until = time.monotonic() + ORPHANS_S
        while processes.kill_by_environ(RUN_VARIABLE, live.run) and time.monotonic() < until:
            await asyncio.sleep(processes.ROUND_S)

    async def close(self) -> None:
        """Release everything; runs continue."""
        nursery, self._nursery = self._nursery, None
        if nursery:
            await nursery.close()

    @staticmethod
    def read_end(path: Path) -> End | None:
        return read_end(path)

    @staticmethod
    def send(stdin: Path, data: bytes) -> None:
        send(stdin, data)

    @staticmethod
    def end_input(live: Live, stdin: Path) -> None:
        end_input(live, stdin)


async def _gone(pid: int, started: int | None = None) -> None:
    """Return when the process has ended: no polling, and no parenthood needed."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    loop = asyncio.get_running_loop()
    try:
        if started is not None and processes.start_time(pid) != started:
            return  # another process has its pid
        gone = asyncio.Event()
        loop.add_reader(fd, gone.set)
        try:
            await gone.wait()
        finally:
            loop.remove_reader(fd)
    finally:
        os.close(fd)
