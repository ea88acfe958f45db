"""Notices about panes: one that could not be resumed, one that needs a person."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from segue.core.machines import PaneState, Trigger
from segue.engine.notices import notice
from segue.i18n import _
from segue.store.changes import Put
from segue.store.rows import PANES
from segue.work.panes.watched_pane import WatchedPane


@dataclass(slots=True)
class People:
    """`wake`: there may be something to send."""

    wake: Callable[[], None] = lambda: None

    def told(
        self, pane: WatchedPane, to: PaneState, cause: Trigger, evidence: str, at: datetime
    ) -> list[Put]:
        """The notice that goes with a change of a pane, if one does."""
        match cause:
            case Trigger.FAIL:
                kind = "error"
                text = _("Segue tried {n} times to resume it, without success.")
                text = text.format(n=pane.sends)
            case Trigger.ASK:
                kind, text = "question", _("Waiting does not help: a person must fix this.")
            case Trigger.SEE if to is PaneState.BLOCKED:
                kind, text = "question", _("The program asks a question in its pane.")
            case _:
                return []
        place = pane.place
        title = _("pane {pane} ({agent})").format(pane=place, agent=pane.agent or "?")
        text = f"{text}\n{evidence}".rstrip()
        about = f"{pane.id}:{pane.version + 1}"
        return [notice(PANES, about, kind, text, at, task=pane.name, title=title, place=place)]
