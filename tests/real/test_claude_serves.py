"""Claude Code, for real, as an agent of the server: one phase with all that can happen in it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .stage import FULL, Stage

SEGUE = Path(sys.executable).with_name("segue")
TOKEN = "a-token-for-tests"
TYPE = """
[types.note]
[[types.note.phases]]
name = "draft"
deliverables = ["note.md"]
"""


class Server:
    """`segue serve` in the stage's folder, by its REST interface."""

    def __init__(self, url: str, process: subprocess.Popen[str]) -> None:
        self.url, self.process = url, process

    def ask(self, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}/api{path}", data, headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def until(self, path: str, is_so: Any, within_s: float = 90) -> Any:
        end = time.monotonic() + within_s
        while not is_so(found := self.ask(path)):
            assert time.monotonic() < end, found
            time.sleep(0.1)
        return found


@contextmanager
def serving(stage: Stage) -> Iterator[Server]:
    env = {**stage.env(), "SEGUE_TOKEN": TOKEN}
    with subprocess.Popen(
        [SEGUE, "serve", "--port", "0", "--json"],
        cwd=stage.root,
        env=env,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            yield Server(json.loads(process.stdout.readline())["url"], process)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def test_a_phase_with_a_limit_and_a_death(stage: Stage) -> None:
    """A file is written by a tool; a limit parks it; killed and started again it goes on in its
    conversation, is reviewed, and completes once."""
    stage.agent(
        "claude",
        "429u5h:4",
        "write:note.md:The sea is deep.",
        "say:=== PHASE 1 COMPLETE ===",
        more=FULL,
        oauth=True,
        rest=TYPE,
    )
    given = {"title": "A note", "description": "About the sea", "type": "note", "submit": True}
    with serving(stage) as server:
        id = server.ask("/tasks", given)["id"]
        paused = server.until(f"/tasks/{id}/agent", lambda found: found["status"] == "paused")
        assert paused["limit"] == "session_limit"
        server.process.kill()
    with serving(stage) as server:
        task = server.until(f"/tasks/{id}", lambda found: found["status"] in ("review", "failed"))
        assert task["status"] == "review", task["error"]
        assert (Path(task["workspace"]) / "note.md").read_text().strip() == "The sea is deep."
        (review,) = server.ask(f"/tasks/{id}/reviews")["items"]
        server.ask(f"/reviews/{review['id']}/approve", {})
        server.until(f"/tasks/{id}", lambda found: found["status"] == "completed")
        assert server.ask(f"/tasks/{id}")["usage"]["outputTokens"] > 0
        causes = [entry["trigger"] for entry in server.ask(f"/tasks/{id}/journal")["items"]]
        assert causes.count("limit") == causes.count("wake") == 1
    prompts = [asked for asked in stage.asked() if "About the sea" in json.dumps(asked.messages)]
    assert len(prompts) >= 3, "one conversation"


def test_a_fork_goes_on_in_a_copy_of_the_conversation(stage: Stage) -> None:
    """In a folder of its own it knows what was said before; the other conversation stays as it
    was, and each is gone on with by itself from then on."""
    done = "say:=== PHASE 1 COMPLETE ==="
    stage.agent("claude", "write:note.md:The sea is deep.", *[done] * 3, more=FULL, rest=TYPE)
    given = {"title": "A note", "description": "About the sea", "type": "note", "submit": True}

    def reviewed(server: Server, id: str) -> None:
        task = server.until(f"/tasks/{id}", lambda found: found["status"] in ("review", "failed"))
        assert task["status"] == "review", task["error"]

    with serving(stage) as server:
        id = server.ask("/tasks", given)["id"]
        reviewed(server, id)
        server.until(f"/tasks/{id}/checkpoints", lambda found: found["total"])
        forked = server.ask(f"/tasks/{id}/fork", {})
        reviewed(server, forked["id"])
        folder = Path(server.ask(f"/tasks/{forked['id']}")["workspace"])
        assert (folder / "note.md").read_text().strip() == "The sea is deep."
        said = [message["text"] for message in stage.asked()[-1].messages]
        assert "About the sea" in said[0], "what was said before the fork"
        assert "a copy of the task" in said[-1]
        own = dict(stage.rows("SELECT id, resume_id FROM server_agents"))
        assert len(set(own.values())) == 2 and not any("fork:" in name for name in own.values())
        (review,) = server.ask(f"/tasks/{id}/reviews")["items"]
        server.ask(f"/reviews/{review['id']}/request-changes", {"feedback": "Longer, please."})
        server.until(f"/tasks/{id}/reviews", lambda found: found["total"] == 2)
        told = json.dumps(stage.asked()[-1].messages)
        assert "Longer, please." in told and "a copy of the task" not in told
