"""What the owner of a work has of its project's memory, to be restored when it is removed."""

from __future__ import annotations

from pathlib import Path

from segue.engine.outage import Claiming, Memory
from segue.store.lock import Lock
from segue.store.sqlite import Store
from segue.work.locks import check_held
from segue.work.project import Project


def memory_of(
    project: Project, store: Store, lock: Lock, executor: Claiming, shown: str, *more: Path
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
        executor,
        (*project.folders, *more),
        make_folders,
        take_lock=lambda: check_held(lock.take_again(), shown),
        lost=lambda gone: ", ".join(project.relative(one) for one in gone if one in has_content),
    )
