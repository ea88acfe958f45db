"""Commands in memory that keep the rules of the tables, replies in memory, and clients."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
from fastapi import FastAPI

from kit.tokens import TokensInMemory
from segue.core.machine import IllegalMove
from segue.core.machines import TASK, GateState, Trigger
from segue.core.plan import TaskState
from segue.core.serving import AGENT, AgentState, allowed_actions
from segue.server.app import make_app
from segue.server.commands import Commands, Json
from segue.server.hub import Hub
from segue.server.idempotency import Reply
from segue.server.listen import bind, serve
from segue.server.stream import HELLO
from segue.store.changes import Change
from segue.work.phases.commands import NewTask
from segue.work.phases.refused import Refused
from segue.work.phases.task_list import TaskFilter

TOKEN = "a-token-for-tests"
AT = "2026-11-16T00:00:00.000Z"
HOST = "http://127.0.0.1:8765"


class FakeCommands:
    """Every gate belongs to its task; whatever happens is an event."""

    def __init__(self) -> None:
        self._ids = count(1)
        self.tasks: dict[str, Json] = {}
        self.gates: dict[str, Json] = {}
        self.kinds: dict[str, str] = {}
        self.events: list[Json] = []
        self.kept: Json = {"slots": 3}
        self.values: dict[str, str] = {}
        self.text = b""
        self.zip: Path | Iterable[bytes] = [b"PK", b"zip"]
        self.awaited: list[str] = []  # whose checkpoints somebody waited for
        self.calls = 0
        self.reads = 0
        self._listeners: list[Callable[[], None]] = []
        self.on_output: Callable[[Sequence[Json]], None] | None = None
        self.said: list[Json] = []
        self.only: TaskFilter | None = None  # of the last list
        self.told: list[Json] = []  # messages of people
        self.folder: dict[str, bytes] = {}

    # Setting the scene

    def open(self, kind: str, task: str, **more: object) -> str:
        id = f"{kind}_{next(self._ids):012x}"
        shapes: dict[str, Json] = {
            "review": {"phase": 1, "phaseName": "plan", "round": 1, "deliverables": [],
                       "verification": {}, "feedback": None, "comments": [], "decidedAt": None},
            "question": {"category": "choice", "question": "Which?", "options": ["A", "B"],
                         "default": None, "required": True, "priority": 0, "deadline": None,
                         "answer": None, "answeredAt": None},
            "dependency": {"type": "api_key", "name": "KEY", "description": "", "required": True,
                           "default": None, "reason": None},
            "stuck": {"taskTitle": "A task", "text": "it waits for task_9, which failed",
                      "missing": [{"id": "task_9", "title": "The first", "status": "failed"}],
                      "acts": ["retry", "go_without", "fail"]},
        }  # fmt: skip
        base = {"id": id, "taskId": task, "status": "pending", "createdAt": AT}
        self.gates[id], self.kinds[id] = base | shapes[kind] | more, kind
        return id

    def put(self, id: str, status: TaskState, agent: AgentState = AgentState.IDLE) -> None:
        self.tasks[id] |= {"status": status, "agentStatus": agent}

    def happen(self, task: str, trigger: str = "note", **more: object) -> int:
        seq = len(self.events) + 1
        self.events.append(
            {"seq": seq, "timestamp": AT, "taskId": task, "type": "state_transition",
             "entity": "task", "entityId": task, "from": "draft", "to": "pending",
             "trigger": trigger, "actor": "kim", "via": "page", "metadata": {}} | more
        )  # fmt: skip
        for listener in self._listeners:
            listener()
        return seq

    def say(self, task: str, text: str, **more: object) -> None:
        item = {"taskId": task, "id": f"run_1.{len(self.said) + 1}", "at": AT, "kind": "text", "text": text,
                "tool": None, "input": None, "result": None, "isError": False, "run": "run_1", "attempt": 1,
                "agent": "claude", "role": "work"} | more  # fmt: skip
        self.said.append(item)
        if self.on_output is not None:
            self.on_output([item])

    # What the front end asks for

    def kept_with(self, act: Callable[[], Json], keep: object) -> Json:
        return act()

    def question(self, id: str) -> Json:
        return self._gate(id, "question")

    def dependency(self, id: str) -> Json:
        return self._gate(id, "dependency")

    def create_task(self, given: NewTask) -> Json:
        self.calls += 1
        if given.type not in ("custom", "create_app"):
            raise Refused(422, "unknown_type", "there is no such type", {"field": "type"})
        id = f"task_{next(self._ids):012x}"
        self.tasks[id] = {
            "id": id, "status": TaskState.DRAFT, "type": given.type, "title": given.title,
            "description": given.description, "agent": given.agent or "claude",
            "priority": given.priority, "dependsOn": list(given.depends_on), "waitsFor": [],
            "currentPhase": None, "totalPhases": 0, "progress": 0, "currentStep": None, "createdAt": AT,
            "submittedAt": None, "startedAt": None, "completedAt": None, "failedAt": None,
            "updatedAt": AT, "workspace": None, "retryOf": None, "forkedFrom": None,
            "error": None, "outcome": None, "archived": False, "agentStatus": AgentState.IDLE,
            "pausedBy": None, "limitKind": None, "wakesAt": None,
            "usage": {"inputTokens": 0, "outputTokens": 0, "costUsd": None},
        }  # fmt: skip
        self.happen(id, "open", **{"from": None, "to": "draft"})
        return self.submit(id) if given.submit else self.task(id)

    def list_tasks(self, *, status: str | None = None, outcome: str | None = None,
                   type: str | None = None, archived: bool = False, query: str | None = None, page: int = 1,
                   page_size: int = 50, only: TaskFilter | None = None) -> Json:  # fmt: skip
        self.reads += 1
        self.only = only
        found = [
            self.task(id)
            for id, task in self.tasks.items()
            if status in (None, task["status"])
            and outcome in (None, task["outcome"])
            and type in (None, task["type"])
            and task["archived"] == archived
            and (query or "") in task["title"]
        ]
        return {**paged(found, page, page_size), "nextCursor": None}

    def task(self, id: str) -> Json:
        if id not in self.tasks:
            raise Refused(404, "unknown_task", f"no such task: {id}")
        task = self.tasks[id]
        actions = allowed_actions(TaskState(task["status"]), AgentState(task["agentStatus"]))
        return task | {"allowedActions": list(actions)}

    def change_task(self, id: str, changes: Mapping[str, Any]) -> Json:
        if self.task(id)["status"] != TaskState.DRAFT:
            self._refuse(id, "change")
        names = {"depends_on": "dependsOn"}
        self.tasks[id] |= {names.get(name, name): value for name, value in changes.items()}
        self.happen(id, "change")
        return self.task(id)

    def delete_task(self, id: str) -> None:
        self._check(id, "delete")
        del self.tasks[id]

    def submit(self, id: str) -> Json:
        return self._move(id, Trigger.SUBMIT)

    def cancel(self, id: str, reason: str | None = None) -> Json:
        moved = self._move(id, Trigger.CANCEL)
        self.tasks[id]["error"] = reason
        return moved

    def pause(self, id: str) -> Json:
        return self._move_agent(id, Trigger.PAUSE)

    def resume(self, id: str) -> Json:
        return self._move_agent(id, Trigger.RESUME)

    def archive(self, id: str) -> Json:
        self._check(id, "archive")
        self.tasks[id]["archived"] = True
        self.happen(id, "archive")
        return self.task(id)

    def retry(self, id: str, *, submit: bool = False) -> Json:
        self._check(id, "retry")
        old = self.tasks[id]
        new = self.create_task(NewTask(old["title"], old["description"], submit=submit))
        self.tasks[new["id"]]["retryOf"] = id
        return self.task(new["id"])

    def go_without(self, id: str) -> Json:
        self._check(id, "go_without")
        return self.task(id)

    def fail(self, id: str) -> Json:
        self._check(id, "fail")
        return self.task(id)

    def fork(self, id: str, checkpoint: str | None = None) -> Json:
        old = self.task(id)
        if checkpoint not in (None, "cp_1"):
            raise Refused(404, "unknown_checkpoint", "there is no such checkpoint")
        new = self.create_task(NewTask(old["title"], old["description"]))
        self.tasks[new["id"]]["forkedFrom"] = id
        return self.task(new["id"])

    def rewind(self, id: str, checkpoint: str) -> Json:
        if checkpoint != "cp_1":
            raise Refused(404, "unknown_checkpoint", "there is no such checkpoint")
        return self._move(id, Trigger.REWIND)

    def agent(self, id: str) -> Json:
        task = self.task(id)
        return {
            "status": task["agentStatus"], "currentPhase": None, "currentStep": None,
            "progress": 0, "tokensUsed": 0, "blockedBy": None, "lastUpdate": AT,
            "checkpoint": {"lastSaved": None, "autoSaveInterval": 600_000},
        }  # fmt: skip

    def phases(self, id: str) -> Json:
        self.task(id)
        return {"items": []}

    async def saved(self, id: str) -> None:
        self.awaited.append(id)

    def checkpoints(self, id: str, *, page: int = 1, page_size: int = 50) -> Json:
        self.task(id)
        item = {"id": "cp_1", "taskId": id, "kind": "pause", "phase": None, "createdAt": AT,
                "whole": True}  # fmt: skip
        return paged([item], page, page_size)

    def journal(self, id: str, *, page: int = 1, page_size: int = 50) -> Json:
        self.task(id)
        return paged([e for e in self.events if e["taskId"] == id], page, page_size)

    def deliverables(self, id: str) -> Path | Iterable[bytes]:
        self.task(id)
        return self.zip

    def log(self, id: str, *, offset: int = 0, limit: int = 0) -> tuple[bytes, int]:
        self.task(id)
        return self.text[offset : offset + limit], len(self.text)

    def reviews(self, id: str | None = None, *, status: str | None = None, page: int = 1,
                page_size: int = 50) -> Json:  # fmt: skip
        return self._gates("review", id, status, page, page_size)

    def questions(self, id: str | None = None, *, status: str | None = None, page: int = 1,
                  page_size: int = 50) -> Json:  # fmt: skip
        return self._gates("question", id, status, page, page_size)

    def dependencies(self, id: str | None = None, *, status: str | None = None, page: int = 1,
                     page_size: int = 50) -> Json:  # fmt: skip
        return self._gates("dependency", id, status, page, page_size)

    def review(self, id: str) -> Json:
        return self._gate(id, "review")

    def approve(self, id: str, /, comment: str | None = None) -> Json:
        return self._settle(id, "review", GateState.APPROVED, feedback=comment)

    def request_changes(self, id: str, /, feedback: str,
                        comments: Sequence[Mapping[str, Any]] = ()) -> Json:  # fmt: skip
        given = {"feedback": feedback, "comments": list(comments)}
        return self._settle(id, "review", GateState.CHANGES_REQUESTED, **given)

    def answer(self, id: str, /, answer: str, *, own_words: bool = False) -> Json:
        if answer not in self._gate(id, "question")["options"] and not own_words:
            close = "A" if len(answer) < 3 else None
            raise Refused(422, "bad_answer", "none of the options", {"suggestion": close})
        return self._settle(id, "question", GateState.ANSWERED, answer=answer)

    def provide(self, id: str, /, value: str) -> Json:
        settled = self._settle(id, "dependency", GateState.PROVIDED)
        self.values[id] = value
        return settled

    def reject(self, id: str, /, reason: str) -> Json:
        return self._settle(id, "dependency", GateState.REJECTED, reason=reason)

    def inbox(self, *, kind: str | None = None, task: str | None = None, page: int = 1,
              page_size: int = 50) -> Json:  # fmt: skip
        found = [
            {**gate, "kind": self.kinds[id]}
            for id, gate in self.gates.items()
            if gate["status"] == "pending"
            and kind in (None, self.kinds[id])
            and task in (None, gate["taskId"])
        ]
        return paged(found, page, page_size)

    @property
    def last_seq(self) -> int:
        return len(self.events)

    def events_after(self, seq: int, task: str | None = None, limit: int = 500) -> list[Json]:
        self.reads += 1
        return self.events[seq : seq + limit]

    def on_commit(self, listener: Callable[[], None], /) -> None:
        self._listeners.append(listener)

    def follow_output(self, listener: Callable[[Sequence[Json]], None] | None, /) -> None:
        self.on_output = listener

    async def conversation(self, id: str, *, page: int = 1, page_size: int = 50) -> Json:
        self.task(id)
        return paged([item for item in self.said if item["taskId"] == id], page, page_size)

    def send_message(self, id: str, text: str) -> Json:
        task = self.task(id)
        if task["status"] in ("completed", "failed"):
            self._refuse(id, "message")
        self.told.append(
            {"id": f"act_{len(self.told)}", "taskId": id, "text": text, "status": "waiting",
             "reason": None, "actor": "kim", "via": "token", "createdAt": AT}
        )  # fmt: skip
        return self.newest_message(id)

    def newest_message(self, id: str) -> Json:
        return [one for one in self.told if one["taskId"] == id][-1]

    def messages(self, id: str, *, page: int = 1, page_size: int = 50) -> Json:
        self.task(id)
        return paged([one for one in self.told if one["taskId"] == id], page, page_size)

    async def files(self, id: str, *, page: int = 1, page_size: int = 50) -> Json:
        self.task(id)
        items = [{"path": name, "size": len(data)} for name, data in self.folder.items()]
        return paged(items, page, page_size)

    def file(self, id: str, path: str) -> int:
        self.task(id)
        if path not in self.folder:
            raise Refused(404, "unknown_file", f"no such file: {path}")
        reader, writer = os.pipe()
        os.write(writer, self.folder[path])
        os.close(writer)
        return reader

    async def diff(self, id: str, *, since: str | None = None) -> Json:
        self.task(id)
        if since not in (None, "cp_1"):
            raise Refused(422, "unknown_checkpoint", "there is no such checkpoint")
        files = [{"path": name, "additions": 1, "deletions": 0} for name in self.folder]
        return {"base": since, "head": "h", "files": files, "patch": "", "truncated": False}

    def used(self) -> Json:
        nothing = {"inputTokens": 0, "outputTokens": 0, "costUsd": None}
        return {"total": nothing, "byDay": [], "byAccount": [], "byAgent": [], "byWork": []}

    def list_types(self) -> Json:
        phase: Json = {"name": "plan", "deliverables": [], "steps": [], "verify": None}
        return paged([{"name": "create_app", "about": "", "phases": [phase], "inputs": []}], 1, 50)

    def limits(self) -> Json:
        return {"accounts": [], "parks": []}

    def workers(self) -> Json:
        return {"items": []}

    def settings(self) -> Json:
        return self.kept

    def change_settings(self, changes: Mapping[str, Any]) -> Json:
        for name in changes:
            if name not in self.kept:
                raise Refused(422, "unknown_setting", f"no such setting: {name}")
        self.kept |= changes
        return self.kept

    # Inside

    def _move(self, id: str, cause: Trigger) -> Json:
        self.calls += 1
        task = self.task(id)
        try:
            to = TASK.target(task["status"], cause, **task)
        except IllegalMove:
            self._refuse(id, cause)
        self.tasks[id]["status"] = to
        self.happen(id, cause)
        return self.task(id)

    def _move_agent(self, id: str, cause: Trigger) -> Json:
        self._check(id, cause)
        self.tasks[id]["agentStatus"] = AGENT.target(self.tasks[id]["agentStatus"], cause)
        self.happen(id, cause)
        return self.task(id)

    def _check(self, id: str, action: str) -> None:
        if action not in self.task(id)["allowedActions"]:
            self._refuse(id, action)

    def _refuse(self, id: str, action: str) -> None:
        task = self.task(id)
        facts = {"status": task["status"], "allowedActions": task["allowedActions"]}
        raise Refused(409, "not_allowed", f"{action} is not possible", facts)

    def _gates(self, kind: str, task: str | None, status: str | None, page: int, size: int) -> Json:
        if task is not None:
            self.task(task)
        found = [
            gate
            for id, gate in self.gates.items()
            if self.kinds[id] == kind
            and task in (None, gate["taskId"])
            and status in (None, gate["status"])
        ]
        return paged(found, page, size)

    def _gate(self, id: str, kind: str) -> Json:
        if self.kinds.get(id) != kind:
            raise Refused(404, f"unknown_{kind}", f"no such {kind}: {id}")
        return self.gates[id]

    def _settle(self, id: str, kind: str, to: GateState, **more: object) -> Json:
        self.calls += 1
        gate = self._gate(id, kind)
        if gate["status"] != "pending":
            raise Refused(409, "already_settled", "already decided", {"status": gate["status"]})
        gate |= {"status": to} | more
        self.happen(gate["taskId"], to)
        return gate


def paged(found: Sequence[Json], page: int, page_size: int) -> Json:
    start = (page - 1) * page_size
    items = list(found[start : start + page_size])
    return {"items": items, "total": len(found), "page": page, "pageSize": page_size}


class Replies:
    """Replies in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, Reply] = {}

    def find(self, key: str) -> Reply | None:
        return self.kept.get(key)

    def keep(self, reply: Reply) -> None:
        self.kept[reply.key] = reply

    def keeping(self, reply: Reply) -> list[Change]:
        raise AssertionError("these commands have no transactions")


class Client:
    """Speaks to the application on the loop of this thread, as the server itself does."""

    def __init__(self, runner: asyncio.Runner, app: FastAPI, headers: Mapping[str, str]) -> None:
        self._runner = runner
        transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
        self._client = httpx2.AsyncClient(transport=transport, base_url=HOST, headers=headers)
        self.cookies = self._client.cookies

    def request(self, method: str, path: str, **more: Any) -> httpx2.Response:
        return self._runner.run(self._client.request(method, path, **more))

    def get(self, path: str, **more: Any) -> httpx2.Response:
        return self.request("GET", path, **more)

    def post(self, path: str, **more: Any) -> httpx2.Response:
        return self.request("POST", path, **more)

    def put(self, path: str, **more: Any) -> httpx2.Response:
        return self.request("PUT", path, **more)

    def patch(self, path: str, **more: Any) -> httpx2.Response:
        return self.request("PATCH", path, **more)

    def delete(self, path: str, **more: Any) -> httpx2.Response:
        return self.request("DELETE", path, **more)

    def close(self) -> None:
        self._runner.run(self._client.aclose())


class FakeWorks:
    """Other works of the served folder."""

    def __init__(self) -> None:
        self.items: list[Json] = []
        self.inbox: list[Json] = []

    def all(self) -> list[Json]:
        return self.items

    def waiting(self) -> list[Json]:
        return self.inbox


class Front:
    """An application, and clients of it: one with the token, one without."""

    def __init__(self, commands: Commands, **more: Any) -> None:
        self.at = datetime(2026, 11, 16, tzinfo=UTC)
        self.replies = more.pop("replies", None) or Replies()
        self.works = FakeWorks()
        self.app: FastAPI = make_app(
            commands,
            tokens=TokensInMemory(),
            token=TOKEN,
            replies=self.replies,
            now=lambda: self.at,
            works=self.works,
            **more,
        )
        self._runner = asyncio.Runner()
        self._clients: list[Client] = []
        self.stranger = self.client()
        self.api = self.client(Authorization=f"Bearer {TOKEN}")

    def client(self, **headers: str) -> Client:
        made = Client(self._runner, self.app, headers)
        self._clients.append(made)
        return made

    def task(self, **more: object) -> Json:
        given = {"title": "t", "description": "d", "type": "custom"} | more
        answer = self.api.post("/api/tasks", json=given)
        assert answer.status_code == 201, answer.text
        made: Json = answer.json()
        return made

    def close(self) -> None:
        for client in self._clients:
            client.close()
        self._runner.close()


class Wire:
    """A connection of bytes: what a client of the server really sends and gets."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def to(cls, port: int, limit: int = 2**16) -> Wire:
        return cls(*await asyncio.open_connection("127.0.0.1", port, limit=limit))

    async def ask(self, path: str, *headers: str, method: str = "GET") -> None:
        lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {TOKEN}"]
        self.writer.write("\r\n".join([*lines, *headers, "", ""]).encode())
        await self.writer.drain()

    async def head(self) -> tuple[int, dict[str, str]]:
        lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        pairs = (line.partition(": ") for line in lines[1:] if line)
        return int(lines[0].split()[1]), {name.lower(): value for name, _colon, value in pairs}

    async def chunk(self) -> bytes:
        """One piece of an answer that comes in pieces; empty at its end."""
        size = int((await self.reader.readuntil(b"\r\n")).strip(), 16)
        return (await self.reader.readexactly(size + 2))[:-2]

    async def events(self, wanted: int) -> list[Json]:
        """So many events; what is no event (hello, heartbeats) is passed over."""
        text = b""
        while (whole := text.count(b"\ndata: ")) < wanted or not text.endswith(b"\n\n"):
            piece = await self.chunk()
            if not piece:
                break
            text += piece
        assert whole <= wanted
        return [_event(block) for block in text.decode().split("\n\n") if "\ndata: " in block]

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(ConnectionError):
            await self.writer.wait_closed()


def _event(block: str) -> Json:
    fields = dict(line.split(": ", 1) for line in block.split("\n"))
    data = json.loads(fields["data"])
    if fields["event"] == "output":
        assert "id" not in fields, "the numbers are those of the journal"
        return {"type": "output", **data}
    assert (int(fields["id"]), fields["event"]) == (data["seq"], data["type"])
    read: Json = data
    return read


@dataclass
class Running:
    """A server that listens, on the loop of the test."""

    app: FastAPI
    port: int
    stop: asyncio.Event
    done: asyncio.Task[None]
    wires: list[Wire]

    @property
    def hub(self) -> Hub:
        hub: Hub = self.app.state.hub
        return hub

    async def wire(self, limit: int = 2**16) -> Wire:
        made = await Wire.to(self.port, limit)
        self.wires.append(made)
        return made

    async def follow(self, path: str = "/api/events", *headers: str) -> Wire:
        """A client whose stream is open."""
        wire = await self.wire()
        await wire.ask(path, *headers)
        status, _headers = await wire.head()
        assert status == 200
        assert await wire.chunk() == HELLO
        return wire


@asynccontextmanager
async def running(commands: Commands, **more: Any) -> AsyncIterator[Running]:
    app = make_app(commands, token=TOKEN, replies=Replies(), tokens=TokensInMemory(), **more)
    sock = bind("127.0.0.1", 0)
    stop = asyncio.Event()
    port = sock.getsockname()[1]
    done = asyncio.create_task(serve(app, sock, stop))
    found = Running(app, port, stop, done, [])
    try:
        yield found
    finally:
        for wire in found.wires:
            await wire.close()
        stop.set()
        await done
