"""The files that pages need: few, known at the start, held in memory."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

FOLDER = Path(__file__).parent.parent / "static"
KINDS = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}
FOR_EVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Asset:
    content: bytes
    kind: str
    mark: str


class Assets:
    """By name; nothing else of the disk can be reached."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._found = {
            path.name: _read(path)
            for path in sorted(folder.iterdir())
            if path.suffix in KINDS and path.is_file()
        }

    def get(self, name: str) -> Asset | None:
        return self._found.get(name)

    def address(self, name: str) -> str:
        """With the mark of its content, so that browsers may keep it for ever."""
        return f"/static/{name}?v={self._found[name].mark}"


def _read(path: Path) -> Asset:
    content = path.read_bytes()
    return Asset(content, KINDS[path.suffix], sha256(content).hexdigest()[:12])


def router(assets: Assets) -> APIRouter:
    routes = APIRouter(include_in_schema=False)

    @routes.get("/static/{name}")
    async def show_asset(name: str, request: Request, v: str = "") -> Response:
        asset = assets.get(name)
        if asset is None:
            raise HTTPException(404)
        mark = f'"{asset.mark}"'
        headers = {"ETag": mark, "Cache-Control": FOR_EVER if v == asset.mark else "no-cache"}
        if request.headers.get("if-none-match") == mark:
            return Response(status_code=304, headers=headers)
        return Response(asset.content, headers=headers, media_type=asset.kind)

    return routes
