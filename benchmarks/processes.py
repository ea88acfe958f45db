"""Processes as `/proc` shows them: how long they have computed, how much memory they hold."""

from __future__ import annotations

import os
import time
from pathlib import Path

from measure import Unmeasured

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
STILL_S = 0.3  # without computing for so long, it waits
LOOK_S = 0.005


def computed_s(pid: int) -> float:
    """The processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK_S


def tree(pid: int) -> list[int]:
    """A process and all below it."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(below for child in children for below in tree(int(child)))]


def resident_mb(pid: int) -> float:
    """What a process holds in memory."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise Unmeasured("its memory cannot be seen")


def idle_share(pid: int, over_s: float) -> float:
    """The share of one processor that it and all below it use while it waits."""
    before = sum(map(computed_s, tree(pid)))
    time.sleep(over_s)
    return (sum(map(computed_s, tree(pid))) - before) / over_s


def still_at_s(pid: int, within_s: float) -> float:
    """When it and all below it computed for the last time before they were still, by the monotonic
    clock."""
    began_s = last_s = time.monotonic()
    computed = -1.0
    while time.monotonic() - last_s < STILL_S:
        if time.monotonic() - began_s > within_s:
            raise Unmeasured(f"it still computes after {within_s:g} s")
        found = sum(map(computed_s, tree(pid)))
        if found != computed:
            last_s, computed = time.monotonic(), found
        time.sleep(LOOK_S)
    return last_s
