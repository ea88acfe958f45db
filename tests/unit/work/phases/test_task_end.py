"""The end of a task with phases: what its run used, as its row keeps it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from kit.plain_agent import STRUCTURED, attempt_of
from segue.dialects.events import Used
from segue.work.phases.task_end import used_by

SUPERVISOR: Any = SimpleNamespace(
    records=SimpleNamespace(usage_before=lambda run: Used(100, 10, 1.0))
)


def test_a_run_that_reported_nothing_leaves_its_row_as_it_is() -> None:
    """What is not reported is not guessed."""
    attempt: Any = attempt_of()
    assert used_by(SUPERVISOR, attempt) == {}


def test_of_an_agent_that_counts_its_conversation_only_the_rest_is_the_runs() -> None:
    """The runs before it have theirs in their own rows."""
    attempt: Any = attempt_of(STRUCTURED, used=Used(150, 30, 1.5))
    whole = {"input_tokens": 150, "output_tokens": 30, "cost_usd": 1.5}
    assert used_by(SUPERVISOR, attempt) == whole
    counting: Any = attempt_of(replace(STRUCTURED, counts_conversation=True), used=attempt.used)
    counting.run.resume_id = "c-1"
    rest = {"input_tokens": 50, "output_tokens": 20, "cost_usd": 0.5}
    assert used_by(SUPERVISOR, counting) == rest
