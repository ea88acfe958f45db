"""When the disk, or whoever holds the database, does not let anything be kept.

That is nobody's fault who asked for something, and it passes: the server waits for it, and goes on.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from segue.errors import UserError
from segue.store.changes import Drop, Put
from segue.store.sqlite import Store

CODES = frozenset({"disk_full", "read_only", "database_busy"})
ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})
PATIENT_S = 2.0  # everything else waits as long: the database is used on the loop
IMPATIENT_S = 0.05  # once somebody was waited for in vain
ROOM_BYTES = 65_536
PROBE = "probe"


def is_trouble(error: BaseException) -> bool:
    """Whether this may pass by itself."""
    if isinstance(error, UserError):
        return error.problem.code in CODES
    return isinstance(error, OSError) and error.errno in ERRNOS


def is_of_database(error: BaseException, store: Store) -> bool:
    """Whether it concerns everybody, and not some file of one task."""
    return isinstance(error, UserError) and error.problem.file == str(store.path)


def can_write(store: Store, folder: Path, now: datetime) -> bool:
    """Whether both the database and the folder take something; none of it stays."""
    row: dict[str, str | int | float | bytes | None] = {"key": PROBE, "value": "0" * 4096}
    try:
        store.move(Put("server_settings", row), Drop("server_settings", {"key": PROBE}), at=now)
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
