"""Claude Code, for real, as an agent of the server: one phase with all that can happen in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kit.server import TOKEN, Server
from kit.stage import FULL, Stage
from kit.waiting import until

TYPE = """
[types.note]
[[types.note.phases]]
name = "draft"
deliverables = ["note.md"]
"""


def until_answer(server: Server, path: str, is_so: Callable[[Any], object]) -> Any:
    """Wait until the server answers so; the answer."""

    def answer() -> Any:
        found = server.get(path).ok()
        return found if is_so(found) else None

    return until(answer, path, every_s=0.1)


@contextmanager
def serving(stage: Stage) -> Iterator[Server]:
    going = stage.start("serve", "--port", "0", "--json", env={"SEGUE_TOKEN": TOKEN})
    server = Server(going)
    yield server
    if going.process.poll() is None:
        assert server.stop() == 0


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
        id = server.post("/tasks", given).ok()["id"]
        paused = until_answer(
            server, f"/tasks/{id}/agent", lambda found: found["status"] == "paused"
        )
        assert paused["limit"] == "session_limit"
        server.kill()
    with serving(stage) as server:
        task = until_answer(
            server, f"/tasks/{id}", lambda found: found["status"] in ("review", "failed")
        )
        assert task["status"] == "review", task["error"]
        assert (Path(task["workspace"]) / "note.md").read_text().strip() == "The sea is deep."
        (review,) = server.get(f"/tasks/{id}/reviews").ok()["items"]
        server.post(f"/reviews/{review['id']}/approve", {}).ok()
        until_answer(server, f"/tasks/{id}", lambda found: found["status"] == "completed")
        assert server.get(f"/tasks/{id}").ok()["usage"]["outputTokens"] > 0
        causes = [entry["trigger"] for entry in server.get(f"/tasks/{id}/journal").ok()["items"]]
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
        task = until_answer(
            server, f"/tasks/{id}", lambda found: found["status"] in ("review", "failed")
        )
        assert task["status"] == "review", task["error"]

    with serving(stage) as server:
        id = server.post("/tasks", given).ok()["id"]
        reviewed(server, id)
        until_answer(server, f"/tasks/{id}/checkpoints", lambda found: found["total"])
        forked = server.post(f"/tasks/{id}/fork", {}).ok()
        reviewed(server, forked["id"])
        folder = Path(server.get(f"/tasks/{forked['id']}").ok()["workspace"])
        assert (folder / "note.md").read_text().strip() == "The sea is deep."
        said = [message["text"] for message in stage.asked()[-1].messages]
        assert "About the sea" in said[0], "what was said before the fork"
        assert "a copy of the task" in said[-1]
        own = {
            row["id"]: row["resume_id"] for row in stage.rows("SELECT id, resume_id FROM agents")
        }
        assert len(set(own.values())) == 2 and not any("fork:" in name for name in own.values())
        (review,) = server.get(f"/tasks/{id}/reviews").ok()["items"]
        server.post(
            f"/reviews/{review['id']}/request-changes", {"feedback": "Longer, please."}
        ).ok()
        until_answer(server, f"/tasks/{id}/reviews", lambda found: found["total"] == 2)
        told = json.dumps(stage.asked()[-1].messages)
        assert "Longer, please." in told and "a copy of the task" not in told
