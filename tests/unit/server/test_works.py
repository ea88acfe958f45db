"""All kinds of work of the served folder, over HTTP."""

from __future__ import annotations

from pathlib import Path

from kit.front import FakeCommands, Front
from segue.server.works import ProjectWorks, camel

PLAN = {
    "id": "w1", "kind": "tasklist", "path": "/p/PLAN.md", "state": "failed", "counts": {"failed": 1},
    "usage": {"inputTokens": 0, "outputTokens": 0, "costUsd": None},
}  # fmt: skip
FAILED = {
    "id": "T-1", "kind": "failed", "task": "T-1", "title": "Build", "text": "boom", "options": [],
    "default": None, "ageS": 1.0, "error": "boom", "acts": ["retry"], "url": None,
    "work": {"id": "w1", "kind": "tasklist", "path": "/p/PLAN.md"},
}  # fmt: skip


def test_works_are_listed_and_shown(front: Front) -> None:
    front.works.items = [PLAN]
    assert front.api.get("/api/work").json()["items"] == [PLAN]
    assert front.api.get("/api/work?page=2&pageSize=1").json()["items"] == []
    assert front.api.get("/api/work/w1").json() == PLAN
    assert front.api.get("/api/work/w2").status_code == 404


def test_the_inbox_has_what_waits_elsewhere_behind_its_own(
    front: Front, commands: FakeCommands
) -> None:
    """Over pages, and with the filters."""
    front.works.inbox = [FAILED]
    id = front.task()["id"]
    commands.open("question", id)
    pages = [front.api.get(f"/api/inbox?page={n}&pageSize=1").json() for n in (1, 2, 3)]
    assert [[item["kind"] for item in page["items"]] for page in pages] == [
        ["question"],
        ["failed"],
        [],
    ]
    assert {page["total"] for page in pages} == {2}
    assert front.api.get("/api/inbox?kind=failed").json()["items"] == [FAILED]
    assert front.api.get("/api/inbox?task=T-9").json()["total"] == 0


def test_a_folder_is_looked_through(tmp_path: Path) -> None:
    (tmp_path / "segue.toml").write_text("")
    (tmp_path / "PLAN.md").write_text("- [!] T-001: Build\n")
    works = ProjectWorks(tmp_path)
    (found,) = works.all()
    assert (found["kind"], found["state"], found["counts"]["failed"]) == ("tasklist", "failed", 1)
    assert found["id"].startswith("new-")
    (item,) = works.waiting()
    assert (item["kind"], item["task"]) == ("failed", "T-001")


def test_names_become_camel_case_at_every_depth() -> None:
    assert camel({"a_b": [{"c_d": 1}]}) == {"aB": [{"cD": 1}]}
