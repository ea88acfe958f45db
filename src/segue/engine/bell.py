"""The bell: tells the owners of a project's works that rows were added which they may want.

A file in a folder of its own, so that an inotify watcher does not see changes of the database
beside it. It is replaced, not written to: whatever was put in its place is not followed.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from pathlib import Path

NAME = "bell"


def ring(folder: Path) -> None:
    """After a commit. Nobody hears it where the folder is missing: no owner has made one."""
    fresh = folder / f".{NAME}-{secrets.token_hex(4)}"
    with suppress(OSError):  # the rows are there: each owner looks at its start, too
        fresh.touch(mode=0o600, exist_ok=False)
        fresh.replace(folder / NAME)
    with suppress(OSError):
        fresh.unlink(missing_ok=True)
