"""For a person's own agent: what stands where, and the levers a person would pull."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kit.bench import CLAUDE, Bench
from kit.questions import asked
from segue.mcp import person
from segue.mcp.tools import Refused
from segue.store.lock import Holder


class PersonTools:
    """The tools of one project, called as a model does."""

    def __init__(self, bench: Bench) -> None:
        self.root = bench.root
        self.tools = {
            tool.name: tool for tool in person.tools(bench.root, bench.environ, bench.clock)
        }

    def __call__(self, tool: str, **given: Any) -> str:
        return self.tools[tool].answer(given)

    def json(self, tool: str, **given: Any) -> Any:
        return json.loads(self(tool, **given))

    def refused(self, tool: str, **given: Any) -> str:
        with pytest.raises(Refused) as caught:
            self(tool, **given)
        return str(caught.value)


@pytest.fixture
def commands(bench: Bench) -> PersonTools:
    return PersonTools(bench)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[str]]]:
    """The plans that would be started, with their options."""
    found: list[tuple[str, list[str]]] = []

    def start(plan: Path, project: Any, options: list[str], environ: object) -> str:
        found.append((plan.name, options))
        return "Started."

    monkeypatch.setattr("segue.mcp.background.start", start)
    return found


def test_plans_are_listed_in_short(bench: Bench, commands: PersonTools) -> None:
    asked(bench)
    assert commands.json("list_plans") == {
        "project": str(bench.root),
        "plans": [
            {"path": "PLAN.md", "kind": "tasklist", "state": "waiting", "completed": 0, "tasks": 2,
             "open_gates": 1}
        ],
    }  # fmt: skip


def test_status_is_that_of_the_command(bench: Bench, commands: PersonTools) -> None:
    """Of the project, or of a plan or folder in it."""
    gate = asked(bench)
    (plan,) = commands.json("status")["plans"]
    assert [one["id"] for one in plan["gates"]] == [gate]
    assert commands.json("status", path="PLAN.md")["plans"] == [plan]
    assert commands.refused("status", path="nowhere.md") == "nowhere.md does not exist."


def test_a_plan_is_started_with_its_options(
    bench: Bench, commands: PersonTools, started: list[tuple[str, list[str]]]
) -> None:
    (bench.root / "PLAN.md").write_text("- [ ] T-1: a\n")
    assert commands("run_plan", path="PLAN.md") == "Started."
    commands("run_plan", path="PLAN.md", agent="claude", jobs=2, on_failed="retry")
    assert started == [
        ("PLAN.md", ["--on-failed=ask"]),
        ("PLAN.md", ["--on-failed=retry", "--agent=claude", "--jobs=2"]),
    ]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"path": "nowhere.md"}, "no such plan"),
        ({"path": "BROKEN.md"}, "BROKEN.md:2"),
        ({"path": "PLAN.md", "agent": "nobody"}, "nobody"),
        ({"path": "PLAN.md", "jobs": 0}, "jobs"),
        ({"path": "PLAN.md", "on_failed": "hope"}, "on_failed"),
    ],
)
def test_a_plan_that_cannot_run_is_refused_before_anything_starts(
    bench: Bench, commands: PersonTools, started: list[Any], given: dict[str, Any], why: str
) -> None:
    bench.settings(CLAUDE)
    (bench.root / "PLAN.md").write_text("- [ ] T-1: a\n")
    (bench.root / "BROKEN.md").write_text("- [ ] T-1: a\n- [ ] T-1: b\n")
    assert why in commands.refused("run_plan", **given)
    assert started == []


def test_a_plan_that_runs_is_not_started_again(
    bench: Bench, commands: PersonTools, started: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    (bench.root / "PLAN.md").write_text("- [ ] T-1: a\n")
    holder = Holder(4711, "2026-03-01", "segue run PLAN.md")
    monkeypatch.setattr("segue.mcp.background.lock.holder", lambda path: holder)
    assert commands.refused("run_plan", path="PLAN.md").startswith("Already running: process 4711")
    assert started == []


@pytest.mark.parametrize("tool", ["run_plan", "stop_plan", "status"])
@pytest.mark.parametrize("path", ["../PLAN.md", "/etc/passwd", "link/PLAN.md", "a\0b"])
def test_nothing_outside_of_the_project_is_touched(
    bench: Bench, commands: PersonTools, started: list[Any], tool: str, path: str
) -> None:
    """Whatever links are on the way."""
    (bench.folder / "PLAN.md").write_text("- [ ] T-1: a\n")
    (bench.root / "link").symlink_to(bench.folder)
    text = commands.refused(tool, path=path)
    assert "outside the project" in text or text == "This is not a valid path."
    assert started == []


def test_gates_are_answered_and_approved(bench: Bench, commands: PersonTools) -> None:
    gate = asked(bench)
    assert commands("answer", gate=gate, text="SQLite").startswith("Answered: 'SQLite'.")
    assert "already answered" in commands.refused("approve", gate=gate)
    assert "wrong arguments" in commands.refused("answer", gate=gate, text="")


def test_a_plan_that_nobody_runs_is_not_stopped(bench: Bench, commands: PersonTools) -> None:
    (bench.root / "PLAN.md").write_text("- [ ] T-1: a\n")
    assert commands.refused("stop_plan", path="PLAN.md") == "PLAN.md is not running."


def test_tools_that_change_something_are_marked_so(commands: PersonTools) -> None:
    """Programs ask a person before they let a model call them."""
    tools = commands.tools.values()
    assert {tool.name for tool in tools if tool.is_read_only} == {"list_plans", "status"}
    assert all(tool.is_read_only != tool.is_destructive for tool in tools)
