"""Who works on what: a lock that dies with its holder, and says who that is.

POSIX record locks: the kernel drops them when the process dies, whatever kills it;
children do not inherit them; and asking returns the holder's pid without taking
the lock, even for a moment.
"""

from __future__ import annotations

import fcntl
import json
import os
import struct
from dataclasses import dataclass
from pathlib import Path

from segue.errors import UserError
from segue.i18n import _
from segue.store import migrate

COMMAND_CHARS_MAX = 500
TOLD_BYTES_MAX = 16 * 1024

_FLOCK = struct.Struct("hhqqi4x")  # l_type, l_whence, l_start, l_len, l_pid (Linux, 64 bit)


@dataclass(frozen=True, slots=True)
class Holder:
    pid: int
    since: str
    command: str
    schema: int | None = None  # of the database that it knows; none of a Segue before 9


# To close any descriptor of a locked file gives the lock up: one's own are not looked at.
_mine: dict[Path, Holder] = {}


class Lock:
    """Held from `take` until `release` or death."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: int | None = None
        self._told = ("", "")
        self._is_shared = False

    def take(self, *, since: str, command: str, is_shared: bool = False) -> Holder | None:
        """None: it is ours now. A holder: it is theirs. `is_shared`: several may hold it so."""
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.lockf(fd, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError:
            holder = _holder(fd)
            os.close(fd)
            return holder or Holder(0, "", "")
        told = json.dumps(
            {
                "pid": os.getpid(),
                "since": since,
                "command": command[:COMMAND_CHARS_MAX],
                "schema": migrate.newest(),
            }
        ).encode()
        os.ftruncate(fd, 0)
        os.pwrite(fd, told, 0)
        self._fd = fd
        self._told, self._is_shared = (since, command), is_shared
        _mine[self._path] = Holder(os.getpid(), since, command)
        return None

    @property
    def is_in_place(self) -> bool:
        """Whether others who ask at this path learn of us: its file may have been removed."""
        try:
            return self._fd is not None and os.path.samestat(os.fstat(self._fd), self._path.stat())
        except OSError:
            return False

    def take_again(self) -> Holder | None:
        """As `take`, of a lock whose file was removed while we held it."""
        since, command = self._told
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
        return self.take(since=since, command=command, is_shared=self._is_shared)

    def release(self) -> None:
        if self._fd is not None:
            _mine.pop(self._path, None)
            os.close(self._fd)
            self._fd = None


class Turn:
    """What one process after the other may do, a moment each. Nothing is written: it can be taken
    while the disk is full."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: int | None = None

    def take(self) -> bool:
        """Whether it is ours now, or was already."""
        if self._fd is not None:
            return True
        try:
            fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:  # the folder was removed this moment, or takes no new file
            return False
        try:
            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(fd)
            return False
        self._fd = fd
        return True

    def release(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def holder(path: Path) -> Holder | None:
    """Who holds this lock now; asking takes nothing."""
    if path in _mine:
        return _mine[path]
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        return _holder(fd)
    finally:
        os.close(fd)


def _holder(fd: int) -> Holder | None:
    asked = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    kind, _whence, _start, _length, pid = _FLOCK.unpack(fcntl.fcntl(fd, fcntl.F_GETLK, asked))
    if kind == fcntl.F_UNLCK:
        return None
    try:
        told = json.loads(os.pread(fd, TOLD_BYTES_MAX, 0))
    except ValueError:  # it is being written this moment
        told = {}
    schema = told.get("schema")
    return Holder(
        pid,
        str(told.get("since", "")),
        str(told.get("command", "")),
        schema if isinstance(schema, int) else None,
    )


def check_no_older_owner(folder: Path) -> None:
    """Before a database is upgraded: a process of an older Segue that still works on it could not
    read it any more."""
    for path in sorted(folder.glob("*.lock")):
        held = holder(path)
        if held is None or held.pid == os.getpid() or not held.command:
            continue
        if held.schema is None or held.schema < migrate.newest():
            text = _("an older version of Segue is still running here (process {pid}): {command}")
            raise UserError(
                "older_version_running",
                text.format(pid=held.pid, command=held.command),
                file=str(path),
                hint=_(
                    "stop it or let it finish; its agents keep running, and this "
                    "version adopts them"
                ),
            )
