"""`segue serve`: the journal, the numbered event stream, idempotency keys, metrics."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import pytest

from kit.serve import GOOD, QUESTION, TWO, House
from kit.server import Json, Server
from kit.waiting import until

TASK_TABLE = {
    (None, "draft"), ("draft", "pending"), ("pending", "in_progress"), ("pending", "draft"),
    ("in_progress", "review"), ("in_progress", "in_progress"), ("in_progress", "failed"),
    ("in_progress", "completed"), ("review", "in_progress"), ("review", "completed"),
    ("review", "failed"),
}  # fmt: skip


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.end_everything()


def is_last(task: str, state: str) -> Callable[[Json], bool]:
    """Whether an event says that this task came into this state."""

    def there(event: Json) -> bool:
        told = event["data"]
        return (told.get("entity"), told.get("taskId"), told.get("to")) == ("task", task, state)

    return there


def lived(house: House) -> tuple[Server, str]:
    """A task with a question, a change request and two phases behind it."""
    house.hand("a", f"""case $n in 1) {QUESTION} ;; 2|3) {GOOD} ;;
*) write two.md 'All of the second.'; phase 2 ;; esac
""")  # fmt: skip
    server = house.serve()
    task = server.new(kind="two")
    server.answer(task, "SQLite").ok()
    review = server.review(task)
    server.post(f"/reviews/{review}/request-changes", {"feedback": "More."}).ok()
    until(lambda: house.starts(task) == 3, "rework")
    server.approve(task).ok()
    until(lambda: server.task(task)["currentPhase"] == 2, "phase 2")
    server.approve(task).ok()
    server.reaches(task, "completed")
    return server, task


def test_the_journal_has_every_transition(house: House) -> None:
    """Rows in the promised shape; task and agent are each one unbroken chain by their tables."""
    server, task = lived(house)
    rows = server.journal(task)
    for row in rows:
        assert row["type"] == "state_transition" and row["taskId"] == task
        assert {"timestamp", "from", "to", "trigger", "metadata"} <= row.keys()
        assert isinstance(row["metadata"], dict) and row["trigger"]
        assert datetime.fromisoformat(row["timestamp"]).tzinfo is not None
    assert [r["timestamp"] for r in rows] == sorted(r["timestamp"] for r in rows)
    for entity in ("task", "agent"):
        chain = [row for row in rows if row["entity"] == entity]
        for before, after in itertools.pairwise(chain):
            assert before["to"] == after["from"], "nothing is missing between"
    steps = {(row["from"], row["to"]) for row in rows if row["entity"] == "task"}
    assert steps <= TASK_TABLE
    agent = server.path(task, "agent")
    assert agent == [
        "idle", "running", "waiting_question", "running", "waiting_review", "running",
        "waiting_review", "running", "waiting_review", "completed",
    ]  # fmt: skip
    phases = [
        r["metadata"].get("phase") for r in rows if (r["entity"], r["to"]) == ("task", "review")
    ]
    assert phases == [1, 1, 2]


def test_events_are_numbered_and_gaps_are_filled(house: House) -> None:
    """Broken off in the middle and taken up with Last-Event-ID: every event once, in order."""
    server, task = lived(house)
    with server.stream(after=0) as stream:
        everything = stream.until(is_last(task, "completed"))
    numbers = [event["id"] for event in everything]
    assert all(isinstance(number, int) for number in numbers)
    assert numbers == sorted(set(numbers))
    middle = numbers[len(numbers) // 2]
    with server.stream(after=middle) as stream:
        rest = stream.until(is_last(task, "completed"))
    assert [event["id"] for event in rest] == [number for number in numbers if number > middle]
    told = [e["data"] for e in everything if e["data"].get("entity") == "task"]
    rows = [r for r in server.journal(task) if r["entity"] == "task"]
    assert [(r["from"], r["to"]) for r in told] == [(r["from"], r["to"]) for r in rows]


def test_events_come_as_they_happen(house: House) -> None:
    """An open stream without Last-Event-ID gets what happens from now on, not what was."""
    house.hand("a", GOOD)
    server = house.serve()
    old = server.new()
    server.reaches(old, "review")
    with server.stream() as stream:
        task = server.new()
        seen = stream.until(is_last(task, "review"))
    assert all(event["data"].get("taskId") == task for event in seen)


def test_a_tasks_stream_has_only_its_own(house: House) -> None:
    """`/tasks/{id}/events`: nothing of other tasks."""
    house.hand("a", GOOD)
    server = house.serve()
    one, two = server.new(), server.new()
    for task in (one, two):
        server.reaches(task, "review")
    with server.stream(f"/tasks/{one}/events", after=0) as stream:
        seen = stream.until(lambda e: e["data"].get("to") == "waiting_review")
    assert {event["data"]["taskId"] for event in seen if "taskId" in event["data"]} == {one}
    server.get("/tasks/task_nothing/events").problem(404)


def test_numbers_go_on_over_a_restart(house: House) -> None:
    """After kill -9 a client takes up where it was: nothing twice, nothing missing."""
    house.hand("a", TWO)
    server = house.serve()
    task = server.new(kind="two")
    with server.stream(after=0) as stream:
        before = stream.until(is_last(task, "review"))
    server.reaches(task, "review")
    server.kill()
    server = house.serve()
    server.approve(task).ok()
    until(lambda: server.task(task)["currentPhase"] == 2, "phase 2")
    server.reaches(task, "review")
    with server.stream(after=before[-1]["id"]) as stream:
        after = stream.until(is_last(task, "review"))
    assert after[0]["id"] > before[-1]["id"]
    moved = [(e["data"]["from"], e["data"]["to"]) for e in [*before, *after]
             if e["data"].get("entity") == "task"]  # fmt: skip
    assert moved == [
        (None, "draft"), ("draft", "pending"), ("pending", "in_progress"),
        ("in_progress", "review"), ("review", "in_progress"), ("in_progress", "review"),
    ]  # fmt: skip


def test_a_silent_stream_beats(house: House) -> None:
    """Where nothing happens a heartbeat comes, so that both ends know the other lives."""
    house.hand("a", GOOD)
    server = house.serve()
    with server.stream() as stream:
        beats = 0
        while beats < 2:
            line = stream.reply.readline()
            assert line, "the stream ended"
            beats += line.startswith((b":", b"event: heartbeat", b"event: ping"))


def test_a_wrong_last_event_id_does_no_harm(house: House) -> None:
    """Refused in words, or taken as none; never an error of the server."""
    house.hand("a", GOOD)
    server = house.serve()
    for number in ("x", "-1", "99999999999999999999999", "1.5", ""):
        link = http.client.HTTPConnection(server.host, server.port, timeout=60)
        headers = {"Authorization": f"Bearer {server.token}", "Last-Event-ID": number}
        try:
            link.request("GET", "/api/events", headers=headers)
            with link.getresponse() as reply:
                assert reply.status in (200, 400, 422), number
        finally:
            link.close()
    assert server.raw("GET", "/health").status == 200


def test_clients_that_do_not_read_slow_nobody(house: House) -> None:
    """Forty streams that nobody reads: tasks go on, and one that reads gets everything."""
    house.hand("a", GOOD)
    server = house.serve()
    with contextlib.ExitStack() as stack:
        for _number in range(40):
            stack.enter_context(server.stream())
        tasks = [server.new(kind="one") for _number in range(4)]
        for task in tasks:
            server.reaches(task, "review")
    assert server.raw("GET", "/health").status == 200


# --- idempotency


def made(server: Server, key: str, **more: object) -> Json:
    body = {"title": "T", "description": "D", "type": "one", "agent": "a", **more}
    return server.ask("POST", "/tasks", body, {"Idempotency-Key": key}).ok()  # type: ignore[no-any-return]


def test_the_same_key_makes_one_task(house: House) -> None:
    """Sent again (also after kill -9, also twenty at once): the same answer, one task."""
    house.hand("a", GOOD)
    server = house.serve()
    first = made(server, "key-1")
    assert made(server, "key-1")["id"] == first["id"]
    assert made(server, "key-2")["id"] != first["id"]
    with ThreadPoolExecutor(20) as pool:
        ids = set(pool.map(lambda _n: made(server, "key-3")["id"], range(20)))
    assert len(ids) == 1
    server.kill()
    server = house.serve()
    assert made(server, "key-1")["id"] == first["id"]
    assert server.get("/tasks").ok()["total"] == 3


def test_a_key_is_bound_to_its_request(house: House) -> None:
    """The same key with another body is refused, and makes nothing."""
    house.hand("a", GOOD)
    server = house.serve()
    made(server, "key-1")
    body = {"title": "Other", "description": "D", "type": "one", "agent": "a"}
    server.ask("POST", "/tasks", body, {"Idempotency-Key": "key-1"}).problem(409, 422)
    assert server.get("/tasks").ok()["total"] == 1


def test_an_approval_that_is_sent_again_with_its_key_succeeds(house: House) -> None:
    """A client that lost the answer repeats it: 200 again, one effect."""
    house.hand("a", TWO)
    server = house.serve()
    task = server.new(kind="two")
    review = server.review(task)
    key = {"Idempotency-Key": "approve-1"}
    for _time in range(2):
        assert server.ask("POST", f"/reviews/{review}/approve", None, key).status == 200
    until(lambda: server.task(task)["currentPhase"] == 2, "phase 2")
    server.reaches(task, "review")
    assert house.starts(task) == 2


# --- what watches it


def test_metrics_and_health(house: House) -> None:
    """`/health` without a token, `/metrics` in Prometheus's text; both at the root and under `/api`."""
    house.hand("a", GOOD)
    server = house.serve()
    task = server.new()
    server.reaches(task, "review")
    for path in ("/health", "/api/health"):
        answer = server.raw("GET", path)
        assert answer.status == 200 and answer.json["status"] == "ok"
        assert task not in answer.body.decode()
    token = {"Authorization": f"Bearer {server.token}"}
    for path in ("/metrics", "/api/metrics"):
        answer = server.raw("GET", path, None, token)
        assert answer.status == 200
        assert answer.headers["content-type"].startswith("text/plain")
        text = answer.body.decode()
        assert re.search(r'^segue_tasks\{[^}]*"review"[^}]*\} 1$', text, re.MULTILINE)
        for line in text.splitlines():
            assert re.match(r"^(#|[a-zA-Z_:][\w:]*(\{.*\})? [-+\d.eEinfNa]+$)", line), line


def test_the_api_documents_itself(house: House) -> None:
    """OpenAPI 3 at `/api/openapi.json` with every path of the specification."""
    house.hand("a", GOOD)
    server = house.serve()
    document = server.get("/openapi.json").ok()
    assert document["openapi"].startswith("3.")
    base = "" if any(path.startswith("/api/") for path in document["paths"]) else "/api"
    paths = {
        re.sub(r"\{\w+\}", "{}", base + path): set(acts) for path, acts in document["paths"].items()
    }
    wanted = {"/api/tasks": {"get", "post"}, "/api/tasks/{}": {"get", "patch", "delete"},
              "/api/settings": {"get", "patch"}}  # fmt: skip
    for act in ("submit", "cancel", "pause", "resume", "archive", "retry", "fork", "rewind"):
        wanted[f"/api/tasks/{{}}/{act}"] = {"post"}
    for part in ("agent", "phases", "reviews", "questions", "dependencies", "checkpoints", "journal",
                 "deliverables.zip", "log", "events"):  # fmt: skip
        wanted[f"/api/tasks/{{}}/{part}"] = {"get"}
    for path in ("reviews/{}/approve", "reviews/{}/request-changes", "questions/{}/answer",
                 "dependencies/{}/provide", "dependencies/{}/reject"):  # fmt: skip
        wanted[f"/api/{path}"] = {"post"}
    for path in ("questions", "events", "limits", "workers", "health", "metrics"):
        wanted[f"/api/{path}"] = {"get"}
    for path, acts in wanted.items():
        assert acts <= paths.get(path, set()), path


def test_settings_are_shown_and_changed(house: House) -> None:
    """The slots are changed while it runs, and hold; nonsense is 422."""
    house.hand("a", f"touch {house.out}/$SEGUE_TASK.up\nhold go\n" + GOOD)
    server = house.serve("--slots", "1")
    one, two = server.new(), server.new()
    server.agent_is(one, "running")
    assert server.task(two)["status"] == "pending"
    assert server.get("/settings").ok()["slots"] == 1
    for wrong in (
        {"slots": 0},
        {"slots": "many"},
        {"slots": -1},
        {"nonsense": 1},
        {"slots": 10**9},
    ):
        answer = server.ask("PATCH", "/settings", wrong)
        assert answer.status == 422, (wrong, answer)
    assert server.ask("PATCH", "/settings", {"slots": 2}).ok()["slots"] == 2
    server.agent_is(two, "running")
    assert json.loads(server.get("/workers").body)["items"][0]["slots"] == 2
