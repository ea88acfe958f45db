"""When nothing can be kept: the disk is full, another program holds the database, the memory itself
was deleted.

No caller is at fault, and it passes or can be repaired. Nothing is
kept in memory meanwhile: agents work on alone, as after the death of their owner, and are
recovered as after one once something can be kept again.
"""

from __future__ import annotations

import asyncio
import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from segue.errors import UserError
from segue.i18n import _
from segue.store.changes import Drop, Put
from segue.store.lock import Lock
from segue.store.sqlite import Store

CODES = frozenset({"disk_full", "read_only", "database_busy"})
ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})
PATIENT_S = 2.0  # how long a server waits for the database: everything else waits as long
IMPATIENT_S = 0.05  # once that failed
LASTING = ("read_only", errno.EROFS)  # what a person must see to, at a terminal that is there
FIRST_WAIT_S, LONGEST_WAIT_S = 0.2, 5.0
ROOM_BYTES = 65_536
PROBE = "probe"


def is_trouble(error: BaseException) -> bool:
    """Whether this may pass by itself."""
    if isinstance(error, UserError):
        return error.problem.code in CODES
    return isinstance(error, OSError) and error.errno in ERRNOS


def waits_s() -> Iterator[float]:
    """How long to wait before each look."""
    wait_s = FIRST_WAIT_S
    while True:
        yield wait_s
        wait_s = min(2 * wait_s, LONGEST_WAIT_S)


def can_write(store: Store, folder: Path, now: datetime) -> bool:
    """Whether both the database and the folder take something; none of it stays."""
    row: dict[str, str | int | float | bytes | None] = {"key": PROBE, "value": "0" * 4096}
    try:
        store.move(Put("settings", row), Drop("settings", {"key": PROBE}), at=now)
        return _has_room(folder / f".{PROBE}-{os.getpid()}")
    except (UserError, OSError) as error:
        if not is_trouble(error):
            raise
        return False


def _has_room(path: Path) -> bool:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        return os.write(fd, bytes(ROOM_BYTES)) == ROOM_BYTES
    finally:
        os.close(fd)
        with suppress(OSError):
            path.unlink()


def is_passing(error: BaseException) -> bool:
    """Whether the run of a plan waits for it."""
    if isinstance(error, UserError) and error.problem.code in LASTING:
        return False
    return is_trouble(error) and getattr(error, "errno", None) not in LASTING


def is_of_database(error: BaseException, store: Store) -> bool:
    """Whether it concerns everybody, and not some file of one task."""
    return isinstance(error, UserError) and error.problem.file == str(store.path)


# The memory was deleted

TRIES, ROUND_S = 20, 0.05  # the removal may still be in progress
AGAIN_S = 1.0  # and may have come past what was put back already


@dataclass(frozen=True, slots=True)
class Memory:
    """What the owner of a work has of the project's memory: an agent's `git clean -fdx` may remove
    it under the run. What is open is still whole: the database is rewritten from it, the lock is
    taken again, folders are made. Only what was in files that no process has open is lost.

    `take_lock`: again; it raises if another owner has it now. `claim_again`: a next owner must find
    the runs that live. `look_again`: let the owner keep it once more, soon. `lost`: of folders that
    were removed, in words what was in them and is lost."""

    store: Store
    lock: Lock
    folders: tuple[Path, ...]
    make_folders: Callable[[], None]
    take_lock: Callable[[], None]
    claim_again: Callable[[], None]
    look_again: Callable[[], None]
    lost: Callable[[list[Path]], str]

    def keep(self) -> str | None:
        """Put back what was removed; in words what that was, if anything was."""
        gone = [folder for folder in self.folders if not folder.is_dir()]
        if not gone and self.store.is_in_place and self.lock.is_in_place:
            return None
        for left in reversed(range(TRIES)):
            try:
                self._put_back()
                break
            except FileNotFoundError:
                if not left:
                    raise
                time.sleep(ROUND_S)
        asyncio.get_running_loop().call_later(AGAIN_S, self.look_again)
        if lost := self.lost(gone):
            text = _(
                "Segue's records were removed while it was running; Segue restored "
                "them. Lost: {what}"
            )
            return text.format(what=lost)
        return _("Segue's records were removed while it was running; Segue restored all of them")

    def _put_back(self) -> None:
        self.make_folders()
        if not self.lock.is_in_place:
            self.take_lock()
        if not self.store.is_in_place:
            self.store.put_back()
        self.claim_again()
