"""Watching panes: what it costs while nothing happens, and how soon a limit is parked.

A hundred idle panes in ten tmux sessions: the CPU time of `segue watch`, its clients and the server
together, against a loop that asks for the screens of all panes every 500 ms by one call of tmux,
the cheapest way to ask, in turn for some seconds each. Then twenty panes repaint twenty times a
second, as agents at work do, and one that was quiet, or one of the busy ones, prints a banner: the
time until `segue watch --json` says that it is parked, with its row on the disk.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from statistics import median, quantiles
from tempfile import TemporaryDirectory

from measure import Figure, Unmeasured, in_turn, listed

ROUNDS = 3
WINDOW_S = 15.0
POLL_S = 0.5
ROOMS, PANES_PER_ROOM = 10, 10
BUSY = 20
BANNERS = 60
SEGUE = Path(sys.executable).with_name("segue")
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
# Twenty agents at work; one that is named stops and shows a banner, or goes on again.
SPIN = """
import select, sys, time
files = {tty: open(tty, "w") for tty in sys.argv[1:]}
stopped = set()
for n in range(10**9):
    for tty, file in files.items():
        if tty not in stopped:
            file.write("\\x1b[22;1H\\x1b[2K\\x1b[38;5;174m")
            file.write(f"✻ Working… ({n}s · esc to interrupt)\\x1b[0m")
            file.write("\\x1b[23;1H" + "-" * 60)
            file.flush()
    while select.select([sys.stdin], [], [], 0)[0]:
        tty = sys.stdin.readline().strip()
        stopped ^= {tty}
        banner = "  ⎿ You've hit your 5-hour limit · resets in 4 hours"
        text = banner if tty in stopped else f"⏺ I go on with step {n}."
        print(time.monotonic(), flush=True)
        files[tty].write(f"\\x1b[H\\x1b[J{text}\\r\\n\\r\\n")
        files[tty].flush()
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
            ROUNDS, lambda: watched_share(made, folder), lambda: polled_share(made)
        )
        quiet_s, busy_s = latencies(made, folder)
    raw = (
        f"watching, % of a core: {listed([100 * share for share in watched], '{:.2f}')}",
        f"one call of tmux for all panes every {POLL_S * 1e3:.0f} ms: "
        f"{listed([100 * share for share in polled], '{:.0f}')}",
    )
    # What is less than a tick of the kernel's clock cannot be told from nothing.
    least = TICK_S / WINDOW_S
    ratio = median(polled) / max(median(watched), least)
    return [
        Figure("100 idle panes: CPU", 100 * median(watched), 1.0, False, "%", raw),
        Figure("asking again and again ÷ watching", ratio, 2.0, True, details=raw),
        _late("banner in a quiet pane → parked", quiet_s, 100.0),
        _late("banner in a busy pane → parked", busy_s, 100.0),
    ]


def _late(name: str, times_s: list[float], target_ms: float) -> Figure:
    p95_ms = quantiles(times_s, n=20)[-1] * 1e3
    details = (
        f"{name}, ms: median {median(times_s) * 1e3:.1f}, p95 {p95_ms:.1f}, "
        f"most {max(times_s) * 1e3:.1f}",
    )
    return Figure(f"{name}, p95", p95_ms, target_ms, False, "ms", details)


@contextmanager
def watching(made: Server, folder: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """`segue watch` on all panes, and its process."""
    argv = [str(SEGUE), "watch", "--json", "--agent", "claude", "--tmux-socket", str(made.socket)]
    with subprocess.Popen(
        argv, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as segue:
        assert segue.stdout is not None
        try:
            for _n in range(ROOMS * PANES_PER_ROOM):  # an event for each pane
                segue.stdout.readline()
            time.sleep(1)  # what it costs to begin is not what it costs to wait
            yield segue, segue.pid
        finally:
            segue.terminate()


def watched_share(made: Server, folder: Path) -> float:
    """CPU time over wall time while 100 panes are watched and nothing happens."""
    with watching(made, folder) as (_segue, pid):
        used_s, began_s = _cpu_s(pid) + made.cpu_s(), time.monotonic()
        time.sleep(WINDOW_S)
        used_s = _cpu_s(pid) + made.cpu_s() - used_s
        return used_s / (time.monotonic() - began_s)


def polled_share(made: Server) -> float:
    """The same for a loop that asks for the screens of all panes by one call of tmux."""
    ids = made.tmux("list-panes", "-a", "-F", "#{pane_id}").split()
    commands = [word for id in ids for word in (";", "capture-pane", "-p", "-t", id)][1:]
    before_s, began_s = made.cpu_s() + _own_s(), time.monotonic()
    while (now_s := time.monotonic()) < began_s + WINDOW_S:
        made.tmux(*commands)
        time.sleep(max(0.0, POLL_S - (time.monotonic() - now_s)))
    return (made.cpu_s() + _own_s() - before_s) / (time.monotonic() - began_s)


def _own_s() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def latencies(made: Server, folder: Path) -> tuple[list[float], list[float]]:
    """From a banner on the screen to the event that says “paused”: in quiet panes, in busy ones."""
    lines = made.tmux("list-panes", "-a", "-F", "#{pane_id} #{pane_tty}").splitlines()
    panes = sorted((line.split() for line in lines), key=lambda pane: int(pane[0][1:]))
    busy, quiet = panes[:BUSY], panes[BUSY : BUSY + BANNERS]
    with watching(made, folder) as (segue, _pid):
        heard: Queue[tuple[float, str]] = Queue()
        threading.Thread(target=_listen, args=(segue, heard), daemon=True).start()
        argv = [sys.executable, "-c", SPIN, *(tty for _id, tty in busy)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen(argv, text=True, **pipes) as spin:
            try:
                time.sleep(3)
                quiet_s = [_until_parked(pane, heard, _show(tty)) for pane, tty in quiet]
                busy_s = []
                for n in range(BANNERS):
                    pane, tty = busy[n % BUSY]
                    time.sleep(random.random())  # at no particular moment
                    busy_s.append(_until_parked(pane, heard, _toggle(spin, tty)))
                    _toggle(spin, tty)
            finally:
                spin.kill()
    return quiet_s, busy_s


def _show(tty: str) -> float:
    began_s = time.monotonic()
    Path(tty).write_text("  ⎿ You've hit your 5-hour limit · resets in 4 hours\r\n")
    return began_s


def _toggle(spin: subprocess.Popen[str], tty: str) -> float:
    """An agent at work stops, or goes on: when that was."""
    assert spin.stdin is not None
    assert spin.stdout is not None
    print(tty, file=spin.stdin, flush=True)
    return float(spin.stdout.readline())


def _listen(segue: subprocess.Popen[str], heard: Queue[tuple[float, str]]) -> None:
    assert segue.stdout is not None
    for line in segue.stdout:
        event = json.loads(line)
        if event["state"] == "paused":
            heard.put((time.monotonic(), event["pane"]))


def _until_parked(pane: str, heard: Queue[tuple[float, str]], began_s: float) -> float:
    while True:
        at_s, which = heard.get(timeout=20)
        if which == pane and at_s >= began_s:
            return at_s - began_s
