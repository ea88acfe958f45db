"""A POST that is sent again with the same key gets the answer of the first.

What makes a new task is claimed before it is done: if the server dies in between, the next one
finds in the journal whether the task was made, and gives it as the answer. Everything else can be
done again without harm, because the desk refuses what has been done.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response

from segue.errors import UserError
from segue.i18n import _
from segue.server.desk_port import Desk, Json
from segue.server.entrance import Entrance
from segue.server.rendering import dumps, rendered
from segue.store.changes import Drop, Put, instant, stamp
from segue.store.sqlite import Store
from segue.work.server.refused import Refused

KEPT = timedelta(hours=24)
SWEEP = 50  # old ones that go with each new one
CLAIMED = 0  # the status of an answer that is not there yet
EVENTS_LOOKED_AT = 1_000

logger = logging.getLogger("segue.server")


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
    def keep(self, reply: Reply) -> None: ...
    def drop(self, key: str) -> None: ...
    def claimed(self) -> list[Reply]: ...


class StoredReplies:
    """In the table `server_replies`; each new one takes a few that are too old with it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def find(self, key: str) -> Reply | None:
        row = self._store.one("SELECT * FROM server_replies WHERE key = ?", key)
        return None if row is None else _reply(dict(row))

    def keep(self, reply: Reply) -> None:
        old = self._store.all(
            "SELECT key FROM server_replies WHERE created_at < ? LIMIT ?",
            stamp(reply.at - KEPT),
            SWEEP,
        )
        put = Put(
            "server_replies",
            {
                "key": reply.key,
                "request": reply.request,
                "status": reply.status,
                "body": reply.body,
                "created_at": stamp(reply.at),
            },
        )
        drops = (Drop("server_replies", {"key": row["key"]}) for row in old)
        self._store.move(*drops, put, at=reply.at)

    def drop(self, key: str) -> None:
        self._store.move(Drop("server_replies", {"key": key}), at=datetime.now(UTC))

    def claimed(self) -> list[Reply]:
        rows = self._store.all("SELECT * FROM server_replies WHERE status = ?", CLAIMED)
        return [_reply(dict(row)) for row in rows]


class Once:
    """Does what a POST asks for, once for each key."""

    def __init__(
        self, desk: Desk, book: ReplyBook, entrance: Entrance, now: Callable[[], datetime]
    ) -> None:
        self._desk, self._book, self._entrance, self._now = desk, book, entrance, now
        self._left: dict[str, Json | None] = {}  # what came of claims that could not be settled

    def __call__(
        self, request: Request, key: str | None, act: Callable[[], Json], *, makes: bool = False
    ) -> Response:
        """With `makes` a new task comes of it, and the answer is 201 with its place."""
        if self._left:  # before another task is made, which a next server would take for it
            self.settle()
        if key is None:
            return self._answer(act(), makes=makes)
        mark = self._entrance.mark(
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
            return self._answer(json.loads(known.body), makes=known.status == 201, again=True)
        return self._first(key, mark, act, makes)

    def _first(self, key: str, mark: str, act: Callable[[], Json], makes: bool) -> Response:
        seq = self._desk.last_seq
        if makes:
            self._keep(key, mark, CLAIMED, {"seq": seq})
        try:
            content = act()
        except Exception:
            if makes:
                with suppress(UserError):  # a full disk: settled when it can be
                    self._left[key] = self._made_after(seq)
                    self.settle()
            raise
        try:
            self._keep(key, mark, 201 if makes else 200, content)
        except UserError as error:  # the deed is done, and that is the answer
            if makes:
                self._left[key] = content
            logger.error("the answer to a key could not be kept: %s", error)
        return self._answer(content, makes=makes)

    def _keep(self, key: str, mark: str, status: int, content: Json) -> None:
        self._book.keep(Reply(key, mark, status, dumps(content).decode(), self._now()))

    def settle(self) -> None:
        """Claims of a server that died, or of an action that failed, become answers, or go."""
        for claim in self._book.claimed():
            if claim.key in self._left:
                content = self._left[claim.key]
            else:
                content = self._made_after(json.loads(claim.body)["seq"])
            if content is None:
                self._book.drop(claim.key)
            else:
                self._keep(claim.key, claim.request, 201, content)
        self._left.clear()

    def _made_after(self, seq: int) -> Json | None:
        """The task that was made right after the claim: nobody else was at the desk then."""
        for event in self._desk.events_after(seq, None, EVENTS_LOOKED_AT):
            if event["entity"] == "task" and event["from"] is None:
                return self._desk.task(str(event["taskId"]))
        return None

    def _answer(self, content: Json, *, makes: bool, again: bool = False) -> Response:
        headers = {"Location": f"/api/tasks/{content['id']}"} if makes else {}
        if again:
            headers["Idempotency-Replayed"] = "true"
        return rendered(content, 201 if makes else 200, headers)


def _reply(row: Json) -> Reply:
    return Reply(row["key"], row["request"], row["status"], row["body"], instant(row["created_at"]))
