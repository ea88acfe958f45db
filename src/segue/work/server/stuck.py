"""Tasks that wait for one that failed or is gone: said to people, once, when it comes to that.

They stay in the queue: what failed may be rewound and completed after all.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from segue.core.serving import Stage
from segue.i18n import _
from segue.store.changes import Change
from segue.work.server import moves
from segue.work.server.records import Records

WAITING = (
    "SELECT DISTINCT t.id FROM server_tasks t, json_each(t.depends_on) d"
    " WHERE t.state = ? AND d.value = ?"
)


def why(records: Records, depends_on: Iterable[str]) -> str | None:
    """What keeps a task from beginning until a person does something; None: nothing does."""
    for id in depends_on:
        found = records.task(id)
        if found is None:
            return _gone(id)
        if found.state is Stage.FAILED:
            return _failed(id)
    return None


def submitted(records: Records, id: str, depends_on: Iterable[str], now: datetime) -> list[Change]:
    """A task is put into the queue, and cannot begin."""
    text = why(records, depends_on)
    return [moves.notice(id, "trouble", text, now)] if text else []


def failed(records: Records, id: str, now: datetime) -> list[Change]:
    """This task fails: those that wait for it are told of."""
    return _told(records, id, _failed(id), now)


def deleted(records: Records, id: str, now: datetime) -> list[Change]:
    return _told(records, id, _gone(id), now)


def _told(records: Records, id: str, text: str, now: datetime) -> list[Change]:
    waiting = records.store.all(WAITING, Stage.PENDING, id)
    return [moves.notice(row["id"], "trouble", text, now) for row in waiting]


def _failed(id: str) -> str:
    text = _("it waits for {id}, which failed: it does not begin unless that is completed")
    return text.format(id=id)


def _gone(id: str) -> str:
    text = _("it waits for {id}, which is gone: cancel it and change what it depends on")
    return text.format(id=id)
