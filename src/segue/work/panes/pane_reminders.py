"""People are reminded of panes that have waited for them for long."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import datetime

from segue.engine.clock import Clock
from segue.engine.outbox import TABLE
from segue.i18n import _
from segue.store.changes import Put, instant
from segue.store.rows import PANES
from segue.store.sqlite import Store
from segue.work import reminders
from segue.work.plans import notices

GATES = "SELECT * FROM gates WHERE work = ? AND state = 'pending'"
TOLD = "SELECT about FROM notices WHERE work = ?"


class PaneReminders:
    """`wake`: there may be something to send."""

    def __init__(
        self, store: Store, clock: Clock, steps: reminders.Steps, wake: Callable[[], None]
    ) -> None:
        self._store, self._clock, self._steps, self._wake = store, clock, steps, wake

    def look(self) -> datetime | None:
        """Tell what is due; when the next one is."""
        now = self._clock.now()
        waiting = [instant(row["created_at"]) for row in self._store.all(GATES, PANES)]
        if any(reminders.due(since, now, self._steps) for since in waiting):
            self._store.move(at=now, then=lambda: self._due(now))
            self._wake()
        return reminders.next_at(waiting, now, self._steps)

    def _due(self, now: datetime) -> Iterable[Put]:
        """Read where it is written: another watcher may do the same."""
        told = {row["about"] for row in self._store.all(TOLD, PANES)}
        for row in self._store.all(GATES, PANES):
            kind = reminders.due(instant(row["created_at"]), now, self._steps)
            about = f"{kind}:{row['id']}"
            if kind is None or about in told:
                continue
            facts = json.loads(row["about"] or "{}")
            pane = str(facts.get("pane"))
            title = _("pane {pane} ({agent})").format(pane=pane, agent=facts.get("agent") or "?")
            text = reminders.in_words(kind, row["text"])
            yield Put(
                TABLE,
                notices.row(PANES, about, kind, title, text, pane, now, task=pane, gate=row["id"]),
            )
