"""Works that have no file of their own: the server's tasks, the watched panes."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from segue.core.machines import PlanState
from segue.store.changes import Add, Note
from segue.store.sqlite import Store


def enrol(store: Store, work: str, path: Path, at: datetime) -> None:
    """Its one row is there, with the folder that it is in now. Whether it runs, its lock says."""
    found = store.one("SELECT path FROM works WHERE id = ?", work)
    if found is None:
        row = {"kind": work, "path": str(path)}
        store.move(Add("work", work, PlanState.PENDING, row), at=at)  # another may have been faster
    elif found["path"] != str(path):
        store.move(Note("work", work, {"path": str(path)}), at=at)
