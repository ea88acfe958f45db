"""What people do with tasks on the page: a form is sent, something is done, a page follows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from segue.server import bodies
from segue.server.commands import Commands, NewTask
from segue.server.pages import speech, views
from segue.server.pages.forms import Form, checked, sent
from segue.server.pages.site import Site, go
from segue.work.phases.refused import Refused

LANGUAGE_S = 365 * 24 * 3600


def router(site: Site) -> APIRouter:
    routes = APIRouter(include_in_schema=False)
    _add_editing(routes, site)
    _add_task_acts(routes, site)
    _add_settings(routes, site)
    return routes


def _add_editing(routes: APIRouter, site: Site) -> None:
    commands = site.commands

    @routes.post("/new")
    async def create(request: Request) -> Response:
        form = await sent(request)
        values: dict[str, Any] = {}
        try:
            values = _typed(form)
            given = checked(bodies.GivenTask, **values, submit=form.one("act") == "submit")
            made = commands.create_task(NewTask(**given.model_dump()))
        except Refused as refused:
            again = values or _raw(form)
            return site.show(
                request,
                "new.html",
                lambda: views.new_task(commands, again),
                place="/new",
                status=refused.status,
                refused=refused,
            )
        return go(f"/tasks/{made['id']}", "submitted" if given.submit else "created")

    @routes.post("/tasks/{id}/edit")
    async def change(id: str, request: Request) -> Response:
        form = await sent(request)
        values: dict[str, Any] = {}
        try:
            values = _typed(form)
            commands.change_task(id, checked(bodies.Changes, **values).given())
            if form.one("act") == "submit":
                commands.submit(id)
        except Refused as refused:
            again = (values or _raw(form)) | {"id": id}
            return site.show(
                request,
                "new.html",
                lambda: views.new_task(commands, again),
                place=f"/tasks/{id}/edit",
                status=refused.status,
                refused=refused,
            )
        return go(f"/tasks/{id}", "changed")


def _typed(form: Form) -> dict[str, Any]:
    return {**_raw(form), "priority": form.number("priority")}


def _raw(form: Form) -> dict[str, Any]:
    return {
        "title": form.one("title"),
        "description": form.one("description"),
        "type": form.one("type") or "custom",
        "agent": form.one("agent"),
        "dependsOn": form.many("dependsOn"),
    }


def _add_task_acts(routes: APIRouter, site: Site) -> None:
    commands = site.commands

    def add(action: str, said: str, act: Callable[[str, Form], str]) -> None:
        """`act` does it and says which page follows."""

        @routes.post(f"/tasks/{{id}}/{action}", name=f"page_{action.replace('-', '_')}")
        async def do(id: str, request: Request) -> Response:
            form = await sent(request)
            try:
                place = act(id, form)
            except Refused as refused:
                return _again(site, request, id, refused)
            return go(place, said)

    def same(act: Callable[[str], object]) -> Callable[[str, Form], str]:
        def do(id: str, _form: Form) -> str:
            act(id)
            return f"/tasks/{id}"

        return do

    add("submit", "submitted", same(commands.submit))
    add("pause", "paused", same(commands.pause))
    add("resume", "resumed", same(commands.resume))
    add("archive", "archived", same(commands.archive))
    add("cancel", "cancelled", lambda id, form: _cancel(commands, id, form))
    add("delete", "deleted", lambda id, _form: _delete(commands, id))
    add("go-without", "without", same(commands.go_without))
    add("fail", "let_fail", same(commands.fail))
    add("retry", "retried", lambda id, _form: _page(commands.retry(id, submit=True)))
    add("fork", "forked", lambda id, form: _page(commands.fork(id, form.one("checkpoint") or None)))
    add("rewind", "rewound", lambda id, form: _page(commands.rewind(id, form.one("checkpoint"))))


def _again(site: Site, request: Request, id: str, refused: Refused) -> Response:
    """The task as it is, and why not."""
    return site.show(
        request,
        "task.html",
        lambda: views.task(site.commands, id),
        place=f"/tasks/{id}",
        status=refused.status,
        refused=refused,
    )


def _page(task: dict[str, Any]) -> str:
    return f"/tasks/{task['id']}"


def _cancel(commands: Commands, id: str, form: Form) -> str:
    reason = form.one("reason").strip() or None
    return _page(commands.cancel(id, checked(bodies.Cancel, reason=reason).reason))


def _delete(commands: Commands, id: str) -> str:
    commands.delete_task(id)
    return "/"


def _add_settings(routes: APIRouter, site: Site) -> None:
    @routes.post("/settings")
    async def change(request: Request) -> Response:
        form = await sent(request)
        try:
            site.commands.change_settings({"slots": form.number("slots")})
        except Refused as refused:
            return site.show(
                request,
                "settings.html",
                lambda: views.settings(site.commands),
                place="/settings",
                status=refused.status,
                refused=refused,
            )
        return go("/settings", "saved")

    @routes.post("/language")
    async def speak(request: Request) -> Response:
        form = await sent(request)
        response = go(form.one("next"))
        if language := speech.known(form.one("language")):
            response.set_cookie(
                speech.COOKIE, language, max_age=LANGUAGE_S, httponly=True, samesite="lax"
            )
        return response
