"""The journal as it is written: server-sent events, numbered, without gaps."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from segue.i18n import _
from segue.server.commands import Commands
from segue.server.documenting import content, reading
from segue.server.hub import CLIENTS_MAX, Hub
from segue.server.parameters import SeenId, SeenQuery
from segue.server.problems import problem
from segue.server.stream import EventStream

_STREAM = content(
    "text/event-stream",
    "Events as they come, and a heartbeat; `id` is the number of the event, `event` its type, "
    "`data` its JSON.",
)


def add(routes: APIRouter, commands: Commands, hub: Hub) -> None:
    def stream(after: int | None, task: str | None) -> Response:
        if hub.clients >= CLIENTS_MAX:
            detail = _("too many clients already follow the events")
            return problem(429, "too_many", detail, headers={"Retry-After": "30"})
        return EventStream(hub, after, task)

    @routes.get(
        "/api/events",
        status_code=200,
        response_class=Response,
        responses=reading() | {200: _STREAM},
    )
    async def follow_events(seen: SeenId = None, seen_too: SeenQuery = None) -> Response:
        """All events from now on, or after the one that was seen last."""
        return stream(seen_too if seen is None else seen, None)

    @routes.get(
        "/api/tasks/{id}/events",
        status_code=200,
        response_class=Response,
        responses=reading(404) | {200: _STREAM},
    )
    async def follow_task(id: str, seen: SeenId = None, seen_too: SeenQuery = None) -> Response:
        """The events of one task."""
        commands.task(id)
        return stream(seen_too if seen is None else seen, id)
