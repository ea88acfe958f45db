"""What needs a person in a pane is a gate of the work `panes`: it opens with the pane's move, and
is withdrawn when the pane continues, ends or is lost."""

from __future__ import annotations

import json
from collections.abc import Iterator

from segue.core.machines import GateState, PaneState, Trigger
from segue.i18n import _
from segue.store.changes import Add, Change, Move, Note, Value
from segue.store.rows import PANES, new_id
from segue.store.sqlite import Store
from segue.work.panes.watched_pane import WatchedPane

KIND = "pane"
ASKS = "asks"  # what a program's own question is called where a limit has its kind
NEEDS_PERSON = (PaneState.BLOCKED, PaneState.ERROR)
PENDING = "SELECT id FROM gates WHERE work = ? AND name = ? AND state = 'pending'"


def changes(
    store: Store, pane: WatchedPane, to: PaneState, kind: str | None, evidence: str
) -> Iterator[Change]:
    """What follows for the gate of a pane that goes to a state."""
    found = [row["id"] for row in store.all(PENDING, PANES, pane.id)]
    if to not in NEEDS_PERSON:
        for id in found:
            yield Move("gate", id, GateState.PENDING, GateState.WITHDRAWN, Trigger.CLOSE)
        return
    text = in_words(pane, to, kind, evidence)
    if found:
        yield Note("gate", found[0], {"text": text, "category": kind or ASKS})
        return
    row: dict[str, Value] = {
        "work": PANES,
        "kind": KIND,
        "category": kind or ASKS,
        "name": pane.id,
        "text": text,
        "about": json.dumps({"pane": pane.place, "agent": pane.agent}),
    }
    yield Add("gate", new_id(KIND), GateState.PENDING, row, Trigger.OPEN)


def in_words(pane: WatchedPane, to: PaneState, kind: str | None, evidence: str) -> str:
    if to is PaneState.ERROR:
        text = _("Segue tried {n} times to resume it, without success.").format(n=pane.sends)
    elif kind is None:
        text = _("The program asks a question in its pane.")
    else:
        text = _("Waiting does not help: someone must fix this.")
    return f"{text}\n{evidence}".rstrip()
