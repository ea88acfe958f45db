"""Watching panes: what it costs while nothing happens, and how soon a change is seen.

A hundred idle panes in ten tmux sessions: the CPU time of the watcher, its clients and the
server together, against a loop that runs `tmux capture-pane` for each pane every 500 ms, in turn
for some seconds each. Then twenty panes repaint twenty times a second, as agents at work do, and
one that was quiet, or one of the busy ones, prints a banner: the time until the watcher is told,
and until it has read a screen with the banner on it.
"""

from __future__ import annotations

import asyncio
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

from measure import Figure, Unmeasured, in_turn, listed

from segue.drivers.panes import Pane, PaneChanged
from segue.drivers.tmux import TmuxPanes

ROUNDS = 3
WINDOW_S = 6.0
POLL_S = 0.5
ROOMS, PANES_PER_ROOM = 10, 10
BUSY = 20
BANNERS = 60
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
SPIN = """
import sys, time
files = [open(tty, "w") for tty in sys.argv[1:]]
for n in range(10**9):
    for file in files:
        file.write(f"\\x1b[22;1H\\x1b[2K\\x1b[38;5;174m* Working... ({n}s)\\x1b[0m")
        file.write("\\x1b[23;1H" + "-" * 200)
        file.flush()
    time.sleep(0.05)
"""


class Server:
    """A tmux server of our own with many idle panes."""

    def __init__(self, folder: Path) -> None:
        self.socket = folder / "s"
        self.argv = ["tmux", "-f", "/dev/null", "-S", str(self.socket)]
        for n in range(ROOMS):
            size = ("-x", "120", "-y", "40")
            self.tmux("new-session", "-d", "-s", f"r{n}", *size, "sleep 100000")
            for _n in range(PANES_PER_ROOM - 1):
                self.tmux("new-window", "-d", "-t", f"r{n}", "sleep 100000")
        self.pid = int(self.tmux("display-message", "-p", "#{pid}"))

    def tmux(self, *argv: str) -> str:
        done = subprocess.run([*self.argv, *argv], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def cpu_s(self) -> float:
        """Of the server and of all clients that are attached to it."""
        clients = self.tmux("list-clients", "-F", "#{client_pid}").split()
        return sum(_cpu_s(int(pid)) for pid in [self.pid, *clients])


def _cpu_s(pid: int) -> float:
    text = Path(f"/proc/{pid}/stat").read_text()
    fields = text[text.rindex(")") + 2 :].split()
    return (int(fields[11]) + int(fields[12])) * TICK_S


@contextmanager
def server() -> Iterator[Server]:
    if shutil.which("tmux") is None:
        raise Unmeasured("tmux is not installed")
    with TemporaryDirectory(prefix="segue-") as folder:  # a socket's path must be short
        made = Server(Path(folder))
        try:
            yield made
        finally:
            made.tmux("kill-server")


def measure(folder: Path) -> list[Figure]:
    with server() as made:
        watched, polled = in_turn(
            ROUNDS, lambda: asyncio.run(watched_share(made)), lambda: polled_share(made)
        )
        quiet_s, busy_s = asyncio.run(latencies(made))
    raw = (
        f"watching, % of a core: {listed([100 * share for share in watched], '{:.2f}')}",
        f"asking every pane every {POLL_S * 1e3:.0f} ms: "
        f"{listed([100 * share for share in polled], '{:.0f}')}",
    )
    # What is less than a tick of the kernel's clock cannot be told from nothing.
    least = TICK_S / WINDOW_S
    ratio = median(polled) / max(median(watched), least)
    return [
        Figure("100 idle panes: CPU", 100 * median(watched), 1.0, False, "%", raw),
        Figure("asking again and again ÷ watching", ratio, 50.0, True, details=raw),
        _late("banner in a quiet pane → told", quiet_s, 100.0),
        _late("banner in a busy pane → on the screen that was read", busy_s, 1000.0),
    ]


def _late(name: str, times_s: list[float], target_ms: float) -> Figure:
    p95_ms = quantiles(times_s, n=20)[-1] * 1e3
    details = (
        f"{name}, ms: median {median(times_s) * 1e3:.1f}, p95 {p95_ms:.1f}, "
        f"most {max(times_s) * 1e3:.1f}",
    )
    return Figure(f"{name}, p95", p95_ms, target_ms, False, "ms", details)


async def watched_share(made: Server) -> float:
    """CPU time over wall time while 100 panes are watched and nothing happens."""
    async with TmuxPanes(made.socket, environ=os.environ) as panes:
        await asyncio.sleep(1)  # what it costs to begin is not what it costs to wait
        assert len(await panes.list()) == ROOMS * PANES_PER_ROOM
        used_s, began_s = time.process_time() + made.cpu_s(), time.monotonic()
        await asyncio.sleep(WINDOW_S)
        used_s = time.process_time() + made.cpu_s() - used_s
        return used_s / (time.monotonic() - began_s)


def polled_share(made: Server) -> float:
    """The same for a loop that asks for the screen of each pane."""
    ids = made.tmux("list-panes", "-a", "-F", "#{pane_id}").split()
    before_s, began_s = made.cpu_s() + _own_s(), time.monotonic()
    while (now_s := time.monotonic()) < began_s + WINDOW_S:
        for pane_id in ids:
            made.tmux("capture-pane", "-p", "-t", pane_id)
        time.sleep(max(0.0, POLL_S - (time.monotonic() - now_s)))
    return (made.cpu_s() + _own_s() - before_s) / (time.monotonic() - began_s)


def _own_s() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


async def latencies(made: Server) -> tuple[list[float], list[float]]:
    """How late a quiet pane is told, and how late a banner in a busy one has been read."""
    async with TmuxPanes(made.socket, environ=os.environ) as panes:
        all_ = sorted(await panes.list(), key=lambda pane: int(pane.id[1:]))
        busy, quiet = all_[:BUSY], all_[BUSY : BUSY + BANNERS]
        changed: dict[str, asyncio.Event] = {pane.id: asyncio.Event() for pane in all_}

        async def listen() -> None:
            async for event in panes.events():
                if isinstance(event, PaneChanged):
                    changed[event.id].set()

        listening = asyncio.create_task(listen())
        with subprocess.Popen([sys.executable, "-c", SPIN, *(pane.tty for pane in busy)]) as spin:
            try:
                await asyncio.sleep(3)
                told_s = [await _until_told(pane, changed[pane.id]) for pane in quiet]
                read_s = [
                    await _until_read(panes, busy[n % BUSY], changed[busy[n % BUSY].id], n)
                    for n in range(BANNERS)
                ]
            finally:
                spin.kill()
        listening.cancel()
    return told_s, read_s


async def _until_told(pane: Pane, changed: asyncio.Event) -> float:
    changed.clear()
    began_s = time.monotonic()
    Path(pane.tty).write_text("a limit was hit\r\n")
    async with asyncio.timeout(10):
        await changed.wait()
    return time.monotonic() - began_s


async def _until_read(panes: TmuxPanes, pane: Pane, changed: asyncio.Event, n: int) -> float:
    await asyncio.sleep(random.random())  # at no particular moment
    changed.clear()
    began_s = time.monotonic()
    Path(pane.tty).write_text(f"\x1b[1;1Hlimit number {n} was hit\x1b[K")
    async with asyncio.timeout(10):
        while True:
            await changed.wait()
            changed.clear()
            if f"number {n} " in (await panes.screen(pane.id)).text:
                return time.monotonic() - began_s
