"""A real tmux for tests, on a socket of its own, so that nobody's server is touched."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from kit.waiting import WAIT_S, until, until_async
from segue.drivers.panes import PaneAppeared, PaneChanged, PaneEvent
from segue.drivers.tmux.host import TmuxPanes

QUIET_S = 1.5  # longer than the longest rest of a pane that was busy
# A program that takes bytes as they come and keeps them in a file.
TAKE = (
    "import sys, os, tty; tty.setraw(0); print('ready', flush=True)\n"
    "with open(sys.argv[1], 'ab', 0) as file:\n"
    "    while data := os.read(0, 4096): file.write(data)\n"
)


class Tmux:
    """A server with no configuration, and the tmux commands that tests need."""

    def __init__(self, folder: Path, env: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.socket = folder / "s"
        assert len(str(self.socket)) < 100, "a socket's path must be short"
        self._env = dict(env or {**os.environ, "TERM": "xterm-256color", "TMUX": ""})
        self._people: list[tuple[int, int, threading.Thread]] = []

    def __call__(self, *argv: str, check: bool = True) -> str:
        done = subprocess.run(
            ["tmux", "-u", "-f", "/dev/null", "-S", str(self.socket), *argv],
            capture_output=True,
            text=True,
            check=False,
            env=self._env,
        )
        assert not check or done.returncode == 0, (argv, done.stderr)
        return done.stdout.rstrip("\n")

    def room(self, name: str | None, *argv: str, size: str = "80x24") -> str:
        """A new session, by default with the name that tmux gives it; its pane."""
        width, height = size.split("x")
        named = () if name is None else ("-s", name)
        words = ("new-session", "-d", *named, "-x", width, "-y", height, "-P", "-F")
        return self(*words, "#{pane_id}", *argv)

    def printed(self, name: str, text: str, size: str = "80x24") -> str:
        """A new session whose pane shows a text and nothing more."""
        file = self.folder / f"{name}.txt"
        file.write_bytes(text.encode())
        return self.room(
            name, "sh", "-c", f"stty raw -echo; cat {file}; exec sleep 1000", size=size
        )

    def taker(self, name: str) -> tuple[str, Path]:
        """A new session whose pane keeps what is typed into it; the pane, and the file."""
        file = self.folder / f"{name}.bin"
        pane = self.room(name, sys.executable, "-c", TAKE, str(file))
        until(lambda: "ready" in self("capture-pane", "-p", "-t", pane))
        return pane, file

    def attach(self, rows: int, columns: int, target: str) -> int:
        """A person's client in a terminal of this size; its file descriptor."""
        pid, fd = pty.fork()
        if pid == 0:
            words = ["tmux", "-u", "-S", str(self.socket), "attach", "-t", target]
            os.execvpe("tmux", words, self._env)
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        draining = threading.Thread(target=_drain, args=(fd,), daemon=True)
        draining.start()
        self._people.append((pid, fd, draining))
        size = f"{columns}x{rows}"
        until(lambda: size in self("list-clients", "-F", "#{client_width}x#{client_height}"))
        return fd

    @property
    def clients(self) -> list[str]:
        """Who is attached, and whether by control mode."""
        return self("list-clients", "-F", "#{client_flags}", check=False).splitlines()

    def end(self) -> None:
        self("kill-server", check=False)
        for pid, fd, draining in self._people:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            draining.join()
            os.close(fd)


def _drain(fd: int) -> None:
    try:
        while os.read(fd, 65536):
            pass
    except OSError:
        pass


@contextmanager
def a_server(env: Mapping[str, str] | None = None) -> Iterator[Tmux]:
    with tempfile.TemporaryDirectory(prefix="segue-") as folder:  # a socket's path must be short
        server = Tmux(Path(folder), env)
        try:
            yield server
        finally:
            server.end()


class Seen:
    """The panes of a server while a scene plays, and every event so far."""

    def __init__(self, panes: TmuxPanes) -> None:
        self.panes = panes
        self.events: list[PaneEvent] = []
        self.looked: dict[str, int] = {}  # how much had been told of a pane at the last look

    async def gather(self) -> None:
        async for event in self.panes.events():
            self.events.append(event)

    until = staticmethod(until_async)

    def changes(self, pane: str) -> int:
        return self.events.count(PaneChanged(pane))

    def appeared(self) -> list[str]:
        return [event.pane.id for event in self.events if isinstance(event, PaneAppeared)]

    def told(self, pane: str) -> int:
        return self.changes(pane) + self.appeared().count(pane)

    async def until_shown(self, pane: str, text: str) -> None:
        """Wait for an event after which the pane shows this; look at no other time."""
        async with asyncio.timeout(WAIT_S):
            while True:
                if (told := self.told(pane)) > self.looked.get(pane, 0):
                    self.looked[pane] = told
                    if text in (await self.panes.screen(pane)).text:
                        return
                await asyncio.sleep(0.005)

    async def quiet(self, pane: str) -> None:
        """Wait until nothing has been told of the pane for a while."""
        async with asyncio.timeout(WAIT_S):
            while (told := self.told(pane)) > self.looked.get(pane, 0):
                self.looked[pane] = told
                await asyncio.sleep(QUIET_S)


def play(tmux: Tmux, scene: Callable[[Seen], Awaitable[None]]) -> list[PaneEvent]:
    async def main() -> list[PaneEvent]:
        async with TmuxPanes(tmux.socket, environ=os.environ) as panes:
            seen = Seen(panes)
            gathering = asyncio.create_task(seen.gather())
            await asyncio.sleep(0)
            await scene(seen)
        await gathering  # the events end with the panes
        return seen.events

    events = asyncio.run(main())
    assert not any("control-mode" in flags for flags in tmux.clients)
    return events
