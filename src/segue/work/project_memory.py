"""What the owner of a work has of its project's memory, to be restored when it is removed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from segue.engine.executors import Due
from segue.engine.executors.process import ProcessExecutor
from segue.engine.locks import check_held
from segue.engine.outage import Memory
from segue.store.lock import Lock
from segue.store.sqlite import Store
from segue.work.project import Project


def memory_of(
    project: Project,
    store: Store,
    lock: Lock,
    shown: str,
    *more: Path,
    look_again: Callable[[], None],
    claim_again: Callable[[], None] = lambda: None,
) -> Memory:
    """`shown`: the work's name, as people know it; `more`: folders besides those of the project."""
    has_content = (project.logs, project.evidence, *more)

    def make_folders() -> None:
        project.make_folders()
        for folder in more:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    return Memory(
        store,
        lock,
        (*project.folders, *more),
        make_folders,
        take_lock=lambda: check_held(lock.take_again(), shown),
        claim_again=claim_again,
        look_again=look_again,
        lost=lambda gone: ", ".join(project.relative(one) for one in gone if one in has_content),
    )


def memory_of_runs(
    project: Project, store: Store, lock: Lock, shown: str, executor: ProcessExecutor, *more: Path
) -> Memory:
    """Where the runs of the work are processes."""
    return memory_of(
        project,
        store,
        lock,
        shown,
        *more,
        look_again=partial(executor.notify, Due()),
        claim_again=executor.claim_again,
    )
