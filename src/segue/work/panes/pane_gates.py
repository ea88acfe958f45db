"""What needs a person in a pane is a gate of the work `panes`: it opens with the pane's move, and
is withdrawn when the pane continues, ends or is lost."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from segue.core.machines import PaneState
from segue.engine import gates
from segue.i18n import _
from segue.store.changes import Change
from segue.store.rows import PANES, GateRow
from segue.store.sqlite import Store
from segue.work.panes.watched_pane import WatchedPane

KIND = "pane"
ASKS = "asks"  # what a program's own question is called where a limit has its kind
NEEDS_PERSON = (PaneState.BLOCKED, PaneState.ERROR)


def changes(
    store: Store, pane: WatchedPane, to: PaneState, kind: str | None, evidence: str, now: datetime
) -> Iterator[Change]:
    """What follows for the gate of a pane that goes to a state."""
    found = [gate for gate in gates.pending(store, PANES) if gate.name == pane.id]
    if to not in NEEDS_PERSON:
        for gate in found:
            yield from gates.withdraw(gate, now)
        return
    text = in_words(pane, to, kind, evidence)
    category, about = kind or ASKS, {"pane": pane.place, "agent": pane.agent}
    if found:
        yield gates.reword(found[0], text, about, category)[1]
        return
    gate = GateRow(
        "", pane.name, None, KIND, text, category=category, about=about, name=pane.id, work=PANES
    )
    yield gates.ask(gate, now)[1]


def in_words(pane: WatchedPane, to: PaneState, kind: str | None, evidence: str) -> str:
    if to is PaneState.ERROR:
        text = _("Segue tried {n} times to resume it, without success.").format(n=pane.sends)
    elif kind is None:
        text = _("The program asks a question in its pane.")
    else:
        text = _("Waiting does not help: a person must fix this.")
    return f"{text}\n{evidence}".rstrip()
