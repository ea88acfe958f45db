"""What waits for a person: reviews, questions, dependencies, and all of them together."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from segue.core.machines import GateState
from segue.server import bodies, responses
from segue.server.commands import Commands, Json
from segue.server.documenting import changing, reading
from segue.server.idempotency import Idempotent
from segue.server.parameters import Key, Page, PageSize, Text
from segue.server.rendering import PageCache, rendered
from segue.server.works import Works
from segue.store.rows import SERVER

Kind = Annotated[
    Literal["review", "question", "dependency", "stuck", "failed", "pane", "budget"] | None,
    Query(),
]
Settled = Annotated[GateState | None, Query()]
Status = Annotated[Literal["pending", "answered", "withdrawn"] | None, Query()]


# What an entry of the server's own leaves out; `createdAt` says how old it is.
OF_SERVER: Json = {
    "options": [], "default": None, "error": None, "url": None,
    "work": {"id": SERVER, "kind": SERVER, "path": None},
}  # fmt: skip


def add(
    routes: APIRouter,
    commands: Commands,
    idempotent: Idempotent,
    page_cache: PageCache,
    works: Works | None = None,
) -> None:
    @routes.get("/api/inbox", response_model=responses.Inbox, responses=reading())
    async def show_inbox(
        request: Request,
        kind: Kind = None,
        task: Text = None,
        page: Page = 1,
        page_size: PageSize = 50,
    ) -> Response:
        """Everything that waits for a person, the most urgent and the oldest first; then what
        waits in other works of the served folder."""
        if works is not None:
            others = await asyncio.to_thread(works.waiting)
            found = _inbox(commands, others, kind, task, page, page_size)
            return rendered(_placed(found, str(request.base_url)))
        return page_cache.get(
            ("inbox", kind, task, page, page_size),
            lambda: commands.inbox(kind=kind, task=task, page=page, page_size=page_size),
        )

    @routes.get("/api/reviews", response_model=responses.Reviews, responses=reading())
    async def list_all_reviews(
        status: Settled = None, page: Page = 1, page_size: PageSize = 50
    ) -> Response:
        return rendered(commands.reviews(status=status, page=page, page_size=page_size))

    @routes.get("/api/dependencies", response_model=responses.Dependencies, responses=reading())
    async def list_all_dependencies(
        status: Settled = None, page: Page = 1, page_size: PageSize = 50
    ) -> Response:
        return rendered(commands.dependencies(status=status, page=page, page_size=page_size))

    _add_reviews(routes, commands, idempotent)
    _add_questions(routes, commands, idempotent)
    _add_dependencies(routes, commands, idempotent)


def _inbox(
    commands: Commands,
    others: list[Json],
    kind: str | None,
    task: str | None,
    page: int,
    page_size: int,
) -> Json:
    """What waits at the server first, then what waits elsewhere."""
    found = commands.inbox(kind=kind, task=task, page=page, page_size=page_size)
    rest = [
        item for item in others if kind in (None, item["kind"]) and task in (None, item["task"])
    ]
    first = max(0, (page - 1) * page_size - found["total"])
    shown = [
        *({**OF_SERVER, **item} for item in found["items"]),
        *rest[first : first + page_size - len(found["items"])],
    ]
    return {**found, "items": shown, "total": found["total"] + len(rest)}


def _placed(found: Json, base: str) -> Json:
    """With the page on which each entry of the server's can be settled, and its age."""
    now = datetime.now(UTC)
    for item in found["items"]:
        if "createdAt" in item:
            place = f"reviews/{item['id']}" if item["kind"] == "review" else None
            item["url"] = base + (place or f"tasks/{item['taskId']}")
            age = now - datetime.fromisoformat(item["createdAt"])
            item["ageS"] = max(0.0, round(age.total_seconds(), 1))
    return found


def _add_reviews(routes: APIRouter, commands: Commands, idempotent: Idempotent) -> None:
    @routes.get("/api/tasks/{id}/reviews", response_model=responses.Reviews, responses=reading(404))
    async def list_reviews(id: str, page: Page = 1, page_size: PageSize = 50) -> Response:
        return rendered(commands.reviews(id, page=page, page_size=page_size))

    @routes.get("/api/reviews/{id}", response_model=responses.Review, responses=reading(404))
    async def show_review(id: str) -> Response:
        """With the texts of its deliverables, and what changed since the round before."""
        return rendered(commands.review(id))

    @routes.post(
        "/api/reviews/{id}/approve", response_model=responses.Review, responses=changing(404, 409)
    )
    async def approve_review(
        id: str, request: Request, key: Key = None, body: bodies.Approve | None = None
    ) -> Response:
        comment = body.comment if body else None
        return idempotent(
            request, key, lambda: commands.approve(id, comment), lambda: commands.review(id)
        )

    @routes.post(
        "/api/reviews/{id}/request-changes",
        response_model=responses.Review,
        responses=changing(404, 409),
    )
    async def request_changes(
        id: str, body: bodies.RequestChanges, request: Request, key: Key = None
    ) -> Response:
        comments = [comment.model_dump() for comment in body.comments]
        return idempotent(
            request,
            key,
            lambda: commands.request_changes(id, body.feedback, comments),
            lambda: commands.review(id),
        )


def _add_questions(routes: APIRouter, commands: Commands, idempotent: Idempotent) -> None:
    @routes.get("/api/questions", response_model=responses.Questions, responses=reading())
    async def list_questions(
        status: Status = None, page: Page = 1, page_size: PageSize = 50
    ) -> Response:
        return rendered(commands.questions(status=status, page=page, page_size=page_size))

    @routes.get(
        "/api/tasks/{id}/questions", response_model=responses.Questions, responses=reading(404)
    )
    async def list_task_questions(
        id: str, status: Status = None, page: Page = 1, page_size: PageSize = 50
    ) -> Response:
        return rendered(commands.questions(id, status=status, page=page, page_size=page_size))

    @routes.post(
        "/api/questions/{id}/answer",
        response_model=responses.Question,
        responses=changing(404, 409),
    )
    async def answer_question(
        id: str, body: bodies.Answer, request: Request, key: Key = None
    ) -> Response:
        """One of the options, capitals aside. Other text is refused: a close one with the
        suggestion, which confirms it when it is sent. With `ownWords` it is passed on as it is."""
        return idempotent(
            request,
            key,
            lambda: commands.answer(id, body.answer, own_words=body.own_words),
            lambda: commands.question(id),
        )


def _add_dependencies(routes: APIRouter, commands: Commands, idempotent: Idempotent) -> None:
    @routes.get(
        "/api/tasks/{id}/dependencies",
        response_model=responses.Dependencies,
        responses=reading(404),
    )
    async def list_dependencies(id: str, page: Page = 1, page_size: PageSize = 50) -> Response:
        return rendered(commands.dependencies(id, page=page, page_size=page_size))

    @routes.post(
        "/api/dependencies/{id}/provide",
        response_model=responses.Dependency,
        responses=changing(404, 409),
    )
    async def provide_dependency(
        id: str, body: bodies.Provide, request: Request, key: Key = None
    ) -> Response:
        return idempotent(
            request, key, lambda: commands.provide(id, body.value), lambda: commands.dependency(id)
        )

    @routes.post(
        "/api/dependencies/{id}/reject",
        response_model=responses.Dependency,
        responses=changing(404, 409),
    )
    async def reject_dependency(
        id: str, request: Request, key: Key = None, body: bodies.Reject | None = None
    ) -> Response:
        """The agent continues without it; a default that it named has no effect."""
        reason = body.reason if body else ""
        return idempotent(
            request, key, lambda: commands.reject(id, reason), lambda: commands.dependency(id)
        )
