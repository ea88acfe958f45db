"""A POST that is sent again with the same key gets the answer of the first.

The answer is committed with the act itself, in one transaction: a server that dies has done both
or neither. So the answer is what the act has left, as it was at that moment.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response

from segue.i18n import _
from segue.server.auth import Auth
from segue.server.commands import Commands, Json
from segue.server.rendering import dumps, rendered
from segue.store.changes import Change, Drop, Put, instant, stamp
from segue.store.sqlite import Store
from segue.work.phases.refused import Refused

KEPT = timedelta(hours=24)
SWEEP = 50  # old ones that go with each new one


@dataclass(frozen=True, slots=True)
class Reply:
    key: str
    request: str
    status: int
    body: str
    at: datetime


class ReplyBook(Protocol):
    """Where replies are kept."""

    def find(self, key: str) -> Reply | None: ...
    def keeping(self, reply: Reply) -> list[Change]: ...
    def keep(self, reply: Reply) -> None: ...


class StoredReplies:
    """In the table `idempotency`; each new one takes a few that are too old with it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def find(self, key: str) -> Reply | None:
        sql = "SELECT * FROM idempotency WHERE key = ? AND status >= 200"
        row = self._store.one(sql, key)
        return None if row is None else _reply(dict(row))

    def keeping(self, reply: Reply) -> list[Change]:
        """What is to be committed so that it is kept."""
        old = self._store.all(
            "SELECT key FROM idempotency WHERE created_at < ? LIMIT ?",
            stamp(reply.at - KEPT),
            SWEEP,
        )
        put = Put(
            "idempotency",
            {
                "key": reply.key,
                "request": reply.request,
                "status": reply.status,
                "body": reply.body,
                "created_at": stamp(reply.at),
            },
        )
        return [*(Drop("idempotency", {"key": row["key"]}) for row in old), put]

    def keep(self, reply: Reply) -> None:
        self._store.move(*self.keeping(reply), at=reply.at)


class Idempotent:
    """Does what a POST asks for, once for each key."""

    def __init__(
        self, commands: Commands, book: ReplyBook, auth: Auth, now: Callable[[], datetime]
    ) -> None:
        self._commands, self._book, self._auth, self._now = commands, book, auth, now

    def __call__(
        self,
        request: Request,
        key: str | None,
        act: Callable[[], Json],
        shows: Callable[[], Json] | None = None,
        *,
        status: int | None = None,
    ) -> Response:
        """`shows`: what the act is about, as it is then. Without it a new task comes of the act,
        and the answer is 201 with its place."""
        status = status or (200 if shows else 201)
        if key is None:
            return self._answer(act(), status)
        mark = self._auth.mark(
            request.method.encode(), request.scope["path"].encode(), request.scope["segue.body"]
        )
        known = self._book.find(key)
        if known is not None and self._now() - known.at < KEPT:
            if known.request != mark:
                raise Refused(
                    422,
                    "key_reused",
                    _("this Idempotency-Key was used for another request"),
                    {"field": "Idempotency-Key"},
                )
            return self._answer(json.loads(known.body), known.status, again=True)
        return self._first(key, mark, act, shows, status)

    def _first(
        self,
        key: str,
        mark: str,
        act: Callable[[], Json],
        shows: Callable[[], Json] | None,
        status: int,
    ) -> Response:
        kept = list[Json]()

        def reply(content: Json) -> Reply:
            kept.append(content)
            return Reply(key, mark, status, dumps(content).decode(), self._now())

        def keep(task: str | None) -> list[Change]:
            content = self._commands.task(str(task)) if shows is None else shows()
            return self._book.keeping(reply(content))

        content = self._commands.kept_with(act, keep)
        if not kept:  # nothing had to be committed for it
            self._book.keep(reply(content))
        return self._answer(kept[0], status)

    def _answer(self, content: Json, status: int, *, again: bool = False) -> Response:
        is_task = status == 201 and "taskId" not in content
        headers = {"Location": f"/api/tasks/{content['id']}"} if is_task else {}
        if again:
            headers["Idempotency-Replayed"] = "true"
        return rendered(content, status, headers)


def _reply(row: Json) -> Reply:
    return Reply(row["key"], row["request"], row["status"], row["body"], instant(row["created_at"]))
