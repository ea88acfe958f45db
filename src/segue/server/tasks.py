"""Tasks: made, changed, moved along, looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from segue.core import serving
from segue.server import bodies, responses
from segue.server.commands import Commands, Json, NewTask
from segue.server.documenting import changing, reading
from segue.server.idempotency import Idempotent
from segue.server.parameters import Key, Page, PageSize, Text
from segue.server.rendering import PageCache, rendered

Status = Annotated[serving.Status | None, Query()]
_PLACE = {"headers": {"Location": {"schema": {"type": "string"}}}}


def add(
    routes: APIRouter, commands: Commands, idempotent: Idempotent, page_cache: PageCache
) -> None:
    @routes.get("/api/tasks", response_model=responses.Tasks, responses=reading())
    async def list_tasks(
        status: Status = None,
        type: Text = None,
        archived: bool = False,
        query: Text = None,
        page: Page = 1,
        page_size: PageSize = 50,
    ) -> Response:
        return page_cache.get(
            (status, type, archived, query, page, page_size),
            lambda: commands.list_tasks(
                status=status,
                type=type,
                archived=archived,
                query=query,
                page=page,
                page_size=page_size,
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

    @routes.get("/api/tasks/{id}/phases", response_model=responses.Items, responses=reading(404))
    async def list_phases(id: str) -> Response:
        return rendered(commands.phases(id))

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
