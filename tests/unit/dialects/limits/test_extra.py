"""A user's own patterns: under a time limit."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

import pytest

from segue.dialects.limits import detect, extra_patterns

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
TABLES = [
    {"pattern": r"(x|x)+$", "kind": "daily_quota"},
    {"pattern": "the oracle is asleep", "kind": "rate_limit"},
]


def test_a_pattern_that_needs_too_long_is_ignored_and_warned_of_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It would need longer than the world stands; the other patterns keep working."""
    patterns = extra_patterns(TABLES)
    line = "x" * 200 + " the oracle is asleep"
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            found = detect(line, tool="oracle", now=NOW, tz=UTC, extra=patterns)
            assert (found.kind, found.rule) == ("rate_limit", "extra-2")
    assert [r.getMessage().count("(x|x)+$") for r in caplog.records] == [1]
