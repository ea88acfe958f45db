"""The server: how soon it is back, how fast it answers, tells, goes on, and reads a noisy agent.

Ten thousand tasks in review, paused and in questions, their rows and checkpoints made directly: the
time from the start of `segue serve` to its first answer, and until it computes no more, with all
that it does beside its answers; then its processor time over five seconds. Then requests for a page
of fifty of them, one after the other on a few connections, against an empty route of FastAPI on the
same uvicorn, in turn. Five hundred clients of the event stream while a hundred events a second
happen: how late each gets them. From the request that approves a phase to the moment at which the
agent reads the next one. And an agent that prints as fast as it can.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from statistics import quantiles
from tempfile import mkdtemp
from typing import NamedTuple
from urllib.parse import urlsplit

from measure import SEGUE, Figure, Unmeasured, environment, in_turn, listed
from processes import idle_share, still_at_s

from segue.core.machines import GateState, Trigger
from segue.core.plan import TaskState
from segue.core.serving import AgentState
from segue.engine.clock import SystemClock
from segue.store import checkpoints, works
from segue.store.changes import Add, Put, Value, stamp
from segue.store.rows import SERVER
from segue.store.sqlite import Store
from segue.work.project import Project

TASKS = 10_000
ROUNDS = 3
REQUESTS, CONNECTIONS = 1_500, 8
CLIENTS, RATE_S, STREAM_S = 500, 0.02, 6.0  # a task is two events
APPROVALS = 40
IDLE_S, IDLE_WITHIN_S = 5.0, 60.0
NOISE_BYTES = 200_000_000
TOKEN = "a-token-for-figures" * 2
HEADERS = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
SETTINGS = f"""
agent = "living"
[agents.living]
kind = "command"
interactive = true
command = ["{sys.executable}", "living.py"]
[agents.noisy]
kind = "command"
command = ["./noisy.sh"]
[types.long]
""" + "".join(f'[[types.long.phases]]\nname = "p{n}"\n' for n in range(APPROVALS + 1))
LIVING = """
import json, os, sys, time
nonce, n = os.environ["SEGUE_NONCE"], 0
for line in sys.stdin:
    n += 1
    with open("heard", "a") as file:
        file.write(f"{time.time()}\\n")
    print(f"=== PHASE {n} COMPLETE {nonce} ===", flush=True)
"""
NOISY = f"""#!/bin/sh
yes "$(printf '%099d' 7)" | head -c {NOISE_BYTES}
echo "=== CUSTOM TASK COMPLETE $SEGUE_NONCE ==="
"""
EMPTY = """
import socket, sys
import uvicorn
from fastapi import FastAPI
app = FastAPI()
@app.get("/empty")
async def empty():
    return {}
sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
sock.bind(("127.0.0.1", 0))
print(f"http://127.0.0.1:{sock.getsockname()[1]}", flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False)).run([sock])
"""


def measure(folder: Path) -> list[Figure]:
    house = Path(mkdtemp(dir=folder))
    (house / "segue.toml").write_text(SETTINGS.replace('"living.py"', f'"{house}/living.py"'))
    (house / "living.py").write_text(LIVING)
    (house / "noisy.sh").write_text(NOISY)
    (house / "noisy.sh").chmod(0o755)
    fill(house)
    starts_s, idle_s, share = restarts(house)
    with serving(house) as (url, _pid, _began_s):
        rates, empty_rates = against_empty(url)
        late_s = asyncio.run(streams(url))
        approved_s = asyncio.run(approvals(url))
        noise_mb_s = asyncio.run(noise(url))
    ratio = max(rates) / max(empty_rates)
    p95_late_ms = quantiles(late_s, n=20)[-1] * 1e3
    p95_ms = quantiles(approved_s, n=20)[-1] * 1e3
    return [
        Figure(
            f"restart with {TASKS:,} tasks", min(starts_s), 1.5, False, "s",
            (f"until the first answer, s: {listed(starts_s, '{:.2f}')}",),
        ),
        Figure(
            f"restart with {TASKS:,} tasks until idle", min(idle_s), 2.0, False, "s",
            (f"until it computes no more, s: {listed(idle_s, '{:.2f}')}",),
        ),
        Figure("processor time of the idle server", share * 100, 1.0, False, "%"),
        Figure(
            "GET /api/tasks ÷ an empty route", ratio, 0.3, True, "×",
            (f"a page of 50 of {TASKS:,}, requests/s: {listed(rates)}",
             f"an empty route of FastAPI, requests/s: {listed(empty_rates)}"),
        ),
        Figure(
            f"{CLIENTS} clients of the stream: delay, p95", p95_late_ms, 250.0, False, "ms",
            (f"{len(late_s):,} events received",),
        ),
        Figure("approved → the agent reads on, p95", p95_ms, 50.0, False, "ms"),
        Figure("a noisy agent", noise_mb_s, 20.0, True, "MB/s"),
    ]  # fmt: skip


def fill(house: Path) -> None:
    """Tasks that wait: a third in review, a third paused, a third with a question."""
    project = Project(house)
    project.prepare()
    store, now = Store.open(project.database), SystemClock().now()
    works.enrol(store, SERVER, project.memory / "server", now)
    waits = [
        (TaskState.REVIEW, AgentState.WAITING_REVIEW, "review"),
        (TaskState.IN_PROGRESS, AgentState.PAUSED, None),
        (TaskState.IN_PROGRESS, AgentState.WAITING_QUESTION, "question"),
    ]
    for begin in range(0, TASKS, 500):
        changes: list[Add | Put] = []
        for n in range(begin, begin + 500):
            stage, state, gate = waits[n % 3]
            id = f"task_{n:012x}"
            row = {
                "work": SERVER, "key": id, "title": f"Task {n}", "description": "text " * 20,
                "type": "long", "agent": "living", "phase": 1, "phases": "[]",
                "workspace": str(house),
            }  # fmt: skip
            changes.append(Add("task", id, stage, row, Trigger.OPEN))
            agent = {"account": "living", "saved_at": stamp(now)}
            changes.append(Add("agent", id, state, agent, Trigger.OPEN))
            changes.append(Put("checkpoints", checkpoint(project.server, id, now)))
            if gate is not None:
                asked = {"work": SERVER, "task": id, "kind": gate, "text": "Which?", "phase": 1}
                changes.append(Add("gate", f"g_{n:012x}", GateState.PENDING, asked, Trigger.OPEN))
            else:
                at = stamp(now + timedelta(hours=9))
                timer = {"id": f"wake:{id}", "work": SERVER, "task": id, "kind": "wake", "at": at}
                changes.append(Put("timers", timer))
        store.move(*changes, at=now)
    store.close()


def checkpoint(data: Path, task: str, now: datetime) -> dict[str, Value]:
    """The row of a checkpoint whose file is there, as it was written when the task came to wait."""
    agent = {"state": "waiting", "conversation": "c", "resume_id": None, "phase": 1}
    content = checkpoints.contents(
        task=task, agent=agent, conversation=None, gates=[], environment={}, deliverables=[],
        commit="0" * 40, seal=str.encode,
    )  # fmt: skip
    written = json.dumps(content).encode()
    path = f"{checkpoints.FOLDER}/{task}/1.json"
    (data / path).parent.mkdir(parents=True)
    (data / path).write_bytes(written)
    return {
        "id": f"cp_{task}", "task": task, "kind": "wait", "phase": 1, "path": path,
        "sha256": sha256(written).hexdigest(), "created_at": stamp(now),
    }  # fmt: skip


class Serving(NamedTuple):
    url: str
    pid: int
    began_s: float


@contextmanager
def serving(house: Path) -> Iterator[Serving]:
    env = environment(house, {"SEGUE_TOKEN": TOKEN})
    began_s = time.monotonic()
    argv = [SEGUE, "serve", "--port", "0", "--json"]
    with subprocess.Popen(argv, cwd=house, env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            told = json.loads(process.stdout.readline() or "{}")
            if "url" not in told:
                raise Unmeasured(f"segue serve does not listen: {told}")
            yield Serving(told["url"], process.pid, began_s)
        finally:
            process.terminate()


def restarts(house: Path) -> tuple[list[float], list[float], float]:
    """Seconds until the first answer, and until idle; then the share of one processor it uses."""
    answered_s, idle_s, share = [], [], 0.0
    for _round in range(ROUNDS):
        with serving(house) as (url, pid, began_s):
            asyncio.run(ask(url, "GET", "/api/tasks"))
            answered_s.append(time.monotonic() - began_s)
            idle_s.append(still_at_s(pid, IDLE_WITHIN_S) - began_s)
            share = idle_share(pid, IDLE_S)
    return answered_s, idle_s, share


def against_empty(url: str) -> tuple[list[float], list[float]]:
    with subprocess.Popen([sys.executable, "-c", EMPTY], stdout=subprocess.PIPE, text=True) as bare:
        try:
            assert bare.stdout is not None
            empty = bare.stdout.readline().strip()
            rates, empty_rates = in_turn(
                ROUNDS,
                lambda: asyncio.run(rate(url, "/api/tasks?pageSize=50")),
                lambda: asyncio.run(rate(empty, "/empty")),
            )
        finally:
            bare.kill()
    return rates, empty_rates


# A client of a few lines: the figures are the server's, not a library's.


async def rate(url: str, path: str) -> float:
    """Answers per second on a few connections that stay open."""
    began = time.monotonic()
    await asyncio.gather(*(_many(url, path, REQUESTS // CONNECTIONS) for _n in range(CONNECTIONS)))
    return REQUESTS / (time.monotonic() - began)


async def _many(url: str, path: str, count: int) -> None:
    reader, writer = await connect(url)
    for _n in range(count):
        writer.write(request("GET", path, b"", url))
        status, _body = await answer(reader)
        assert status == 200, status
    writer.close()


async def ask(url: str, method: str, path: str, body: object = None) -> tuple[int, bytes]:
    reader, writer = await connect(url)
    data = b"" if body is None else json.dumps(body).encode()
    writer.write(request(method, path, data, url))
    answered = await answer(reader)
    writer.close()
    return answered


async def connect(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    place = urlsplit(url)
    return await asyncio.open_connection(place.hostname, place.port, limit=2**22)


def request(method: str, path: str, data: bytes, url: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"Host: {urlsplit(url).netloc}"]
    lines += [f"{name}: {value}" for name, value in HEADERS.items()]
    return "\r\n".join([*lines, f"Content-Length: {len(data)}", "", ""]).encode() + data


async def answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    length = int(head.partition("content-length: ")[2].partition("\r\n")[0] or 0)
    return int(head.split(" ", 2)[1]), await reader.readexactly(length)


async def streams(url: str) -> list[float]:
    """How late events reach the clients, in seconds; each event says when it happened."""
    late_s: list[float] = []
    clients = [asyncio.create_task(_listen(url, late_s)) for _n in range(CLIENTS)]
    await asyncio.sleep(2)
    end = time.monotonic() + STREAM_S
    while time.monotonic() < end:
        given = {"title": "A draft", "description": "d", "type": "custom"}
        began = time.monotonic()
        status, _body = await ask(url, "POST", "/api/tasks", given)
        assert status == 201, status
        await asyncio.sleep(max(0.0, RATE_S - (time.monotonic() - began)))
    await asyncio.sleep(1)
    for client in clients:
        client.cancel()
    await asyncio.gather(*clients, return_exceptions=True)
    return late_s


async def _listen(url: str, late_s: list[float]) -> None:
    reader, writer = await connect(url)
    writer.write(request("GET", "/api/events", b"", url))
    while line := await reader.readline():
        if line.startswith(b"data: "):
            at = json.loads(line[6:])["timestamp"]
            late_s.append((datetime.now(UTC) - datetime.fromisoformat(at)).total_seconds())


async def approvals(url: str) -> list[float]:
    """From the request to the moment at which the agent has the next phase."""
    given = {"title": "Long", "description": "d", "type": "long", "submit": True}
    _status, body = await ask(url, "POST", "/api/tasks", given)
    id, found = json.loads(body)["id"], []
    for n in range(1, APPROVALS + 1):
        review = await _pending(url, id)
        began_s = time.time()
        status, _body = await ask(url, "POST", f"/api/reviews/{review}/approve", {})
        assert status == 200, status
        heard = Path(
            json.loads((await ask(url, "GET", f"/api/tasks/{id}"))[1])["workspace"], "heard"
        )
        while len(lines := heard.read_text().split()) <= n:
            await asyncio.sleep(0.002)
        found.append(float(lines[n]) - began_s)
    await ask(url, "POST", f"/api/tasks/{id}/cancel", {})
    return found


async def _pending(url: str, id: str) -> str:
    while True:
        _status, body = await ask(url, "GET", f"/api/tasks/{id}/reviews?pageSize=200")
        for review in json.loads(body)["items"]:
            if review["status"] == "pending":
                return str(review["id"])
        await asyncio.sleep(0.01)


async def noise(url: str) -> float:
    given = {"title": "N", "description": "d", "type": "custom", "agent": "noisy", "submit": True}
    began = time.monotonic()
    _status, body = await ask(url, "POST", "/api/tasks", given)
    id = json.loads(body)["id"]
    while True:
        _status, body = await ask(url, "GET", f"/api/tasks/{id}")
        task = json.loads(body)
        assert task["status"] != "failed", task["error"]
        if task["status"] == "completed":
            return NOISE_BYTES / 1e6 / (time.monotonic() - began)
        await asyncio.sleep(0.1)
