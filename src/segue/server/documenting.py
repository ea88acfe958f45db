"""What the OpenAPI document says of every route: each status it can answer with."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic.alias_generators import to_camel
from pydantic.json_schema import models_json_schema

from segue.server import responses
from segue.server.problems import MEDIA_TYPE

Responses = dict[int | str, dict[str, Any]]

_REF = {"$ref": "#/components/schemas/Problem"}
_WORDS = {
    400: "The request body is not valid, or a query parameter is unknown",
    401: "Missing or wrong token",
    403: "The request comes from another site, or an agent sent it",
    404: "Not found",
    408: "The request body did not arrive in time",
    409: "Not allowed in this state; the problem names the state and the allowed actions",
    413: "The request body is too large",
    415: "The request body is not JSON",
    416: "The range is beyond the end",
    421: "This server does not serve that host",
    422: "The request is not valid; see `errors`",
    429: "Too many requests; retry after `Retry-After`",
    503: "The database is busy or the disk is full; nothing was done; retry after `Retry-After`",
}
_ALWAYS = (400, 401, 403, 421, 422, 429, 503)
_CHANGING = (408, 413, 415)


def reading(*more: int) -> Responses:
    """The problems of a route that only looks."""
    return {status: _problem(status) for status in (*_ALWAYS, *more)}


def changing(*more: int) -> Responses:
    """The problems of a route that changes something."""
    return {status: _problem(status) for status in (*_ALWAYS, *_CHANGING, *more)}


def content(media_type: str, description: str, **schema: Any) -> dict[str, Any]:
    """A response that is not JSON."""
    return {
        "description": description,
        "content": {media_type: {"schema": schema or {"type": "string"}}},
    }


def operation_id(route: APIRoute) -> str:
    """As clients that are generated call it: `listTasks`, `getTask`."""
    return to_camel(route.name.replace("show_", "get_", 1))


def install(app: FastAPI) -> None:
    """Make the document once, with the shape of problems and the token in it."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _document(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes
    )
    parts = document.setdefault("components", {})
    _models, schemas = models_json_schema(
        [(responses.Problem, "serialization")], ref_template="#/components/schemas/{model}"
    )
    parts.setdefault("schemas", {}).update(schemas["$defs"])
    for unused in ("HTTPValidationError", "ValidationError"):
        parts["schemas"].pop(unused, None)
    parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    document["security"] = [{"token": []}]
    for path, operations in document["paths"].items():
        for operation in operations.values():
            operation["tags"] = [path.split("/")[2]]
    return document


def _problem(status: int) -> dict[str, Any]:
    return {"description": _WORDS[status], "content": {MEDIA_TYPE: {"schema": _REF}}}
