"""The conversation, the files and the diff of a task, over HTTP."""

from __future__ import annotations

from kit.front import FakeCommands, Front


def test_a_conversation_is_paged(front: Front, commands: FakeCommands) -> None:
    id = front.task()["id"]
    for text in ("one", "two", "three"):
        commands.say(id, text)
    page = front.api.get(f"/api/tasks/{id}/conversation?page=2&pageSize=2").json()
    assert (page["total"], page["page"], page["pageSize"]) == (3, 2, 2)
    assert [item["text"] for item in page["items"]] == ["three"]
    assert front.api.get("/api/tasks/none/conversation").status_code == 404


def test_a_file_is_sent_as_bytes_to_be_saved(front: Front, commands: FakeCommands) -> None:
    """Never as a page: an agent wrote it."""
    id = front.task()["id"]
    commands.folder["docs/바다.html"] = b"<script>"
    listed = front.api.get(f"/api/tasks/{id}/files").json()
    assert listed["items"] == [{"path": "docs/바다.html", "size": 8}]
    got = front.api.get(f"/api/tasks/{id}/files/docs/바다.html")
    assert got.content == b"<script>"
    assert got.headers["content-type"] == "application/octet-stream"
    assert got.headers["content-disposition"].startswith("attachment")
    assert front.api.get(f"/api/tasks/{id}/files/none").status_code == 404


def test_a_diff_since_an_unknown_checkpoint_is_refused(
    front: Front, commands: FakeCommands
) -> None:
    id = front.task()["id"]
    commands.folder["a"] = b"x"
    found = front.api.get(f"/api/tasks/{id}/diff?since=cp_1").json()
    assert found["files"] == [{"path": "a", "additions": 1, "deletions": 0}]
    assert front.api.get(f"/api/tasks/{id}/diff?since=cp_9").status_code == 422


def test_a_message_is_sent_once_for_each_key(front: Front, commands: FakeCommands) -> None:
    id = front.task()["id"]
    headers = {"Idempotency-Key": "k"}
    for _ in range(2):
        answer = front.api.post(
            f"/api/tasks/{id}/messages", json={"text": "hurry"}, headers=headers
        )
        assert answer.status_code == 201
        assert (answer.json()["text"], answer.json()["status"]) == ("hurry", "waiting")
    listed = front.api.get(f"/api/tasks/{id}/messages").json()
    assert [one["text"] for one in listed["items"]] == ["hurry"]
    for wrong in ({}, {"text": ""}, {"text": 1}, {"text": "a", "more": 1}):
        assert front.api.post(f"/api/tasks/{id}/messages", json=wrong).status_code == 422
