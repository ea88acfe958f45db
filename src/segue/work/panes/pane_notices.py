"""What people outside are told of panes: one that could not be resumed, one that needs somebody."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from segue.core.machines import PaneState, Trigger
from segue.engine.notices import notice
from segue.i18n import _
from segue.store.changes import Put
from segue.store.rows import PANES

if TYPE_CHECKING:
    from segue.work.panes.workers import Worker


@dataclass(slots=True)
class People:
    """`wake`: there may be something to send."""

    wake: Callable[[], None] = lambda: None

    def told(
        self, worker: Worker, to: PaneState, cause: Trigger, evidence: str, at: datetime
    ) -> list[Put]:
        """The notice that goes with a change of a worker, if one does."""
        match cause:
            case Trigger.FAIL:
                kind = "error"
                text = _("Segue tried {n} times to resume it, without success.")
                text = text.format(n=worker.sends)
            case Trigger.ASK:
                kind, text = "question", _("A person must fix this: waiting does not help.")
            case Trigger.SEE if to is PaneState.BLOCKED:
                kind, text = "question", _("The program asks something in its pane.")
            case _:
                return []
        pane = worker.pane.id
        title = _("pane {pane} ({agent})").format(pane=pane, agent=worker.agent or "?")
        text = f"{text}\n{evidence}".rstrip()
        about = f"{worker.id}:{worker.version + 1}"
        return [notice(PANES, about, kind, text, at, task=pane, title=title, place=pane)]
