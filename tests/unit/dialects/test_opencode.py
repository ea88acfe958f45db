"""opencode: what its golden cases cannot show."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from segue.dialects.events import Event, Finished, LimitHit, Opened, ToolUsed, Used
from segue.dialects.opencode import WAIT_S_MAX, Opencode

ID = "ses_e1f790526ffeCirIe0IrnPPf6J"
OPENED = Opened(ID)


def told(*objects: dict[str, Any], err: str = "") -> list[Event]:
    dialect = Opencode("a1b2c3")
    data = b"".join(json.dumps({"sessionID": ID, **part}).encode() + b"\n" for part in objects)
    return [*dialect.feed(data), *dialect.feed_err(err.encode()), *dialect.close()]


def failed(name: str = "APIError", **data: Any) -> dict[str, Any]:
    return {"type": "error", "error": {"name": name, "data": data}}


def step(reason: str, **part: Any) -> dict[str, Any]:
    return {"type": "step_finish", "part": {"reason": reason, **part}}


def tool(error: str) -> dict[str, Any]:
    state = {"status": "error", "error": error, "input": {"command": "make"}}
    return {"type": "tool_use", "part": {"tool": "bash", "state": state}}


@pytest.mark.parametrize(
    ("message", "status", "kind"),
    [
        ("Rate limit reached for gpt-5", 429, "rate_limit"),
        ("5 hour usage limit reached. It will reset in 2 hours.", 429, "session_limit"),
        ("Subscription quota exceeded.", 429, "session_limit"),
        ("Weekly usage limit reached.", 429, "weekly_limit"),
        ("Free usage exceeded, subscribe to Go", 429, "daily_quota"),
        ("Quota exceeded: requests per day", 429, "daily_quota"),
        ("You exceeded your current quota. insufficient_quota", 429, "billing"),
        ("Insufficient balance", 402, "billing"),
        ("x", 402, "billing"),
        ("Incorrect API key provided", 401, "auth"),
        ("forbidden", 403, "auth"),
        ("prompt is too long: 9 tokens > 8 maximum", 400, "context_limit"),
        ("too big", 413, "context_limit"),
        ("The daily quota service is broken", 500, "overloaded"),
        ("x", 529, "overloaded"),
        ("Cannot connect to API: The socket connection was closed", None, "network"),
        ("Upstream error from X: Request rate increased too quickly.", None, "rate_limit"),
        ("Unauthorized: request was blocked by a gateway", None, "auth"),
    ],
)
def test_a_failure_has_the_kind_of_its_status_and_words(
    message: str, status: int | None, kind: str
) -> None:
    """One limit, one end, though the same error often comes twice."""
    error = failed("APIError", message=message, **({"statusCode": status} if status else {}))
    assert told(error, error) == [
        OPENED,
        LimitHit(kind, text=message),
        Finished(True, message, "APIError"),
    ]


@pytest.mark.parametrize(
    "error",
    [
        failed(message="daily limit: weekly limit, network error", statusCode=400),
        failed(message="no such model", statusCode=404),
        failed("UnknownError", message="Unexpected server error. Check server logs for details."),
        failed("MessageAbortedError"),
        failed(""),
    ],
)
def test_another_failure_is_no_limit(error: dict[str, Any]) -> None:
    """Waiting mends neither a wrong request nor a missing model."""
    assert [type(event) for event in told(error)] == [Opened, Finished]


def test_a_name_decides_before_the_words() -> None:
    """Its own classes of errors are believed."""
    assert told(failed("ContextOverflowError", message="429 rate limit"))[1] == LimitHit(
        "context_limit", text="429 rate limit"
    )


@pytest.mark.parametrize(
    ("header", "wait_s"),
    [
        ("5", 5.0),
        ("0.5", 0.5),
        ("99999999", float(WAIT_S_MAX)),
        ("-5", None),
        ("1e9", None),
        ("inf", None),
        ("٣", None),
        ("soon", None),
        (5, None),
        (None, None),
    ],
)
def test_the_server_says_how_long_to_wait(header: object, wait_s: float | None) -> None:
    """A number of seconds, plain and bounded; anything else is none."""
    error = failed(message="x", statusCode=429, responseHeaders={"retry-after": header})
    assert told(error)[1] == LimitHit("rate_limit", wait_s=wait_s, text="x")


def test_the_server_says_until_when() -> None:
    """By a date in the header that may also be a number."""
    header = {"retry-after": "Sun, 15 Nov 2026 18:56:24 GMT"}
    hit = told(failed(message="x", statusCode=429, responseHeaders=header))[1]
    at = datetime(2026, 11, 15, 18, 56, 24, tzinfo=UTC)
    assert hit == LimitHit("rate_limit", resets_at=at, text="x")


@pytest.mark.parametrize(
    ("error", "resets_at", "wait_s"),
    [
        ({"resets_at": 1_763_233_200, "resets_in_seconds": 5}, 1_763_233_200, None),
        ({"resets_in_seconds": 1_234.5}, None, 1_234.5),
        ({"resets_in_seconds": 1e15}, None, float(WAIT_S_MAX)),
        ({"resets_at": "soon"}, None, 30.0),
        ({"resets_at": -1, "resets_in_seconds": True}, None, 30.0),
        ("no object", None, 30.0),
    ],
)
def test_figures_in_the_answer_come_before_the_header(
    error: object, resets_at: int | None, wait_s: float | None
) -> None:
    """The reset of a subscription stands in the body; what cannot be one is passed over."""
    hit = told(
        failed(
            message="The usage limit has been reached",
            statusCode=429,
            responseBody=json.dumps({"error": error}),
            responseHeaders={"retry-after": "30"},
        )
    )[1]
    at = None if resets_at is None else datetime.fromtimestamp(resets_at, UTC)
    assert hit == LimitHit("session_limit", at, wait_s, "The usage limit has been reached")


@pytest.mark.parametrize("body", ["", "{", "[" * 100_000, "[]", '"x"', None, 1, {}])
def test_a_body_that_is_none_is_passed_over(body: object) -> None:
    """Then the header counts."""
    hit = told(
        failed(
            message="x",
            statusCode=429,
            responseBody=body,
            responseHeaders={"retry-after": "30"},
        )
    )[1]
    assert hit == LimitHit("rate_limit", wait_s=30.0, text="x")


def test_tokens_and_cost_are_added_up() -> None:
    """What was read from a cache was read, what was thought was written; a cost once, none never."""
    tokens = {"input": 8, "output": 2, "reasoning": 1, "cache": {"read": 4, "write": 1}}
    events = told(step("tool-calls", tokens=tokens), step("stop", tokens=tokens, cost=0.1))
    assert [e for e in events if isinstance(e, Used)] == [Used(13, 3, None), Used(26, 6, 0.1)]


@pytest.mark.parametrize(
    ("reason", "ends"),
    [
        ("stop", [Finished(False, "", "stop")]),
        ("end_turn", [Finished(False, "", "end_turn")]),
        ("length", [Finished(True, "", "length")]),
        ("content-filter", [Finished(True, "", "content-filter")]),
        ("tool-calls", []),
        ("unknown", []),
        ("", []),
    ],
)
def test_how_the_last_step_ended_is_how_it_ended(reason: str, ends: list[Event]) -> None:
    """After a step that calls tools another must come: without it, it was cut off."""
    assert told(step(reason)) == [OPENED, *ends]


REJECTED = "The user rejected permission to use this specific tool call."


def test_leave_that_was_refused_ends_the_work_with_an_error() -> None:
    """It exits with 0 in mid-work where a tool would have had to ask: that is no success."""
    refused = Finished(True, f"{REJECTED} (bash: make)", "permission_rejected")
    used = ToolUsed("bash", "make")
    assert told(tool(REJECTED), step("tool-calls")) == [OPENED, used, refused]
    begins = {"type": "step_start"}
    assert told(tool(REJECTED), step("tool-calls"), begins, step("stop"))[-1] == Finished(
        False, "", "stop"
    )
    assert told(tool("exit 1"), step("tool-calls")) == [OPENED, used]


def test_a_configuration_that_cannot_be_read_is_not_repeated() -> None:
    """It holds keys, and what is told of a failure goes into logs and reports."""
    err = (
        "Error: Config file is not valid JSON(C):\n--- JSONC Input ---\n"
        '{"apiKey": "s3cret"\n"more": "s3cret"\n--- Errors ---\n'
        'InvalidSymbol at line 1\n   Line 1: {"apiKey": "s3cret"\n         ^\n--- End ---\n'
    )
    (end,) = told(err=err)
    assert isinstance(end, Finished)
    assert end.text.splitlines() == [
        "Error: Config file is not valid JSON(C):",
        "InvalidSymbol at line 1",
    ]
