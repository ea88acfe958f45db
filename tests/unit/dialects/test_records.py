"""What the programs' own records say about how a turn ended."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from segue.dialects.records import (
    FINISHED,
    STOPPED,
    UNDER_WAY,
    claude_record,
    codex_record,
    gemini_record,
    opencode_record,
)

AT = "2026-11-18T11:18:50.000Z"
RESETS = datetime(2026, 11, 18, 15, 0, tzinfo=UTC)


def lines(*told: dict[str, Any]) -> list[bytes]:
    return [json.dumps(one).encode() for one in told]


def event(type_: str, **values: Any) -> dict[str, Any]:
    return {"timestamp": AT, "type": "event_msg", "payload": {"type": type_, **values}}


LIMIT = {"message": "You've hit your usage limit.", "codex_error_info": "usage_limit_exceeded"}
ASKED = event("user_message", message="write the parser")


def test_codex_is_stopped_by_the_error_of_its_turn() -> None:
    """The window that is used up tells the kind and the time, to the second."""
    used = {"used_percent": 100.0, "window_minutes": 300, "resets_at": int(RESETS.timestamp())}
    free = {"used_percent": 12.0, "window_minutes": 10_080, "resets_at": 1_796_000_000}
    found = codex_record(
        lines(
            event("task_started"),
            ASKED,
            event("token_count", rate_limits={"primary": used, "secondary": free}),
            event("task_complete", error=LIMIT),
        ),
        UTC,
    )
    assert found is not None
    assert found.stop is not None
    assert (found.state, found.prompt) == (STOPPED, "write the parser")
    assert (found.stop.kind, found.stop.resets_at) == ("session_limit", RESETS)


def test_codex_has_finished_whatever_it_said() -> None:
    """An answer about limits is an answer."""
    told = lines(event("task_started"), ASKED, event("task_complete", last_agent_message="limit"))
    found = codex_record(told, UTC)
    assert found is not None
    assert (found.state, found.stop) == (FINISHED, None)


def test_a_new_turn_ends_the_stop_of_codex() -> None:
    """It was asked again, so it is not stopped."""
    told = lines(event("task_complete", error=LIMIT), event("task_started"), ASKED)
    found = codex_record(told, UTC)
    assert found is not None
    assert found.state == UNDER_WAY


def test_another_error_of_codex_is_not_a_limit() -> None:
    """A tool that failed stops nobody."""
    told = lines(event("task_complete", error={"message": "sandbox error: denied by policy x"}))
    found = codex_record(told, UTC)
    assert found is not None
    assert found.stop is None


def said(type_: str, text: str, **values: Any) -> dict[str, Any]:
    return {"timestamp": AT, "type": type_, "content": [{"text": text}], **values}


def test_gemini_has_finished_with_an_answer_and_not_with_a_tool_call() -> None:
    """Its chat ends with words of its own; after a tool call the model may have refused."""
    asked = said("user", "write the parser")
    assert gemini_record(lines(asked), UTC).state == UNDER_WAY  # type: ignore[union-attr]
    answered = gemini_record(lines(asked, said("gemini", "Quota exceeded: done.")), UTC)
    assert answered is not None
    assert (answered.state, answered.prompt) == (FINISHED, "write the parser")
    called = gemini_record(lines(asked, said("gemini", "", toolCalls=[{"name": "ls"}])), UTC)
    assert called is not None
    assert called.state == UNDER_WAY


def test_opencode_is_stopped_by_the_error_of_its_answer() -> None:
    """Its status and its words tell which limit."""
    error = {"name": "APIError", "data": {"message": "Too Many Requests", "statusCode": 429}}
    times = {"created": 1_795_001_010_120, "completed": 1_795_001_084_302}
    found = opencode_record([{"role": "user"}, {"role": "assistant", "time": times, "error": error}], "go", UTC)  # fmt: skip
    assert found is not None
    assert found.stop is not None
    assert (found.state, found.stop.kind) == (STOPPED, "rate_limit")
    finished = opencode_record([{"role": "assistant", "time": times, "finish": "stop"}], "go", UTC)
    assert finished is not None
    assert finished.state == FINISHED


def entry(type_: str, message: dict[str, Any], **values: Any) -> dict[str, Any]:
    return {"type": type_, "sessionId": "s", "timestamp": AT, "message": message, **values}


def test_claude_has_finished_or_is_stopped() -> None:
    """The program's own message in the agent's place is a stop, the agent's answer an end."""
    asked = entry("user", {"role": "user", "content": "write the parser"})
    answer = entry("assistant", {"content": [{"type": "text", "text": "You've hit your limit"}], "stop_reason": "end_turn"})  # fmt: skip
    found = claude_record(lines(asked, answer), UTC, since=None)
    assert found is not None
    assert (found.state, found.prompt, found.is_sure) == (FINISHED, "write the parser", True)
    refused = entry(
        "assistant",
        {
            "model": "<synthetic>",
            "content": [{"type": "text", "text": "You've hit your limit · resets 3pm"}],
        },
        isApiErrorMessage=True,
        error="rate_limit",
    )
    stopped = claude_record(lines(asked, refused), UTC, since=None)
    assert stopped is not None
    assert stopped.state == STOPPED
