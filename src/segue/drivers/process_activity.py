"""A look at what an agent's processes do, for one that has said nothing for long."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from segue.drivers import processes

ESTABLISHED = "01"


@dataclass(frozen=True, slots=True)
class Activity:
    """The programs of a tree by name, how many of them are stopped, and its open connections."""

    names: tuple[str, ...]
    stopped: int
    connections: int


def activity_below(pid: int) -> Activity:
    """All that lives below a process; what ends meanwhile is left out."""
    names: list[str] = []
    stopped = 0
    sockets: set[str] = set()
    for child, _started in processes.living_below(pid):
        stat = processes.read_stat(child)
        told = _text(Path(f"/proc/{child}/comm")).rstrip("\n")
        name = "".join(c if c.isprintable() else "?" for c in told)  # it may call itself anything
        if stat is None or not name:
            continue
        names.append(name)
        stopped += stat.state in "Tt"
        sockets |= _sockets(child)
    return Activity(tuple(names), stopped, len(sockets & _connected()))


def _sockets(pid: int) -> set[str]:
    """The inodes of a process's sockets."""
    found = set()
    try:
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            target = str(entry.readlink())
            if target.startswith("socket:["):
                found.add(target[8:-1])
    except OSError:
        pass  # gone, or another user's: what was seen until then
    return found


def _connected() -> set[str]:
    """The inodes of all connections of this machine that stand."""
    found = set()
    for table in ("tcp", "tcp6"):
        for line in _text(Path("/proc/net") / table).splitlines()[1:]:
            columns = line.split()
            if len(columns) > 9 and columns[3] == ESTABLISHED:
                found.add(columns[9])
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
