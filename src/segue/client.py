"""The server's tasks from Python, with the standard library alone.

    from segue.client import Client

    segue = Client.local()
    task = segue.create_task("Shop", "A small web shop", type="create_app", submit=True)
    for event in segue.events(task["id"]):
        print(event.data["entity"], event.data["to"])

Answers are plain dictionaries in the shapes of the API. What is asked for twice because an answer
was lost on its way is done once: every POST carries a key of its own, and is repeated with it.
"""

from __future__ import annotations

import json
import os
import secrets
import ssl
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from segue.i18n import _
from segue.work.project import Project

Json = dict[str, Any]
PLACE_FILE, TOKEN_FILE = "server.json", "token"
TIMEOUT_S = 30.0
TRIES = 3
AGAIN_S = (0.2, 1.0)  # waits before a request is repeated
RETRY_AFTER_MAX_S = 10.0
SILENCE_S = 45.0  # three heartbeats: a stream that is silent for longer is dead
RECONNECT_S, RECONNECT_MAX_S = 0.5, 15.0
PAGE_SIZE = 200
ANSWER_BYTES_MAX = 256_000_000
LINE_BYTES_MAX = 8_000_000


class ClientError(Exception):
    """The server refused, or did not answer (`status` 0). `problem` is its problem document."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        super().__init__(str(problem.get("detail") or problem.get("title") or status))
        self.status = status
        self.problem: Json = dict(problem)

    @property
    def code(self) -> str:
        return str(self.problem.get("code", "refused"))

    @classmethod
    def unanswered(cls, code: str, detail: str, **more: object) -> ClientError:
        return cls(0, {"code": code, "detail": detail, **more})


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, numbered; `data` as the journal has it."""

    seq: int
    type: str
    data: Json


class Client:
    def __init__(self, url: str, token: str, *, timeout_s: float = TIMEOUT_S) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"not the address of a server: {url!r}")
        self.url = url.rstrip("/")
        self._is_tls = parts.scheme == "https"
        self._host, self._port = parts.hostname, parts.port
        self._path = parts.path.rstrip("/")
        self._token = token
        self._timeout_s = timeout_s

    @classmethod
    def local(cls, folder: Path | str = ".", *, environ: Mapping[str, str] = os.environ) -> Client:
        """The server of this folder, or of the nearest one above it that has one."""
        place = find_place(Path(folder))
        if place is None:
            raise ClientError.unanswered(
                "no_server",
                _("no server is running for this folder"),
                hint=_("start it: segue serve; or choose another server with --url and --token"),
            )
        url = str(json.loads(place.read_text(encoding="utf-8"))["url"])
        token = environ.get("SEGUE_TOKEN")
        file = place.with_name(TOKEN_FILE)
        if not token and file.exists():
            token = file.read_text(encoding="ascii").strip()
        if not token:
            raise ClientError.unanswered(
                "no_token",
                _("no token for this server"),
                hint=_("the server was started with SEGUE_TOKEN; set it here, too"),
            )
        return cls(url, token)

    # Tasks

    def create_task(
        self,
        title: str,
        description: str = "",
        *,
        type: str = "custom",
        agent: str = "",
        depends_on: Iterable[str] = (),
        priority: int = 0,
        submit: bool = False,
        key: str | None = None,
    ) -> Json:
        """`key`: the same key with the same task makes one task, also from another process."""
        body: Json = {
            "title": title,
            "description": description,
            "type": type,
            "agent": agent,
            "dependsOn": list(depends_on),
            "priority": priority,
            "submit": submit,
        }
        return self._post("tasks", body, key)

    def tasks(
        self,
        *,
        status: str | None = None,
        type: str | None = None,
        query: str | None = None,
        archived: bool = False,
    ) -> Iterator[Json]:
        """All that fit, the newest first; pages are asked for as they are needed."""
        known = {"status": status, "type": type, "query": query}
        return self._all("tasks", archived="true" if archived else "false", **known)

    def task(self, id: str) -> Json:
        return self._get("tasks", id)

    def change_task(self, id: str, **changes: object) -> Json:
        """Fields by their names in the API (`title`, `dependsOn`, …); the others stay."""
        return self._object("PATCH", _path("tasks", id), changes)

    def delete_task(self, id: str) -> None:
        self._request("DELETE", _path("tasks", id))

    def submit(self, id: str) -> Json:
        return self._act(id, "submit")

    def cancel(self, id: str, reason: str | None = None) -> Json:
        return self._act(id, "cancel", {"reason": reason} if reason else {})

    def pause(self, id: str) -> Json:
        return self._act(id, "pause")

    def resume(self, id: str) -> Json:
        return self._act(id, "resume")

    def archive(self, id: str) -> Json:
        return self._act(id, "archive")

    def retry(self, id: str, *, submit: bool = False) -> Json:
        """A new task with the content of one that failed; what depends on the old one waits for
        the new one. For a blocked task: retries what it waits for."""
        return self._act(id, "retry", {"submit": submit})

    def go_without(self, id: str) -> Json:
        """A task that waits for one that failed or is gone begins without it."""
        return self._act(id, "go-without")

    def fail(self, id: str) -> Json:
        """A task that waits for one that failed or is gone fails as well."""
        return self._act(id, "fail")

    def fork(self, id: str, checkpoint: str | None = None) -> Json:
        """A new task from a checkpoint; from the newest if none is named."""
        return self._act(id, "fork", {"checkpointId": checkpoint} if checkpoint else {})

    def rewind(self, id: str, checkpoint: str) -> Json:
        return self._act(id, "rewind", {"checkpointId": checkpoint})

    def agent(self, id: str) -> Json:
        return self._get("tasks", id, "agent")

    def phases(self, id: str) -> list[Json]:
        return list(self._get("tasks", id, "phases")["items"])

    def checkpoints(self, id: str) -> Iterator[Json]:
        return self._all(_path("tasks", id, "checkpoints"))

    def journal(self, id: str) -> Iterator[Json]:
        return self._all(_path("tasks", id, "journal"))

    def log(self, id: str, *, offset: int = 0, limit: int | None = None) -> bytes:
        """What the agents of a task printed, from a byte on."""
        given = {"offset": offset, "limit": limit}
        return self._request("GET", _path("tasks", id, "log"), query=given)

    def deliverables(self, id: str) -> bytes:
        """The deliverables as a ZIP file."""
        return self._request("GET", _path("tasks", id, "deliverables.zip"))

    # What waits for a person

    def inbox(self, *, kind: str | None = None, task: str | None = None) -> Iterator[Json]:
        """What waits in the server's own tasks, the most urgent first: all of it, of one kind
        (`review`, `question`, `dependency`, `stuck`), of one task."""
        every = self._all("inbox", kind=kind, task=task)
        return (item for item in every if item["kind"] != "failed" and _is_of_server(item))

    def reviews(self, task: str) -> Iterator[Json]:
        return self._all(_path("tasks", task, "reviews"))

    def questions(self, task: str | None = None, *, status: str | None = None) -> Iterator[Json]:
        path = "questions" if task is None else _path("tasks", task, "questions")
        return self._all(path, status=status)

    def dependencies(self, task: str) -> Iterator[Json]:
        return self._all(_path("tasks", task, "dependencies"))

    def review(self, id: str) -> Json:
        """With the texts of its deliverables, and what changed since the round before."""
        return self._get("reviews", id)

    def approve(self, review: str, comment: str | None = None) -> Json:
        body = {"comment": comment} if comment else {}
        return self._post(_path("reviews", review, "approve"), body)

    def request_changes(
        self, review: str, feedback: str, comments: Sequence[Mapping[str, object]] = ()
    ) -> Json:
        """Each comment has `file`, `text` and, if it is about one, `line`."""
        body = {"feedback": feedback, "comments": [dict(comment) for comment in comments]}
        return self._post(_path("reviews", review, "request-changes"), body)

    def answer(self, question: str, answer: str, *, own_words: bool = False) -> Json:
        """One of the options. Other text is refused (422) unless it is sent as own words;
        `problem["suggestion"]` is what may be meant."""
        body: Json = {"answer": answer, **({"ownWords": True} if own_words else {})}
        return self._post(_path("questions", question, "answer"), body)

    def provide(self, dependency: str, value: str) -> Json:
        return self._post(_path("dependencies", dependency, "provide"), {"value": value})

    def reject(self, dependency: str, reason: str) -> Json:
        return self._post(_path("dependencies", dependency, "reject"), {"reason": reason})

    # The server as a whole

    def health(self) -> Json:
        return self._get("health")

    def limits(self) -> Json:
        return self._get("limits")

    def workers(self) -> Json:
        return self._get("workers")

    def settings(self) -> Json:
        return self._get("settings")

    def change_settings(self, **changes: object) -> Json:
        return self._object("PATCH", "settings", changes)

    def newest_event(self) -> int:
        """The number of the newest event: from there on nothing is missed."""
        for line in self._request("GET", "metrics").decode().splitlines():
            name, _space, figure = line.partition(" ")
            if name == "segue_journal_seq":
                return int(float(figure))
        return 0

    def events(
        self, task: str | None = None, *, after: int | None = None, patience_s: float = 300.0
    ) -> Iterator[Event]:
        """What happens from now on, or after a number, each event once and none left out.

        A stream that breaks is opened again; a server that stays away for longer than
        `patience_s` is an error, and so is one that is not there at the beginning.
        """
        path = "events" if task is None else _path("tasks", task, "events")
        seen = self.newest_event() if after is None else after
        wait_s, alive_at, is_first = RECONNECT_S, time.monotonic(), True
        while True:
            try:
                for event in self._stream(path, seen):
                    alive_at, wait_s, is_first = time.monotonic(), RECONNECT_S, False
                    if event is not None:
                        seen = event.seq
                        yield event
                        alive_at = time.monotonic()
            except ClientError as error:
                may_pass = error.status in (0, 429, 503) and not is_first
                if not may_pass or time.monotonic() - alive_at > patience_s:
                    raise
            time.sleep(wait_s)
            wait_s = min(wait_s * 2, RECONNECT_MAX_S)

    # Requests

    def _stream(self, path: str, seen: int) -> Iterator[Event | None]:
        """Events until the stream ends; None for each other sign of life."""
        connection = self._connect(SILENCE_S)
        try:
            headers = {"Accept": "text/event-stream", "Last-Event-ID": str(seen)}
            answer = self._answer(connection, "GET", path, None, headers)
            if answer.status != 200:
                raise _refusal(answer, _read(answer))
            yield None
            yield from _events(answer)
        except (OSError, HTTPException) as error:
            raise self._silent(error) from error
        finally:
            connection.close()

    def _act(self, id: str, action: str, body: Json | None = None) -> Json:
        return self._post(_path("tasks", id, action), body or {})

    def _post(self, path: str, body: Json, key: str | None = None) -> Json:
        return self._object("POST", path, body, {"Idempotency-Key": key or secrets.token_hex(16)})

    def _get(self, *parts: str) -> Json:
        return self._object("GET", _path(*parts))

    def _all(self, path: str, **query: str | None) -> Iterator[Json]:
        """Every entry of a list, page after page; one that moved to the next page comes once."""
        seen: set[object] = set()
        page, total = 1, 1
        while (page - 1) * PAGE_SIZE < total:
            given = {**query, "page": page, "pageSize": PAGE_SIZE}
            answer = json.loads(self._request("GET", path, query=given))
            total, page = answer["total"], page + 1
            for item in answer["items"]:
                mark = item.get("id", item.get("seq"))
                if mark not in seen:
                    seen.add(mark)
                    yield item

    def _object(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Json:
        answer = self._request(method, path, body, headers=headers)
        found: Json = json.loads(answer)
        return found

    def _request(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        *,
        query: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        given = {name: value for name, value in (query or {}).items() if value is not None}
        target = f"{path}?{urlencode(given)}" if given else path
        waits = list(AGAIN_S) if method in ("GET", "POST") else []
        while True:
            try:
                return self._once(method, target, body, headers or {})
            except ClientError as error:
                if error.status not in (0, 429, 503) or not waits:
                    raise
                asked_s = float(error.problem.get("retryAfter", 0))
                if asked_s > RETRY_AFTER_MAX_S or error.code == "no_connection":
                    raise
                time.sleep(max(waits.pop(0), asked_s))

    def _once(
        self, method: str, path: str, body: Mapping[str, object] | None, headers: Mapping[str, str]
    ) -> bytes:
        connection = self._connect(self._timeout_s)
        try:
            answer = self._answer(connection, method, path, body, headers)
            content = _read(answer)
        except (OSError, HTTPException) as error:
            raise self._silent(error) from error
        finally:
            connection.close()
        if not 200 <= answer.status < 300:
            raise _refusal(answer, content)
        return content

    def _connect(self, timeout_s: float) -> HTTPConnection:
        """Straight to the server: neither proxies nor redirections get to see the token."""
        if self._is_tls:
            context = ssl.create_default_context()
            return HTTPSConnection(self._host, self._port, timeout=timeout_s, context=context)
        return HTTPConnection(self._host, self._port, timeout=timeout_s)

    def _answer(
        self,
        connection: HTTPConnection,
        method: str,
        path: str,
        body: Mapping[str, object] | None,
        headers: Mapping[str, str],
    ) -> HTTPResponse:
        content = None if body is None else json.dumps(body).encode()
        known = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        if content is not None:
            known["Content-Type"] = "application/json"
        connection.request(method, f"{self._path}/api/{path}", content, {**known, **headers})
        return connection.getresponse()

    def _silent(self, error: Exception) -> ClientError:
        if isinstance(error, ConnectionRefusedError):
            return ClientError.unanswered(
                "no_connection",
                _("no server responds at {url}").format(url=self.url),
                hint=_("check that the server is running, or start it: segue serve"),
            )
        text = _("the connection to {url} failed: {why}")
        why = str(error) or type(error).__name__
        return ClientError.unanswered("no_answer", text.format(url=self.url, why=why))


def find_place(folder: Path) -> Path | None:
    """The file in which a running server of this folder, or one above, says where it listens."""
    start = folder.resolve()
    for candidate in (start, *start.parents):
        place = Project(candidate).keys / PLACE_FILE
        if place.is_file():
            return place
    return None


def _is_of_server(item: Json) -> bool:
    """The server lists what waits in the folder's other works, too."""
    work = item.get("work")
    return work is None or work["kind"] == "server"


def _path(*parts: str) -> str:
    return "/".join(quote(part, safe="") for part in parts)


def _read(answer: HTTPResponse) -> bytes:
    content = answer.read(ANSWER_BYTES_MAX + 1)
    if len(content) > ANSWER_BYTES_MAX:
        raise HTTPException(_("the response is larger than {n} bytes").format(n=ANSWER_BYTES_MAX))
    return content


def _refusal(answer: HTTPResponse, content: bytes) -> ClientError:
    try:
        problem = json.loads(content)
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        problem = {"detail": f"{answer.status} {answer.reason}"}
    wait = answer.headers.get("Retry-After", "")
    if wait.isdigit():
        problem["retryAfter"] = int(wait)
    return ClientError(answer.status, problem)


def _events(answer: HTTPResponse) -> Iterator[Event | None]:
    """Server-sent events: fields line by line, an empty line ends each. What is cut off is none."""
    fields: dict[str, str] = {}
    while raw := answer.readline(LINE_BYTES_MAX):
        if not raw.endswith(b"\n"):
            return
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        if line:
            name, _colon, value = line.partition(":")
            value = value.removeprefix(" ")
            known = name == "data" and name in fields
            fields[name] = f"{fields[name]}\n{value}" if known else value
            continue
        if "data" in fields and fields.get("id", "").isdigit():
            yield Event(int(fields["id"]), fields.get("event", ""), json.loads(fields["data"]))
        else:
            yield None
        fields = {}
