"""Segue is killed with -9 at every moment at which a plan has something to tell people outside.

A notice is a row of the transaction that it tells of; each way that has delivered it is marked in
the row. So a receiver that has acknowledged it gets it once. Segue cannot know of an answer that
came when it was killed before it could mark it: then, and only then, the same notice is sent a
second time, with the same id.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from kit.crashing import crashing
from segue.work.project import Project

WORKERS = 4
PLAN = "- [ ] **T-1**: Break\n  - run: echo too bad; exit 3\n  - retries: 0\n"
AGENT = """\
[agents.mine]
kind = "command"
command = ["/bin/sh", "-c", 'cat > /dev/null; cd "$SEGUE_PROJECT"; for f in ${SEGUE_CHECKPOINT:+made.txt} ${SEGUE_CHAPTER:+$SEGUE_TARGET}; do echo made > "$f"; done']
"""
BOOK = """\
title = "A short night"
chapters = 1
writer = "mine"
judge_command = ["/bin/sh", "-c", 'echo "{\\"score\\": 90, \\"reasons\\": []}"']
"""
DESIGN = """\
# Design

```yaml checkpoints
- {"id": "cp-1", "description": "a", "validate": "test -e made.txt", "depends": [], "files": ["made.txt"]}
```
"""
STATE = """\
phase: IMPLEMENT
strategy: subagent
feature: "chat"
started_at: "2026-02-16T10:00:00"
updated_at: "2026-02-16T11:30:00"
checkpoints:
  cp-1: { status: pending, iteration: 0 }
"""


@dataclass(frozen=True)
class Kind:
    """A work of a kind, and what it sends. `moments`: those of every change, or of notices only."""

    name: str
    moments: str
    files: dict[str, str]
    words: tuple[str, ...]
    exit: int
    sends: tuple[str, ...]


KINDS = [
    Kind(
        "tasklist", "plan", {"PLAN.md": PLAN}, ("run", "PLAN.md", "--on-failed", "stop"), 1,
        ("failed", "failed"),
    ),
    Kind("book", "notices", {"book.toml": BOOK, "segue.toml": AGENT}, ("write-all",), 0, ("completed",)),
    Kind(
        "feature", "notices",
        {
            "segue.toml": f'agent = "mine"\n{AGENT}',
            "docs/design/chat.md": DESIGN,
            ".develop-workflow/state.yaml": STATE,
        },
        ("develop", "--resume"), 0, ("completed",),
    ),
]  # fmt: skip


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


def segue(kind: Kind, project: Path, die_at: int) -> int:
    """How it ended."""
    home = {"HOME": str(project)}
    return crashing(kind.moments, project, die_at, *kind.words, ends=(kind.exit,), more_env=home)


def marked(project: Path) -> set[str]:
    """The ids of the notices whose rows say that they were delivered."""
    path = Project(project).database
    if not path.exists():
        return set()
    with closing(sqlite3.connect(path)) as db:
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'notices'").fetchone():
            return set()
        rows = db.execute("SELECT work, id, sent FROM notices").fetchall()
    return {f"{work}-{id}" for work, id, sent in rows if json.loads(sent)}


@pytest.mark.parametrize("worker", range(WORKERS))
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_killed_at_any_moment_each_notice_of_a_plan_arrives(
    kind: Kind, worker: int, tmp_path: Path, receiver: Receiver
) -> None:
    """The failure of a task and the end of the work arrive, once unless Segue was killed between
    the receiver's answer and the mark; a start that has nothing to send repeats nothing."""
    project = tmp_path / "project"

    def afresh() -> None:
        shutil.rmtree(project, ignore_errors=True)
        address = f"http://127.0.0.1:{receiver.server_port}/x"
        notify = f'[notify]\nchannels = ["webhook:{address}"]\n'
        for name, text in {"segue.toml": "", **kind.files}.items():
            path = project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + notify if name == "segue.toml" else text)
        receiver.got.clear()

    afresh()
    assert segue(kind, project, 0) == kind.exit
    moments = int((project / "moments").read_text())
    assert sorted(event for _id, event in receiver.got) == sorted(kind.sends)
    for die_at in range(1 + worker, moments + 1, WORKERS):
        afresh()
        segue(kind, project, die_at)
        once = marked(project)
        for _start in range(2):
            assert segue(kind, project, 0) == kind.exit
        times = Counter(id for id, _event in receiver.got)
        why = f"killed at moment {die_at} of {moments}: {times}, marked: {once}"
        assert len(times) == len(kind.sends), why
        assert all(times[id] == 1 if id in once else times[id] <= 2 for id in times), why
