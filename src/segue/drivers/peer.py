"""Which run a connection to us comes from, if it comes from one at all.

The kernel knows the inode of the other end of a connection within this machine (`sockets`); the
process that holds it has that inode among its open files; `lineage` knows whether that process
descends from a run.

A program can hide its open files (it makes itself undumpable). Then every process of this user
that hides them may be the holder, and one that descends from a run is taken for it. A caller that
has closed its end before it was looked at waits for no answer: its identity is unknown.

What cannot be looked up is no run's: processes of another user, another machine or container, and
what a relay (ssh, a reverse proxy) that is a person's own passes on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from segue.drivers import processes
from segue.drivers.lineage import run_of
from segue.drivers.sockets import End, Held, other_end

TRIES = 3  # the kernel's list may miss a row, and a process may end while it is looked at


@dataclass(frozen=True, slots=True)
class Caller:
    """`run`: the variables of the run it belongs to; None: a person, or unknown."""

    run: Mapping[str, str] | None = None
    has_hung_up: bool = False


def find_caller(peer: End, own: End, is_connected: Callable[[], bool]) -> Caller:
    """Who holds the end `peer` of the connection to our end `own`."""
    held = None
    for _try in range(TRIES):
        held = other_end(peer, own)
        if held is None or not held.inode:
            if not is_connected():
                return Caller(has_hung_up=True)
            continue
        pid = _holder(held)
        if pid is None:
            if other_end(peer, own) == held:
                return Caller(_hidden_run(held.user))
            continue
        run = run_of({}, pid)
        if run is not None or _holds(pid, held.inode):  # it has not ended while it was looked at
            return Caller(run)
    return Caller(has_hung_up=held is not None)


def _holder(held: Held) -> int | None:
    """The newest process of the user that shows this inode: most callers have just begun."""
    for pid in sorted(processes.pids(), reverse=True):
        if _user(pid) == held.user and _holds(pid, held.inode):
            return pid
    return None


def _holds(pid: int, inode: int) -> bool:
    wanted = f"socket:[{inode}]"
    folder = f"/proc/{pid}/fd"
    try:
        for name in os.listdir(folder):  # noqa: PTH208 - many, and in a hurry
            try:
                if os.readlink(f"{folder}/{name}") == wanted:  # noqa: PTH115
                    return True
            except FileNotFoundError:
                continue  # closed since
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        pass  # ended, or it hides its files
    return False


def _user(pid: int) -> int | None:
    """The owner of its folder: of one that hides its files that is the system's."""
    try:
        return os.stat(f"/proc/{pid}").st_uid  # noqa: PTH116 - many, and in a hurry
    except (FileNotFoundError, ProcessLookupError):
        return None


def _hidden_run(user: int) -> Mapping[str, str] | None:
    """The run of a process of ours that hides its files, if there is one."""
    if user != os.geteuid():
        return None
    for pid in processes.pids():
        if _hides(pid) and processes.user_of(pid) == user and (run := run_of({}, pid)):
            return run
    return None


def _hides(pid: int) -> bool:
    try:
        os.listdir(f"/proc/{pid}/fd")  # noqa: PTH208
    except PermissionError:
        return True
    except (FileNotFoundError, ProcessLookupError):
        pass
    return False
