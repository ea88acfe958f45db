"""What is too long for one answer: a task's log, and its deliverables."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Header
from starlette.responses import FileResponse, Response, StreamingResponse

from segue.i18n import _
from segue.server.commands import Commands
from segue.server.documenting import content, reading
from segue.server.parameters import Limit, Offset
from segue.server.problems import problem

PIECE_BYTES = 256_000
RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
TEXT = "text/plain; charset=utf-8"
Range = Annotated[str | None, Header(max_length=200)]

_LOG = content("text/plain", "The log, as the agent's output was; `X-Log-Size` is its length.")
_PART = content("text/plain", "The part that was asked for.")
_ZIP = content("application/zip", "The deliverables.", type="string", format="binary")


def add(routes: APIRouter, commands: Commands) -> None:
    @routes.get(
        "/api/tasks/{id}/deliverables.zip",
        response_class=StreamingResponse,
        responses=reading(404, 409) | {200: _ZIP},
    )
    async def download_deliverables(id: str) -> Response:
        found = commands.deliverables(id)
        if isinstance(found, Path):
            return FileResponse(found, media_type="application/zip", filename=f"{id}.zip")
        headers = {"Content-Disposition": f'attachment; filename="{id}.zip"'}
        return StreamingResponse(found, headers=headers, media_type="application/zip")

    @routes.get(
        "/api/tasks/{id}/log",
        response_class=StreamingResponse,
        responses=reading(404, 416) | {200: _LOG, 206: _PART},
    )
    async def read_log(
        id: str, offset: Offset = None, limit: Limit = None, range: Range = None
    ) -> Response:
        """The whole log, a part by `offset` and `limit`, or a range of bytes."""
        _nothing, size = commands.log(id, offset=0, limit=0)
        headers = {"X-Log-Size": str(size), "Accept-Ranges": "bytes"}
        start = min(offset or 0, size)
        end = size if limit is None else min(start + limit, size)
        status = 200
        if offset is None and limit is None and (asked := _asked(range or "", size)):
            start, end = asked
            status = 206
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
            if start >= end:
                detail = _("the log has {size} bytes").format(size=size)
                place = {"Content-Range": f"bytes */{size}"}
                return problem(416, "beyond_end", detail, headers=place)
        headers["X-Next-Offset"] = str(end)
        return StreamingResponse(
            _pieces(commands, id, start, end), status, headers=headers, media_type=TEXT
        )


def _asked(header: str, size: int) -> tuple[int, int] | None:
    """From and to (not included) of one range; None, as for no range, if it is not well made."""
    match = RANGE.fullmatch(header.strip())
    if match is None or not any(match.groups()):
        return None
    first, last = match.groups()
    if not first:
        return max(0, size - int(last)), size
    if last and int(last) < int(first):
        return None
    return int(first), min(int(last) + 1 if last else size, size)


async def _pieces(commands: Commands, id: str, start: int, end: int) -> AsyncIterator[bytes]:
    """Read only as fast as the client takes it."""
    while start < end:
        piece, _size = commands.log(id, offset=start, limit=min(PIECE_BYTES, end - start))
        if not piece:
            return
        yield piece
        start += len(piece)
