"""Processes as the kernel shows them: found by their environment, seen by their state."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterable
from pathlib import Path

from kit.waiting import until


def _stat_of(pid: int) -> list[str]:
    """Its state, its parent, …; empty when it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return []
    return stat.rpartition(") ")[2].split()


def state_of(pid: int) -> str:
    """`R`, `S`, `T`, `Z`…; empty when it is gone."""
    return next(iter(_stat_of(pid)), "")


def is_stopped(pid: int) -> bool:
    """Also one that waits for its vfork: it is stopped in the kernel until its child, stopped
    before it became another program, goes on."""
    state = state_of(pid)
    return state in ("T", "t") or (state == "D" and any(map(is_stopped, _children(pid))))


def _children(pid: int) -> list[int]:
    try:
        return [int(i) for i in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def all_stopped(pids: Iterable[int]) -> bool:
    return all(is_stopped(pid) for pid in pids)


def all_running(pids: list[int]) -> bool:
    return all(state_of(pid) in ("R", "S", "D") for pid in pids)


def all_gone(pids: list[int]) -> bool:
    return all(state_of(pid) in ("", "Z", "X") for pid in pids)


def environ_of(pid: int | str) -> dict[str, str]:
    """The environment of a process; empty when it is gone."""
    try:
        raw = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return {}
    pairs = (item.split(b"=", 1) for item in raw.split(b"\0") if b"=" in item)
    return {
        name.decode("utf-8", "replace"): value.decode("utf-8", "replace") for name, value in pairs
    }


def environs() -> dict[int, dict[str, str]]:
    """Every process that can be looked at: pid → environment.

    One that is just becoming another program (`exec`) shows none for a moment, longer on a busy
    machine. It counts as its parent's, else it would be missed.
    """
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    found = {pid: environ_of(pid) for pid in pids}
    for pid in [pid for pid, environ in found.items() if not environ]:
        state, parent, *_rest = [*_stat_of(pid), "", "0"]
        if state not in ("", "Z", "X"):
            found[pid] = environ_of(parent)
    return {pid: environ for pid, environ in found.items() if environ}


def stop_all(look: Callable[[], Iterable[int]]) -> list[int]:
    """Stop all that `look` finds, and what they start meanwhile; returns when they stand still."""
    stopped: set[int] = set()

    def stand_still() -> bool:
        is_still = all(is_stopped(pid) or state_of(pid) in ("Z", "X", "") for pid in stopped)
        found = set(look())  # later: what stands still starts nothing more
        if is_still and found <= stopped:
            return True
        signal_all(found, signal.SIGSTOP)
        stopped.update(found)
        return False

    until(stand_still, "standing still")
    return sorted(stopped)


def signal_all(pids: Iterable[int], number: signal.Signals = signal.SIGKILL) -> None:
    """Those that are gone meanwhile do not matter."""
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)
