"""The server as a whole: figures, log, settings, and what its own document says of it."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest

from kit.front import FakeCommands, Front
from segue.core.plan import TaskState
from segue.server import log

SPEC = {
    "/tasks": {"get", "post"},
    "/tasks/{id}": {"get", "patch", "delete"},
    **{f"/tasks/{{id}}/{verb}": {"post"} for verb in (
        "submit", "cancel", "pause", "resume", "archive", "retry", "go-without", "fail",
        "fork", "rewind")},
    **{f"/tasks/{{id}}/{noun}": {"get"} for noun in (
        "agent", "phases", "reviews", "questions", "dependencies", "checkpoints", "journal",
        "deliverables.zip", "log", "events", "conversation", "files", "files/{path}", "diff")},
    "/tasks/{id}/messages": {"get", "post"},
    **{f"/{noun}": {"get"} for noun in (
        "reviews", "dependencies", "work", "work/{id}", "usage", "types")},
    "/reviews/{id}": {"get"},
    "/reviews/{id}/approve": {"post"},
    "/reviews/{id}/request-changes": {"post"},
    "/questions": {"get"},
    "/questions/{id}/answer": {"post"},
    "/dependencies/{id}/provide": {"post"},
    "/dependencies/{id}/reject": {"post"},
    "/events": {"get"}, "/inbox": {"get"}, "/limits": {"get"}, "/workers": {"get"},
    "/settings": {"get", "patch"}, "/health": {"get"}, "/metrics": {"get"},
}  # fmt: skip


@pytest.fixture
def document(front: Front) -> dict[str, Any]:
    read: dict[str, Any] = front.api.get("/api/openapi.json").json()
    return read


def test_the_document_has_every_route(document: dict[str, Any]) -> None:
    """Those of the specification, and no others."""
    found = {path.removeprefix("/api"): set(routes) for path, routes in document["paths"].items()}
    assert found == SPEC


def test_the_document_names_every_status(document: dict[str, Any]) -> None:
    """Each route says what it can answer; each problem has the shape of problems."""
    for path, routes in document["paths"].items():
        for method, route in routes.items():
            told = set(route["responses"])
            wanted = {"421", "429"} | ({"401", "422"} if path != "/api/health" else set())
            if method != "get":
                wanted |= {"400", "403", "413", "415"}
            if "{id}" in path:
                wanted |= {"404"}
            assert told >= wanted, (method, path)
            for status, response in route["responses"].items():
                if int(status) >= 400:
                    kinds = {
                        "application/problem+json": {
                            "schema": {"$ref": "#/components/schemas/Problem"}
                        }
                    }
                    assert response["content"] == kinds, (method, path, status)
    assert "HTTPValidationError" not in json.dumps(document)


def test_every_reference_of_the_document_leads_somewhere(document: dict[str, Any]) -> None:
    """A tool that reads it finds all that it names."""
    names = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(document)))
    assert names <= set(document["components"]["schemas"])


def test_posts_take_a_key(document: dict[str, Any]) -> None:
    """Every POST documents the Idempotency-Key."""
    for path, routes in document["paths"].items():
        if "post" in routes:
            names = [parameter["name"] for parameter in routes["post"]["parameters"]]
            assert "Idempotency-Key" in names, path


@pytest.mark.parametrize("path", ["/metrics", "/api/metrics"])
def test_figures_for_prometheus(front: Front, commands: FakeCommands, path: str) -> None:
    """Tasks by state, requests by route, in its text format."""
    id = front.task()["id"]
    commands.put(id, TaskState.REVIEW)
    commands.open("question", id)
    commands.open("question", id, status="answered")
    front.api.get(f"/api/tasks/{id}")
    front.api.get("/api/tasks/none")
    answer = front.api.get(path)
    lines = answer.text.splitlines()
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'segue_tasks{status="review"} 1' in lines
    assert 'segue_tasks{status="draft"} 0' in lines
    assert "segue_questions_pending 1" in lines
    counted = 'segue_http_requests_total{method="GET",route="/api/tasks/{id}",status="%s"} 1'
    assert counted % 200 in lines
    assert counted % 404 in lines
    assert 'segue_http_request_seconds_bucket{le="+Inf"} 3' in lines
    assert "segue_http_request_seconds_count 3" in lines
    for line in lines:
        assert re.fullmatch(
            r"# (HELP|TYPE) .+|[a-z_]+(\{[^}]*(\{id\})?[^}]*\})? [\d.e+-]+", line
        ), line


def test_each_request_is_one_line_of_the_log(front: Front, tmp_path: Path) -> None:
    """Method, path of the route, status, duration, id of the request, id of the task."""
    id = front.task()["id"]
    handler = log.to_file(tmp_path / "server.log")
    try:
        shown = front.api.get(f"/api/tasks/{id}/journal?page=1")
        front.api.get("/nowhere/secret-path")
    finally:
        log.stop(handler)
        log.logger.setLevel(logging.NOTSET)
        log.logger.propagate = True
    first, second = map(json.loads, (tmp_path / "server.log").read_text().splitlines())
    assert (
        first | {"method": "GET", "path": "/api/tasks/{id}/journal", "status": 200, "task": id}
        == first
    )
    assert first["request"] == shown.headers["x-request-id"]
    assert first["ms"] > 0
    assert (second["path"], second["status"]) == ("-", 404)
    assert "task" not in second


def test_settings_are_shown_and_changed(front: Front) -> None:
    """Unknown ones are refused by the commands."""
    assert front.api.get("/api/settings").json() == {"slots": 3}
    assert front.api.patch("/api/settings", json={"slots": 5}).json() == {"slots": 5}
    assert front.api.patch("/api/settings", json={"slotz": 5}).status_code == 422
    assert front.api.patch("/api/settings", json=[1]).status_code == 422


@pytest.mark.parametrize("value", [b"NaN", b"1e999", b'"\\ud800"', b'[{"x": "\\udfff"}]'])
def test_settings_that_cannot_be_kept_are_refused(front: Front, value: bytes) -> None:
    """Numbers without end and halves of characters are no JSON that can be written again."""
    headers = {"Content-Type": "application/json"}
    answer = front.api.patch("/api/settings", content=b'{"slots": %s}' % value, headers=headers)
    assert answer.status_code == 422, answer.text
    assert front.api.get("/api/settings").json() == {"slots": 3}


def test_limits_and_workers_can_be_looked_at(front: Front) -> None:
    """As the server gives them."""
    assert front.api.get("/api/limits").json() == {"accounts": [], "parks": []}
    assert front.api.get("/api/workers").json() == {"items": []}
