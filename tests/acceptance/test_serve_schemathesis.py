"""Every route of the server's own OpenAPI document, with generated requests, at the real server.

The requests are the same in every run (no seed from the clock, no memory of earlier runs); only
the ids of what is there differ. Streams never end, so they are left out of generation, and
nothing else is.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.core.result import Ok

from kit.serve import GOOD, NEEDS, QUESTION, House
from kit.server import Json, Server
from kit.waiting import until

EXAMPLES = 6  # for each operation, once with requests that fit and once with others
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
STREAMS = {("GET", "/api/events"), ("GET", "/api/tasks/{id}/events")}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    made.hand("quick", GOOD)
    made.hand("asks", f"case $n in 1) {QUESTION} ;; *) {GOOD} ;; esac\n")
    made.hand("needs", f"case $n in 1) {NEEDS} ;; *) {GOOD} ;; esac\n")
    made.hand("slow", "hold never\n")
    made.hand("bad", "exit 3\n")
    yield made
    made.end_everything()


@dataclass
class Stock:
    """A server with tasks in every state, and something for which each action is allowed."""

    server: Server
    fit: dict[str, str]  # by the action: the last part of its path, or its method
    kept: set[str]  # tasks that no other action may change

    def fitting(self, operation: Any) -> str:
        """What an operation can be done to."""
        method, last = operation.method.upper(), operation.path.rpartition("/")[2]
        if last == "{id}":
            kind = operation.path.split("/")[2]
            return self.fit[f"{method} {kind}"]
        return self.fit.get(last, self.fit["GET tasks"])

    def ids(self, operation: Any) -> list[str]:
        """What is there, of the kind that the path names; what fits first, and nothing that is
        kept for another action."""
        tasks = [str(task["id"]) for task in self.server.items("/tasks")]
        kind = operation.path.split("/")[2]
        if operation.method.upper() != "GET":
            tasks = [id for id in tasks if id not in self.kept]
        if kind == "work":
            return ["server"]
        if kind == "tasks":
            return [self.fitting(operation), *tasks]
        lists = (self.server.items(f"/tasks/{task}/{kind}") for task in tasks)
        return [self.fitting(operation), *(str(gate["id"]) for gates in lists for gate in gates)]

    def body(self, operation: Any, id: str, body: object) -> object:
        """What was generated, with the values that only somebody who looks can know."""
        match operation.path.rpartition("/")[2]:
            case "rewind":
                newest = self.server.items(f"/tasks/{id}/checkpoints")[0]
                return {"checkpointId": newest["id"]}
            case "answer":
                return {"answer": "SQLite"}
            case "tasks":
                return {"title": "T", "type": "one"}
            case "settings":
                return {"slots": 16}
        return body


def stocked(house: House) -> Stock:
    server = house.serve("--slots", "16", top='agent = "quick"')
    needs, needs_too = server.new("needs"), server.new("needs")
    asks, bad = server.new("asks"), server.new("bad")
    done, reviewed, reviewed_too, back = (server.new("quick") for _ in range(4))
    cancelled, running, paused = (server.new("slow") for _ in range(3))
    stuck, stuck_too = (server.new("quick", dependsOn=[bad]) for _ in range(2))
    draft, draft_too, changed = (server.new("quick", submit=False) for _ in range(3))
    kept = {str(task["id"]) for task in server.items("/tasks")}
    server.new("quick", dependsOn=[paused])
    shown = server.review(done)
    server.approve(done).ok()
    server.agent_is(paused, "running")
    server.do(paused, "pause")
    fit = {
        "GET tasks": done, "GET reviews": shown, "PATCH tasks": changed, "DELETE tasks": draft_too,
        "provide": server.waiting("dependencies", needs)["id"],
        "reject": server.waiting("dependencies", needs_too)["id"],
        "answer": server.waiting("questions", asks)["id"],
        "approve": server.review(reviewed), "request-changes": server.review(reviewed_too),
        "submit": draft, "cancel": cancelled, "pause": running, "resume": paused,
        "archive": done, "messages": running, "retry": bad, "go-without": stuck,
        "fail": stuck_too, "fork": done, "rewind": back,
    }  # fmt: skip
    server.reaches(bad, "failed")
    server.review(back)
    for task in (cancelled, running):
        server.agent_is(task, "running")
    for task in (done, back):
        until(lambda: server.items(f"/tasks/{task}/checkpoints"), "a checkpoint")  # noqa: B023
    return Stock(server, fit, kept)


def is_stream(operation: Any) -> bool:
    answers = operation.definition.raw["responses"]
    return "text/event-stream" in answers.get("200", {}).get("content", {})


def order(operation: Any) -> tuple[int, str, str]:
    """Looks first; what takes away last."""
    weight = {"GET": 0, "DELETE": 2}.get(operation.method.upper(), 1)
    return weight, operation.path, operation.method


def try_operation(operation: Any, mode: GenerationMode, stock: Stock) -> set[int]:
    """Some requests to one operation, the first to what it can be done to; what came back."""
    seen: set[int] = set()
    turns = itertools.count()
    headers = {"Authorization": f"Bearer {stock.server.token}"}
    ids = stock.ids(operation) if "{id}" in operation.path else []

    @seed(0)
    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def requests(case: Any) -> None:
        turn = next(turns)
        if ids and turn % 4 != 3:  # one of four is about nothing that is there
            case.path_parameters = {**case.path_parameters, "id": ids[turn % len(ids)]}
        if not turn and "path" in case.path_parameters:
            (first, *_more) = stock.server.items(f"/tasks/{ids[0]}/files")
            case.path_parameters["path"] = first["path"]
        if not turn and mode is GenerationMode.POSITIVE and operation.body:
            case.body = stock.body(operation, case.path_parameters.get("id", ""), case.body)
        answer = case.call(base_url=stock.server.url, headers=headers)
        seen.add(answer.status_code)
        case.validate_response(answer, checks=CHECKS)

    with contextlib.suppress(Unsatisfiable):  # a route that takes nothing has no wrong requests
        requests()
    return seen


def test_every_route_keeps_to_its_document(house: House) -> None:
    """No 5xx, no status, type, header or shape that the document does not name."""
    stock = stocked(house)
    document: Json = stock.server.get("/openapi.json").ok()
    schema = schemathesis.openapi.from_dict(document)
    results = list(schema.get_all_operations())
    operations = [result.ok() for result in results if isinstance(result, Ok)]
    assert len(operations) == len(results)
    assert {(o.method.upper(), o.path) for o in operations} == {
        (method.upper(), path) for path, each in document["paths"].items() for method in each
    }
    streams = {(o.method.upper(), o.path) for o in operations if is_stream(o)}
    assert streams == STREAMS, "these never end; nothing else is left out"

    seen: dict[str, set[int]] = {}
    wrong: list[str] = []
    for operation in sorted(operations, key=order):
        if is_stream(operation):
            continue
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            try:
                found = try_operation(operation, mode, stock)
                seen.setdefault(operation.label, set()).update(found)
            except (Exception, BaseExceptionGroup) as error:  # noqa: BLE001 - told at the end
                wrong.append(f"{operation.label} ({mode.value}): {error!r}\n{error}")
    assert not wrong, "\n\n".join(wrong)
    assert len(seen) == len(operations) - len(STREAMS)
    never = {label: found for label, found in seen.items() if not any(s < 300 for s in found)}
    assert not never, "each was done at least once"
    assert stock.server.stop() == 0
    assert "Traceback" not in stock.server.going.result.err


def test_streams_keep_to_their_document(house: House) -> None:
    """What they answer where they are no streams is documented, too."""
    server = house.serve()
    document: Json = server.get("/openapi.json").ok()
    task = server.new("quick", submit=False)
    answers = [
        ("/events", "/events?lastEventId=x", 422),
        ("/tasks/{id}/events", "/tasks/nothing/events", 404),
        ("/tasks/{id}/events", f"/tasks/{task}/events?lastEventId=-1", 422),
    ]
    for route, path, status in answers:
        server.get(path).problem(status)
        assert str(status) in document["paths"][f"/api{route}"]["get"]["responses"]
    with server.stream(after=0) as stream:
        assert stream.next()["event"]
