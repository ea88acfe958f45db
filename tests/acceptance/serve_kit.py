"""What the tests of `segue serve` share: a project with agents, the real server, HTTP.

Agents are shell scripts that count their starts and keep what they heard under
`out/TASK/`, so that "once, not twice" can be counted from outside.
"""

from __future__ import annotations

import http.client
import io
import json
import os
import shlex
import signal
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from acceptance_kit import WAIT_S, Box, Going, until

TOKEN = "a-token-for-tests-0123456789"
Json = dict[str, Any]
POLL_S = 0.03  # asking costs the server time that its work needs
ENDED = frozenset({"completed", "failed"})

PRELUDE = """#!/bin/sh
out={out}/$SEGUE_TASK
mkdir -p "$out"
echo "$$" >> "$out/starts"
n=$(wc -l < "$out/starts")
echo "${{SEGUE_RESUME:-0}} $SEGUE_CONVERSATION $SEGUE_ATTEMPT $SEGUE_RUN" >> "$out/started"
write() {{ file="$1"; mkdir -p "$(dirname "$file")"; shift; printf '%s\\n' "$*" > "$file"; }}
phase() {{ echo "=== PHASE $1 COMPLETE $SEGUE_NONCE ==="; }}
finish() {{ echo "=== CUSTOM TASK COMPLETE $SEGUE_NONCE ==="; }}
block() {{ echo "[$1 $SEGUE_NONCE]"; cat; echo "[/$1]"; }}
note() {{ echo "$*" >> "$out/notes"; }}
hold() {{ until [ -e {out}/"$1" ]; do sleep 0.02; done; }}
"""
ONE_SHOT = 'cat > "$out/heard.$n"\n'
LISTEN = """listen() { IFS= read -r heard || exit 0; printf '%s\\n' "$heard" >> "$out/heard"; }
listen
"""
# Its tool has a child in a session of its own, as those of real agents do.
TREE = """setsid sh -c 'echo $$ >> "$0/tree"; sleep 1000 & echo $! >> "$0/tree"; wait' "$out" &
until [ "$(wc -l < "$out/tree" 2>/dev/null || echo 0)" -ge $((2 * n)) ]; do sleep 0.02; done
echo $$ >> "$out/tree"
"""
QUESTION = """block USER_QUESTION <<-END
category: choice
question: Which database?
options:
  - PostgreSQL
  - SQLite
default: SQLite
END
"""
NEEDS = """block DEPENDENCY_REQUEST <<-END
type: api_key
name: STRIPE_KEY
description: for payments
required: true
END
"""


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

    def __init__(self, house: House, going: Going, token: str = TOKEN) -> None:
        self.house, self.going, self.token = house, going, token
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
            time.sleep(POLL_S)
            return {}

        return until(there, f"{task} {state}", wait_s)

    def agent_is(self, task: str, state: str, wait_s: float = WAIT_S) -> Json:
        """Wait until the agent of a task is in this state."""

        def there() -> Json:
            now = self.agent(task)
            if now["status"] == state:
                return now
            assert now["status"] not in ENDED, (f"not {state}", now, self.task(task)["error"])
            time.sleep(POLL_S)
            return {}

        return until(there, f"agent of {task} {state}", wait_s)

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
                time.sleep(POLL_S)
            return open_ones[-1] if open_ones else {}

        return until(there, f"{kind} of {task}", wait_s)

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


GOOD = 'write one.md "The whole of the first part, round $n."\nphase 1\n'
TWO = """case $n in
1) write one.md "The whole of the first part."; phase 1 ;;
*) write two.md "The whole of the second part."; phase 2 ;;
esac
"""


class House(Box):
    """A project for a server: agents, types, what they left."""

    def __init__(self, tmp: Path) -> None:
        super().__init__(tmp)
        self.tables: list[str] = []
        self.extra_env["SEGUE_TOKEN"] = TOKEN
        if "PYTHONPATH" in os.environ:  # another copy of the source is tested
            self.extra_env["PYTHONPATH"] = os.environ["PYTHONPATH"]
        self.kind("one", ["one.md"])
        self.kind("two", ["one.md"], ["two.md"])

    def kind(self, name: str, *phases: list[str], more: str = "", head: str = "") -> None:
        """A type of tasks in segue.toml: one list of deliverables for each phase."""
        text = f"[types.{name}]\n{head}\n"
        for number, files in enumerate(phases, 1):
            text += f'[[types.{name}.phases]]\nname = "p{number}"\n'
            text += f"deliverables = {json.dumps(files)}\n{more}\n"
        self.tables.append(text)

    def hand(self, name: str, body: str, more: str = "") -> None:
        """An agent that is a one-shot command; `$n` is the number of its start for this task."""
        self._script(name, PRELUDE.format(out=shlex.quote(str(self.out))) + ONE_SHOT + body, more)

    def live(self, name: str, body: str, more: str = "") -> None:
        """An agent whose stdin stays open; `listen` takes the next line."""
        text = PRELUDE.format(out=shlex.quote(str(self.out))) + LISTEN + body
        self._script(name, text, "interactive = true\n" + more)

    def actor(self, name: str, scenario: str) -> None:
        """An agent that plays a scenario."""
        (self.root / f"{name}.scenario").write_text(scenario, "utf-8")
        self.tables.append(f'[agents.{name}]\nkind = "script"\nscenario = "{name}.scenario"\n')

    def _script(self, name: str, text: str, more: str) -> None:
        path = self.root / f"{name}.sh"
        path.write_text(text, "utf-8")
        path.chmod(0o755)
        table = f'[agents.{name}]\nkind = "command"\ncommand = ["./{name}.sh"]\n{more}\n'
        self.tables.append(table)

    def serve(self, *args: str, top: str = "", env: dict[str, str] | None = None) -> Server:
        self.config(f'{top}\n[recovery]\nwake_margin_s = 0\ndefault_wait_time = 1\n'
                    + "\n".join(self.tables))  # fmt: skip
        return Server(self, self.start("serve", "--port", "0", "--json", *args, env=env))

    # --- what agents left

    def starts(self, task: str) -> int:
        """How often an agent was started for a task."""
        return len(self.lines(task, "starts"))

    def lines(self, task: str, name: str) -> list[str]:
        path = self.out / task / name
        return path.read_text("utf-8").splitlines() if path.exists() else []

    def heard(self, task: str, number: int | None = None) -> str:
        """What an agent was told: at this start, or (with open stdin) in all."""
        path = self.out / task / ("heard" if number is None else f"heard.{number}")
        return path.read_text("utf-8") if path.exists() else ""

    def tree(self, task: str) -> list[int]:
        """The processes of an agent that has made its tree."""
        until(lambda: len(self.lines(task, "tree")) >= 3, "its tree")
        return [int(line) for line in self.lines(task, "tree")]

    def found(self, text: str) -> list[Path]:
        """Files of the project, other than what the agent itself wrote, with this text in them."""
        hits = []
        for path in self.root.rglob("*"):
            if path.is_file() and text.encode() in path.read_bytes():
                hits.append(path)
        return hits


def process_state(pid: int) -> str:
    """`R`, `S`, `T`, `Z`…; empty when it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return ""
    return stat.rpartition(") ")[2][:1]


def all_stopped(pids: list[int]) -> bool:
    return all(process_state(pid) in ("T", "t") for pid in pids)


def all_running(pids: list[int]) -> bool:
    return all(process_state(pid) in ("R", "S", "D") for pid in pids)


def all_gone(pids: list[int]) -> bool:
    return all(process_state(pid) in ("", "Z", "X") for pid in pids)


def stays(condition: Callable[[], bool], what: str, span_s: float = 0.6) -> None:
    """That something does not change for a while (where there is nothing to wait for)."""
    end = time.monotonic() + span_s
    while time.monotonic() < end:
        assert condition(), what
        time.sleep(0.05)
