"""Errors as problem documents (RFC 9457): one shape for whatever went wrong."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from segue.engine import outage
from segue.errors import UserError
from segue.i18n import _
from segue.store import files
from segue.work.phases.refused import Refused

MEDIA_TYPE = "application/problem+json"
ERRORS_MAX = 50
METHODS = ("DELETE", "GET", "PATCH", "POST", "PUT")
# What the disk does to us, and others to it, as statuses.
STATUS_OF = {"disk_full": 503, "read_only": 503, "database_busy": 503, "workspace_gone": 409}
RETRY_AFTER_S = 5

logger = logging.getLogger("segue.server")


def document(
    status: int, code: str, detail: str, facts: Mapping[str, object] | None = None
) -> dict[str, object]:
    """A fact may not take the place of what every problem has: `status` is that of HTTP."""
    return {
        **{"state" if name == "status" else name: fact for name, fact in (facts or {}).items()},
        "type": f"urn:segue:problem:{code}",
        "title": _phrase(status),
        "status": status,
        "code": code,
        "detail": detail,
    }


def encoded(content: Mapping[str, object]) -> bytes:
    """ASCII, because what is quoted in an error may not be encodable."""
    return json.dumps(content, default=str).encode()


def problem(
    status: int,
    code: str,
    detail: str,
    facts: Mapping[str, object] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    return Response(
        encoded(document(status, code, detail, facts)), status, headers, media_type=MEDIA_TYPE
    )


def too_many(wait_s: float) -> Response:
    detail = _("too many requests; try again later")
    return problem(429, "too_many", detail, headers={"Retry-After": str(math.ceil(wait_s))})


def of_user_error(error: UserError) -> Response:
    """The disk or the settings are at fault, not the request."""
    found = error.problem
    status = STATUS_OF.get(found.code, 500)
    headers = {"Retry-After": str(RETRY_AFTER_S)} if status == 503 else None
    facts = {"hint": found.hint} if found.hint else None
    return problem(status, found.code, found.message, facts, headers)


def of_crash() -> Response:
    """No detail of an internal error is sent to clients; it is in the log."""
    return problem(500, "internal_error", _("internal error; see Segue's log"))


def install(app: FastAPI) -> None:
    """Every way in which a request can go wrong leads to a problem document."""

    async def refused(_request: Request, error: Exception) -> Response:
        assert isinstance(error, Refused)
        return problem(error.status, error.code, error.message, error.facts)

    async def invalid(_request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return _invalid(error.errors())

    async def by_status(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return _by_status(app, request, error)

    async def disk(_request: Request, error: Exception) -> Response:
        told = error
        if isinstance(error, OSError):
            if not outage.is_trouble(error):
                raise error
            told = files.in_words(error, Path(str(error.filename or "")))
        assert isinstance(told, UserError)
        response = of_user_error(told)
        if response.status_code >= 500:
            logger.error("%s: %s", told.problem.code, told)
        return response

    app.add_exception_handler(Refused, refused)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, by_status)
    app.add_exception_handler(UserError, disk)
    app.add_exception_handler(OSError, disk)


def _invalid(errors: Sequence[Mapping[str, Any]]) -> Response:
    """What was sent is never repeated: it may be a secret."""
    told = [
        {
            "in": str(error["loc"][0]) if error["loc"] else "body",
            "pointer": _pointer(error["loc"][1:]),
            "code": error["type"],
            "detail": error["msg"],
        }
        for error in errors[:ERRORS_MAX]
    ]
    detail = _("the request is not valid; see `errors`")
    return problem(422, "invalid", detail, {"errors": told})


def _pointer(parts: Iterable[object]) -> str:
    texts = (str(part).replace("~", "~0").replace("/", "~1") for part in parts)
    return "#" + "".join(f"/{text}" for text in texts)


def _by_status(app: FastAPI, request: Request, error: HTTPException) -> Response:
    match error.status_code:
        case 404:
            return problem(404, "unknown_path", _("nothing exists at this path"))
        case 405:
            allowed = ", ".join(_methods(app, request))
            detail = _("this path takes {methods}").format(methods=allowed)
            return problem(405, "wrong_method", detail, headers={"Allow": allowed})
        case 400:
            return problem(400, "unreadable", _("the request body is not valid JSON"))
        case status:
            return problem(status, "refused", str(error.detail), headers=error.headers)


def _methods(app: FastAPI, request: Request) -> list[str]:
    """All methods of a path: each has a route of its own."""
    scopes = {method: {**request.scope, "method": method} for method in METHODS}
    return [
        method
        for method, scope in scopes.items()
        if any(route.matches(scope)[0] is Match.FULL for route in app.routes)
    ]


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return str(status)
