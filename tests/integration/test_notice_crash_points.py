"""Segue is killed with -9 at every moment at which a plan has something to tell people outside.

A notice is a row of the transaction that it tells of; each way that has delivered it is marked in
the row. So a receiver that has acknowledged it gets it once. Segue cannot know of an answer that
came when it was killed before it could mark it: then, and only then, the same notice is sent a
second time, with the same id.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from kit.crashing import crashing

WORKERS = 4
PLAN = "- [ ] **T-1**: Break\n  - run: echo too bad; exit 3\n  - retries: 0\n"


class Receiver(ThreadingHTTPServer):
    """Keeps the id and the event of everything that it acknowledges."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.got: list[tuple[str, str]] = []


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.got.append((body["id"], body["event"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_args: Any) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    thread = threading.Thread(target=made.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def segue(project: Path, die_at: int) -> int:
    """How it ended."""
    words = ("run", "PLAN.md", "--on-failed", "stop")
    home = {"HOME": str(project)}
    return crashing("plan", project, die_at, *words, ends=(1,), more_env=home)


def marked(project: Path) -> set[str]:
    """The ids of the notices whose rows say that they were delivered."""
    path = project / ".segue" / "segue.db"
    if not path.exists():
        return set()
    with closing(sqlite3.connect(path)) as db:
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'notices'").fetchone():
            return set()
        rows = db.execute("SELECT work, id, sent FROM notices").fetchall()
    return {f"{work}-{id}" for work, id, sent in rows if json.loads(sent)}


@pytest.mark.parametrize("worker", range(WORKERS))
def test_killed_at_any_moment_each_notice_of_a_plan_arrives(
    worker: int, tmp_path: Path, receiver: Receiver
) -> None:
    """The failure of a task and the end of the work arrive, once unless Segue was killed between
    the receiver's answer and the mark; a start that has nothing to send repeats nothing."""

    def afresh() -> None:
        subprocess.run(["rm", "-rf", tmp_path / ".segue"], check=True)
        (tmp_path / "PLAN.md").write_text(PLAN)
        address = f"http://127.0.0.1:{receiver.server_port}/x"
        (tmp_path / "segue.toml").write_text(f'[notify]\nchannels = ["webhook:{address}"]\n')
        receiver.got.clear()

    afresh()
    assert segue(tmp_path, 0) == 1
    moments = int((tmp_path / "moments").read_text())
    assert sorted(event for _id, event in receiver.got) == ["failed", "failed"]
    for die_at in range(1 + worker, moments + 1, WORKERS):
        afresh()
        segue(tmp_path, die_at)
        once = marked(tmp_path)
        for _start in range(2):
            assert segue(tmp_path, 0) == 1
        times = Counter(id for id, _event in receiver.got)
        why = f"killed at moment {die_at} of {moments}: {times}, marked: {once}"
        assert len(times) == 2, why
        assert all(times[id] == 1 if id in once else times[id] <= 2 for id in times), why
