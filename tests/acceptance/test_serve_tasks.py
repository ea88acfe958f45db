"""`segue serve`: the states of a task, row by row, and what may be done in each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.serve import GOOD, QUESTION, TWO, House
from kit.server import Server
from kit.waiting import stays, until

ACTIONS = ("submit", "cancel", "pause", "resume", "archive", "retry")


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.end_everything()


def refused(server: Server, task: str, *allowed: str) -> None:
    """Every other action is 409 with the state and what is allowed; nothing changes by it."""
    before = server.task(task)
    assert set(before["allowedActions"]) >= set(allowed), before["allowedActions"]
    for action in ACTIONS:
        if action in before["allowedActions"]:
            continue
        said = server.post(f"/tasks/{task}/{action}").problem(409)
        text = str(said)
        assert before["status"] in text, f"{action}: the state is named: {said}"
        for name in allowed:
            assert name in text or name.replace("_", " ") in text, f"{name} is named: {said}"
    if "delete" not in before["allowedActions"]:
        server.ask("DELETE", f"/tasks/{task}").problem(409)
    after = server.task(task)
    assert (after["status"], after["allowedActions"]) == (
        before["status"],
        before["allowedActions"],
    )


def test_a_task_goes_from_draft_to_completed(house: House) -> None:
    """Each row of the table in turn, with its instants, its phases and one start for each phase."""
    house.hand("a", TWO)
    server = house.serve()
    task = server.new(kind="two", submit=False)
    draft = server.task(task)
    assert (draft["status"], draft["totalPhases"], draft["startedAt"]) == ("draft", 2, None)
    refused(server, task, "submit", "delete")
    assert house.starts(task) == 0
    server.do(task, "submit")
    reviewed = server.reaches(task, "review")
    assert (reviewed["currentPhase"], reviewed["completedAt"]) == (1, None)
    assert reviewed["startedAt"] is not None and Path(reviewed["workspace"]).is_dir()
    refused(server, task, "approve", "request_changes")
    server.approve(task).ok()
    until(lambda: server.task(task)["currentPhase"] == 2, "phase 2")
    server.approve(task).ok()
    done = server.reaches(task, "completed")
    assert done["progress"] == 100 and done["completedAt"] and not done["failedAt"]
    assert server.agent(task)["status"] == "completed"
    refused(server, task, "archive", "delete")
    assert server.zip(task).keys() == {"one.md", "two.md"}
    assert house.starts(task) == 2
    assert server.path(task) == [
        "draft", "pending", "in_progress", "review", "in_progress", "review", "completed",
    ]  # fmt: skip


def test_what_a_task_shows(house: House) -> None:
    """The fields that the API promises are all there, from the first answer on."""
    house.hand("a", "hold go\n" + GOOD)
    server = house.serve()
    answer = server.post("/tasks", {"title": "T", "description": "D", "type": "one", "agent": "a"})
    assert answer.status == 201
    assert answer.json["status"] == "draft", "not submitted unless it says so"
    wanted = {
        "id", "status", "type", "title", "currentPhase", "totalPhases", "progress", "createdAt",
        "startedAt", "completedAt", "failedAt", "workspace", "retryOf", "error", "allowedActions",
    }  # fmt: skip
    assert wanted <= answer.json.keys()
    assert server.task(answer.json["id"]) == answer.json
    agent = server.agent(answer.json["id"])
    assert agent["status"] == "idle"
    server.do(answer.json["id"], "submit")
    agent = server.agent_is(answer.json["id"], "running")
    shown = {"status", "currentPhase", "currentStep", "progress", "tokensUsed", "blockedBy",
             "lastUpdate", "checkpoint"}  # fmt: skip
    assert shown <= agent.keys()
    assert agent["checkpoint"]["autoSaveInterval"] == 600_000
    assert agent["blockedBy"] is None and agent["currentPhase"] == 1


def test_a_draft_without_all_it_needs_is_not_submitted(house: House) -> None:
    """Title, type and description must not be empty; the answer names which one is."""
    house.hand("a", GOOD)
    server = house.serve()
    for missing in ("title", "type", "description"):
        body = {"title": "T", "description": "D", "type": "one", "agent": "a", missing: ""}
        made = server.post("/tasks", body)
        if made.status == 201:
            said = server.post(f"/tasks/{made.json['id']}/submit").problem(409, 422)
            assert missing in str(said)
            assert server.task(made.json["id"])["status"] == "draft"
        else:
            assert missing in str(made.problem(422))
        at_once = server.post("/tasks", {**body, "submit": True}).problem(409, 422)
        assert missing in str(at_once)
    assert all(task["status"] == "draft" for task in server.items("/tasks")), "nothing half made"


def test_blanks_are_empty(house: House) -> None:
    """A title of blanks is an empty title."""
    house.hand("a", GOOD)
    server = house.serve()
    body = {"title": "  \n ", "description": "D", "type": "one", "agent": "a", "submit": True}
    assert "title" in str(server.post("/tasks", body).problem(409, 422))


def test_a_draft_is_edited_and_a_task_at_work_is_not_rewritten(house: House) -> None:
    """PATCH changes a draft; its new words reach the agent."""
    house.hand("a", GOOD)
    server = house.serve()
    task = server.new(submit=False)
    changed = server.ask("PATCH", f"/tasks/{task}", {"title": "Other", "description": "Sing it."})
    assert changed.ok()["title"] == "Other"
    server.do(task, "submit")
    server.reaches(task, "review")
    assert "Sing it." in house.heard(task, 1)
    server.ask("PATCH", f"/tasks/{task}", {"description": "Dance it."}).problem(409)
    assert server.task(task)["description"] == "Sing it."


def test_a_pending_task_is_cancelled_into_a_draft(house: House) -> None:
    """It leaves the queue and never starts, also when the slot becomes free; it can come back."""
    house.hand("a", "hold go\n" + GOOD)
    server = house.serve("--slots", "1")
    first = server.new()
    server.agent_is(first, "running")
    second = server.new()
    assert server.task(second)["status"] == "pending"
    refused(server, second, "cancel")
    assert server.do(second, "cancel")["status"] == "draft"
    refused(server, second, "submit", "delete")
    house.release("go")
    server.reaches(first, "review")
    stays(lambda: house.starts(second) == 0, "a cancelled task does not start")
    server.do(second, "submit")
    server.reaches(second, "review")
    assert house.starts(second) == 1


def test_slots_bound_what_runs(house: House) -> None:
    """Two slots: never more than two agents at once, and all tasks come to their turn."""
    mine = f"{house.out}/running.$SEGUE_TASK"
    house.hand("a", f'touch {mine}; ls {house.out} | grep -c "^running" >> {house.out}/most\n'
               f"sleep 0.2; rm {mine}\n" + GOOD)  # fmt: skip
    server = house.serve("--slots", "2")
    tasks = [server.new() for _number in range(5)]
    for task in tasks:
        server.reaches(task, "review")
    counted = [int(n) for n in house.notes("most")]
    assert len(counted) == 5 and max(counted) <= 2
    assert server.get("/workers").ok()["items"][0]["slots"] == 2


def test_a_review_takes_no_slot(house: House) -> None:
    """What waits for a person does not keep others from working."""
    house.hand("a", GOOD)
    server = house.serve("--slots", "1")
    tasks = [server.new() for _number in range(3)]
    for task in tasks:
        server.reaches(task, "review")


def test_dependants_wait_until_all_is_completed(house: House) -> None:
    """A task that depends on others starts when they are completed, not when they are in review."""
    house.hand("a", GOOD)
    server = house.serve()
    first = server.new()
    second = server.new(dependsOn=[first])
    server.reaches(first, "review")
    stays(lambda: server.task(second)["status"] == "pending", "it waits for the approval")
    assert house.starts(second) == 0
    server.approve(first).ok()
    server.reaches(second, "review")
    assert server.task(second)["dependsOn"] == [first]


def test_a_failed_task_does_not_release_its_dependants(house: House) -> None:
    """A dependant of a cancelled task stays pending; it can be cancelled."""
    house.hand("a", "hold never\n")
    server = house.serve()
    first = server.new()
    second = server.new(dependsOn=[first])
    server.agent_is(first, "running")
    server.do(first, "cancel")
    server.reaches(first, "failed")
    stays(lambda: server.task(second)["status"] == "pending", "it stays")
    assert server.do(second, "cancel")["status"] == "draft"


def test_unknown_and_circular_dependencies_are_refused(house: House) -> None:
    """A dependency on nothing, or on itself by a detour, is 422 and changes nothing."""
    house.hand("a", GOOD)
    server = house.serve()
    body = {"title": "T", "description": "D", "type": "one", "agent": "a"}
    said = server.post("/tasks", {**body, "dependsOn": ["task_nothing"]}).problem(422)
    assert "task_nothing" in str(said)
    first = server.new(submit=False)
    second = server.new(submit=False, dependsOn=[first])
    server.ask("PATCH", f"/tasks/{first}", {"dependsOn": [second]}).problem(409, 422)
    server.ask("PATCH", f"/tasks/{first}", {"dependsOn": [first]}).problem(409, 422)
    assert server.task(first)["dependsOn"] == []


def test_priority_decides_who_is_next(house: House) -> None:
    """With one slot the waiting task with the highest priority starts first; else the older one."""
    house.hand("a", f"echo $SEGUE_TASK >> {house.out}/order\nhold go\n" + GOOD)
    server = house.serve("--slots", "1")
    first = server.new()
    server.agent_is(first, "running")
    low = server.new(priority=1)
    high = server.new(priority=9)
    later = server.new(priority=9)
    house.release("go")
    for task in (low, high, later):
        server.reaches(task, "review")
    assert house.notes("order") == [first, high, later, low]


def test_a_custom_task_has_no_phases_and_no_gate(house: House) -> None:
    """`=== CUSTOM TASK COMPLETE ===` completes it at once; totalPhases is 0."""
    house.hand("a", "write made.txt something\nfinish\n")
    server = house.serve()
    task = server.new(kind="custom")
    done = server.reaches(task, "completed")
    assert done["totalPhases"] == 0
    assert server.items(f"/tasks/{task}/reviews") == []
    assert server.path(task) == ["draft", "pending", "in_progress", "completed"]


def test_a_cancelled_task_fails_and_its_retry_is_a_new_one(house: House) -> None:
    """Failed with the reason; retry makes a draft that names it, or submits it at once."""
    house.hand("a", "case $n in 1) hold never;; esac\n" + GOOD)
    server = house.serve()
    task = server.new(title="The first")
    server.agent_is(task, "running")
    refused(server, task, "pause", "cancel")
    server.do(task, "cancel")
    failed = server.reaches(task, "failed")
    assert failed["failedAt"] and "cancel" in str(failed["error"]).lower()
    assert server.agent(task)["status"] == "failed"
    refused(server, task, "retry", "delete")
    again = server.post(f"/tasks/{task}/retry")
    assert again.status == 201
    new = again.json
    assert new["id"] != task and new["status"] == "draft"
    assert (new["retryOf"], new["title"], new["type"]) == (task, "The first", "one")
    at_once = server.post(f"/tasks/{task}/retry", {"submit": True}).ok()
    assert at_once["status"] in ("pending", "in_progress", "review")
    assert server.task(task)["status"] == "failed", "the old one stays as it was"


@pytest.mark.parametrize("state", ["waiting_question", "paused", "waiting_review"])
def test_cancel_is_allowed_in_every_wait(house: House, state: str) -> None:
    """From a question, a pause or a review: failed, cancelled; the open gate is closed."""
    house.hand("a", {"waiting_question": QUESTION, "paused": "hold never",
                     "waiting_review": GOOD}[state])  # fmt: skip
    server = house.serve()
    task = server.new()
    if state == "paused":
        server.agent_is(task, "running")
        server.do(task, "pause")
    server.agent_is(task, state)
    assert "cancel" in server.task(task)["allowedActions"]
    server.do(task, "cancel")
    failed = server.reaches(task, "failed")
    assert "cancel" in str(failed["error"]).lower()
    for kind in ("reviews", "questions"):
        assert all(gate["status"] != "pending" for gate in server.items(f"/tasks/{task}/{kind}"))
    assert server.get("/questions?status=pending").ok()["total"] == 0


def test_archive_and_delete(house: House) -> None:
    """An archived task leaves the list but not the server; a deleted one is 404 and its files go."""
    house.hand("a", "write made.txt something\nfinish\n")
    server = house.serve()
    kept = server.new(kind="custom")
    server.reaches(kept, "completed")
    server.do(kept, "archive")
    assert kept not in [task["id"] for task in server.items("/tasks")]
    assert server.task(kept)["status"] == "completed"
    for _time in range(5):  # at once, while its last checkpoint may still be written
        gone = server.new(kind="custom")
        workspace = Path(server.reaches(gone, "completed")["workspace"])
        assert server.ask("DELETE", f"/tasks/{gone}").status in (200, 204)
        server.get(f"/tasks/{gone}").problem(404)
        server.post(f"/tasks/{gone}/submit").problem(404)
        until(lambda path=workspace: not path.exists(), "its workspace is gone")
    server.stop()
    assert not list((house.root / ".segue" / "server").rglob(f"*{gone}*")), "nothing of it is left"


def test_a_draft_is_deleted(house: House) -> None:
    """A draft that never ran has nothing but its row; it goes without a word."""
    house.hand("a", GOOD)
    server = house.serve()
    task = server.new(submit=False)
    assert server.ask("DELETE", f"/tasks/{task}").status in (200, 204)
    server.get(f"/tasks/{task}").problem(404)
    assert server.items("/tasks") == []


def test_a_task_that_others_wait_for_is_not_deleted_under_them(house: House) -> None:
    """Deleting a draft that another depends on is refused, or the other one says what it lacks."""
    house.hand("a", GOOD)
    server = house.serve()
    first = server.new(submit=False)
    second = server.new(dependsOn=[first])
    answer = server.ask("DELETE", f"/tasks/{first}")
    if answer.status == 409:
        assert server.task(first)["status"] == "draft"
    else:
        assert answer.status in (200, 204)
        stays(lambda: server.task(second)["status"] in ("pending", "draft"), "it does not run")


def test_lists_are_paged_and_filtered(house: House) -> None:
    """`page` from 1, `pageSize` 50 and at most 200, `total`; by status; every task on one page only."""
    house.hand("a", GOOD)
    server = house.serve()
    made = {server.new(submit=False, title=f"T{number}") for number in range(7)}
    first = server.get("/tasks").ok()
    assert (first["total"], first["page"], first["pageSize"]) == (7, 1, 50)
    pages = [server.get(f"/tasks?page={n}&pageSize=3").ok() for n in (1, 2, 3, 4)]
    assert [len(page["items"]) for page in pages] == [3, 3, 1, 0]
    assert {task["id"] for page in pages for task in page["items"]} == made
    assert server.get("/tasks?status=pending").ok()["total"] == 0
    assert server.get("/tasks?status=draft").ok()["total"] == 7
    for wrong in ("page=0", "page=x", "pageSize=0", "pageSize=201", "status=nonsense"):
        server.get(f"/tasks?{wrong}").problem(422)
