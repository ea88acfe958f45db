"""Tasks of the server in words: for people who look."""

from __future__ import annotations

from typing import Any

import pytest

from kit.hand_client import AT, ONE, gate, task
from segue import i18n
from segue.cli import task_words
from segue.cli.task_words import Look

AGENT: dict[str, Any] = {"limit": None, "resetsAt": None, "currentStep": None}
pytestmark = pytest.mark.usefixtures("alone")


def look(agent: dict[str, Any] | None = None, **more: Any) -> list[str]:
    """All that is shown of a task; lists by their name, the rest is the task's own."""
    lists = {name: more.pop(name, []) for name in ("phases", "waiting", "checkpoints")}
    return list(task_words.long(Look(task(**more), {**AGENT, **(agent or {})}, **lists)))


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        ({}, "○ {id}  pending  Shop"),
        ({"status": "draft"}, "✎ {id}  draft  Shop"),
        ({"status": "in_progress", "agentStatus": "running", "currentPhase": 2, "totalPhases": 3,
          "progress": 40}, "▶ {id}  in progress 2/3 40 %  Shop"),
        ({"status": "in_progress", "agentStatus": "waiting_question"},
         "▶ {id}  in progress, waits for an answer  Shop"),
        ({"status": "failed", "outcome": "cancelled"}, "✘ {id}  cancelled  Shop"),
        ({"status": "brand_new"}, "? {id}  brand_new  Shop"),
        ({"title": "a\nb\x1b[2J"}, "○ {id}  pending  a b"),
    ],
)  # fmt: skip
def test_a_task_is_one_line(facts: dict[str, Any], line: str) -> None:
    assert task_words.short(task(**facts)) == line.format(id=ONE)


def test_a_task_in_full_has_only_lines_that_say_something() -> None:
    assert look() == [
        f"○ {ONE}  pending  Shop",
        "  custom, agent claude, 0 % done",
        "  | A small shop",
        "  created 03-01 12:00",
    ]
    assert look(description="  ")[2] == "  created 03-01 12:00"


def test_what_is_known_besides_is_shown() -> None:
    text = "\n".join(
        look(
            {"limit": "session_limit", "resetsAt": AT, "currentStep": "compiling"},
            error="exit code 3",
            waitsFor=["task_9"],
            startedAt=AT,
            retryOf="task_1",
            forkedFrom="task_2",
            workspace="/w",
            usage={"inputTokens": 12, "outputTokens": 3, "costUsd": 0.5},
            allowedActions=["pause", "cancel"],
            phases=[{"number": 1, "name": "plan", "status": "completed", "deliverables": ["a.md"]},
                    {"number": 2, "name": "code", "status": "pending", "deliverables": []}],
            checkpoints=[{"id": "cp_3", "whole": False, "kind": "pause", "createdAt": AT},
                         {"id": "cp_2", "whole": True, "kind": "phase", "createdAt": AT}],
        )
    )  # fmt: skip
    for line in (
        "  ✘ exit code 3",
        "  waits for the tasks task_9",
        "  ⏳ 5-hour limit, resumes at 03-01 12:00",
        "  · compiling",
        "  Phases:\n    ✔ 1 plan  (a.md)\n    ○ 2 code\n",
        "  created 03-01 12:00, started 03-01 12:00\n",
        "  retry of task_1",
        "  continues from task_2",
        "  workspace: /w",
        "  ¤ 12 tokens read, 3 written, $0.50",
        "  newest checkpoint: cp_2 (phase, 03-01 12:00)",
        "  possible now: pause, cancel",
    ):
        assert line in text


def test_a_task_that_waits_in_vain_names_each_way_out() -> None:
    """Instead of what it waits for."""
    lines = look(waitsFor=["task_9"], allowedActions=["retry", "go_without", "fail"])
    assert lines[3:6] == [
        f"    segue task retry {ONE}  # retry what it waits for",
        f"    segue task go-without {ONE}  # start without it",
        f"    segue task fail {ONE}  # mark it as failed",
    ]
    assert not any("waits for the tasks" in line for line in lines)


@pytest.mark.parametrize(
    ("waits", "lines"),
    [
        (gate("question", "q_1", default="B", deadline=AT),
         ["❓ q_1  Which one?", "   - A", "   - B (default)", "   until 03-01 12:00",
          "   segue task answer q_1 …"]),
        (gate("dependency", "dep_1"),
         ["🔑 dep_1  api_key STRIPE_KEY: to pay", "   segue task provide dep_1"]),
        (gate("review", "rev_1", deliverables=[{"path": "a.md"}]),
         ["✋ rev_1  Shop: plan (round 2)", "   - a.md",
          "   segue task show rev_1; segue task approve rev_1"]),
        (gate("stuck", "task_1"),
         ["⛔ task_1  Shop: it waits for task_9, which failed",
          "   segue task retry task_1  # retry what it waits for",
          "   segue task fail task_1  # mark it as failed"]),
    ],
)  # fmt: skip
def test_what_waits_is_shown_with_the_command_that_gives_it(
    waits: dict[str, Any], lines: list[str]
) -> None:
    assert list(task_words.waiting(waits)) == lines


def test_a_review_shows_what_is_to_be_judged() -> None:
    """What changed, else the whole text; nothing in it acts on the terminal."""
    found = {
        "id": "rev_1", "status": "pending", "phase": 1, "phaseName": "plan", "round": 2,
        "verification": {"tests": "passed", "lint": None},
        "deliverables": [
            {"path": "a.md", "size": 9, "diff": "+ new", "text": "old and new"},
            {"path": "b.md", "text": "all\x1b[2J of it"},
            {"path": "c.bin", "size": 3},
        ],
    }  # fmt: skip
    assert list(task_words.review(found)) == [
        "✋ rev_1  pending  1 plan (round 2)",
        "  tests: passed",
        "", "── a.md (9)", "+ new",
        "", "── b.md (?)", "all of it",
        "", "── c.bin (3)",
    ]  # fmt: skip


def test_an_event_is_one_line() -> None:
    data: dict[str, Any] = {
        "seq": 12, "timestamp": AT, "taskId": ONE, "entity": "server_agent", "from": "idle",
        "to": "running", "trigger": "start", "metadata": {},
    }  # fmt: skip
    line = f"    12 03-01 12:00  {ONE}  agent: idle → running  (start)"
    assert task_words.event(data) == line
    made = {**data, "from": None, "to": "draft", "metadata": {"kind": "task"}}
    assert task_words.event(made).endswith(f"{ONE}  task: draft  (start)")


def test_states_have_korean_names() -> None:
    i18n.use("ko")
    assert task_words.status_name("in_progress") != "in progress"
    assert task_words.status_name("waiting_review") != "waits for a review"
