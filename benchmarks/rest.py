"""The server against plain FastAPI over SQLite: reading a page of tasks, making a task.

Both have 10,000 tasks in tables of SQLite (WAL, synchronous=FULL) and run on the same uvicorn. The
plain one is what people write for themselves in an afternoon: two routes, one table with an index
by age, a journal, no authentication, no idempotency, no events, no phases; its answers have the
same fields. Each page of fifty is asked for once, in random order, so that nothing is answered from
a cache: the 95th of 100 times. Then drafts are made on a few connections at once: each is on the
disk, with its row of the journal, before it is answered; answers per second. Both sides in turn,
best of the rounds.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles
from tempfile import mkdtemp

from measure import Figure, in_turn, listed
from processes import still_at_s
from serve import IDLE_WITHIN_S, SETTINGS, TASKS, answer, ask, connect, fill, request, serving

ROUNDS = 3
PAGE = 50
POSTS, CONNECTIONS = 240, 4
GET_TARGET, POST_TARGET = 2.0, 0.5
GIVEN = {"title": "A draft", "description": "text " * 20, "type": "custom"}
PLAIN = """
import json, socket, sqlite3, sys, uuid
from datetime import UTC, datetime
import uvicorn
from fastapi import FastAPI
from fastapi.responses import JSONResponse
from pydantic import BaseModel

db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA journal_mode = WAL")
db.execute("PRAGMA synchronous = FULL")
db.row_factory = sqlite3.Row
db.executescript(
    "CREATE TABLE tasks (id TEXT PRIMARY KEY, status TEXT, type TEXT, title TEXT, description TEXT,"
    " fields TEXT, createdAt TEXT, updatedAt TEXT);"
    "CREATE INDEX tasks_by_age ON tasks (createdAt);"
    "CREATE TABLE journal (seq INTEGER PRIMARY KEY, at TEXT, task TEXT, state TEXT)"
)
sample = json.loads(sys.argv[2])
app = FastAPI()

class Given(BaseModel):
    title: str
    description: str
    type: str

def add(given):
    id, now = uuid.uuid4().hex, datetime.now(UTC).isoformat()
    row = (id, "draft", given.type, given.title, given.description, json.dumps(sample), now, now)
    db.execute("INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    db.execute("INSERT INTO journal (at, task, state) VALUES (?, ?, 'draft')", (now, id))
    return id

def shown(row):
    return {**json.loads(row["fields"]), **{k: row[k] for k in row.keys() if k != "fields"}}

@app.get("/api/tasks")
async def tasks(page: int = 1, pageSize: int = 50):
    total = db.execute("SELECT count(*) FROM tasks").fetchone()[0]
    sql = "SELECT * FROM tasks ORDER BY createdAt DESC LIMIT ? OFFSET ?"
    rows = db.execute(sql, (pageSize, (page - 1) * pageSize)).fetchall()
    items = [shown(row) for row in rows]
    found = {"items": items, "total": total, "page": page, "pageSize": pageSize}
    return JSONResponse(found)

@app.post("/api/tasks", status_code=201)
async def create(given: Given):
    db.execute("BEGIN IMMEDIATE")
    id = add(given)
    db.execute("COMMIT")
    row = db.execute("SELECT * FROM tasks WHERE id = ?", (id,)).fetchone()
    return JSONResponse(shown(row), status_code=201)

db.execute("BEGIN")
for n in range(int(sys.argv[3])):
    add(Given(title=f"Task {n}", description="text " * 20, type="long"))
db.execute("COMMIT")
sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
sock.bind(("127.0.0.1", 0))
print(json.dumps({"url": f"http://127.0.0.1:{sock.getsockname()[1]}"}), flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False)).run([sock])
"""


def measure(folder: Path) -> list[Figure]:
    house = Path(mkdtemp(dir=folder))
    (house / "segue.toml").write_text(SETTINGS)
    fill(house)
    with serving(house) as (url, pid, _began_s):
        still_at_s(pid, IDLE_WITHIN_S)
        _status, body = asyncio.run(ask(url, "GET", "/api/tasks?pageSize=1"))
        [sample] = json.loads(body)["items"]
        with plain(folder, sample) as bare:
            ours_ms, plain_ms = in_turn(
                ROUNDS, lambda: asyncio.run(p95_ms(url)), lambda: asyncio.run(p95_ms(bare))
            )
            ours, others = in_turn(
                ROUNDS, lambda: asyncio.run(posts(url)), lambda: asyncio.run(posts(bare))
            )
    get = "GET /api/tasks, p95 ÷ plain FastAPI + sqlite"
    post = "POST /api/tasks per s ÷ plain FastAPI + sqlite"
    return [
        Figure(
            get, min(ours_ms) / min(plain_ms), GET_TARGET, at_least=False,
            details=(
                f"a page of {PAGE} of {TASKS:,}, each once, p95 ms: {listed(ours_ms, '{:.1f}')}",
                f"plain, ms: {listed(plain_ms, '{:.1f}')}",
            ),
        ),
        Figure(
            post, max(ours) / max(others), POST_TARGET, at_least=True,
            details=(f"drafts made, /s: {listed(ours)}", f"plain, /s: {listed(others)}"),
        ),
    ]  # fmt: skip


@contextmanager
def plain(folder: Path, sample: dict[str, object]) -> Iterator[str]:
    """The plain server, with as many tasks, each as big as one of ours."""
    database = Path(mkdtemp(dir=folder)) / "plain.db"
    own = {"id", "status", "type", "title", "description", "createdAt", "updatedAt"}
    rest = json.dumps({name: value for name, value in sample.items() if name not in own})
    argv = [sys.executable, "-c", PLAIN, str(database), rest, str(TASKS)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())["url"]
        finally:
            process.kill()


async def p95_ms(url: str) -> float:
    """Of pages that were not asked for before, one after the other on one connection."""
    pages = random.Random(7).sample(range(1, TASKS // PAGE + 1), 100)
    reader, writer = await connect(url)
    times_s = []
    # A new task: whatever was kept of an earlier round is not true any more.
    await ask(url, "POST", "/api/tasks", GIVEN)
    for page in pages:
        began = time.perf_counter()
        writer.write(request("GET", f"/api/tasks?page={page}&pageSize={PAGE}", b"", url))
        status, body = await answer(reader)
        times_s.append(time.perf_counter() - began)
        assert status == 200, (status, body)
        assert len(json.loads(body)["items"]) == PAGE
    writer.close()
    return quantiles(times_s, n=20)[-1] * 1e3


async def posts(url: str) -> float:
    """Answers per second on a few connections that stay open."""
    began = time.perf_counter()
    each = POSTS // CONNECTIONS
    await asyncio.gather(*(_post(url, each) for _connection in range(CONNECTIONS)))
    return POSTS / (time.perf_counter() - began)


async def _post(url: str, count: int) -> None:
    reader, writer = await connect(url)
    for _n in range(count):
        writer.write(request("POST", "/api/tasks", json.dumps(GIVEN).encode(), url))
        status, body = await answer(reader)
        assert status == 201, (status, body)
    writer.close()
