"""The locks of a project: one for each plan file, held by the plan's runner, and one for
sending notices."""

from __future__ import annotations

import hashlib
from pathlib import Path

from segue.engine.run_files import Folders
from segue.errors import UserError
from segue.i18n import _
from segue.store.lock import Holder


def lock_path(project: Folders, plan: Path) -> Path:
    """One lock for each plan file, by its real path."""
    name = hashlib.sha256(str(plan).encode()).hexdigest()[:16]
    return project.locks / f"{name}.lock"


def notices_lock(project: Folders) -> Path:
    """Held by the process that sends the notices of a project's plans."""
    return project.locks / "notices.lock"


def check_held(holder: Holder | None, shown: str) -> None:
    if holder is not None:
        raise UserError(
            "plan_locked",
            _("process {pid} has been running this plan since {since} ({command})").format(
                pid=holder.pid, since=holder.since, command=holder.command
            ),
            file=shown,
            hint=_("watch it: segue status --watch; stop it: segue stop"),
        )
