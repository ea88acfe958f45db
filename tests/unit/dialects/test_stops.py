"""Structured words of real programs, as `segue detect` gets them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from segue.dialects import stops

GOLDEN = Path(__file__).parents[2] / "golden"
NOW = datetime(2026, 11, 15, 18, 33, tzinfo=UTC)


def reported_stop(brand: str, case: str) -> stops.ReportedStop | None:
    text = (GOLDEN / brand / case / "stdout").read_text(encoding="utf-8")
    return stops.reported_stop(text, brand, NOW, UTC)


@pytest.mark.parametrize(
    ("brand", "case", "kind"),
    [
        ("claude", "limit-5-hour", "session_limit"),
        ("claude", "error-401", "auth"),
        ("claude", "error-500", "overloaded"),
        ("claude", "error-connection", "network"),
        ("claude", "error-prompt-too-long", "context_limit"),
        ("codex", "limit-usage", "session_limit"),
        ("codex", "error-quota", "billing"),
        ("codex", "error-context-full", "context_limit"),
        ("gemini", "limit-daily", "daily_quota"),
        ("opencode", "error-quota", "billing"),
    ],
)
def test_events_tell_of_the_stop(brand: str, case: str, kind: str) -> None:
    """The kind is the one that the run itself would be told."""
    found = reported_stop(brand, case)
    assert found is not None
    assert (found.state, found.source, found.kind) == ("paused", "event", kind)
    assert found.text


def test_an_event_names_the_reset_to_the_second() -> None:
    """The words for people have the minute; the evidence is what they say."""
    found = reported_stop("claude", "limit-5-hour")
    assert found is not None
    assert found.resets_at is not None
    assert found.resets_at.second != 0
    assert "limit" in found.text


def test_what_went_on_is_not_stopped() -> None:
    """A limit in the middle, and work behind it."""
    found = reported_stop("claude", "limit-then-continue")
    assert found is not None
    assert (found.state, found.kind) == ("idle", None)


@pytest.mark.parametrize(
    ("case", "state", "kind"),
    [
        ("weekly", "paused", "weekly_limit"),
        ("five-hour-continues-itself", "paused_self_resuming", "session_limit"),
    ],
)
def test_a_transcript_tells_of_the_stop(case: str, state: str, kind: str) -> None:
    """What the program writes down for itself."""
    (file,) = (GOLDEN / "claude_transcripts" / case).glob("*.jsonl")
    found = stops.reported_stop(file.read_text(encoding="utf-8"), None, NOW, UTC)
    assert found is not None
    assert (found.state, found.source, found.kind) == (state, "transcript", kind)


def test_what_a_hook_gets_tells_of_the_stop() -> None:
    """`StopFailure` with the words of the last message."""
    payload = {
        "hook_event_name": "StopFailure",
        "session_id": "a",
        "error": "rate_limit",
        "last_assistant_message": "You've hit your session limit · resets 9pm (UTC)",
    }
    found = stops.reported_stop(json.dumps(payload), "claude", NOW, UTC)
    assert found is not None
    assert (found.source, found.kind) == ("transcript", "session_limit")
    assert found.resets_at == datetime(2026, 11, 15, 21, tzinfo=UTC)
    assert (
        stops.reported_stop(json.dumps(payload | {"hook_event_name": "Stop"}), "claude", NOW, UTC)
        is None
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "You've hit your session limit · resets 9pm",
        '{"error": {"type": "rate_limit_error", "message": "slow down"}}',
        '{"broken',
        '[{"type": "result"}]',
        '{"type": "result"}\nplain\nplain\n',
    ],
)
def test_other_texts_are_left_to_whoever_reads_screens(text: str) -> None:
    assert stops.reported_stop(text, "claude", NOW, UTC) is None
