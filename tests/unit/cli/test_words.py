"""Events in words: every event that people should read has its line."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import segue.work
from segue import i18n
from segue.cli.words import WORDS, in_words, limit_name, local_time, state_name
from segue.core.limits import FAMILY
from segue.core.machines import PlanState
from segue.core.plan import TaskState

# What is told in another way: by the display itself, or by the summary at the end.
SILENT = {"started", "finished", "task_said"}

SAMPLES: dict[str, Any] = {
    "task": "T-7",
    "title": "Build",
    "attempt": 2,
    "seconds": 61.5,
    "error": "it broke",
    "because": "T-1",
    "why": "the reason",
    "kind": "session_limit",
    "wakes_at": "2025-03-01T12:00:00Z",
    "retry": 1,
    "retries": 2,
    "text": "the text",
    "command": "pytest",
    "step": 3,
    "file": "PLAN.md",
    "line": 4,
    "message": "the message",
    "new": ["T-8", "T-9"],
    "now": "completed",
    "was": "pending",
    "state": "completed",
    "holds": ["T-8", "T-9"],
    "by": "web",
    "tool": "Bash",
    "what": "git push",
    "verdict": "deny",
    "agent": "codex",
    "until": "2025-03-01T12:00:00Z",
    "held_by": {"plan": "NIGHT.md", "task": "T-9"},
    "attempts_max": 10,
    "wait_s": 2.0,
    "status": 529,
    "is_alive": True,
    "processes": ["claude", "sh"],
    "stopped": 0,
    "connections": 1,
    "conversation": "talk-1",
    "chapter": 3,
    "score": 72.5,
    "threshold": 80,
    "reasons": ["too short"],
    "completed": 2,
    "total": 12,
    "cause": "same_reason",
    "failures": 3,
    "most": 100,
    "phase": "IMPLEMENT",
    "strategy": "subagent",
}
SEVERAL_LINES = {"breaker_tripped"}  # with its reasons below
PROBLEM = ("code", "message", "file", "line", "hint")  # what `**problem.to_json()` brings


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    yield
    i18n.use("en")


def constants(tree: ast.Module) -> dict[str, ast.Constant]:
    """The constants of a module, by their names."""
    return {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def told_by_work() -> list[tuple[str, frozenset[str], str]]:
    """Each place that tells an event of a plan: its name, the names of its facts, where."""
    found = []
    work = Path(segue.work.__path__[0])
    of_plans = (
        work.parent / "engine" / "plan",
        work,
        work / "tasklist",
        work / "book",
        work / "feature",
    )  # those that a reporter shows
    for path in (path for folder in of_plans for path in sorted(folder.glob("*.py"))):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        named = constants(tree)
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(
                node.func, ast.Attribute | ast.Name
            ):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Name):
                first = named.get(first.id)
            if name not in {"emit", "publish"} or not isinstance(first, ast.Constant):
                continue
            facts = {keyword.arg for keyword in node.keywords if keyword.arg}
            if any(keyword.arg is None for keyword in node.keywords):
                facts |= set(PROBLEM)
            found.append((str(first.value), frozenset(facts), f"{path.name}:{node.lineno}"))
    return found


def test_the_events_are_found() -> None:
    """The search for events finds those that the documents name."""
    names = {name for name, _facts, _where in told_by_work()}
    assert names >= {
        "task_started",
        "task_completed",
        "task_failed",
        "task_skipped",
        "task_parked",
        "task_resumed",
        "gate_opened",
        "finished",
    }


def test_every_event_has_words_or_is_told_otherwise() -> None:
    """An event that work tells is never silently lost in a pipe, and no words are left over."""
    names = {name for name, _facts, _where in told_by_work()}
    assert names - set(WORDS) == SILENT
    assert set(WORDS) - names == set()


@pytest.mark.parametrize("language", i18n.LANGUAGES)
@pytest.mark.parametrize(
    ("name", "facts", "where"),
    [pytest.param(*told, id=f"{told[0]} {told[2]}") for told in told_by_work()],
)
def test_the_words_can_be_said_with_the_facts_that_are_told(
    name: str, facts: frozenset[str], where: str, language: i18n.Language
) -> None:
    """From each place where an event is told its line can be made, in every language."""
    i18n.use(language)
    given = {fact: SAMPLES.get(fact) for fact in facts}
    line = in_words(name, given)
    if name in SILENT:
        assert line is None
        return
    assert line
    assert "\n" not in line or name in SEVERAL_LINES
    assert "{" not in line, "a field was left open"
    if "task" in facts:
        assert "T-7" in line, where


@pytest.mark.parametrize(
    ("name", "facts", "line"),
    [
        ("task_started", {"task": "T-1", "title": "Go", "attempt": 1}, "▶ T-1 Go"),
        ("task_started", {"task": "T-1", "title": "Go", "attempt": 3}, "▶ T-1 Go (try 3)"),
        ("task_completed", {"task": "T-1", "seconds": 90}, "✔ T-1 completed in 1m 30s"),
        ("task_failed", {"task": "T-1", "error": "{why}"}, "✘ T-1 failed: {why}"),
        (
            "task_skipped",
            {"task": "T-2", "because": "T-1"},
            "⊘ T-2 skipped: it depends on T-1",
        ),
        (
            "task_skipped",
            {"task": "T-2", "because": None},
            "⊘ T-2 skipped (undo: segue unskip T-2)",
        ),
        (
            "task_skipped",
            {"task": "T-2", "because": None, "why": "by hand"},
            "⊘ T-2 skipped: by hand (undo: segue unskip T-2)",
        ),
        ("plan_edited", {"new": []}, "✎ the plan was edited"),
        ("notice", {"text": "{as it is}"}, "{as it is}"),
        ("no_such_event", {}, None),
        (
            "task_parked",
            {"task": "T-1", "kind": "conversation", "held_by": {"plan": "N.md", "task": "T-9"}},
            "⏳ T-1 waits: its conversation is in use by T-9 of N.md",
        ),
        (
            "permission_asked",
            {"task": "T-1", "tool": "Bash", "what": "rm {x}", "verdict": "deny"},
            "⛔ T-1 may not use Bash: rm {x}",
        ),
        ("permission_asked", {"task": "T-1", "verdict": "allow"}, None),
        ("permission_asked", {"task": "T-1", "verdict": "ask"}, None),
        (
            "agent_retrying",
            {"task": "T-1", "attempt": 3, "attempts_max": 10, "status": 529, "text": "{busy}"},
            "↻ T-1: its agent retries by itself (3/10): {busy}",
        ),
        (
            "agent_retrying",
            {"task": "T-1", "attempt": 3, "attempts_max": None, "status": 529, "text": ""},
            "↻ T-1: its agent retries by itself (3/…): 529",
        ),
        (
            "agent_retrying",
            {"task": "T-1", "attempt": 0, "attempts_max": None, "status": None, "text": ""},
            "↻ T-1: its agent retries by itself (0/…): an error from its model",
        ),
        ("task_resumed", {"task": "T-1"}, "▶ T-1 resumed"),
        (
            "task_resumed",
            {"task": "T-1", "purpose": "compact"},
            "▶ T-1: compacting its conversation",
        ),
        (
            "task_resumed",
            {"task": "T-1", "purpose": "afresh"},
            "▶ T-1 resumed in a new conversation with a summary",
        ),
        (
            "task_parked",
            {"task": "T-1", "kind": "until", "wakes_at": None},
            "⏳ T-1 not started: past the time in [leash] until",
        ),
        ("gate_answered", {"task": "T-1", "by": "web"}, "✉ T-1 answered by web"),
        ("gate_answered", {"task": None, "by": "web"}, "✉ answered by web"),
        (
            "gate_answered",
            {"task": "T-1", "by": "deadline", "answer": "{yes}"},
            "⏰ T-1: no answer by the deadline, Segue uses the default: {yes}",
        ),
    ],
)
def test_lines_say_what_happened(name: str, facts: dict[str, Any], line: str | None) -> None:
    """The words of the events that people see most; braces in them are text."""
    assert in_words(name, facts) == line


SILENCE: dict[str, Any] = {
    "task": "T-1",
    "seconds": 600,
    "is_alive": True,
    "processes": ["claude", "sh"],
    "stopped": 0,
    "connections": 2,
}


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        ({}, "… T-1 has printed nothing for 10m; running (claude, sh), open connections: 2"),
        (
            {"stopped": 1},
            "… T-1 has printed nothing for 10m; running (claude, sh), open connections: 2; stopped: 1",
        ),
        (
            {"processes": [], "connections": 0},
            "… T-1 has printed nothing for 10m; running (–), open connections: 0",
        ),
        (
            {"is_alive": False, "processes": [], "connections": 0},
            "… T-1 has printed nothing for 10m; its process has exited",
        ),
    ],
)
def test_a_silence_is_told_with_what_was_seen(facts: dict[str, Any], line: str) -> None:
    """What its processes do; where there are none, that alone."""
    assert in_words("task_silent", {**SILENCE, **facts}) == line


def test_every_state_and_limit_has_a_name() -> None:
    """No state or limit is shown as its bare word from the code."""
    for state in (*TaskState, *PlanState):
        assert state_name(state)
        assert "_" not in state_name(state)
    for kind in set(FAMILY) - {"unknown"}:
        assert limit_name(kind) != limit_name("no such kind"), kind
    assert state_name("something new") == "something new"


def test_an_instant_is_shown_as_the_wall_clock_here_shows_it() -> None:
    """Today by its time alone, another day with its date."""
    now = datetime.now(UTC)
    today = now.astimezone().replace(hour=12, minute=34, second=56)
    assert local_time(today.astimezone(UTC).isoformat(), now) == "12:34:56"
    other = today + timedelta(days=3)
    shown = local_time(other.astimezone(UTC).isoformat().replace("+00:00", "Z"), now)
    assert shown == other.strftime("%m-%d %H:%M")
