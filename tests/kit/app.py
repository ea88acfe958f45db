"""A server's work in a folder of its own: real processes, the real tables, no HTTP."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import UTC
from pathlib import Path
from typing import Any

from kit.waiting import until_async
from segue.engine.clock import SystemClock
from segue.work.phases import closing
from segue.work.phases.app import App, open_app
from segue.work.phases.commands import Commands, NewTask
from segue.work.project import Project
from segue.work.settings import config

TYPES = """
[types.report]
[[types.report.phases]]
name = "draft"
deliverables = ["docs/draft.md"]
min_chars = 5
[[types.report.phases]]
name = "final"
deliverables = ["docs/final.md"]
"""


def play(scene: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(scene())


class House:
    """A folder with settings, opened as a server's work as often as a test likes."""

    def __init__(self, folder: Path, settings: str = "") -> None:
        self.folder = folder
        (folder / "segue.toml").write_text(TYPES + settings, encoding="utf-8")

    @property
    def environ(self) -> dict[str, str]:
        """Of a user who is there for this test alone."""
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder)}

    def script(self, text: str, name: str = "player") -> str:
        (self.folder / f"{name}.scenario").write_text(text, encoding="utf-8")
        return f'[agents.{name}]\nkind = "script"\nscenario = "{name}.scenario"\n'

    def program(self, text: str, name: str = "player", more: str = "") -> None:
        """An agent that is a shell script."""
        path = self.folder / f"{name}.sh"
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        self.add(f'[agents.{name}]\nkind = "command"\ncommand = ["./{name}.sh"]\n{more}')

    def add(self, settings: str) -> None:
        with (self.folder / "segue.toml").open("a", encoding="utf-8") as file:
            file.write(settings)

    @asynccontextmanager
    async def open(self, *, slots: int = 3, is_killed: bool = False) -> AsyncIterator[Open]:
        """`is_killed`: at the end nothing is put in order, as after kill -9."""
        project = Project(self.folder)
        settings = config.load(self.folder, None)
        async with open_app(
            project,
            settings,
            environ=self.environ,
            clock=SystemClock(),
            tz=UTC,
            slots=slots,
            command=["segue", "serve"],
        ) as app:
            app.supervisor.recover()
            loop = asyncio.create_task(app.driver.run())
            try:
                yield Open(app)
            finally:
                if is_killed:
                    loop.cancel()
                else:
                    app.supervisor.stop()
                await asyncio.wait([loop])
                if not is_killed:
                    closing.save(app.supervisor)
                await closing.settle(app.supervisor)
                if not loop.cancelled() and loop.exception():
                    raise loop.exception()  # type: ignore[misc]


class Open:
    def __init__(self, app: App) -> None:
        self.app = app
        self.commands: Commands = app.commands

    def new(self, type: str = "report", agent: str = "player", **more: Any) -> str:
        given = NewTask("A report", "About the sea", type, agent, submit=True, **more)
        return str(self.commands.create_task(given)["id"])

    until = staticmethod(until_async)

    async def status(self, id: str, status: str, agent: str | None = None) -> dict[str, Any]:
        def look() -> dict[str, Any] | None:
            task = self.commands.task(id)
            if task["status"] == "failed" and status != "failed":
                raise AssertionError(f"it failed: {task['error']}")
            is_so = task["status"] == status and agent in (None, task["agentStatus"])
            return task if is_so else None

        found: dict[str, Any] = await self.until(look)
        return found

    async def pending(self, id: str, kind: str) -> dict[str, Any]:
        """The gate of this kind that waits for a person."""

        def look() -> dict[str, Any] | None:
            items = self.commands.gates(kind, task=id, status="pending")["items"]
            return items[0] if items else None

        found: dict[str, Any] = await self.until(look)
        return found

    def trail(self, id: str) -> list[tuple[str, str | None, str]]:
        """The journal: entity, from, to."""
        items = self.commands.journal(id, page_size=200)["items"]
        return [(entry["entity"], entry["from"], entry["to"]) for entry in items]

    def kinds(self, id: str) -> list[str]:
        """The checkpoints of a task, the oldest first."""
        return [row["kind"] for row in reversed(self.commands.checkpoints(id)["items"])]

    def troubles(self, id: str) -> list[str]:
        """What people were told of a task's troubles."""
        sql = "SELECT text FROM notices WHERE task = ? AND kind = 'trouble' ORDER BY id"
        return [row["text"] for row in self.app.supervisor.records.store.all(sql, id)]

    def runs(self, id: str, role: str = "work") -> list[str]:
        """The states of a task's runs of one kind, the first one first."""
        sql = "SELECT state FROM runs WHERE task = ? AND role = ? ORDER BY created_at, rowid"
        return [row["state"] for row in self.app.supervisor.records.store.all(sql, id, role)]
