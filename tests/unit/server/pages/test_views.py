"""What the pages show of what the server knows."""

from __future__ import annotations

import pytest

from kit.front import FakeCommands
from segue.core.plan import TaskState
from segue.core.serving import STAGES, AgentState
from segue.server.commands import NewTask
from segue.server.pages import texts, views
from segue.work.phases.refused import Refused


def test_the_board_has_a_column_for_each_state(commands: FakeCommands, task: str) -> None:
    commands.create_task(NewTask("Other", "d", submit=True))
    found = views.board(commands, "", archived=False)
    columns = {column["stage"]: column["total"] for column in found["columns"]}
    assert list(columns) == [str(stage) for stage in STAGES]
    assert (columns["draft"], columns["pending"], columns["failed"]) == (1, 1, 0)
    searched = views.board(commands, "Oth", archived=False)["columns"]
    assert sum(column["total"] for column in searched) == 1


def test_a_list_says_how_many_pages_it_has(
    commands: FakeCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "LIST_MAX", 2)
    assert views.listing(commands, TaskState.DRAFT, "", 1)["pages"] == 1
    for n in range(5):
        commands.create_task(NewTask(f"t{n}", "d"))
    last = views.listing(commands, TaskState.DRAFT, "", 3)
    assert (last["pages"], [item["title"] for item in last["items"]]) == (3, ["t4"])


def test_what_waits_on_a_task_is_apart_from_what_is_settled(
    commands: FakeCommands, task: str
) -> None:
    """Each with its kind; the newest of the settled first; the last review to read."""
    old = commands.open("review", task, status="approved", createdAt="2026-01-01")
    mid = commands.open("question", task, status="answered", createdAt="2026-01-02")
    now = commands.open("dependency", task)
    found = views.task(commands, task)
    assert [(gate["id"], gate["kind"]) for gate in found["gates"]] == [(now, "dependency")]
    assert [gate["id"] for gate in found["settled"]] == [mid, old]
    assert found["latest"]["id"] == old
    assert all(gate["taskTitle"] == "A title" for gate in found["gates"] + found["settled"])


def test_a_related_task_that_was_deleted_is_named_by_its_id(
    commands: FakeCommands, task: str
) -> None:
    commands.tasks[task] |= {"dependsOn": [task, "task_gone"], "retryOf": "task_old"}
    assert views.task(commands, task)["related"] == {
        task: "A title",
        "task_gone": "task_gone",
        "task_old": "task_old",
    }


def test_a_task_that_is_not_there_is_refused(commands: FakeCommands) -> None:
    with pytest.raises(Refused) as refused:
        views.task(commands, "task_none")
    assert refused.value.status == 404


def test_a_task_is_rewound_only_where_it_and_its_agent_can_be(
    commands: FakeCommands, task: str
) -> None:
    wanted = {
        (TaskState.REVIEW, AgentState.WAITING_REVIEW): True,
        (TaskState.IN_PROGRESS, AgentState.RUNNING): False,
        (TaskState.COMPLETED, AgentState.COMPLETED): False,
    }
    for (status, agent), may in wanted.items():
        commands.put(task, status, agent)
        assert views.may_rewind(commands.task(task)) is may, status


def test_the_journal_is_shown_from_its_end(
    commands: FakeCommands, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest first; a page beyond the oldest is the oldest."""
    monkeypatch.setattr(views, "JOURNAL_MAX", 2)
    for _n in range(4):
        commands.happen(task)
    pages = [views.journal(commands, task, older) for older in (0, 1, 2, 99)]
    numbers = [[item["seq"] for item in page["items"]] for page in pages]
    assert numbers == [[5], [4, 3], [2, 1], [2, 1]]
    assert (pages[0]["pages"], pages[0]["total"], pages[3]["older"]) == (3, 5, 2)


def test_the_output_is_the_end_of_the_log(
    commands: FakeCommands, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "OUTPUT_BYTES_MAX", 8)
    commands.text = b"one\ntwo\n"
    assert views.output(commands, task) == {"size": 8, "lines": ["one", "two"], "is_cut": False}
    commands.text = b"0\n1ne\ntwo\n"
    assert views.output(commands, task) == {"size": 10, "lines": ["two"], "is_cut": True}


def test_a_deliverable_is_shown_as_what_it_is(commands: FakeCommands, task: str) -> None:
    """A document as a page and as lines, a picture by its size alone."""
    review = commands.open(
        "review",
        task,
        deliverables=[
            {"path": "a.md", "size": 3, "text": "# A", "diff": "@@ -0,0 +1 @@\n+# A"},
            {"path": "a.py", "size": 2, "text": "x\n"},
            {"path": "a.png", "size": 9_000},
        ],
    )
    page, code, picture = views.review(commands, review)["review"]["files"]
    assert "<h4>A</h4>" in page["page"]
    assert [line.kind for line in page["diff"]] == ["place", "added"]
    assert (code["page"], code["lines"], code["is_text"]) == (None, ["x"], True)
    assert (picture["is_text"], picture["lines"], picture["size"]) == (False, [], 9_000)


def test_the_inbox_counts_what_it_does_not_show(
    commands: FakeCommands, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tasks that failed are there; those that a person cancelled are not."""
    monkeypatch.setattr(views, "INBOX_MAX", 2)
    for _n in range(3):
        commands.open("question", task)
    failed, cancelled = (commands.create_task(NewTask("t", "d"))["id"] for _n in range(2))
    for id, outcome in ((failed, "failed"), (cancelled, "cancelled")):
        commands.put(id, TaskState.FAILED, AgentState.FAILED)
        commands.tasks[id]["outcome"] = outcome
    found = views.inbox(commands)
    assert (len(found["gates"]), found["more"]) == (2, 1)
    assert [item["id"] for item in found["failed"]["items"]] == [failed]


def test_the_form_of_a_task_offers_what_it_can_depend_on(commands: FakeCommands, task: str) -> None:
    """Neither itself nor what has failed; what was typed goes before the defaults."""
    failed, other = (commands.create_task(NewTask("t", "d"))["id"] for _n in range(2))
    commands.put(failed, TaskState.FAILED, AgentState.FAILED)
    commands.kept |= {"defaultAgent": "claude", "agents": ["claude", "codex"]}
    found = views.new_task(commands, {"id": task, "title": "typed", "agent": "codex"})
    assert [each["id"] for each in found["others"]] == [other]
    assert (found["values"]["title"], found["values"]["agent"]) == ("typed", "codex")
    assert views.new_task(commands, {})["values"]["agent"] == "claude"
