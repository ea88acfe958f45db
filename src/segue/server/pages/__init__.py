"""What browsers see: pages made on the server, alive by the event stream, usable without scripts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from fastapi import FastAPI

from segue.server.desk_port import Desk
from segue.server.pages import acts, assets, gate_acts, looks
from segue.server.pages.site import Site

__all__ = ["pages"]


def pages(
    desk: Desk, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> Callable[[FastAPI], None]:
    """For `make_app(…, pages=pages(desk))`."""

    def add(app: FastAPI) -> None:
        shelf = assets.Assets()
        site = Site(desk, now, shelf)
        for routes in (
            assets.router(shelf),
            looks.router(site),
            acts.router(site),
            gate_acts.router(site),
        ):
            app.include_router(routes)

    return add
