"""Idempotency keys: a POST that is sent again takes effect once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kit.front import FakeCommands, Front, Replies
from segue.core.plan import TaskState
from segue.server.idempotency import KEPT, SWEEP, Reply, ReplyBook, StoredReplies
from segue.store.sqlite import Store

KEY = {"Idempotency-Key": "k-1"}
BODY = {"title": "t", "description": "d", "type": "custom"}


@pytest.fixture(params=["memory", "store"])
def book(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ReplyBook]:
    if request.param == "memory":
        yield Replies()
        return
    store = Store.open(tmp_path / "segue.db")
    yield StoredReplies(store)
    store.close()


@pytest.fixture
def kept(commands: FakeCommands, book: ReplyBook) -> Iterator[Front]:
    made = Front(commands, replies=book)
    yield made
    made.close()


def test_the_same_request_gets_the_same_answer(kept: Front, commands: FakeCommands) -> None:
    """One task is made; both answers are alike to the byte, and the second says that it is one."""
    first = kept.api.post("/api/tasks", json=BODY, headers=KEY)
    again = kept.api.post("/api/tasks", json=BODY, headers=KEY)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.content == again.content
    assert first.headers["location"] == again.headers["location"]
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert len(commands.tasks) == 1


def test_an_action_that_was_done_is_answered_again(kept: Front, commands: FakeCommands) -> None:
    """Without the key the second submission would be refused."""
    path = f"/api/tasks/{kept.task()['id']}/submit"
    assert [kept.api.post(path, headers=KEY).status_code for _n in range(2)] == [200, 200]
    assert kept.api.post(path).status_code == 409


@pytest.mark.parametrize(
    ("path", "body"),
    [("/api/tasks", BODY | {"title": "other"}), ("/api/tasks/{id}/submit", None)],
)
def test_the_key_of_another_request_is_refused(
    kept: Front, commands: FakeCommands, path: str, body: object
) -> None:
    """Another body or another path under the same key: 422, and nothing happens."""
    id = kept.api.post("/api/tasks", json=BODY, headers=KEY).json()["id"]
    calls = commands.calls
    answer = kept.api.post(path.format(id=id), json=body, headers=KEY)
    assert (answer.status_code, answer.json()["code"]) == (422, "key_reused")
    assert commands.calls == calls


def test_the_key_of_another_action_is_refused(kept: Front, commands: FakeCommands) -> None:
    """The same body to another place is another request."""
    id = kept.task()["id"]
    assert kept.api.post(f"/api/tasks/{id}/submit", json={}, headers=KEY).status_code == 200
    other = kept.api.post(f"/api/tasks/{id}/cancel", json={}, headers=KEY)
    assert (other.status_code, other.json()["code"]) == (422, "key_reused")


def test_a_refusal_is_not_kept(kept: Front, commands: FakeCommands) -> None:
    """Nothing took effect, so the same request may succeed later."""
    id = kept.task()["id"]
    path = f"/api/tasks/{id}/retry"
    assert kept.api.post(path, headers=KEY).status_code == 409
    commands.put(id, TaskState.FAILED)
    assert kept.api.post(path, headers=KEY).status_code == 201


def test_keys_are_forgotten_after_a_day(kept: Front, commands: FakeCommands) -> None:
    """Up to then they hold."""
    for passed, made in ((KEPT - timedelta(seconds=1), 1), (timedelta(seconds=1), 2)):
        kept.api.post("/api/tasks", json=BODY, headers=KEY)
        kept.at += passed
        kept.api.post("/api/tasks", json=BODY, headers=KEY)
        assert len(commands.tasks) == made


@pytest.mark.parametrize("key", ["", "x" * 201, "with space", "a\tb"])
def test_keys_have_a_form(front: Front, commands: FakeCommands, key: str) -> None:
    """A key that is empty, long or not plain is refused, and nothing happens."""
    answer = front.api.post("/api/tasks", json=BODY, headers={"Idempotency-Key": key})
    assert (answer.status_code, answer.json()["errors"][0]["in"]) == (422, "header")
    assert commands.calls == 0


def test_old_replies_go_when_new_ones_come(tmp_path: Path) -> None:
    """The table does not grow for ever."""
    store = Store.open(tmp_path / "segue.db")
    book = StoredReplies(store)
    at = datetime(2026, 11, 16, tzinfo=UTC)
    for n in range(SWEEP + 1):
        book.keep(Reply(f"old-{n}", "r", 200, "{}", at))
    book.keep(Reply("new-1", "r", 200, "{}", at + KEPT + timedelta(seconds=1)))
    left = [row["key"] for row in store.all("SELECT key FROM idempotency")]
    assert len(left) == 2
    assert "new-1" in left
    store.close()
