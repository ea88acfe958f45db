"""Processes as the kernel shows them: found by their environment, seen by their state."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterable
from pathlib import Path


def state_of(pid: int) -> str:
    """`R`, `S`, `T`, `Z`…; empty when it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return ""
    return stat.rpartition(") ")[2][:1]


def all_stopped(pids: list[int]) -> bool:
    return all(state_of(pid) in ("T", "t") for pid in pids)


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
    """Every process that can be looked at: pid → environment."""
    pids = [entry.name for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return {int(pid): environ for pid in pids if (environ := environ_of(pid))}


def signal_all(pids: Iterable[int], number: signal.Signals = signal.SIGKILL) -> None:
    """Those that are gone meanwhile do not matter."""
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)
