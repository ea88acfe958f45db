"""A client of no server: a test says what would be answered, and reads what was asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from segue.client import Client, ClientError, Event

Json = dict[str, Any]
AT = "2026-03-01T12:00:00.000Z"
ONE, TWO = "task_00000000aaaa", "task_00000000bbbb"


def task(id: str = ONE, **more: Any) -> Json:
    """A task as the API tells it."""
    return {
        "id": id, "title": "Shop", "description": "A small shop", "status": "pending",
        "type": "custom", "agent": "claude", "agentStatus": "idle", "progress": 0,
        "currentPhase": None, "totalPhases": 0, "error": None, "outcome": None, "waitsFor": [],
        "createdAt": AT, "startedAt": None, "completedAt": None, "failedAt": None,
        "retryOf": None, "forkedFrom": None, "workspace": None, "allowedActions": [],
        "usage": {"inputTokens": 0, "outputTokens": 0, "costUsd": None}, **more,
    }  # fmt: skip


def gate(kind: str, id: str, **more: Any) -> Json:
    """What waits for a person, as the API tells it."""
    shapes: dict[str, Json] = {
        "question": {"question": "Which one?", "options": ["A", "B"], "default": None,
                     "deadline": None},
        "dependency": {"type": "api_key", "name": "STRIPE_KEY", "description": "to pay"},
        "review": {"phase": 1, "phaseName": "plan", "round": 2, "deliverables": []},
        "stuck": {"text": "it waits for task_9, which failed", "acts": ["retry", "fail"]},
    }  # fmt: skip
    known = {"id": id, "kind": kind, "taskId": ONE, "taskTitle": "Shop", "status": "pending"}
    return {**known, **shapes[kind], **more}


def refusal(status: int, code: str, **more: Any) -> ClientError:
    return ClientError(status, {"code": code, "detail": "it cannot be done", **more})


class HandClient(Client):
    """`answers` by their path: an object, a list of entries, bytes, or a refusal. What is posted
    is answered with a task, or with the same entry of `answers`."""

    def __init__(self, **answers: Any) -> None:
        super().__init__("http://127.0.0.1:1", "token")
        self.answers: dict[str, Any] = {"tasks": [task()], "inbox": [], **answers}
        self.posted: list[tuple[str, Json]] = []
        self.happens: list[Json] = []

    def _request(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        *,
        query: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        if method == "POST":
            self.posted.append((path, dict(body or {})))
        found = self.answers.get(f"{method} {path}", self.answers.get(path))
        if isinstance(found, list) and method == "POST":
            found = found[0]
        match found:
            case ClientError():
                raise found
            case bytes():
                start, most = (query or {}).get("offset", 0), (query or {}).get("limit")
                return found[int(str(start)) :][: int(str(most or len(found) or 1))]
            case list():
                wanted = {k: v for k, v in (query or {}).items() if k in ("kind", "task") and v}
                names = {"task": "taskId"}
                items = [
                    one
                    for one in found
                    if all(one.get(names.get(k, k)) == v for k, v in wanted.items())
                    and (query or {}).get("archived") in (None, one.get("archived", "false"))
                ]
                return json.dumps({"items": items, "total": len(items)}).encode()
            case _:
                return json.dumps(task() if found is None else found).encode()

    def events(
        self, task: str | None = None, *, after: int | None = None, patience_s: float = 300.0
    ) -> Iterator[Event]:
        for data in self.happens:
            if task in (None, data["taskId"]) and data["seq"] > (after or 0):
                yield Event(data["seq"], "state_transition", data)
