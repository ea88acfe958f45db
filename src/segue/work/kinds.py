"""The kinds of work, by the name that the tables have. A new kind is one line here."""

from __future__ import annotations

from segue.engine.kind import Kind
from segue.work.book.kind import BookKind
from segue.work.feature.kind import FeatureKind
from segue.work.panes.kind import PanesKind
from segue.work.phases.kind import PhasesKind
from segue.work.tasklist.kind import TasklistKind

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (TasklistKind(), BookKind(), FeatureKind(), PhasesKind(), PanesKind())
}
