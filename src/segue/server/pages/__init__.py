"""What browsers see: pages made on the server, live, and usable without scripts."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import FastAPI

from segue.server.commands import Commands
from segue.server.pages.acts import router as acts
from segue.server.pages.assets import Assets
from segue.server.pages.assets import router as assets
from segue.server.pages.gate_acts import router as gate_acts
from segue.server.pages.looks import router as looks
from segue.server.pages.site import Site

__all__ = ["pages"]


def pages(commands: Commands) -> Callable[[FastAPI], None]:
    """For `make_app(…, pages=pages(commands))`."""

    def add(app: FastAPI) -> None:
        page_cache = Assets()
        site = Site(commands, page_cache)
        for routes in (assets(page_cache), looks(site), acts(site), gate_acts(site)):
            app.include_router(routes)

    return add
