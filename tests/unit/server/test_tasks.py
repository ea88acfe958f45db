"""Routes of tasks: what they lead to, and what they refuse."""

from __future__ import annotations

import pytest

from kit.front import FakeCommands, Front
from segue.core.plan import TaskState
from segue.core.serving import AgentState

UNKNOWN = "task_ffffffffffff"


def test_a_task_is_made_and_its_place_is_told(front: Front) -> None:
    """POST answers 201 with the task and where it is."""
    answer = front.api.post(
        "/api/tasks",
        json={"title": "Ä", "description": "d", "type": "create_app", "dependsOn": ["task_1"],
              "priority": 5, "agent": "codex"},
    )  # fmt: skip
    made = answer.json()
    assert answer.status_code == 201
    assert answer.headers["location"] == f"/api/tasks/{made['id']}"
    assert made | {"title": "Ä", "dependsOn": ["task_1"], "priority": 5, "agent": "codex"} == made
    assert front.api.get(answer.headers["location"]).json() == made


def test_a_task_can_be_submitted_at_once(front: Front) -> None:
    """With `submit` the new task is pending."""
    assert front.task(submit=True)["status"] == "pending"


def test_lists_are_paged_and_filtered(front: Front) -> None:
    """`page` counts from 1; filters narrow the total."""
    made = [front.task(title=f"t{n}") for n in range(5)]
    front.api.post(f"/api/tasks/{made[0]['id']}/submit")
    page = front.api.get("/api/tasks", params={"page": 2, "pageSize": 2}).json()
    assert [task["title"] for task in page["items"]] == ["t2", "t3"]
    assert (page["total"], page["page"], page["pageSize"]) == (5, 2, 2)
    pending = front.api.get("/api/tasks", params={"status": "pending"}).json()
    assert [task["title"] for task in pending["items"]] == ["t0"]
    assert front.api.get("/api/tasks", params={"query": "t3"}).json()["total"] == 1
    assert front.api.get("/api/tasks", params={"type": "create_app"}).json()["total"] == 0


@pytest.mark.parametrize(
    "query", ["page=0", "page=x", "pageSize=201", "pageSize=0", "status=odd", "query=" + "x" * 301]
)
def test_a_page_that_cannot_be_is_refused(front: Front, query: str) -> None:
    """Parameters have bounds; the problem names the one that is wrong."""
    answer = front.api.get(f"/api/tasks?{query}")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["in"] == "query"
    name = query.partition("=")[0]
    assert answer.json()["errors"][0]["pointer"] in (f"#/{name}", f"#/{name}/0")


def test_a_list_is_made_again_after_each_change(front: Front, commands: FakeCommands) -> None:
    """The same page is not made twice, and never shown after a commit."""
    front.task(title="one")
    assert front.api.get("/api/tasks").json()["total"] == 1
    reads = commands.reads
    assert front.api.get("/api/tasks").json()["total"] == 1
    assert commands.reads == reads
    front.task(title="two")
    assert front.api.get("/api/tasks").json()["total"] == 2


def test_only_what_was_sent_changes(front: Front) -> None:
    """PATCH leaves the other fields as they are."""
    id = front.task(title="old", priority=3)["id"]
    changed = front.api.patch(f"/api/tasks/{id}", json={"title": "new", "dependsOn": ["task_1"]})
    assert changed.status_code == 200
    assert (changed.json()["title"], changed.json()["priority"]) == ("new", 3)
    assert changed.json()["dependsOn"] == ["task_1"]


def test_a_draft_can_be_deleted(front: Front) -> None:
    """DELETE answers 204 without a body; then the task is gone."""
    id = front.task()["id"]
    answer = front.api.delete(f"/api/tasks/{id}")
    assert (answer.status_code, answer.content) == (204, b"")
    assert front.api.get(f"/api/tasks/{id}").status_code == 404


ACTIONS = [
    ("submit", {}, TaskState.DRAFT, AgentState.IDLE, TaskState.PENDING),
    ("cancel", {"reason": "no"}, TaskState.IN_PROGRESS, AgentState.RUNNING, TaskState.FAILED),
    ("pause", {}, TaskState.IN_PROGRESS, AgentState.RUNNING, TaskState.IN_PROGRESS),
    ("resume", {}, TaskState.IN_PROGRESS, AgentState.PAUSED, TaskState.IN_PROGRESS),
    ("archive", {}, TaskState.COMPLETED, AgentState.COMPLETED, TaskState.COMPLETED),
    (
        "rewind",
        {"checkpointId": "cp_1"},
        TaskState.REVIEW,
        AgentState.PAUSED,
        TaskState.IN_PROGRESS,
    ),
]


@pytest.mark.parametrize(("action", "body", "status", "agent", "to"), ACTIONS)
def test_an_action_moves_the_task(
    front: Front,
    commands: FakeCommands,
    action: str,
    body: dict[str, str],
    status: TaskState,
    agent: AgentState,
    to: TaskState,
) -> None:
    """Each answers 200 with the task as it is then."""
    id = front.task()["id"]
    commands.put(id, status, agent)
    answer = front.api.post(f"/api/tasks/{id}/{action}", json=body)
    assert answer.status_code == 200, answer.text
    assert answer.json()["status"] == to


@pytest.mark.parametrize("action", ["submit", "cancel", "pause", "resume", "archive", "retry"])
def test_an_action_in_the_wrong_state_names_what_is_allowed(
    front: Front, commands: FakeCommands, action: str
) -> None:
    """409 with the state and the allowed actions; `status` stays that of HTTP."""
    id = front.task()["id"]
    wrong = TaskState.DRAFT if action != "submit" else TaskState.COMPLETED
    commands.put(id, wrong)
    answer = front.api.post(f"/api/tasks/{id}/{action}")
    problem = answer.json()
    assert answer.status_code == problem["status"] == 409
    assert problem["state"] == wrong
    assert problem["allowedActions"] == front.api.get(f"/api/tasks/{id}").json()["allowedActions"]
    assert problem["code"] == "not_allowed"


def test_retry_and_fork_make_new_tasks(front: Front, commands: FakeCommands) -> None:
    """201 with a task that names the old one."""
    id = front.task()["id"]
    commands.put(id, TaskState.FAILED)
    retried = front.api.post(f"/api/tasks/{id}/retry", json={"submit": True})
    assert (retried.status_code, retried.json()["retryOf"]) == (201, id)
    assert retried.json()["status"] == "pending"
    forked = front.api.post(f"/api/tasks/{id}/fork")
    assert (forked.status_code, forked.json()["forkedFrom"]) == (201, id)
    assert forked.headers["location"] == f"/api/tasks/{forked.json()['id']}"
    missing = front.api.post(f"/api/tasks/{id}/fork", json={"checkpointId": "cp_2"})
    assert missing.status_code == 404


@pytest.mark.parametrize(
    "path",
    ["", "/agent", "/phases", "/reviews", "/questions", "/dependencies", "/checkpoints",
     "/journal", "/log", "/deliverables.zip", "/events"],
)  # fmt: skip
def test_an_unknown_task_is_404_everywhere(front: Front, path: str) -> None:
    """Whatever is asked of a task that is not there, the problem says so."""
    answer = front.api.get(f"/api/tasks/{UNKNOWN}{path}")
    assert answer.status_code == 404
    assert answer.json()["code"] == "unknown_task"
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "path", ["/agent", "/phases", "/reviews", "/questions", "/dependencies", "/checkpoints",
             "/journal"],
)  # fmt: skip
def test_what_belongs_to_a_task_can_be_looked_at(front: Front, path: str) -> None:
    """Each of the views answers."""
    id = front.task()["id"]
    assert front.api.get(f"/api/tasks/{id}{path}").status_code == 200


def test_filters_may_be_repeated(front: Front, commands: FakeCommands) -> None:
    front.task()
    query = "status=draft&status=failed&agentStatus=idle&agent=a&agent=b&sort=-title"
    assert front.api.get(f"/api/tasks?{query}&since=2026-01-01T00:00:00Z").status_code == 200
    only = commands.only
    assert only is not None
    assert (only.statuses, only.agents, only.sort) == (("draft", "failed"), ("a", "b"), "-title")
    assert only.since == "2026-01-01T00:00:00.000000Z"
    assert front.api.get("/api/tasks?kind=book").json()["total"] == 0
    assert front.api.get("/api/tasks?kind=book&kind=server").json()["total"] == 1
    for wrong in ("status=none", "agentStatus=none", "kind=none", "since=noon"):
        assert front.api.get(f"/api/tasks?{wrong}").status_code == 422
