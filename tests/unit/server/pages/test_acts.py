"""What forms about tasks do, and which page follows."""

from __future__ import annotations

import pytest

from kit.front import Client, FakeCommands
from segue.core.plan import TaskState
from segue.core.serving import AgentState

FORM = {"title": "New", "description": "a\r\nb", "priority": "3"}


def test_a_new_task_is_a_draft_until_it_is_submitted(
    visitor: Client, commands: FakeCommands
) -> None:
    """The button decides; lines end as in files, and the page of the task follows."""
    drafted = visitor.post("/new", data=FORM)
    submitted = visitor.post("/new", data=FORM | {"act": "submit"})
    draft, queued = commands.tasks.values()
    assert (draft["status"], draft["description"], draft["priority"]) == ("draft", "a\nb", 3)
    assert queued["status"] == "pending"
    assert drafted.status_code == submitted.status_code == 303
    assert drafted.headers["location"] == f"/tasks/{draft['id']}?said=created"
    assert submitted.headers["location"] == f"/tasks/{queued['id']}?said=submitted"


@pytest.mark.parametrize("more", [{"priority": "many"}, {"title": "x" * 301}])
def test_a_form_that_does_not_fit_comes_back_as_it_was_typed(
    visitor: Client, commands: FakeCommands, more: dict[str, str]
) -> None:
    """Nobody has to type it again, and nothing was made."""
    answer = visitor.post("/new", data=FORM | {"description": "long words"} | more)
    assert answer.status_code == 422
    assert "long words" in answer.text
    assert commands.tasks == {}


def test_a_draft_is_edited_and_submitted_in_one_go(
    visitor: Client, commands: FakeCommands, task: str
) -> None:
    answer = visitor.post(f"/tasks/{task}/edit", data=FORM | {"act": "submit"})
    assert answer.headers["location"] == f"/tasks/{task}?said=changed"
    assert (commands.tasks[task]["title"], commands.tasks[task]["status"]) == ("New", "pending")
    again = visitor.post(f"/tasks/{task}/edit", data=FORM | {"title": "Typed late"})
    assert again.status_code == 409
    assert "Typed late" in again.text
    assert commands.tasks[task]["title"] == "New"


@pytest.mark.parametrize(
    ("action", "before", "said"),
    [
        ("submit", (TaskState.DRAFT, AgentState.IDLE), "submitted"),
        ("pause", (TaskState.IN_PROGRESS, AgentState.RUNNING), "paused"),
        ("resume", (TaskState.IN_PROGRESS, AgentState.PAUSED), "resumed"),
    ],
)
def test_an_act_is_done_and_said_on_the_page_of_the_task(
    visitor: Client,
    commands: FakeCommands,
    task: str,
    action: str,
    before: tuple[TaskState, AgentState],
    said: str,
) -> None:
    """The answer leads away from the form, and what is not possible twice is refused."""
    commands.put(task, *before)
    answer = visitor.post(f"/tasks/{task}/{action}")
    assert (answer.status_code, answer.headers["location"]) == (303, f"/tasks/{task}?said={said}")
    assert commands.events[-1]["trigger"] == action
    assert visitor.post(f"/tasks/{task}/{action}").status_code == 409


def test_a_cancelled_task_keeps_the_reason(
    visitor: Client, commands: FakeCommands, task: str
) -> None:
    """Blanks are no reason, and an endless one is refused before anything is done."""
    commands.put(task, TaskState.IN_PROGRESS, AgentState.RUNNING)
    long = visitor.post(f"/tasks/{task}/cancel", data={"reason": "x" * 20_001})
    assert (long.status_code, commands.tasks[task]["status"]) == (422, "in_progress")
    visitor.post(f"/tasks/{task}/cancel", data={"reason": " too late "})
    assert commands.tasks[task]["error"] == "too late"
    commands.put(task, TaskState.IN_PROGRESS, AgentState.RUNNING)
    visitor.post(f"/tasks/{task}/cancel", data={"reason": "  "})
    assert commands.tasks[task]["error"] is None


def test_a_deleted_task_leads_to_the_board(
    visitor: Client, commands: FakeCommands, task: str
) -> None:
    assert visitor.post(f"/tasks/{task}/delete").headers["location"] == "/?said=deleted"
    assert commands.tasks == {}


def test_a_retry_and_a_fork_lead_to_the_new_task(
    visitor: Client, commands: FakeCommands, task: str
) -> None:
    """The retry is queued at once; a fork without a checkpoint is from the newest."""
    commands.put(task, TaskState.FAILED, AgentState.FAILED)
    retried = visitor.post(f"/tasks/{task}/retry").headers["location"]
    forked = visitor.post(f"/tasks/{task}/fork", data={"checkpoint": ""}).headers["location"]
    _old, retry, fork = commands.tasks.values()
    assert retried == f"/tasks/{retry['id']}?said=retried"
    assert (retry["retryOf"], retry["status"]) == (task, "pending")
    assert forked == f"/tasks/{fork['id']}?said=forked"
    refused = visitor.post(f"/tasks/{task}/fork", data={"checkpoint": "cp_none"})
    assert refused.status_code == 404


def test_settings_take_a_number(visitor: Client, commands: FakeCommands) -> None:
    saved = visitor.post("/settings", data={"slots": "5"})
    assert saved.headers["location"] == "/settings?said=saved"
    assert commands.kept["slots"] == 5
    assert visitor.post("/settings", data={"slots": "five"}).status_code == 422
    assert commands.kept["slots"] == 5
