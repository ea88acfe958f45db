"""What the pages show of what the desk knows."""

from __future__ import annotations

import pytest

from kit.front import FakeDesk
from segue.core.plan import TaskState
from segue.core.serving import STAGES, AgentState
from segue.server.desk_port import NewTask
from segue.server.pages import texts, views
from segue.work.phases.refused import Refused


def test_the_board_has_a_column_for_each_state(desk: FakeDesk, task: str) -> None:
    desk.create_task(NewTask("Other", "d", submit=True))
    found = views.board(desk, "", archived=False)
    columns = {column["stage"]: column["total"] for column in found["columns"]}
    assert list(columns) == [str(stage) for stage in STAGES]
    assert (columns["draft"], columns["pending"], columns["failed"]) == (1, 1, 0)
    searched = views.board(desk, "Oth", archived=False)["columns"]
    assert sum(column["total"] for column in searched) == 1


def test_a_list_says_how_many_pages_it_has(desk: FakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "LIST_MAX", 2)
    assert views.listing(desk, TaskState.DRAFT, "", 1)["pages"] == 1
    for n in range(5):
        desk.create_task(NewTask(f"t{n}", "d"))
    last = views.listing(desk, TaskState.DRAFT, "", 3)
    assert (last["pages"], [item["title"] for item in last["items"]]) == (3, ["t4"])


def test_what_waits_on_a_task_is_apart_from_what_is_settled(desk: FakeDesk, task: str) -> None:
    """Each with its kind; the newest of the settled first; the last review to read."""
    old = desk.open("review", task, status="approved", createdAt="2026-01-01")
    mid = desk.open("question", task, status="answered", createdAt="2026-01-02")
    now = desk.open("dependency", task)
    found = views.task(desk, task)
    assert [(gate["id"], gate["kind"]) for gate in found["gates"]] == [(now, "dependency")]
    assert [gate["id"] for gate in found["settled"]] == [mid, old]
    assert found["latest"]["id"] == old
    assert all(gate["taskTitle"] == "A title" for gate in found["gates"] + found["settled"])


def test_a_related_task_that_was_deleted_is_named_by_its_id(desk: FakeDesk, task: str) -> None:
    desk.tasks[task] |= {"dependsOn": [task, "task_gone"], "retryOf": "task_old"}
    assert views.task(desk, task)["related"] == {
        task: "A title",
        "task_gone": "task_gone",
        "task_old": "task_old",
    }


def test_a_task_that_is_not_there_is_refused(desk: FakeDesk) -> None:
    with pytest.raises(Refused) as refused:
        views.task(desk, "task_none")
    assert refused.value.status == 404


def test_a_task_is_rewound_only_where_it_and_its_agent_can_be(desk: FakeDesk, task: str) -> None:
    wanted = {
        (TaskState.REVIEW, AgentState.WAITING_REVIEW): True,
        (TaskState.IN_PROGRESS, AgentState.RUNNING): False,
        (TaskState.COMPLETED, AgentState.COMPLETED): False,
    }
    for (status, agent), may in wanted.items():
        desk.put(task, status, agent)
        assert views.may_rewind(desk.task(task)) is may, status


def test_the_journal_is_shown_from_its_end(
    desk: FakeDesk, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest first; a page beyond the oldest is the oldest."""
    monkeypatch.setattr(views, "JOURNAL_MAX", 2)
    for _n in range(4):
        desk.happen(task)
    pages = [views.journal(desk, task, older) for older in (0, 1, 2, 99)]
    numbers = [[item["seq"] for item in page["items"]] for page in pages]
    assert numbers == [[5], [4, 3], [2, 1], [2, 1]]
    assert (pages[0]["pages"], pages[0]["total"], pages[3]["older"]) == (3, 5, 2)


def test_the_output_is_the_end_of_the_log(
    desk: FakeDesk, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(texts, "OUTPUT_BYTES_MAX", 8)
    desk.text = b"one\ntwo\n"
    assert views.output(desk, task) == {"size": 8, "lines": ["one", "two"], "is_cut": False}
    desk.text = b"0\n1ne\ntwo\n"
    assert views.output(desk, task) == {"size": 10, "lines": ["two"], "is_cut": True}


def test_a_deliverable_is_shown_as_what_it_is(desk: FakeDesk, task: str) -> None:
    """A document as a page and as lines, a picture by its size alone."""
    review = desk.open(
        "review",
        task,
        deliverables=[
            {"path": "a.md", "size": 3, "text": "# A", "diff": "@@ -0,0 +1 @@\n+# A"},
            {"path": "a.py", "size": 2, "text": "x\n"},
            {"path": "a.png", "size": 9_000},
        ],
    )
    page, code, picture = views.review(desk, review)["review"]["files"]
    assert "<h4>A</h4>" in page["page"]
    assert [line.kind for line in page["diff"]] == ["place", "added"]
    assert (code["page"], code["lines"], code["is_text"]) == (None, ["x"], True)
    assert (picture["is_text"], picture["lines"], picture["size"]) == (False, [], 9_000)


def test_the_inbox_counts_what_it_does_not_show(
    desk: FakeDesk, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tasks that failed are there; those that a person cancelled are not."""
    monkeypatch.setattr(views, "INBOX_MAX", 2)
    for _n in range(3):
        desk.open("question", task)
    failed, cancelled = (desk.create_task(NewTask("t", "d"))["id"] for _n in range(2))
    for id, outcome in ((failed, "failed"), (cancelled, "cancelled")):
        desk.put(id, TaskState.FAILED, AgentState.FAILED)
        desk.tasks[id]["outcome"] = outcome
    found = views.inbox(desk)
    assert (len(found["gates"]), found["more"]) == (2, 1)
    assert [item["id"] for item in found["failed"]["items"]] == [failed]


def test_the_form_of_a_task_offers_what_it_can_depend_on(desk: FakeDesk, task: str) -> None:
    """Neither itself nor what has failed; what was typed goes before the defaults."""
    failed, other = (desk.create_task(NewTask("t", "d"))["id"] for _n in range(2))
    desk.put(failed, TaskState.FAILED, AgentState.FAILED)
    desk.kept |= {"defaultAgent": "claude", "agents": ["claude", "codex"]}
    found = views.new_task(desk, {"id": task, "title": "typed", "agent": "codex"})
    assert [each["id"] for each in found["others"]] == [other]
    assert (found["values"]["title"], found["values"]["agent"]) == ("typed", "codex")
    assert views.new_task(desk, {})["values"]["agent"] == "claude"


def test_parks_are_named_by_the_titles_of_their_tasks(
    desk: FakeDesk, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parks = [{"taskId": task}, {"taskId": "task_gone"}]
    monkeypatch.setattr(desk, "limits", lambda: {"accounts": [], "parks": parks})
    assert views.limits(desk)["titles"] == {task: "A title", "task_gone": "task_gone"}
