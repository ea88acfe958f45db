"""The last thing a run says."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from segue.cli.summary import BAR_CELLS, ERROR_CHARS_MAX, bar, summary
from segue.core.plan import Task
from segue.engine.waiting_parks import Deferred
from segue.work.project import Project

TOOK_S = 300.0
NO_USAGE = {"input_tokens": 0, "output_tokens": 0, "cost_usd": None}


class Graph(dict[str, Task]):
    def task(self, key: str) -> Task:
        return self[key]


def a_run(**more: Any) -> Any:
    tasks = [Task(f"T-{n}", f"Task {n}") for n in range(1, 5)]
    rows = {
        task.id: SimpleNamespace(retries_used=0, error="first line\nmiddle\nlast line")
        for task in tasks
    }
    ledger = {"tasks": rows, "windows": 0, "parks": {}, "gates": {}, **more}
    root = Path("/project")
    return SimpleNamespace(
        graph=Graph({task.id: task for task in tasks}),
        ledger=SimpleNamespace(**ledger),
        deferred={},
        file=SimpleNamespace(shown="docs/PLAN.md", kind="tasklist"),
        job_factory=SimpleNamespace(project=Project(root)),
    )


def facts(exit: int, **more: Any) -> dict[str, Any]:
    lists: dict[str, Any] = {name: [] for name in ("completed", "failed", "skipped")}
    return {**lists, "parked": [], "waiting": [], "usage": NO_USAGE, "exit": exit, **more}


def test_all_done_says_so_and_no_more() -> None:
    """A headline with the count; nothing to do, nothing to hint at."""
    text = summary(a_run(), facts(0, completed=["T-1", "T-2", "T-3", "T-4"]), TOOK_S)
    assert "All done." in text
    assert "4/4" in text
    assert "5m" in text
    assert "segue run" not in text
    assert len(text.strip().splitlines()) == 1


def test_a_choice_that_nobody_made_is_named_with_its_option() -> None:
    """To start it again would only end the same way; a failure without a word has no colon."""
    run = a_run()
    run.ledger.tasks["T-2"].error = None
    text = summary(run, facts(3, failed=["T-2", "T-3"], waiting=["T-2"]), TOOK_S)
    assert "  ✘ T-2 Task 2\n" in text
    told = "Decide with: segue run docs/PLAN.md --on-failed retry|skip|stop"
    assert text.splitlines()[-1].endswith(told)


def test_failures_are_named_with_their_errors_and_where_to_look() -> None:
    """Each failed task with its title and the ends of its error; the skipped ones; the logs."""
    told = facts(1, completed=["T-1"], failed=["T-2"], skipped=["T-3", "T-4"])
    text = summary(a_run(), told, TOOK_S)
    assert "✘ T-2 Task 2: first line: last line" in text
    assert "T-3, T-4" in text
    assert ".segue/logs" in text
    assert "segue run docs/PLAN.md" in text
    assert "1/4" in text


def test_a_long_error_is_cut() -> None:
    """A line of the summary stays a line."""
    run = a_run()
    run.ledger.tasks["T-2"].error = "x" * 5000
    text = summary(run, facts(1, failed=["T-2"]), TOOK_S)
    assert max(len(line) for line in text.splitlines()) < ERROR_CHARS_MAX + 40
    run.ledger.tasks["T-2"].error = None
    assert "T-2 Task 2" in summary(run, facts(1, failed=["T-2"]), TOOK_S)


@pytest.mark.parametrize(
    ("code", "headline"),
    [
        (0, "All done."),
        (1, "Some tasks failed"),
        (3, "Waits for you."),
        (4, "Parked."),
        (130, "Progress saved"),
    ],
)
def test_each_exit_code_has_its_headline_and_its_next_step(code: int, headline: str) -> None:
    """Whatever is not done can be gone on with by one command."""
    text = summary(a_run(), facts(code), TOOK_S)
    assert headline in text
    assert ("segue run docs/PLAN.md" in text) == (code != 0)


def test_parks_and_gates_are_shown_with_what_they_wait_for() -> None:
    """When a parked task goes on, and what a person is asked."""
    at = datetime.now(UTC)
    park = SimpleNamespace(task="T-2", wakes_at=at)
    gate = SimpleNamespace(task="T-3", text="Which database?")
    text = summary(a_run(parks={"p": park}, gates={"g": gate}), facts(3), TOOK_S)
    assert text.endswith("Answer from a terminal: segue run docs/PLAN.md")
    assert f"T-2 resumes at {at.astimezone():%H:%M:%S}" in text
    assert "T-3: Which database?" in text


def test_what_waits_without_a_run_is_shown_with_why() -> None:
    """Held back by another plan's limit, by quiet hours, or for good."""
    run = a_run()
    run.deferred = {
        "T-1": Deferred("T-1", "work", "session_limit", "2026-03-01T12:00:00Z"),
        "T-2": Deferred("T-2", "work", "until", None),
    }
    text = summary(run, facts(4, parked=["T-1", "T-2"]), TOOK_S)
    assert "T-1 resumes at" in text
    assert "(5-hour limit)" in text
    assert "T-2: past the time" in text


def test_retries_limits_and_usage_are_counted() -> None:
    """One and several in good English; no cost where none is known."""
    run = a_run(windows=1)
    run.ledger.tasks["T-1"].retries_used = 2
    used = {"input_tokens": 1200, "output_tokens": 80, "cost_usd": 0.5}
    text = summary(run, facts(0, usage=used), TOOK_S)
    assert "1 task needed a retry" in text
    assert "waited for 1 limit\n" in text
    assert "1200 tokens read, 80 written, $0.50" in text
    run.ledger.windows = 2
    run.ledger.tasks["T-2"].retries_used = 1
    text = summary(run, facts(0, usage={**used, "cost_usd": None}), TOOK_S)
    assert "2 tasks needed a retry" in text
    assert "waited for 2 limits" in text
    assert "$" not in text
    assert "tokens" not in summary(a_run(), facts(0), TOOK_S)


@pytest.mark.parametrize(("done", "total"), [(0, 0), (0, 3), (1, 3), (3, 3), (999, 1000)])
def test_the_bar_is_always_as_wide(done: int, total: int) -> None:
    """Its length is the same whatever is done."""
    assert len(bar(done, total)) == BAR_CELLS
    assert len(bar(done, total, 7)) == 7


def test_the_bar_shows_the_share() -> None:
    """Empty at the beginning, full at the end and only there."""
    assert set(bar(0, 3)) == {"┄"}
    assert set(bar(3, 3)) == {"━"}
    assert bar(1, 2, 4) == "━━┄┄"
    assert "┄" in bar(999, 1000), "not full before all is done"


def test_a_suggested_command_can_be_pasted() -> None:
    """A name with a blank in it is one word for the shell."""
    run = a_run()
    run.file.shown = "a b/한글.md"
    assert summary(run, facts(4), TOOK_S).endswith("To continue: segue run 'a b/한글.md'")


def test_a_question_of_the_plan_itself_names_no_task() -> None:
    """The budget is nobody's in particular; an agent that told no price cost an unknown sum."""
    gate = SimpleNamespace(task=None, text="the budget is used up")
    used = {"input_tokens": 1, "output_tokens": 2, "cost_usd": None}
    text = summary(a_run(gates={"g": gate}), facts(3, usage=used), TOOK_S)
    assert "  ❓ the budget is used up" in text
    assert "1 tokens read, 2 written, no cost reported" in text


def test_why_a_task_failed_reads_as_it_did_when_it_failed() -> None:
    """What went wrong, a colon, the last words."""
    run = a_run()
    run.ledger.tasks["T-1"].error = "exit code 3\nsome words\ntoo bad"
    assert "✘ T-1 Task 1: exit code 3: too bad" in summary(run, facts(1, failed=["T-1"]), TOOK_S)
