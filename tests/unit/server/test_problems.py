"""Whatever goes wrong is told in one shape, and nothing of what was sent breaks the server."""

from __future__ import annotations

import json
import logging

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kit.front import FakeCommands, Front
from segue.errors import UserError

JSON = {"Content-Type": "application/json"}
MEMBERS = {"type", "title", "status", "code", "detail"}


def test_a_path_that_is_not_there_is_a_problem(front: Front) -> None:
    """404 with a document, not with a page; a slash too many is another path."""
    for path in ("/api/nowhere", "/api/tasks/", "/api"):
        answer = front.api.get(path)
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json().keys() >= MEMBERS


def test_a_method_that_is_not_there_names_the_others(front: Front) -> None:
    """405 with all methods of the path, though each has a route of its own."""
    answer = front.api.put("/api/tasks/x")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "DELETE, GET, PATCH"
    assert answer.json()["code"] == "wrong_method"


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "json"])
def test_a_body_that_is_not_json_is_refused(front: Front, kind: str | None) -> None:
    """415: also for what a form of another site could send."""
    headers = {} if kind is None else {"Content-Type": kind}
    answer = front.api.post("/api/tasks", content=b'{"title": "t"}', headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (415, "not_json")


def test_an_empty_body_has_no_kind(front: Front) -> None:
    """`curl -X POST -d ''` names a kind for nothing."""
    id = front.task()["id"]
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    assert front.api.post(f"/api/tasks/{id}/submit", headers=headers).status_code == 200


def test_errors_say_where_and_never_what(front: Front) -> None:
    """Each field that does not fit has its pointer; what was sent is not repeated."""
    body = {"title": 7, "type": "custom", "dependsOn": ["ok", 12345678], "nonsense/x": "hunter2"}
    answer = front.api.post("/api/tasks", json=body)
    errors = {error["pointer"]: error["code"] for error in answer.json()["errors"]}
    assert answer.status_code == 422
    assert errors == {
        "#/title": "string_type",
        "#/dependsOn/1": "string_type",
        "#/nonsense~1x": "extra_forbidden",
    }
    assert "hunter2" not in answer.text
    assert "12345678" not in answer.text


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 422),
        (b'{"title": "\xff"}', 400),
        (b"[" * 100_000, 400),
        (b'{"title": "t", "priority": ' + b"9" * 5_000 + b"}", 400),
        (b'{"title": "\\ud800"}', 422),
        (b'{"title": "t", "priority": 1e400}', 422),
        (b'{"title": "t", "priority": 99999999999999999999}', 422),
        (b'{"title": "t", "priority": true}', 422),
        (b'{"title": "' + b"x" * 301 + b'"}', 422),
        (b"null", 422),
        (b"[]", 422),
        (b'"t"', 422),
        (b'{"Title": "t"}', 422),
    ],
)
def test_bodies_of_the_wrong_kind_are_refused(front: Front, body: bytes, status: int) -> None:
    """Broken JSON, broken text, endless numbers, wrong types: 4xx with a document."""
    answer = front.api.post("/api/tasks", content=body, headers=JSON)
    assert answer.status_code == status, answer.text
    assert answer.json()["status"] == status


def test_a_crash_tells_nothing(
    front: Front,
    commands: FakeCommands,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """500 with a document; what happened stands in the log, under the id of the request."""

    def crash(_id: str) -> None:
        raise RuntimeError("the inside of the server")

    monkeypatch.setattr(commands, "task", crash)
    with caplog.at_level(logging.ERROR, "segue.server"):
        answer = front.api.get("/api/tasks/x")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")
    assert "inside" not in answer.text
    assert "the inside of the server" in caplog.text
    assert answer.headers["x-request-id"] in caplog.text
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(("code", "status"), [("disk_full", 503), ("database_busy", 503)])
def test_trouble_with_the_disk_is_told_in_words(
    front: Front, commands: FakeCommands, monkeypatch: pytest.MonkeyPatch, code: str, status: int
) -> None:
    """It is not the client's fault, and it may pass."""

    def fail(_given: object) -> None:
        raise UserError(code, "in words", hint="the cure")

    monkeypatch.setattr(commands, "create_task", fail)
    answer = front.api.post("/api/tasks", json={"title": "t", "type": "custom"})
    assert answer.status_code == status
    assert (answer.json()["detail"], answer.json()["hint"]) == ("in words", "the cure")
    assert ("retry-after" in answer.headers) == (status == 503)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=True)
    | st.text(st.characters(codec=None), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    ["title", "description", "type", "agent", "dependsOn", "priority", "submit", "reason", "value",
     "feedback", "comments", "comment", "answer", "checkpointId", "slots", "file", "line", "text"]
)  # fmt: skip
BODIES = st.one_of(
    st.dictionaries(FIELDS, VALUES, max_size=5).map(lambda body: json.dumps(body).encode()),
    VALUES.map(lambda body: json.dumps(body).encode()),
    st.binary(max_size=60),
)
ROUTES = [
    ("POST", "/api/tasks"),
    ("PATCH", "/api/tasks/{task}"),
    *(("POST", f"/api/tasks/{{task}}/{verb}") for verb in (
        "submit", "cancel", "pause", "resume", "archive", "retry", "fork", "rewind")),
    *(("POST", f"/api/reviews/{{review}}/{verb}") for verb in ("approve", "request-changes")),
    ("POST", "/api/questions/{question}/answer"),
    *(("POST", f"/api/dependencies/{{dependency}}/{verb}") for verb in ("provide", "reject")),
    ("PATCH", "/api/settings"),
]  # fmt: skip


@given(route=st.sampled_from(ROUTES), body=BODIES, key=st.none() | st.text(max_size=5))
@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_no_body_breaks_the_server(
    front: Front, commands: FakeCommands, route: tuple[str, str], body: bytes, key: str | None
) -> None:
    """Whatever is sent to whatever route: never 5xx, and every refusal is a document."""
    method, path = route
    task = front.task()["id"]
    ids = {kind: commands.open(kind, task) for kind in ("review", "question", "dependency")}
    headers = dict(JSON)
    if key is not None and key.isascii() and key.isprintable():
        headers["Idempotency-Key"] = key
    answer = front.api.request(method, path.format(task=task, **ids), content=body, headers=headers)
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert answer.json().keys() >= MEMBERS
