"""A `segue serve` that runs as a process, and what its clients say over HTTP."""

from __future__ import annotations

import http.client
import io
import json
import signal
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from kit.command import Going
from kit.waiting import WAIT_S, until

TOKEN = "a-token-for-tests-0123456789-and-more"
Json = dict[str, Any]
POLL_S = 0.03  # asking costs the server time that its work needs
ENDED = frozenset({"completed", "failed"})


@dataclass
class Answer:
    """What the server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def ok(self) -> Any:
        """The JSON of a success."""
        assert 200 <= self.status < 300, (self.status, self.body)
        return self.json if self.body else None

    def problem(self, *expected: int) -> Json:
        """A problem document with one of these statuses, in the shape of RFC 9457."""
        assert self.status in expected, (self.status, self.body[:2000])
        kind = self.headers.get("content-type", "")
        assert kind.split(";")[0] == "application/problem+json", (kind, self.body[:300])
        said: Json = self.json
        assert said["status"] == self.status, said
        assert said.get("title") or said.get("detail"), said
        assert "Traceback" not in self.body.decode("utf-8", "replace")
        return said


class Server:
    """A `segue serve` that runs."""

    def __init__(self, going: Going, token: str = TOKEN) -> None:
        self.going, self.token = going, token
        line = until(self._listening, "listening")
        self.url: str = line["url"]
        parts = urlsplit(self.url)
        self.host, self.port = str(parts.hostname), int(parts.port or 80)

    def _listening(self) -> Json:
        assert self.going.process.poll() is None, self.going.result
        lines = [e for e in self.going.result.events if e.get("event") == "listening"]
        return lines[0] if lines else {}

    # --- HTTP

    def raw(
        self, method: str, path: str, body: bytes | None = None,
        headers: dict[str, str] | None = None, wait_s: float = WAIT_S,
    ) -> Answer:  # fmt: skip
        """One request with exactly these headers (and those without which there is no HTTP)."""
        link = http.client.HTTPConnection(self.host, self.port, timeout=wait_s)
        try:
            link.request(method, path, body, headers or {})
            reply = link.getresponse()
            named = {name.lower(): value for name, value in reply.getheaders()}
            return Answer(reply.status, named, reply.read())
        finally:
            link.close()

    def ask(
        self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None
    ) -> Answer:
        """One request of a client with the token, under `/api`."""
        sent = {"Authorization": f"Bearer {self.token}", **(headers or {})}
        data = None
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        return self.raw(method, f"/api{path}", data, sent)

    def get(self, path: str) -> Answer:
        return self.ask("GET", path)

    def post(self, path: str, body: object = None, **headers: str) -> Answer:
        return self.ask("POST", path, body, headers)

    def items(self, path: str) -> list[Json]:
        """All of a list."""
        found: list[Json] = []
        page = 1
        while True:
            mark = "&" if "?" in path else "?"
            got = self.get(f"{path}{mark}page={page}&pageSize=200").ok()
            found += got["items"]
            if len(found) >= got["total"] or not got["items"]:
                return found
            page += 1

    @contextmanager
    def stream(self, path: str = "/events", after: int | None = None) -> Iterator[Stream]:
        """The events from here on; from behind a number if one is given."""
        link = http.client.HTTPConnection(self.host, self.port, timeout=WAIT_S)
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "text/event-stream"}
        if after is not None:
            headers["Last-Event-ID"] = str(after)
        try:
            link.request("GET", f"/api{path}", headers=headers)
            with link.getresponse() as reply:
                assert reply.status == 200, reply.read()
                assert reply.getheader("content-type", "").startswith("text/event-stream")
                yield Stream(reply)
        finally:
            link.close()

    # --- tasks

    def new(self, agent: str = "a", kind: str = "one", **more: Any) -> str:
        """A task, submitted unless it says otherwise; its id."""
        body = {
            "title": "A task", "description": "Do it.", "type": kind, "agent": agent,
            "submit": True, **more,
        }  # fmt: skip
        answer = self.post("/tasks", body)
        assert answer.status == 201, answer
        return str(answer.json["id"])

    def task(self, task: str) -> Json:
        return self.get(f"/tasks/{task}").ok()  # type: ignore[no-any-return]

    def agent(self, task: str) -> Json:
        return self.get(f"/tasks/{task}/agent").ok()  # type: ignore[no-any-return]

    def do(self, task: str, action: str, body: object = None) -> Json:
        return self.post(f"/tasks/{task}/{action}", body).ok()  # type: ignore[no-any-return]

    def reaches(self, task: str, state: str, wait_s: float = WAIT_S) -> Json:
        """Wait until a task is in this state; an end in another one fails at once."""

        def there() -> Json:
            now = self.task(task)
            if now["status"] == state:
                return now
            ends = ENDED | ({"review"} if state == "failed" else set())
            assert now["status"] not in ends, (f"not {state}", now, self.log(task)[-3000:])
            return {}

        return until(there, f"{task} {state}", wait_s, POLL_S)

    def agent_is(self, task: str, state: str, wait_s: float = WAIT_S) -> Json:
        """Wait until the agent of a task is in this state."""

        def there() -> Json:
            now = self.agent(task)
            if now["status"] == state:
                return now
            assert now["status"] not in ENDED, (f"not {state}", now, self.task(task)["error"])
            return {}

        return until(there, f"agent of {task} {state}", wait_s, POLL_S)

    def log(self, task: str) -> str:
        return self.get(f"/tasks/{task}/log").body.decode("utf-8", "replace")

    def journal(self, task: str) -> list[Json]:
        return self.items(f"/tasks/{task}/journal")

    def path(self, task: str, entity: str = "task") -> list[str]:
        """The states that a task (or its agent) went through, by the journal."""
        return [row["to"] for row in self.journal(task) if row.get("entity", "task") == entity]

    # --- people

    def waiting(self, kind: str, task: str, wait_s: float = WAIT_S) -> Json:
        """Wait for what waits for a person: `reviews`, `questions`, `dependencies`."""

        def there() -> Json:
            open_ones = [g for g in self.items(f"/tasks/{task}/{kind}") if g["status"] == "pending"]
            if not open_ones:
                now = self.task(task)
                assert now["status"] not in ENDED, (f"no {kind}", now, self.log(task)[-3000:])
            return open_ones[-1] if open_ones else {}

        return until(there, f"{kind} of {task}", wait_s, POLL_S)

    def review(self, task: str) -> str:
        self.reaches(task, "review")
        return str(self.waiting("reviews", task)["id"])

    def approve(self, task: str) -> Answer:
        return self.post(f"/reviews/{self.review(task)}/approve")

    def answer(self, task: str, said: str) -> Answer:
        return self.post(f"/questions/{self.waiting('questions', task)['id']}/answer",
                         {"answer": said})  # fmt: skip

    def provide(self, task: str, value: str) -> Answer:
        return self.post(f"/dependencies/{self.waiting('dependencies', task)['id']}/provide",
                         {"value": value})  # fmt: skip

    def zip(self, task: str) -> dict[str, str]:
        """The deliverables: name → text."""
        got = self.get(f"/tasks/{task}/deliverables.zip")
        assert got.status == 200, got
        with zipfile.ZipFile(io.BytesIO(got.body)) as archive:
            return {n: archive.read(n).decode() for n in archive.namelist() if not n.endswith("/")}

    # --- its end

    def kill(self) -> None:
        """Death without warning."""
        self.going.kill()

    def stop(self) -> int:
        """An end in order; the exit code."""
        self.going.send(signal.SIGTERM)
        return self.going.end().code


class Stream:
    """Server-sent events, one at a time."""

    def __init__(self, reply: http.client.HTTPResponse) -> None:
        self.reply = reply
        self.comments = 0

    def next(self) -> Json:
        """The next event: `id`, `event`, `data`."""
        fields: Json = {}
        while True:
            raw = self.reply.readline()
            assert raw, "the stream ended"
            line = raw.decode().rstrip("\r\n")
            if line.startswith(":"):
                self.comments += 1
            elif line:
                name, _colon, value = line.partition(":")
                fields[name] = value.removeprefix(" ")
            elif "data" in fields:
                return {
                    "id": int(fields["id"]) if "id" in fields else None,
                    "event": fields.get("event"),
                    "data": json.loads(fields["data"]),
                }
            else:
                fields = {}

    def until(self, wanted: Callable[[Json], bool], at_most: int = 500) -> list[Json]:
        """Events up to the first that is wanted, it included."""
        seen: list[Json] = []
        while not (seen and wanted(seen[-1])):
            assert len(seen) < at_most, seen
            seen.append(self.next())
        return seen
