"""Who may type into a pane: one watcher, whichever user started it, in whichever folder.

A name in the kernel's abstract namespace of sockets: it can be bound once, anybody who reaches
the pane's server can try, and the kernel frees it when its holder dies, whatever kills it. A file
could not do that: among several users it must lie where everybody can write, where others may
put a link in its place, and where kernels refuse to open what another user made.

A second name, which no process competes for, says who the holder is, so that asking takes nothing.
Containers with a network of their own have names of their own.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import socket
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from segue.drivers.panes import Pane

SOCKETS = Path("/proc/net/unix")


@dataclass(frozen=True, slots=True)
class LockHolder:
    """Who holds a pane; 0 where it would not say."""

    pid: int
    uid: int


def lock_name(pane: Pane) -> str:
    """The same for everybody who means this pane: its server's socket and its id."""
    server = hashlib.sha256(f"{pane.host}:{pane.socket}".encode()).hexdigest()[:16]
    return f"segue-pane:{server}:{pane.id}"


class PaneLock:
    """Held from `take` until `release` or death; not inherited by programs that are started."""

    def __init__(self, pane: Pane) -> None:
        self._name = lock_name(pane)
        self._held: ExitStack | None = None

    def take(self) -> LockHolder | None:
        """None: it is ours now. A watcher: it is theirs, or it was ours already."""
        with ExitStack() as held:
            try:
                held.enter_context(_bound(self._name))
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
                return holder(self._name) or LockHolder(0, 0)
            held.enter_context(_bound(f"{self._name}:{os.getpid()}:{os.geteuid()}"))
            self._held = held.pop_all()
        return None

    def release(self) -> None:
        if self._held is not None:
            self._held.close()
            self._held = None


def holder(name: str) -> LockHolder | None:
    """Who holds the lock of this name now; asking takes nothing."""
    label = re.compile(rf"@{re.escape(name)}:(\d+):(\d+)")
    for line in SOCKETS.read_text(errors="replace").splitlines():
        if found := label.fullmatch(line.rpartition(" ")[2]):
            return LockHolder(int(found[1]), int(found[2]))
    return None


def _bound(name: str) -> socket.socket:
    own = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
    try:
        own.bind(f"\0{name}")
    except OSError:
        own.close()
        raise
    return own
