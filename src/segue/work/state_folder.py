"""Where a project's state lives: what no agent may reach, in `$XDG_STATE_HOME/segue/<project>/`.

Database, journal, evidence, locks, tokens and keys are there. Its name is made from the
project's folder alone: a readable part, and a hash of the folder's real path, inode and time of
birth. So a folder that is deleted and made anew starts without the memory of the one before it, and
nothing in the project decides where Segue looks.

`project.json` in it says whose it is. The file `.segue/state` names the state folder, for people
and for a project that was moved, is mounted in two places or came back from a backup. Anybody can
write that file: it counts only if the record it leads to is of this folder.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import struct
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from segue.store import files
from segue.work import planted_memory

DATABASE = "segue.db"
POINTER = "state"  # in `.segue/`
RECORD = "project.json"
UNFINISHED = "moving"  # in the state folder, until nothing is left in the old place
NAME_CHARS_MAX, MARK_CHARS = 40, 12
RECORD_BYTES_MAX = POINTER_BYTES_MAX = 16 * 1024

AT_FDCWD, STATX_BTIME = -100, 0x800
_BIRTH_AT, _STATX_BYTES = 80, 256


@dataclass(frozen=True, slots=True)
class Owner:
    """The folder that a state belongs to."""

    path: str
    inode: int
    born: int  # nanoseconds; 0 where the file system does not know

    def is_same_folder(self, other: Owner) -> bool:
        return (self.inode, self.born) == (other.inode, other.born)


def owner_of(root: Path) -> Owner:
    real = os.path.realpath(root)
    try:
        return Owner(real, Path(real).stat().st_ino, _born(real))
    except OSError:
        return Owner(real, 0, 0)


def folder_of(root: Path) -> Path:
    """The state folder that a project gets."""
    return files.state_base() / name_of(root)


def name_of(root: Path) -> str:
    return _name(owner_of(root))


def find(root: Path, memory: Path) -> Path:
    """The state folder that a project has, or gets."""
    owner = owner_of(root)
    own = files.state_base() / _name(owner)
    if os.path.exists(own / RECORD):  # noqa: PTH110 - False where this user may not look
        return own
    return _pointed(memory, owner) or own


def is_unused(state: Path) -> bool:
    """Whether no project has anything in it yet, as far as we may look."""
    return not any(os.path.exists(state / name) for name in (RECORD, DATABASE))  # noqa: PTH110


def _pointed(memory: Path, owner: Owner) -> Path | None:
    """The state folder that `.segue/state` names, if it is this project's own."""
    target = target_of(memory)
    if target is None or target.is_relative_to(owner.path) or not _is_private(target):
        return None
    found = read_record(target)
    if found is None:
        return None
    is_restored = target.parent == files.state_base() and found.path == owner.path
    return target if is_restored or found.is_same_folder(owner) else None


def target_of(memory: Path) -> Path | None:
    """What `.segue/state` names; nothing of that is believed yet."""
    if memory.is_symlink():
        return None
    try:
        fd = os.open(memory / POINTER, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        named = os.fsdecode(os.read(fd, POINTER_BYTES_MAX)).removesuffix("\n")
    except OSError:
        return None
    finally:
        os.close(fd)
    is_plain = "\0" not in named and os.path.isabs(named)  # noqa: PTH117
    return Path(named) if is_plain and os.path.realpath(named) == named else None


def read_record(state: Path) -> Owner | None:
    """Whose state this is; None where nothing, or no sense, is written there."""
    try:
        with (state / RECORD).open("rb") as file:
            told = json.loads(file.read(RECORD_BYTES_MAX))
    except (OSError, ValueError, RecursionError):
        return None
    match told:
        case {"path": str(path), "inode": int(inode), "born": int(born)}:
            return Owner(path, inode, born)
    return None


def write_record(state: Path, root: Path) -> None:
    owner = owner_of(root)
    if read_record(state) != owner:
        told = {"path": owner.path, "inode": owner.inode, "born": owner.born}
        files.replace(state / RECORD, json.dumps(told, indent=2).encode(), mode=0o600)


def write_pointer(memory: Path, state: Path) -> None:
    if target_of(memory) != state:
        files.replace(memory / POINTER, os.fsencode(state) + b"\n", mode=0o600)


def has_old(memory: Path, root: Path) -> bool:
    """Whether an earlier version left its database in the project, and it is the user's own."""
    database = memory / DATABASE
    try:
        status = database.lstat()
    except OSError:
        return False
    return not memory.is_symlink() and _is_own(database, root, status.st_ino, status.st_ctime_ns)


@cache
def _is_own(database: Path, root: Path, _inode: int, _changed: int) -> bool:
    return database.is_file() and planted_memory.fault(database, root) is None


def _name(owner: Owner) -> str:
    name = re.sub(r"[^A-Za-z0-9가-힣]+", "-", Path(owner.path).name).strip("-").lower()
    text = f"\0{owner.inode}\0{owner.born}".encode()
    mark = sha256(os.fsencode(owner.path) + text).hexdigest()[:MARK_CHARS]
    return f"{name[:NAME_CHARS_MAX] or 'project'}-{mark}"


def _is_private(folder: Path) -> bool:
    try:
        status = folder.lstat()
    except OSError:
        return False
    return folder.is_dir() and status.st_uid == os.geteuid() and not status.st_mode & 0o077


@cache
def _statx() -> Any:
    return getattr(ctypes.CDLL(None, use_errno=True), "statx", None)


def _born(path: str) -> int:
    """When a folder was made, which Python does not tell: inodes are used again."""
    call, buffer = _statx(), ctypes.create_string_buffer(_STATX_BYTES)
    if call is None or call(AT_FDCWD, os.fsencode(path), 0, STATX_BTIME, buffer) != 0:
        return 0
    (told,) = struct.unpack_from("I", buffer.raw)
    if not told & STATX_BTIME:
        return 0
    seconds, nanoseconds = struct.unpack_from("qI", buffer.raw, _BIRTH_AT)
    return int(seconds * 1_000_000_000 + nanoseconds)
