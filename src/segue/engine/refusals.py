"""What an agent tried to do in a person's place, and was refused: a row of the journal for each
try, and one notice for each run.

Both are bounded: an agent that tries for ever fills neither the journal nor a channel. Changes have
room of their own, so that no number of reads hides one. A run that the tables do not know (another
project's, or one that hides its name) counts with all others of that kind, for a day.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

from segue.dialects.events import ActRefused
from segue.dialects.lines import plain_text
from segue.drivers.lineage import RUN, UNKNOWN
from segue.engine.notices import notice
from segue.i18n import _
from segue.store.changes import Change, Record, stamp
from segue.store.rows import SERVER
from segue.store.sqlite import Store

ENTITY, CAUSE = "refusal", "refuse"
READS_MAX, ROWS_MAX = 20, 40  # for each run
FORGOTTEN_AFTER = timedelta(days=1)
NAME_CHARS_MAX = 200
PLAN = (
    "SELECT w.id, w.path FROM runs r JOIN works w ON w.id = r.work"  # noqa: S608 - names are ours
    f" WHERE w.kind != '{SERVER}' AND (r.id = ? OR r.verify_job = ?)"
)


def shown(text: str) -> str:
    """A name or command of an agent's, harmless and on one line."""
    return " ".join(plain_text(text[: 2 * NAME_CHARS_MAX]).split())[:NAME_CHARS_MAX]


def told(store: Store, run: str, task: str, event: ActRefused, now: datetime) -> list[Change]:
    """What an agent tried in its sandbox; nothing if this was noted before: a process that
    adopts a run hears it again."""
    sql = "SELECT 1 FROM journal WHERE entity_id = ? AND entity = ? AND instr(data, ?)"
    if event.at and store.one(sql, run, ENTITY, shown(event.at)) is not None:
        return []
    facts = {RUN: run, "SEGUE_TASK": task}
    return changes(store, facts, shown(event.via), event.tried, now, at=shown(event.at))


def changes(
    store: Store,
    run: Mapping[str, str],
    via: str,
    tried: str,
    now: datetime,
    *,
    is_change: bool = True,
    is_at_server: bool = False,
    at: str = "",
) -> list[Change]:
    """The row, and the notice if it is the first of this run; nothing once there are enough.
    `at`: when it was tried, where that is not now. `is_at_server`: the server sends the notice,
    whatever kind of work the run belongs to."""
    name, tried = shown(run[RUN]), shown(tried)
    served = store.one("SELECT task FROM runs WHERE id = ? AND work = ?", name, SERVER)
    plan = store.one(PLAN, name, name)
    is_known = served is not None or plan is not None
    key = name if is_known else UNKNOWN
    since = "" if is_known else stamp(now - FORGOTTEN_AFTER)
    sql = "SELECT count(*) FROM journal WHERE entity_id = ? AND entity = ? AND at >= ?"
    counted = store.one(sql, key, ENTITY, since)
    before = counted[0] if counted else 0
    if before >= (ROWS_MAX if is_change else READS_MAX):
        return []
    task = served["task"] if served else shown(run.get("SEGUE_TASK", "")) if plan else ""
    data = {"task": task, "actor": f"agent {name}", "via": via, "tried": tried}
    if at:
        data["at"] = at
    row = Record(ENTITY, key, "refused", CAUSE, data)
    if before:
        return [row]
    text = _("The agent of run {run} tried `{tried}` ({via}). Segue refused it.").format(
        run=name, tried=tried, via=via
    )
    if plan is None or is_at_server:
        about = f"refused:{task}:{secrets.token_hex(4)}"
        return [row, notice(SERVER, about, "refused", text, now, task=task)]
    title = f"{task} ({Path(plan['path']).name})"
    told = notice(
        plan["id"], f"refused:{name}", "refused", text, now,
        task=task, title=title, place=plan["path"],
    )  # fmt: skip
    return [row, told]
