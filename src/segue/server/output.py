"""What a task has produced: the conversation with its agent, its files, what changed in them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from starlette.responses import Response, StreamingResponse

from segue.server import bodies, responses
from segue.server.commands import Commands
from segue.server.documenting import changing, content, reading
from segue.server.downloads import PIECE_BYTES
from segue.server.idempotency import Idempotent
from segue.server.parameters import Key, Page, PageSize
from segue.server.rendering import rendered

_FILE = content(
    "application/octet-stream", "The content of the file.", type="string", format="binary"
)
Since = Annotated[
    str | None,
    Query(max_length=100, description="The id of a checkpoint; without it, since the task began."),
]


def add(routes: APIRouter, commands: Commands, idempotent: Idempotent) -> None:
    @routes.get(
        "/api/tasks/{id}/conversation",
        response_model=responses.Conversation,
        responses=reading(404),
    )
    async def show_conversation(id: str, page: Page = 1, page_size: PageSize = 50) -> Response:
        """What the agents of a task said and did, and what people said to them; oldest first."""
        return rendered(await commands.conversation(id, page=page, page_size=page_size))

    @routes.get(
        "/api/tasks/{id}/messages", response_model=responses.Messages, responses=reading(404)
    )
    async def list_messages(id: str, page: Page = 1, page_size: PageSize = 50) -> Response:
        """What people said to the agent, and whether it has read it."""
        return rendered(commands.messages(id, page=page, page_size=page_size))

    @routes.post(
        "/api/tasks/{id}/messages",
        status_code=201,
        response_model=responses.Message,
        responses=changing(404, 409),
    )
    async def send_message(
        id: str, body: bodies.Message, request: Request, key: Key = None
    ) -> Response:
        """Send a message to the agent: at once where it takes lines, else with its next turn."""
        return idempotent(
            request,
            key,
            lambda: commands.send_message(id, body.text),
            lambda: commands.newest_message(id),
            status=201,
        )

    @routes.get("/api/tasks/{id}/files", response_model=responses.Files, responses=reading(404))
    async def list_files(id: str, page: Page = 1, page_size: PageSize = 50) -> Response:
        """The plain files of the workspace. Links are not followed."""
        return rendered(await commands.files(id, page=page, page_size=page_size))

    @routes.get(
        "/api/tasks/{id}/files/{path:path}",
        response_class=StreamingResponse,
        responses=reading(404) | {200: _FILE},
    )
    async def download_file(id: str, path: str) -> Response:
        """One of them."""
        descriptor = commands.file(id, path)
        name = quote(path.rpartition("/")[2], safe="")
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
        return StreamingResponse(
            _pieces(descriptor), headers=headers, media_type="application/octet-stream"
        )

    @routes.get("/api/tasks/{id}/diff", response_model=responses.Diff, responses=reading(404, 409))
    async def show_diff(id: str, since: Since = None) -> Response:
        """What the workspace has become since the task began, or since a checkpoint."""
        return rendered(await commands.diff(id, since=since))


def _pieces(descriptor: int) -> Iterator[bytes]:
    with os.fdopen(descriptor, "rb") as file:
        while piece := file.read(PIECE_BYTES):
            yield piece
