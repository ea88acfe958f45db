"""Files of tasks that the database does not know: it was lost or replaced, they were not."""

from __future__ import annotations

import logging
from contextlib import suppress

from segue.i18n import _
from segue.work.phases.supervisor import Supervisor
from segue.work.phases.workspace import WORKSPACES

NAMES_MAX = 20
KNOWN = (
    "SELECT id FROM tasks WHERE work = 'server'"
    # those deleted since
    " UNION SELECT entity_id FROM journal WHERE entity = 'task' AND work = 'server'"
)

logger = logging.getLogger("segue.work.phases")


def tell(supervisor: Supervisor) -> None:
    """At the start, in the log and on standard error. A checkpoint names neither title nor
    description: such a task cannot continue by itself."""
    folder = supervisor.saving.data / WORKSPACES
    found: list[str] = []
    with suppress(FileNotFoundError):
        found = sorted(path.name for path in folder.iterdir() if path.is_dir())
    if not found:
        return
    known = {row["id"] for row in supervisor.records.store.all(KNOWN)}
    lost = [name for name in found if name not in known]
    if not lost:
        return
    names = ", ".join(lost[:NAMES_MAX]) + (" …" if len(lost) > NAMES_MAX else "")
    text = _(
        "the database has no record of {n} tasks whose files are here: {names}. It was "
        "lost or replaced. Lost: their descriptions, open questions and journal. Their "
        "files are in {path}: copy what you need, then delete it"
    )
    logger.warning("%s", text.format(n=len(lost), names=names, path=folder))
