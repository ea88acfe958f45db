"""Tasks: made, changed, moved along, looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from pydantic import StringConstraints
from starlette.responses import Response

from segue.core import serving
from segue.server import bodies, responses
from segue.server.commands import Commands, Json, NewTask
from segue.server.documenting import changing, reading
from segue.server.idempotency import Idempotent
from segue.server.parameters import Key, Page, PageSize, Text
from segue.server.rendering import PageCache, rendered
from segue.store.changes import stamp
from segue.store.rows import SERVER
from segue.work.phases import shapes
from segue.work.phases.task_list import NEWEST_FIRST, TaskFilter

Statuses = Annotated[Sequence[serving.Status], Query(max_length=20)]
AgentStatuses = Annotated[Sequence[serving.AgentState], Query(alias="agentStatus", max_length=20)]
Kinds = Annotated[
    Sequence[Literal["server", "tasklist", "book", "develop", "panes"]],
    Query(max_length=20, description="of the work; all tasks here are of the kind `server`"),
]
Texts = Annotated[Sequence[Annotated[str, StringConstraints(max_length=100)]], Query(max_length=20)]
Since = Annotated[datetime | None, Query(description="Created at this time or later.")]
Sort = Annotated[
    str,
    Query(
        max_length=100,
        description="title, createdAt, updatedAt, priority, status or type; `-` for the last first",
    ),
]
Cursor = Annotated[
    str | None, Query(max_length=2_000, description="`nextCursor` of the page before.")
]
_PLACE = {"headers": {"Location": {"schema": {"type": "string"}}}}


def add(
    routes: APIRouter, commands: Commands, idempotent: Idempotent, page_cache: PageCache
) -> None:
    @routes.get("/api/tasks", response_model=responses.Tasks, responses=reading())
    async def list_tasks(
        status: Statuses = (),
        agent_status: AgentStatuses = (),
        kind: Kinds = (),
        agent: Texts = (),
        type: Texts = (),
        since: Since = None,
        sort: Sort = NEWEST_FIRST,
        archived: bool = False,
        query: Text = None,
        page: Page = 1,
        page_size: PageSize = 50,
        cursor: Cursor = None,
    ) -> Response:
        """Those that fit all filters. A filter that is repeated takes any of its values."""
        if kind and SERVER not in kind:
            return rendered({"items": [], "total": 0, "page": page, "pageSize": page_size})
        created = stamp(since if since.tzinfo else since.replace(tzinfo=UTC)) if since else None
        is_simple = len(status) < 2 and len(type) < 2
        only = TaskFilter(
            () if is_simple else tuple(status), () if is_simple else tuple(type), tuple(agent),
            tuple(agent_status), created, sort, cursor,
        )  # fmt: skip
        return page_cache.get(
            (only, *status, ":", *type, archived, query, page, page_size),
            lambda: commands.list_tasks(
                status=status[0] if is_simple and status else None,
                type=type[0] if is_simple and type else None,
                archived=archived,
                query=query,
                page=page,
                page_size=page_size,
                only=only,
            ),
        )

    @routes.post(
        "/api/tasks",
        status_code=201,
        response_model=responses.Task,
        responses=changing(409) | {201: _PLACE},
    )
    async def create_task(body: bodies.GivenTask, request: Request, key: Key = None) -> Response:
        given = NewTask(
            title=body.title,
            description=body.description,
            type=body.type,
            agent=body.agent,
            depends_on=tuple(body.depends_on),
            priority=body.priority,
            submit=body.submit,
        )
        return idempotent(request, key, lambda: commands.create_task(given))

    @routes.get("/api/tasks/{id}", response_model=responses.Task, responses=reading(404))
    async def show_task(id: str) -> Response:
        return rendered(commands.task(id))

    @routes.patch("/api/tasks/{id}", response_model=responses.Task, responses=changing(404, 409))
    async def change_task(id: str, body: bodies.Changes) -> Response:
        return rendered(commands.change_task(id, body.given()))

    @routes.delete("/api/tasks/{id}", status_code=204, responses=changing(404, 409))
    async def delete_task(id: str) -> Response:
        commands.delete_task(id)
        return Response(status_code=204)

    _add_looks(routes, commands)
    _add_actions(routes, commands, idempotent)
    _add_new_from_old(routes, commands, idempotent)


def _add_looks(routes: APIRouter, commands: Commands) -> None:
    @routes.get("/api/tasks/{id}/agent", response_model=responses.Agent, responses=reading(404))
    async def show_agent(id: str) -> Response:
        await commands.saved(id)
        return rendered(commands.agent(id))

    @routes.get("/api/tasks/{id}/phases", response_model=responses.Phases, responses=reading(404))
    async def list_phases(id: str, page: Page = 1, page_size: PageSize = 50) -> Response:
        every = commands.phases(id)["items"]
        shown = every[(page - 1) * page_size : page * page_size]
        return rendered(shapes.page(shown, len(every), page, page_size))

    @routes.get(
        "/api/tasks/{id}/checkpoints", response_model=responses.Checkpoints, responses=reading(404)
    )
    async def list_checkpoints(id: str, page: Page = 1, page_size: PageSize = 50) -> Response:
        await commands.saved(id)
        return rendered(commands.checkpoints(id, page=page, page_size=page_size))

    @routes.get("/api/tasks/{id}/journal", response_model=responses.Journal, responses=reading(404))
    async def list_journal(id: str, page: Page = 1, page_size: PageSize = 50) -> Response:
        return rendered(commands.journal(id, page=page, page_size=page_size))


def _add_actions(routes: APIRouter, commands: Commands, idempotent: Idempotent) -> None:
    """Each leads to the task as it is then, or to 409 with what is allowed."""

    def add_plain(action: str, act: Callable[[str], Json]) -> None:
        @routes.post(
            f"/api/tasks/{{id}}/{action}",
            name=f"{action.replace('-', '_')}_task",
            response_model=responses.Task,
            responses=changing(404, 409),
        )
        async def do(
            id: str, request: Request, key: Key = None, body: bodies.Nothing | None = None
        ) -> Response:
            return idempotent(request, key, lambda: act(id), lambda: commands.task(id))

    add_plain("submit", commands.submit)
    add_plain("pause", commands.pause)
    add_plain("resume", commands.resume)
    add_plain("archive", commands.archive)
    add_plain("go-without", commands.go_without)
    add_plain("fail", commands.fail)

    @routes.post(
        "/api/tasks/{id}/cancel", response_model=responses.Task, responses=changing(404, 409)
    )
    async def cancel_task(
        id: str, request: Request, key: Key = None, body: bodies.Cancel | None = None
    ) -> Response:
        reason = body.reason if body else None
        return idempotent(
            request, key, lambda: commands.cancel(id, reason), lambda: commands.task(id)
        )

    @routes.post(
        "/api/tasks/{id}/rewind", response_model=responses.Task, responses=changing(404, 409)
    )
    async def rewind_task(
        id: str, body: bodies.Rewind, request: Request, key: Key = None
    ) -> Response:
        await commands.saved(id)
        return idempotent(
            request, key, lambda: commands.rewind(id, body.checkpoint_id), lambda: commands.task(id)
        )


def _add_new_from_old(routes: APIRouter, commands: Commands, idempotent: Idempotent) -> None:
    @routes.post(
        "/api/tasks/{id}/retry",
        status_code=201,
        response_model=responses.Task,
        responses=changing(404, 409) | {201: _PLACE},
    )
    async def retry_task(
        id: str, request: Request, key: Key = None, body: bodies.Retry | None = None
    ) -> Response:
        submit = body.submit if body else False
        return idempotent(request, key, lambda: commands.retry(id, submit=submit))

    @routes.post(
        "/api/tasks/{id}/fork",
        status_code=201,
        response_model=responses.Task,
        responses=changing(404, 409) | {201: _PLACE},
    )
    async def fork_task(
        id: str, request: Request, key: Key = None, body: bodies.Fork | None = None
    ) -> Response:
        checkpoint = body.checkpoint_id if body else None
        await commands.saved(id)
        return idempotent(request, key, lambda: commands.fork(id, checkpoint))
