"""Files that are replaced whole, or not at all."""

from __future__ import annotations

import ctypes
import errno
import glob
import os
import stat
from _thread import allocate_lock
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from segue.errors import UserError
from segue.i18n import _

AT_FDCWD = -100
RENAME_EXCHANGE = 2

MEMORY = ".segue"


def replace(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Put new bytes at a path: temporary file beside it, fsync, rename, fsync of the folder.
    What is in Segue's memory is its user's alone."""
    if mode is None:
        mode = 0o600 if MEMORY in path.parts or path.is_relative_to(state_base()) else 0o644
    temporary = _write_beside(path, data, mode)
    temporary.replace(path)
    sync_folder(path.parent)


def overwrite(path: Path, data: bytes) -> None:
    """Put new bytes into a file that stays the same one: a sandbox has it, not its folder. Who
    reads at this moment may see both; the next look is right."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        os.pwrite(fd, data, 0)
        os.ftruncate(fd, len(data))
    finally:
        os.close(fd)


def state_base() -> Path:
    """The folder with the state of all projects of this user."""
    base = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):  # noqa: PTH117 - by its standard a relative one does not count
        home = os.environ.get("HOME") or _home()
        base = f"{home}/.local/state"
    return Path(os.path.realpath(base), "segue")


def _home() -> str:
    import pwd  # noqa: PLC0415 - few users have no HOME

    try:
        return pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        return "/nonexistent"


def make_private_folder(folder: Path) -> None:
    """With those above it that are missing: its user's alone, whatever the umask."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(mode=0o700, exist_ok=True)


def private(path: str, flags: int) -> int:
    """An `opener` for files that no other user reads, whatever the umask."""
    return os.open(path, flags, 0o600)


def exchange_if(
    path: Path, data: bytes, expected: bytes, *, spare: Path | None = None
) -> bytes | None:
    """Replace a file that others edit too, if it holds what we think it does.

    None: done. Bytes: another process wrote in between; these are its bytes, and they stay.
    The two files change places in one step and only then are compared, so that a write
    that came a moment before is in our hands and not lost. Mode and owner are kept.

    `spare`: a file for the new text, used again and again; what was replaced is in it
    afterwards. To make and delete a file for every write costs far more than the write.
    With it the caller syncs the folder, when it is convenient (`sync_folder`).
    """
    status = path.stat()
    if spare is not None and _device(spare.parent) == status.st_dev:
        return _exchange_with(spare, path, data, expected, status)
    temporary = _write_beside(path, data, stat.S_IMODE(status.st_mode), status)
    try:
        if not _exchange(temporary, path):
            return _replace_if(temporary, path, expected)
        slipped_in = _read(temporary)
        if slipped_in != expected:
            return _give_back(temporary, path, data, slipped_in)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)
    return None


def _device(folder: Path) -> int | None:
    """Where a folder is; None: it was removed."""
    try:
        return folder.stat().st_dev
    except OSError:
        return None


def _exchange_with(
    spare: Path, path: Path, data: bytes, expected: bytes, status: os.stat_result
) -> bytes | None:
    if spare.exists() and spare.stat().st_nlink > 1:
        spare.unlink()  # the replaced text has another name: it belongs to another process
    _write_into(spare, data, stat.S_IMODE(status.st_mode), status)
    if not _exchange(spare, path):
        spare.unlink()
        return exchange_if(path, data, expected)
    slipped_in = _read(spare)
    if slipped_in != expected:
        return _give_back(spare, path, data, slipped_in)
    return None


def _replace_if(temporary: Path, path: Path, expected: bytes) -> bytes | None:
    """Where the file system cannot exchange: compare, then rename, with a moment between."""
    found = _read(path)
    if found != expected:
        return found
    temporary.replace(path)
    sync_folder(path.parent)
    return None


def _read(path: Path) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        size = os.fstat(fd).st_size
        data = os.read(fd, size + 1)
        while more := os.read(fd, 1 << 20):
            data += more
        return data
    finally:
        os.close(fd)


def _give_back(temporary: Path, path: Path, ours: bytes, theirs: bytes) -> bytes:
    """Put their text back where ours stands now; if they save again meanwhile, that one."""
    while True:
        _exchange(temporary, path)
        taken_out = _read(temporary)
        if taken_out == ours:
            return theirs
        ours, theirs = theirs, taken_out


def remove_leftovers(path: Path) -> None:
    """Temporary files of a writer that was killed. Call it while nothing else writes here."""
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.segue-*"):
        leftover.unlink(missing_ok=True)


def in_words(error: OSError, path: Path) -> UserError:
    """What the file system says, said to a person."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}:
        return UserError(
            "disk_full",
            _("the disk is full or not writable: {why}").format(why=error.strerror),
            file=str(path),
            hint=_("free some space and start again: nothing that was recorded is lost"),
        )
    return UserError(
        "read_only",
        _("cannot write here: {why}").format(why=error.strerror),
        file=str(path),
        hint=_("make the folder writable"),
    )


def _write_beside(path: Path, data: bytes, mode: int, owner: os.stat_result | None = None) -> Path:
    temporary = path.with_name(f".{path.name}.segue-{os.getpid()}")
    _write_into(temporary, data, mode, owner)
    return temporary


def _write_into(
    temporary: Path, data: bytes, mode: int, owner: os.stat_result | None = None
) -> None:
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        os.ftruncate(fd, len(data))
        os.fchmod(fd, mode)
        if owner is not None and (owner.st_uid, owner.st_gid) != (os.geteuid(), os.getegid()):
            with suppress(PermissionError):  # not ours to give; the text is what counts
                os.fchown(fd, owner.st_uid, owner.st_gid)
        os.fsync(fd)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        os.close(fd)


@cache
def _renameat2() -> Any:
    return getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two names (Linux renameat2); False where the file system cannot."""
    call = _renameat2()
    if call is None:
        return False
    done: int = call(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE)
    return done == 0


_folders: dict[Path, int] = {}  # the folder synced last, kept open
_folders_lock = allocate_lock()  # several threads may write


def sync_file(path: Path) -> None:
    """Make the text of a file that others wrote durable."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder as durable as the texts behind them."""
    with _folders_lock:
        fd = _folders.get(folder)
        if fd is None or os.fstat(fd).st_ino != folder.stat().st_ino:
            for old in _folders.values():
                os.close(old)
            _folders.clear()
            fd = _folders[folder] = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        os.fsync(fd)
