"""What a person says to an agent, as the agent reads it."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from segue.core.machines import ActState
from segue.engine.messages import as_line, worded
from segue.store.rows import ActRow

AT = datetime(2026, 11, 18, tzinfo=UTC)
SAID = ActRow(
    "act_1", "server", "task_1", None, "message", {"text": "use\n\"SQLite\""}, "kim", "page",
    ActState.WAITING, None, 1, AT,
)  # fmt: skip


def test_a_prompt_says_who_it_is_from() -> None:
    text = worded(SAID)
    assert "kim" in text
    assert text.endswith('use\n"SQLite"\n')


def test_a_line_is_one_line() -> None:
    line = as_line(SAID)
    assert line.count("\n") == 1
    assert json.loads(line) == {"type": "prompt", "text": 'use\n"SQLite"'}
