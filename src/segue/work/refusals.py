"""A command of Segue's refuses an agent what only a person may do: the try is noted
(`engine/refusals.py`)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime

from segue.dialects import tool_channel
from segue.engine.refusals import changes, shown
from segue.errors import UserError
from segue.store.changes import stamp
from segue.store.sqlite import Store
from segue.work.project import project_of


def note(run: Mapping[str, str], via: str, tried: str, now: datetime) -> None:
    """Record a try outside of the server, in the memory of the run's project.

    In the sandbox that is not there: the try goes to the file that the run's Segue follows. Where
    nothing can be written (a full disk) the refusal itself still holds."""
    project = project_of(run)
    if not project.database.is_file():
        _tell(run, via, tried, now)
        return
    with suppress(UserError, OSError):
        store = Store.open(project.database)
        try:
            store.move(at=now, then=lambda: changes(store, run, via, tried, now))
        finally:
            store.close()


def _tell(run: Mapping[str, str], via: str, tried: str, now: datetime) -> None:
    path, nonce = run.get("SEGUE_REFUSALS"), run.get("SEGUE_NONCE", "")
    if not path:
        return
    told = {"via": via, "tried": shown(tried), "at": stamp(now)}
    line = tool_channel.line(tool_channel.REFUSED, told, nonce=nonce, at=stamp(now))
    with suppress(OSError):
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            os.write(fd, line)
        finally:
            os.close(fd)
