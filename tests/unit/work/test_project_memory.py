"""What of a project's memory is restored, and what is said to be lost."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

from segue.store.lock import Lock
from segue.store.sqlite import Store
from segue.work.project import Project
from segue.work.project_memory import memory_of


def test_folders_come_back_and_their_contents_are_named_as_lost(tmp_path: Path) -> None:
    """By the names that people of the project know; folders without records are not worth a word."""
    project = Project(tmp_path)
    project.prepare()
    lock = Lock(project.locks / "server.lock")
    assert lock.take(since="now", command="segue serve") is None
    store = Store.open(project.database)

    async def keep() -> str | None:
        memory = memory_of(project, store, lock, ".segue", project.server, look_again=lambda: None)
        return memory.keep()

    shutil.rmtree(project.memory)
    told = asyncio.run(keep())
    store.close()
    lock.release()
    assert told is not None
    assert told.endswith("Lost: .segue/logs, .segue/server")
    assert project.server.is_dir()
    assert project.database.is_file()
