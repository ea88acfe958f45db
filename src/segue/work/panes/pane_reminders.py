"""People are reminded of panes that have waited for them for long."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from segue.engine import gates, notices
from segue.engine.clock import Clock
from segue.engine.gates import Reminder, Reminders, Steps
from segue.i18n import _
from segue.store.rows import PANES
from segue.store.sqlite import Store


def pane_reminders(store: Store, clock: Clock, steps: Steps, wake: Callable[[], None]) -> Reminders:
    """`wake`: there may be something to send. Another watcher may tell the same."""

    def tell(reminder: Reminder) -> None:
        gate, now = reminder.gate, clock.now()
        pane = str(gate.about.get("pane"))
        title = _("pane {pane} ({agent})").format(pane=pane, agent=gate.about.get("agent") or "?")
        text = reminder.in_words(gate.text)
        told = notices.notice(
            PANES, reminder.about, reminder.kind, text, now,
            task=pane, gate=gate.id, title=title, place=pane,
        )  # fmt: skip
        store.move(at=now, then=notices.once(store, told))
        wake()

    return Reminders(steps, partial(gates.pending, store, PANES), tell)
