"""Routes of reviews, questions and dependencies."""

from __future__ import annotations

import pytest

from kit.front import FakeCommands, Front
from segue.work.phases.commands import NewTask

SETTLING = [
    ("review", "approve", None, "approved"),
    ("review", "approve", {"comment": "good"}, "approved"),
    ("review", "request-changes", {"feedback": "more", "comments": []}, "changes_requested"),
    ("question", "answer", {"answer": "B"}, "answered"),
    ("dependency", "provide", {"value": "s3cret"}, "provided"),
    ("dependency", "reject", {"reason": "none"}, "rejected"),
    ("dependency", "reject", {"reason": ""}, "rejected"),
    ("dependency", "reject", {}, "rejected"),
    ("dependency", "reject", None, "rejected"),
]
PLACES = {"review": "reviews", "question": "questions", "dependency": "dependencies"}


@pytest.mark.parametrize(("kind", "action", "body", "status"), SETTLING)
def test_a_gate_is_settled_once(
    front: Front, commands: FakeCommands, kind: str, action: str, body: object, status: str
) -> None:
    """The first answer counts; the second gets 409 with what became of it."""
    id = commands.open(kind, front.task()["id"])
    path = f"/api/{PLACES[kind]}/{id}/{action}"
    first = front.api.post(path, json=body)
    assert (first.status_code, first.json()["status"]) == (200, status)
    again = front.api.post(path, json=body)
    assert (again.status_code, again.json()["state"]) == (409, status)


@pytest.mark.parametrize(("kind", "action", "body", "_status"), SETTLING)
def test_an_unknown_gate_is_404(
    front: Front, kind: str, action: str, body: object, _status: str
) -> None:
    """There is nothing to settle."""
    answer = front.api.post(f"/api/{PLACES[kind]}/none/{action}", json=body)
    assert (answer.status_code, answer.json()["code"]) == (404, f"unknown_{kind}")


def test_a_close_answer_is_refused_with_a_suggestion(front: Front, commands: FakeCommands) -> None:
    """422; the person confirms the suggestion by sending it."""
    id = commands.open("question", front.task()["id"])
    answer = front.api.post(f"/api/questions/{id}/answer", json={"answer": "AA"})
    assert (answer.status_code, answer.json()["suggestion"]) == (422, "A")


def test_comments_on_lines_reach_the_command(front: Front, commands: FakeCommands) -> None:
    """A change request carries file, line and text; the line may be missing."""
    id = commands.open("review", front.task()["id"])
    comments: list[dict[str, object]] = [
        {"file": "a.md", "line": 3, "text": "typo"},
        {"file": "b.md", "text": "short"},
    ]
    body = {"feedback": "see there", "comments": comments}
    given = front.api.post(f"/api/reviews/{id}/request-changes", json=body).json()
    assert given["comments"] == [comments[0], comments[1] | {"line": None}]


def test_questions_are_listed_by_status(front: Front, commands: FakeCommands) -> None:
    """`GET /questions?status=pending` has those that wait, of all tasks or of one."""
    one, two = front.task()["id"], front.task()["id"]
    first, second = commands.open("question", one), commands.open("question", two)
    front.api.post(f"/api/questions/{first}/answer", json={"answer": "A"})
    pending = front.api.get("/api/questions", params={"status": "pending"}).json()
    assert [question["id"] for question in pending["items"]] == [second]
    of_one = front.api.get(f"/api/tasks/{one}/questions").json()
    assert [question["id"] for question in of_one["items"]] == [first]


def test_a_review_can_be_looked_at_and_the_inbox_has_it(
    front: Front, commands: FakeCommands
) -> None:
    """Everything that waits for a person is in the inbox."""
    id = commands.open("review", front.task()["id"])
    assert front.api.get(f"/api/reviews/{id}").json()["id"] == id
    assert [item["id"] for item in front.api.get("/api/inbox").json()["items"]] == [id]
    front.api.post(f"/api/reviews/{id}/approve")
    assert front.api.get("/api/inbox").json()["items"] == []


def test_a_provided_value_comes_back_nowhere(front: Front, commands: FakeCommands) -> None:
    """Neither the answer, nor the kept reply, nor a refusal repeats it."""
    id = commands.open("dependency", front.task()["id"])
    path = f"/api/dependencies/{id}/provide"
    wrong = front.api.post(path, json={"value": ["hunter2hunter2"]})
    assert wrong.status_code == 422
    answer = front.api.post(
        path, json={"value": "hunter2hunter2"}, headers={"Idempotency-Key": "k"}
    )
    assert answer.status_code == 200
    assert commands.values[id] == "hunter2hunter2"
    assert "hunter2" not in wrong.text + answer.text + repr(front.replies.kept)


def test_own_words_are_taken_as_such(front: Front, commands: FakeCommands) -> None:
    """Text that is none of the options is refused unless it says that it is meant so."""
    task = commands.create_task(NewTask("T"))["id"]
    asked = commands.open("question", task)
    place = f"/api/questions/{asked}/answer"
    assert front.api.post(place, json={"answer": "neither of them"}).status_code == 422
    answer = front.api.post(place, json={"answer": "neither of them", "ownWords": True})
    assert (answer.status_code, answer.json()["answer"]) == (200, "neither of them")
