"""Memory that is not Segue's own: it came with a clone, is a link, or another user made it.

Whoever plants it decides what Segue believes to be done, or where it writes.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from segue.errors import UserError
from segue.i18n import _


def check(memory: Path, database: Path, root: Path) -> None:
    """Refuse it, in words; what is not there is fine."""
    for path in (memory, database):
        why = fault(path, root if path == database else None)
        if why is not None:
            raise UserError(
                "planted_memory",
                _("Segue did not create this: {why}").format(why=why),
                file=str(path),
                hint=_("look at it, then remove it: Segue continues from the project's files"),
            )


def fault(path: Path, root: Path | None = None) -> str | None:
    """Why a folder or file cannot be Segue's own; None: it can, or it is not there."""
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISLNK(status.st_mode):
        return _("it is a symbolic link")
    if status.st_uid != os.geteuid():
        return _("it belongs to another user")
    if root is not None and _is_committed(root, path):
        return _("it came with the repository")
    return None


def _is_committed(root: Path, path: Path) -> bool:
    """Whether git has it: Segue's own `.gitignore` keeps it out."""
    if not path.exists():
        return False
    from segue.drivers.git import Repository  # noqa: PLC0415 - most folders need none

    repository = Repository.containing(root)
    if repository is None or not path.is_relative_to(repository.top):
        return False
    name = path.relative_to(repository.top).as_posix()
    return repository.refs().attempt("cat-file", "-e", f"HEAD:{name}").returncode == 0
