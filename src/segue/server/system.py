"""The server as a whole: health, figures, limits, workers, settings."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic
from typing import Annotated

from fastapi import APIRouter, Body
from starlette.responses import Response

from segue import __version__
from segue.core.serving import STAGES
from segue.server import bodies, metrics, responses
from segue.server.commands import Commands
from segue.server.documenting import changing, content, reading
from segue.server.hub import Hub
from segue.server.rendering import rendered

_METRICS = content("text/plain", "Figures in the text format of Prometheus.")
SettingsBody = Annotated[bodies.Settings, Body()]


def add(routes: APIRouter, commands: Commands, hub: Hub, requests: metrics.Requests) -> None:
    began = monotonic()

    async def show_health() -> Response:
        """Whether it answers; for anyone."""
        return rendered({"status": "ok", "version": __version__})

    async def show_metrics() -> Response:
        lines = _figures(commands, hub, requests, monotonic() - began)
        return Response("\n".join((*lines, "")), media_type=metrics.MEDIA_TYPE)

    for prefix in ("", "/api"):
        is_documented = bool(prefix)
        routes.get(
            f"{prefix}/health",
            include_in_schema=is_documented,
            response_model=responses.Health,
            responses={status: reading()[status] for status in (400, 421, 429)},
            openapi_extra={"security": []},
        )(show_health)
        routes.get(
            f"{prefix}/metrics",
            include_in_schema=is_documented,
            response_class=Response,
            responses=reading() | {200: _METRICS},
        )(show_metrics)

    @routes.get("/api/limits", response_model=responses.Anything, responses=reading())
    async def show_limits() -> Response:
        return rendered(commands.limits())

    @routes.get("/api/workers", response_model=responses.Anything, responses=reading())
    async def show_workers() -> Response:
        return rendered(commands.workers())

    @routes.get("/api/settings", response_model=responses.Anything, responses=reading())
    async def show_settings() -> Response:
        return rendered(commands.settings())

    @routes.patch("/api/settings", response_model=responses.Anything, responses=changing(409))
    async def change_settings(body: SettingsBody) -> Response:
        return rendered(commands.change_settings(body))


def _figures(
    commands: Commands, hub: Hub, requests: metrics.Requests, uptime_s: float
) -> Iterator[str]:
    totals = {
        str(stage): int(commands.list_tasks(status=stage, page=1, page_size=1)["total"])
        for stage in STAGES
    }
    yield from metrics.gauge(
        "segue_tasks", "Tasks by state.", (({"status": s}, n) for s, n in totals.items())
    )
    asked = int(commands.questions(status="pending", page=1, page_size=1)["total"])
    yield from metrics.gauge("segue_questions_pending", "Questions that wait.", [({}, asked)])
    yield from metrics.gauge("segue_event_clients", "Open event streams.", [({}, hub.clients)])
    yield from metrics.gauge("segue_journal_seq", "The newest event.", [({}, commands.last_seq)])
    yield from metrics.gauge("segue_uptime_seconds", "Since the start.", [({}, int(uptime_s))])
    yield from requests.lines()
