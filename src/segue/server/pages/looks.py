"""Pages to look at."""

from __future__ import annotations

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from segue.core.serving import Status
from segue.server.pages import views
from segue.server.pages.site import Site

TEXT_MAX = 300


def router(site: Site) -> APIRouter:
    routes = APIRouter(include_in_schema=False)
    commands = site.commands

    @routes.get("/")
    async def board(request: Request, query: str = "", archived: bool = False) -> Response:
        asked = query[:TEXT_MAX]
        here = request.url.path if not request.url.query else f"/?{request.url.query}"
        return site.show(
            request,
            "board.html",
            lambda: views.board(commands, asked, archived=archived),
            place=here,
        )

    @routes.get("/states/{stage}")
    async def listing(
        stage: Status, request: Request, query: str = "", page: int = Query(1, ge=1, le=1_000_000)
    ) -> Response:
        asked = query[:TEXT_MAX]
        return site.show(
            request,
            "listing.html",
            lambda: views.listing(commands, stage, asked, page),
            place=f"{request.url.path}?{request.url.query}",
        )

    @routes.get("/inbox")
    async def inbox(request: Request) -> Response:
        return site.show(request, "inbox.html", lambda: views.inbox(commands))

    @routes.get("/new")
    async def new(request: Request) -> Response:
        return site.show(request, "new.html", lambda: views.new_task(commands, {}))

    @routes.get("/limits")
    async def limits(request: Request) -> Response:
        return site.show(request, "limits.html", commands.limits)

    @routes.get("/settings")
    async def settings(request: Request) -> Response:
        return site.show(request, "settings.html", lambda: views.settings(commands))

    @routes.get("/reviews/{id}")
    async def review(id: str, request: Request) -> Response:
        return site.show(request, "review.html", lambda: views.review(commands, id))

    _add_tasks(routes, site)
    return routes


def _add_tasks(routes: APIRouter, site: Site) -> None:
    commands = site.commands

    @routes.get("/tasks/{id}")
    async def task(
        id: str, request: Request, older: int = Query(0, ge=0, le=1_000_000)
    ) -> Response:
        place = f"{request.url.path}?older={older}" if older else None
        return site.show(request, "task.html", lambda: views.task(commands, id, older), place=place)

    @routes.get("/tasks/{id}/edit")
    async def edit(id: str, request: Request) -> Response:
        return site.show(request, "new.html", lambda: views.new_task(commands, commands.task(id)))

    @routes.get("/tasks/{id}/output")
    async def output(id: str, request: Request, seen: int = -1) -> Response:
        """The live part of a task's page; nothing if nothing was printed since."""
        _nothing, size = commands.log(id, offset=views.BEYOND, limit=0)
        status = commands.task(id)["agentStatus"]
        if size == seen and status == "running":
            return Response(status_code=204)
        return site.show(
            request,
            "output.html",
            lambda: {"task": commands.task(id), "output": views.output(commands, id)},
        )
