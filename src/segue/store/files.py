"""Files that are replaced whole, or not at all."""

from __future__ import annotations

import ctypes
import errno
import glob
import os
import stat
from pathlib import Path

from segue.errors import UserError
from segue.i18n import _

AT_FDCWD = -100
RENAME_EXCHANGE = 2


def replace(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Put new bytes at a path: temporary file beside it, fsync, rename, fsync of the folder."""
    temporary = _write_beside(path, data, mode)
    temporary.replace(path)
    _sync_folder(path.parent)


def exchange_if(path: Path, data: bytes, expected: bytes) -> bytes | None:
    """Replace a file that others edit too, if it still holds what we think it does.

    None: done. Bytes: somebody wrote in between; these are theirs, and they stand.
    The two files change places in one step, so that a write that came between our
    look and the step is in our hands and not lost. Mode and owner are kept.
    """
    found = path.read_bytes()
    if found != expected:
        return found
    status = path.stat()
    temporary = _write_beside(path, data, stat.S_IMODE(status.st_mode))
    try:
        if os.geteuid() == 0:
            os.chown(temporary, status.st_uid, status.st_gid)
        if not _exchange(temporary, path):
            temporary.replace(path)
            _sync_folder(path.parent)
            return None
        slipped_in = temporary.read_bytes()
        if slipped_in != expected:
            return _give_back(temporary, path, data, slipped_in)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(path.parent)
    return None


def _give_back(temporary: Path, path: Path, ours: bytes, theirs: bytes) -> bytes:
    """Put their text back where ours stands now; if they save again meanwhile, that one."""
    while True:
        _exchange(temporary, path)
        taken_out = temporary.read_bytes()
        if taken_out == ours:
            return theirs
        ours, theirs = theirs, taken_out


def remove_leftovers(path: Path) -> None:
    """Temporary files of a writer that was killed. Call it while nobody else writes here."""
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.segue-*"):
        leftover.unlink(missing_ok=True)


def in_words(error: OSError, path: Path) -> UserError:
    """What the file system says, said to a person."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}:
        return UserError(
            "disk_full",
            _("the disk is full or cannot be written: {why}").format(why=error.strerror),
            file=str(path),
            hint=_("free some space and start again: nothing that was recorded is lost"),
        )
    return UserError(
        "read_only",
        _("cannot write here: {why}").format(why=error.strerror),
        file=str(path),
        hint=_("make the folder writable for you"),
    )


def _write_beside(path: Path, data: bytes, mode: int) -> Path:
    temporary = path.with_name(f".{path.name}.segue-{os.getpid()}")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        os.fchmod(fd, mode)
        os.fsync(fd)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        os.close(fd)
    return temporary


def _exchange(one: Path, other: Path) -> bool:
    """Swap two names (Linux renameat2); False where the file system cannot."""
    libc = ctypes.CDLL(None, use_errno=True)
    call = getattr(libc, "renameat2", None)
    if call is None:
        return False
    done: int = call(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE)
    return done == 0


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
