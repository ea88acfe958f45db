"""Routes that refuse query parameters they do not know: a filter with a typing error in its name
would otherwise show everything."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from difflib import get_close_matches
from typing import Any

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from segue.i18n import _
from segue.server.problems import problem

NAME_CHARS_MAX = 100


class StrictRoute(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        if not self.path.startswith("/api/"):
            return handle
        known = [field.alias for field in self.dependant.query_params]

        async def strictly(request: Request) -> Response:
            unknown = sorted({*request.query_params} - {*known})
            return _refused(unknown[0], known) if unknown else await handle(request)

        return strictly


def _refused(name: str, known: list[str]) -> Response:
    shown = name[:NAME_CHARS_MAX]
    text = _("unknown query parameter `{name}`").format(name=shown)
    if close := get_close_matches(shown, known, 1):
        text += "; " + _("did you mean `{name}`?").format(name=close[0])
    return problem(400, "unknown_parameter", text, {"parameter": shown, "known": known})
