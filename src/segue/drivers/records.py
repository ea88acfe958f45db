"""The small file that a run has beside its log: the claim, which becomes the end record.

It is there whole or not at all. It is not synced to the disk: it says what became of
processes, and after a power cut no process is left; a run without its record then counts as
cut off. Keepers use this file too, without the rest of Segue: standard library only.
"""

from __future__ import annotations

import errno
import json
import os
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:  # as in typing, which is slow to import; annotations are never evaluated
    from typing import Any

RECORD_BYTES = 4096
TAIL_BYTES_MAX = 128 * 1024  # reserved behind the record, for output that no log could take


def _write(fd: int, content: dict[str, Any]) -> None:
    """One write of one block: a reader sees the old content or the new one."""
    os.write(fd, json.dumps(content).encode().ljust(RECORD_BYTES))


def claim(path: str, content: dict[str, Any], spare: str | None = None) -> int:
    """Take the right to decide about a run; FileExistsError: another process has it.

    The block that it fills is the end record's later: at the end the disk may be full. The
    descriptor is for `leave`. `spare` is a file that is not needed any more, to be used again:
    it costs a file system much less to rename a file than to make one and delete one.
    """
    fd = _claim(path, content, spare)
    with suppress(OSError):  # the disk is almost full, or cannot reserve: `keep_tail` may fail then
        os.posix_fallocate(fd, RECORD_BYTES, TAIL_BYTES_MAX)
    return fd


def _claim(path: str, content: dict[str, Any], spare: str | None) -> int:
    if spare is not None:
        with suppress(FileNotFoundError):
            return _claim_with(spare, path, content)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        _write(fd, content)
    except BaseException:
        os.close(fd)
        os.unlink(path)  # noqa: PTH108 - no pathlib here
        raise
    return fd


def _claim_with(spare: str, path: str, content: dict[str, Any]) -> int:
    fd = os.open(spare, os.O_WRONLY)
    try:
        _write(fd, content)
        os.link(spare, path)
    except BaseException:
        os.close(fd)
        raise
    os.unlink(spare)  # noqa: PTH108 - no pathlib here
    return fd


def revoke(path: str) -> None:
    """Claim a run so that no process ever starts it. A symbolic link: it takes no space of a full
    disk, and is never mistaken for a keeper's claim."""
    os.symlink("revoked", path)  # noqa: PTH211 - no pathlib here


def is_revoked(path: str) -> bool:
    return os.path.islink(path)  # noqa: PTH114 - no pathlib here


def note(fd: int, content: dict[str, Any]) -> None:
    """Change what the claim, open as `fd`, says: a reader sees the old content or the new."""
    os.pwrite(fd, json.dumps(content).encode().ljust(RECORD_BYTES), 0)


def keep_tail(fd: int, tail: bytes) -> int:
    """Write output that no log could take into the room behind the record; how much of it is there.
    All or nothing: half a line is worth nothing."""
    try:
        is_kept = os.pwrite(fd, tail, RECORD_BYTES) == len(tail)
    except OSError:
        is_kept = False
    return len(tail) if is_kept else 0


def leave(fd: int, claim: str, end: str, content: dict[str, Any]) -> None:
    """The claim, open as `fd`, becomes the end record: its content, then its name."""
    os.lseek(fd, 0, os.SEEK_SET)
    _write(fd, content)
    is_there = os.fstat(fd).st_nlink
    os.close(fd)
    if not is_there:  # it was removed, as `git clean -fdx` does: how the run ended is known
        _write_again(claim, content)
    os.rename(claim, end)  # noqa: PTH104 - no pathlib here


def _write_again(path: str, content: dict[str, Any]) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120 - no pathlib here
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        _write(fd, content)
    finally:
        os.close(fd)


def describe(error: Exception) -> dict[str, Any]:
    """An error as records and answers have it."""
    if isinstance(error, OSError):
        name = error.filename
        return {
            "errno": error.errno,
            "strerror": error.strerror or str(error),
            "path": os.fsdecode(name) if isinstance(name, str | bytes) else None,
        }
    return {
        "errno": errno.EINVAL if isinstance(error, ValueError) else None,
        "strerror": f"{type(error).__name__}: {error}",
        "path": None,
    }
