"""Notices that their own run could not send: it was killed after its last commit.

A command that finds its work complete runs nothing, so nothing else would send them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import tzinfo

from segue.engine.clock import Clock
from segue.engine.locks import notices_lock
from segue.engine.notices import WorkNotices
from segue.engine.outbox import LAST_S, NoticeSender, Outbox, SaidFaults
from segue.store.lock import Turn
from segue.store.sqlite import Store
from segue.work.project import Project
from segue.work.settings import channels, config


async def send(
    project: Project,
    environ: Mapping[str, str],
    clock: Clock,
    tz: tzinfo,
    say: Callable[[str], None],
) -> None:
    """Send what plans of this project have left, within bounds; what fails stays for the next."""
    if not _is_any_left(project):
        return
    settings = config.load(project.root, config.user_file(environ)).notify
    notifiers, _missing = channels.read_notifiers(settings, environ, clock, project.keys)
    if not notifiers:
        return
    store = Store.open(project.database)
    try:
        pending, turn = WorkNotices(store), Turn(notices_lock(project))
        quiet, faults = channels.quiet(settings), SaidFaults(say)
        sender = NoticeSender(
            Outbox(pending, clock, notifiers, quiet, tz, faults=faults, turn=turn)
        )
        await sender.close(LAST_S)
    finally:
        store.close()


def _is_any_left(project: Project) -> bool:
    store = Store.open_readonly(project.database)
    if store is None:
        return False
    try:
        return WorkNotices(store).next_at() is not None
    finally:
        store.close()
