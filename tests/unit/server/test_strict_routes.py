"""A query parameter that a route does not know is refused."""

from __future__ import annotations

from kit.front import Front


def test_an_unknown_parameter_is_named_with_what_is_close(front: Front) -> None:
    for path in (
        "/api/tasks?pagesize=1",
        "/api/inbox?x=1",
        "/api/settings?a",
        "/api/events?last=1",
    ):
        answer = front.api.get(path)
        assert answer.status_code == 400, path
        assert answer.json()["code"] == "unknown_parameter"
    assert "`pageSize`" in front.api.get("/api/tasks?pagesize=1").json()["detail"]
    assert front.api.post("/api/tasks?submit=1", json={}).status_code == 400


def test_what_is_known_may_be_repeated(front: Front) -> None:
    assert front.api.get("/api/tasks?page=1&pageSize=1").status_code == 200


def test_only_the_api_is_strict(front: Front) -> None:
    """Links to pages may carry what a mail program added."""
    assert front.stranger.get("/health?utm=1").status_code == 200
