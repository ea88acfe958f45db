"""What a task has produced: what its agent said and did, the files of its workspace, and how they
differ from where it began."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from segue.errors import UserError
from segue.i18n import _
from segue.work.phases import shapes
from segue.work.phases.output_feed import OutputFeed
from segue.work.phases.reading import Reading
from segue.work.phases.refused import Refused
from segue.work.phases.shapes import Json
from segue.work.phases.tree import names_in
from segue.work.phases.workspace import open_inside

SAID = ("text", "input", "result")  # members of an item that an agent or a person worded


@dataclass(slots=True)
class OutputReading(Reading):
    feed: OutputFeed

    async def conversation(self, id: str, *, page: int = 1, page_size: int = 50) -> Json:
        """The oldest first."""
        self._both(id)
        items, total = await self.feed.page(id, page, page_size)
        return shapes.page([self._said(item) for item in items], total, page, page_size)

    def follow_output(self, listener: Callable[[Sequence[Json]], None] | None) -> None:
        """Every item of every conversation from now on; None: no more of them."""
        if listener is None:
            self.feed.follow(None)
        else:
            self.feed.follow(lambda items: listener([self._said(item) for item in items]))

    async def files(self, id: str, *, page: int = 1, page_size: int = 50) -> Json:
        """The plain files of the workspace, by their path from it; no link is followed."""
        task, _agent = self._both(id)
        if not task.workspace:
            return shapes.page([], 0, page, page_size)
        found = await asyncio.to_thread(_sizes, Path(task.workspace))
        first = (page - 1) * page_size
        return shapes.page(found[first : first + page_size], len(found), page, page_size)

    def file(self, id: str, path: str) -> int:
        """A descriptor to read one of them by."""
        task, _agent = self._both(id)
        try:
            return open_inside(Path(task.workspace or os.devnull), path)
        except (UserError, OSError) as error:
            text = _("no such file in the workspace: {path}").format(path=path)
            raise Refused(404, "unknown_file", text) from error

    async def diff(self, id: str, *, since: str | None = None) -> Json:
        """What the workspace has become since a checkpoint; without one, since the task began."""
        task, _agent = self._both(id)
        base = None if since is None else self._commit_of(id, since)
        if not task.workspace:
            return {"base": None, "head": None, "files": [], "patch": "", "truncated": False}
        try:
            found = await asyncio.to_thread(self.supervisor.saving.compare, id, base)
        except UserError as error:
            raise Refused(409, error.problem.code, str(error)) from error
        patch = found.patch.decode("utf-8", "replace")
        return {
            "base": found.base,
            "head": found.head,
            "files": [
                {"path": one.path, "additions": one.additions, "deletions": one.deletions}
                for one in found.changes
            ],
            "patch": self.supervisor.saving.redactor.text(id, patch),
            "truncated": found.is_partial,
        }

    def _commit_of(self, id: str, checkpoint: str) -> str:
        sql = "SELECT path, sha256 FROM checkpoints WHERE task = ? AND id = ?"
        row = self.supervisor.records.store.one(sql, id, checkpoint)
        content = self.supervisor.saving.read(row["path"], row["sha256"]) if row else None
        if content is None:
            text = _("no such checkpoint: {id}").format(id=checkpoint)
            raise Refused(422, "unknown_checkpoint", text, {"field": "since"})
        return str(content["commit"])

    def _said(self, item: Json) -> Json:
        redactor = self.supervisor.saving.redactor
        worded = {name: redactor.text(item["taskId"], item[name]) for name in SAID if item[name]}
        return {**item, **worded}


def _sizes(workspace: Path) -> list[Json]:
    try:
        names = names_in(workspace).files
    except (FileNotFoundError, NotADirectoryError):
        return []
    found = []
    for name in sorted(names):
        with suppress(OSError):  # gone meanwhile
            status = (workspace / os.fsdecode(name)).lstat()
            if stat.S_ISREG(status.st_mode):
                path = name.decode("utf-8", "replace")
                found.append({"path": path, "size": status.st_size})
    return found
