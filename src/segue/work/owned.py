"""The rows of a plan while no other process runs it: for what a command changes by itself."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from segue.engine.clock import SystemClock
from segue.engine.ledger import Ledger
from segue.engine.locks import check_held, lock_path
from segue.store.changes import stamp
from segue.store.lock import Lock
from segue.store.sqlite import Store
from segue.work.project import Project, check_writable


@contextmanager
def owned(path: Path, kind: str, place: Path | None = None) -> Iterator[Ledger]:
    """Under the lock of the plan; UserError where somebody holds it. `place`: what is written, if
    that is not the plan itself."""
    project, clock = Project.containing(path), SystemClock()
    check_writable(place or path, project)
    project.prepare()
    lock = Lock(lock_path(project, path))
    check_held(lock.take(since=stamp(clock.now()), command=shlex.join(sys.argv)), str(path))
    store = Store.open(project.database)
    try:
        yield Ledger(store, clock, path, kind)
    finally:
        store.close()
        lock.release()
