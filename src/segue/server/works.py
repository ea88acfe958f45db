"""All kinds of work of the served folder, whichever process runs them: the server's tasks, task
lists, books, features, watched panes. Looked up in a thread: files are read for it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from fastapi import APIRouter
from pydantic.alias_generators import to_camel
from starlette.responses import Response

from segue.engine.standing import Standing
from segue.i18n import _
from segue.server import responses
from segue.server.commands import Commands, Json
from segue.server.documenting import reading
from segue.server.parameters import Page, PageSize
from segue.server.rendering import rendered
from segue.store.rows import PANES, SERVER
from segue.store.sqlite import Store
from segue.work import inbox, overview
from segue.work.phases.refused import Refused
from segue.work.project import Project

ID_CHARS = 12


class Works(Protocol):
    """What stands in the served folder besides the server's own tasks."""

    def all(self) -> list[Json]: ...
    def waiting(self) -> list[Json]:
        """What waits for a person there, and failed tasks of the server."""
        ...


class ProjectWorks:
    """Of a folder with all its kinds of work."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def all(self) -> list[Json]:
        ids = self._ids()
        return [_work(one, ids) for one in overview.look(self._root)]

    def waiting(self) -> list[Json]:
        found = inbox.items(self._root, datetime.now(UTC))
        return [
            {**camel(item), "taskId": item["task"], "taskTitle": item["title"]}
            for item in found
            if item["work"]["kind"] != SERVER or item["kind"] == "failed"
        ]

    def _ids(self) -> dict[str, str]:
        store = Store.open_readonly(Project.containing(self._root).database)
        if store is None:
            return {}
        try:
            return {row["path"]: row["id"] for row in store.all("SELECT id, path FROM works")}
        finally:
            store.close()


def _work(standing: Standing, ids: Mapping[str, str]) -> Json:
    path = str(standing.path)
    id = standing.kind if standing.kind in (SERVER, PANES) else ids.get(path)
    new = "new-" + sha256(path.encode("utf-8", "replace")).hexdigest()[:ID_CHARS]
    return {"id": id or new, **camel(standing.to_json()), "counts": standing.counts}


def camel(found: Any) -> Any:
    """Names as the API has them. What is named by people (tasks) is left out of it by whoever
    calls."""
    match found:
        case dict():
            return {to_camel(name): camel(value) for name, value in found.items()}
        case list():
            return [camel(value) for value in found]
    return found


def add(routes: APIRouter, commands: Commands, works: Works) -> None:
    @routes.get("/api/work", response_model=responses.Works, responses=reading())
    async def list_work(page: Page = 1, page_size: PageSize = 50) -> Response:
        """Every work of the served folder, whichever process runs it."""
        found = await asyncio.to_thread(works.all)
        first = (page - 1) * page_size
        shown = found[first : first + page_size]
        return rendered({"items": shown, "total": len(found), "page": page, "pageSize": page_size})

    @routes.get("/api/work/{id}", response_model=responses.Work, responses=reading(404))
    async def show_work(id: str) -> Response:
        for found in await asyncio.to_thread(works.all):
            if found["id"] == id:
                return rendered(found)
        raise Refused(404, "unknown_work", _("no such id: {id}").format(id=id))

    @routes.get("/api/usage", response_model=responses.UsageReport, responses=reading())
    async def show_usage() -> Response:
        """Tokens and cost of every work; what agents use now is in it."""
        return rendered(commands.used())

    @routes.get("/api/types", response_model=responses.Types, responses=reading())
    async def list_types() -> Response:
        """Types of tasks: built in, and those of the settings."""
        return rendered(commands.list_types())
