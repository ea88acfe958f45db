"""The two small files that a run leaves beside its log: the claim and the end record.

Both are there whole or not at all. They are not synced to the disk: they say what became of
processes, and after a power cut no process is left; a run without its records then counts as
cut off. Keepers use this file too, without the rest of Segue: standard library only.
"""

from __future__ import annotations

import errno
import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:  # as in typing, which is slow to import; annotations are never evaluated
    from typing import Any

RECORD_BYTES = 4096


def _write(path: str, text: str) -> None:
    """Write over a file from its first byte; what is behind stays."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        data = text.encode()
        while data:
            data = data[os.write(fd, data) :]
    finally:
        os.close(fd)


def _remove(path: str) -> None:
    if os.path.exists(path):  # noqa: PTH110 - no pathlib here
        os.unlink(path)  # noqa: PTH108 - no pathlib here


def _part(path: str) -> str:
    """Where a file grows until it is whole: nobody else's, whoever claims the same run."""
    return f"{path}.{os.getpid()}"


def claim(path: str, content: dict[str, Any]) -> None:
    """Take the right to decide about a run; FileExistsError: somebody else has it."""
    part = _part(path)
    try:
        _write(part, json.dumps(content))
        os.link(part, path)
    finally:
        _remove(part)


def revoke(path: str) -> None:
    """Claim a run so that nobody ever starts it. A symbolic link: it takes no space of a full
    disk, and is never mistaken for a keeper's claim."""
    os.symlink("revoked", path)  # noqa: PTH211 - no pathlib here


def is_revoked(path: str) -> bool:
    return os.path.islink(path)  # noqa: PTH114 - no pathlib here


def reserve(path: str) -> None:
    """Take the disk's space for the end record now: at the end the disk may be full."""
    _write(_part(path), " " * RECORD_BYTES)


def release(path: str) -> None:
    """Give the reserved space back: there will be no end record."""
    _remove(_part(path))


def leave(path: str, content: dict[str, Any]) -> None:
    """Write the end record over the reserved bytes (JSON may have blanks behind), show it."""
    _write(_part(path), json.dumps(content))
    os.rename(_part(path), path)  # noqa: PTH104 - no pathlib here


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
