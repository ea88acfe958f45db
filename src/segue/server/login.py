"""The way in for browsers: the token once, then a cookie."""

from __future__ import annotations

from html import escape
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from segue.i18n import _, language
from segue.server.auth import COOKIE, LOGIN_S, SECURE_COOKIE, Auth
from segue.server.bounds import Meter
from segue.server.problems import too_many

FIELDS_MAX = 10
_PAGE = """<!doctype html>
<html lang="{lang}"><head><meta charset="utf-8"><title>Segue</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/static/segue.css"></head>
<body><main class="login"><h1>Segue</h1>
{said}<form method="post" action="/login">
<input type="hidden" name="next" value="{next}">
<label for="token">{label}</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button>{button}</button></form></main></body></html>
"""


def add(routes: APIRouter, auth: Auth, failures: Meter) -> None:
    @routes.get("/login", include_in_schema=False)
    async def ask(request: Request, token: str | None = None, next: str = "/") -> Response:
        """With a token in the address: in at once. The link that the server prints is such."""
        if token is None:
            return _page(next)
        return enter(request, token, next)

    @routes.post("/login", include_in_schema=False)
    async def log_in(request: Request) -> Response:
        fields = _fields(await request.body())
        return enter(request, fields.get("token", [""])[0], fields.get("next", ["/"])[0])

    @routes.post("/logout", include_in_schema=False)
    async def log_out(request: Request) -> Response:
        auth.log_out(dict(request.scope["headers"]))
        response = RedirectResponse("/login", 303)
        name, is_secure = _cookie(request)
        response.delete_cookie(name, httponly=True, samesite="strict", secure=is_secure)
        return response

    def enter(request: Request, token: str, place: str) -> Response:
        client = request.client.host if request.client else "-"
        grant = auth.grant(token)
        if grant is None:
            if wait_s := failures.take(client):
                return too_many(wait_s)
            return _page(place, _("Wrong token."), 401)
        failures.forget(client)
        response = RedirectResponse(_local(place), 303)
        name, is_secure = _cookie(request)
        response.set_cookie(
            name,
            auth.login(grant),
            max_age=LOGIN_S,
            httponly=True,
            samesite="strict",
            secure=is_secure,
        )
        return response


def _cookie(request: Request) -> tuple[str, bool]:
    """Its name, and whether it goes over TLS alone: no other host can set one of that name."""
    is_secure = request.url.scheme == "https"
    return SECURE_COOKIE if is_secure else COOKIE, is_secure


def _fields(body: bytes) -> dict[str, list[str]]:
    """None of a form with more fields than ours has: it is not ours."""
    try:
        return parse_qs(body.decode("utf-8", "replace"), max_num_fields=FIELDS_MAX)
    except ValueError:
        return {}


def _page(place: str, said: str = "", status: int = 200) -> Response:
    text = _PAGE.format(
        lang=language(),
        said=f'<p role="alert">{escape(said)}</p>\n' if said else "",
        next=escape(_local(place)),
        label=escape(_("Token")),
        button=escape(_("Log in")),
    )
    return HTMLResponse(text, status)


def _local(place: str) -> str:
    """Only places of our own: a link to us never redirects elsewhere."""
    is_path = place.startswith("/") and not place.startswith(("//", "/\\"))
    return place if is_path and place.isprintable() and "\\" not in place else "/"
