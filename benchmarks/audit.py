"""`segue audit`: rows of the journal that are verified in a second.

A journal of task transitions, as a plan leaves it; best of three.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from tempfile import mkdtemp

from measure import Figure, Unmeasured, listed, wall_s
from move import PATH

from segue.core.plan import TaskState
from segue.store.changes import Add, Move
from segue.store.sqlite import Store
from segue.work.audit import audit

TASKS = 30_000  # three rows each
ROUNDS = 3
TARGET = 50_000


def filled(folder: Path) -> Store:
    store = Store.open(folder / "segue.db")
    now = datetime.now(UTC)
    store.move(Add("work", "p", "pending", {"path": "PLAN.md", "kind": "tasklist"}), at=now)
    row = {"work": "p", "title": "nothing"}
    for first in range(0, TASKS, 1000):
        ids = range(first, first + 1000)
        added = [Add("task", f"p/{n}", TaskState.PENDING, {**row, "key": str(n)}) for n in ids]
        moved = [
            Move("task", f"p/{n}", state, to, cause, data={"phase": 1, "why": "a test"})
            for n in ids
            for state, to, cause in PATH
        ]
        if not store.move(*added, *moved, at=now):
            raise Unmeasured("the journal of the benchmark could not be filled")
    return store


def measure(folder: Path) -> list[Figure]:
    place = Path(mkdtemp(dir=folder))
    store = filled(place)

    def verify() -> None:
        found = audit(store, place)
        if not found.holds or found.rows != 3 * TASKS + 1:
            raise Unmeasured("the chain of the benchmark does not hold")

    rates = [(3 * TASKS + 1) / wall_s(verify) for _round in range(ROUNDS)]
    store.close()
    details = (f"rows/s: {listed(rates)}",)
    return [
        Figure(
            "journal rows verified/s", max(rates), TARGET, at_least=True, unit="/s", details=details
        )
    ]
