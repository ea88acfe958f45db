"""Claude Code: what its golden cases cannot show."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.dialects import claude
from segue.dialects.claude import Claude
from segue.dialects.claude_limits import limit_from_text, stopped_by
from segue.dialects.claude_usage import MESSAGES_MAX
from segue.dialects.events import (
    ConversationLost,
    Event,
    Finished,
    Garbled,
    LimitHit,
    PermissionAsked,
    Retrying,
    Said,
    StepDone,
    ToolUsed,
    Used,
    WindowUsed,
)
from segue.dialects.lines import LINE_BYTES_MAX
from segue.dialects.structured import OBJECT_BYTES_MAX, TEXT_CHARS_MAX

NONCE = "a1b2c3"
NOW = datetime(2026, 11, 15, 18, 30, tzinfo=UTC)
SOON = int((NOW + timedelta(hours=1)).timestamp())


def dialect() -> Claude:
    return Claude(NONCE, lambda: NOW)


def told(*objects: dict[str, Any], by: Claude | None = None) -> list[Event]:
    data = b"".join(json.dumps(part).encode() + b"\n" for part in objects)
    by = by or dialect()
    return [*by.feed(data), *by.close()]


def of(kind: type, events: Iterable[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def said(text: str, *, id_: str = "m1", tokens: tuple[int, int] = (0, 0), **more: Any) -> Any:
    usage = {"input_tokens": tokens[0], "output_tokens": tokens[1]}
    message = {"id": id_, "content": [{"type": "text", "text": text}], "usage": usage}
    return {"type": "assistant", "message": message, "parent_tool_use_id": None, **more}


def retry(status: int | None, attempt: int = 1) -> dict[str, Any]:
    return {
        "type": "system",
        "subtype": "api_retry",
        "attempt": attempt,
        "max_retries": 10,
        "retry_delay_ms": 600,
        "error_status": status,
        "error": "why",
    }


def result(**more: Any) -> dict[str, Any]:
    return {"type": "result", "subtype": "success", "is_error": False, **more}


def error(text: str, **more: Any) -> dict[str, Any]:
    more = {"terminal_reason": "api_error", **more}
    return result(is_error=True, result=text, **more)


def limited(**info: Any) -> dict[str, Any]:
    return {"type": "rate_limit_event", "rate_limit_info": info}


# Bounds


def test_a_line_over_the_bound_is_garbled_and_not_kept() -> None:
    """Ten megabytes of one line are counted to the byte, never kept whole, and what comes
    behind them is heard."""
    by = dialect()
    size = 10 * 1024 * 1024
    line = b'{"type":"assistant","message":{"content":[{"type":"text","text":"'
    line += b"x" * (size - len(line))
    events: list[Event] = []
    for n in range(0, size, 65_536):
        events += by.feed(line[n : n + 65_536])
        assert len(by._objects._lines._rest) <= OBJECT_BYTES_MAX
    events += by.feed(b"\n" + json.dumps(said("next")).encode() + b"\n")
    assert sum(event.size for event in of(Garbled, events)) == size
    assert [event for event in events if not isinstance(event, Garbled)] == [Said("next")]
    assert not by._objects._lines._rest


def test_a_large_line_below_the_bound_is_heard() -> None:
    """A message of some megabytes, as one with a tool's result may be, is read; its text comes
    in pieces that are bounded like any other line."""
    text = "y" * (OBJECT_BYTES_MAX - 10_000)
    events = told(said(text))
    assert "".join(event.text for event in of(Said, events)) == text
    assert len(events) == len(of(Said, events)) > 1
    assert max(len(event.text) for event in of(Said, events)) <= LINE_BYTES_MAX


def test_the_text_of_a_result_is_bounded() -> None:
    """The final words are kept up to a bound."""
    assert told(result(result="z" * (2 * TEXT_CHARS_MAX)))[-1] == Finished(
        False, "z" * TEXT_CHARS_MAX
    )


def test_memory_does_not_grow_with_the_number_of_messages() -> None:
    """Of messages without end only the last may be told again; all of them are counted."""
    by = dialect()
    events = told(*(said("", id_=f"m{n}", tokens=(2, 1)) for n in range(5 * MESSAGES_MAX)), by=by)
    assert len(by._meter._messages) == MESSAGES_MAX
    assert events[-1] == Used(10 * MESSAGES_MAX, 5 * MESSAGES_MAX)


# Anything may come


KEYS = [
    "type", "subtype", "session_id", "message", "content", "text", "usage", "id", "error", "status",
    "name", "input", "parent_tool_use_id", "rate_limit_info", "unifiedWindows", "five_hour",
    "utilization", "resetsAt", "rateLimitType", "request", "request_id", "tool_name", "questions",
    "question", "options", "label", "is_error", "result", "errors", "terminal_reason", "attempt",
    "error_status", "retry_delay_ms", "api_error", "modelUsage", "model_usage_since_last_result",
    "total_cost_usd", "inputTokens", "costUSD", "is_api_error_message", "api_error_params",
]  # fmt: skip
WORDS = [
    "system", "assistant", "result", "rate_limit_event", "control_request", "api_retry", "text",
    "tool_use", "can_use_tool", "AskUserQuestion", "rejected", "allowed", "five_hour", "success",
    "seven_day", "usage_limit_reached", "api_error", "=== STEP 1 DONE ===", "\x1b[31m\r\n", "\ud800",
]  # fmt: skip
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.sampled_from([2**63, 10**300, SOON, 429, 529, 1e308, -0.0])
    | st.sampled_from(WORDS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)
    ),
    max_leaves=25,
)
OBJECTS = st.builds(
    lambda kind, rest: {**rest, "type": kind},
    st.sampled_from(WORDS),
    st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=8),
)


@settings(max_examples=120, deadline=None)
@given(st.lists(OBJECTS, max_size=4), st.integers(1, 40))
def test_nothing_is_raised_whatever_its_lines_hold(lines: list[Any], size: int) -> None:
    """Objects of its own words in any wrong place give events that can be stored as UTF-8,
    the same ones whatever the chunks."""
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    by = dialect()
    events = [event for n in range(0, len(data), size) for event in by.feed(data[n : n + size])]
    assert [*events, *by.close()] == told(*lines)
    for event in events:
        shown = str(event) if not isinstance(event, PermissionAsked) else event.what
        assert "\ud800" not in shown and "\x1b" not in shown
        assert getattr(event, "resets_at", None) in (None, datetime.fromtimestamp(SOON, UTC))


def test_closing_twice_tells_nothing_twice() -> None:
    """Half lines of both outputs are told at the first close alone."""
    by = dialect()
    assert [*by.feed(b"half"), *by.feed_err(b"a line")] == []
    assert list(by.close()) == [Said("half"), Said("a line")]
    assert list(by.close()) == []


# Words


def test_an_error_of_the_api_is_not_said() -> None:
    """A banner in the agent's place is no sign of life: nothing is said, and the end tells it."""
    banner = "You've hit your 5-hour limit · resets 7:27pm (UTC)"
    events = told(
        said(banner, is_api_error_message=True, error="rate_limit"),
        error(banner, api_error="usage_limit_reached"),
    )
    assert of(Said, events) == []
    assert events[-2:] == [
        LimitHit("session_limit", text=banner),
        Finished(True, banner, "api_error"),
    ]


@pytest.mark.parametrize("parent", ["toolu_1", "", 0, False])
def test_only_the_main_agent_has_markers(parent: object) -> None:
    """What has any parent at all is a subagent's, and ticks no step."""
    marker = said(f"=== STEP 1 DONE {NONCE} ===")
    assert of(StepDone, told(marker)) == [StepDone(1)]
    assert of(StepDone, told({**marker, "parent_tool_use_id": parent})) == []


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("ls", "ls"),
        ("\n\n  ls  \n", "ls"),
        ("ls\nrm -rf x", "ls …"),
        ("rm -rf x\rls", "rm -rf x …"),
        ("a\tb", "a b"),
        ("x" * 120, "x" * 120),
        ("x" * 121, "x" * 118 + " …"),
        ("\x1b[8mrm\x1b[0m", "rm"),
        ("half \ud800", "half ?"),
        ("", ""),
    ],
)
def test_a_tool_is_told_in_one_line_that_hides_nothing(command: str, shown: str) -> None:
    """The first line, and a sign where there is more: also for the person asked for leave."""
    block = {"type": "tool_use", "name": "Bash", "input": {"command": command}}
    request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": command}}
    events = told(
        {"type": "assistant", "message": {"content": [block]}},
        {"type": "control_request", "request_id": "r1", "request": request},
    )
    assert events == [
        ToolUsed("Bash", shown),
        PermissionAsked("r1", "Bash", shown, {"command": command}),
    ]


# Limits


def test_an_instant_is_exact_and_believed_only_where_it_can_be_meant() -> None:
    """A reset is the epoch to the second, in the past, too; one that is years ahead is none."""
    at = datetime.fromtimestamp(SOON, UTC)
    for epoch_s, expected in [
        (SOON, at),
        (SOON - 7200, at - timedelta(hours=2)),
        (SOON + 400 * 86_400, None),
        (SOON * 1000, None),
        (0, None),
        (str(SOON), None),
        (None, None),
    ]:
        info = {"status": "rejected", "rateLimitType": "five_hour", "resetsAt": epoch_s}
        assert told(limited(**info)) == [LimitHit("session_limit", expected, text="five_hour")]
    far = limited(status="rejected", rateLimitType="five_hour", resetsAt=SOON + 400 * 86_400)
    assert of(LimitHit, told(far, by=Claude(NONCE)))[0].resets_at is not None, "without a clock"


@pytest.mark.parametrize("status", [401, 403])
def test_nobody_waits_for_ten_tries_without_a_login(status: int) -> None:
    """The third refusal in a row is told as what it is, once, and the end does not repeat it."""
    events = told(*(retry(status, n) for n in range(1, 6)), error("Invalid API key", x=1))
    kinds = [type(event) for event in events if isinstance(event, Retrying | LimitHit)]
    assert kinds == [Retrying, Retrying, Retrying, LimitHit, Retrying, Retrying]
    assert of(LimitHit, events) == [LimitHit("auth", text=f"{status} why")]


@pytest.mark.parametrize("between", [retry(500), said("I work."), result()])
def test_refusals_count_in_a_row(between: dict[str, Any]) -> None:
    """Something else between them begins the count anew."""
    events = told(retry(401), retry(401), between, retry(401), retry(401))
    assert of(LimitHit, events) == []
    assert len(of(LimitHit, told(retry(401), retry(401), retry(401), between))) == 1


@pytest.mark.parametrize(
    ("facts", "text", "kind"),
    [
        ({"api_error": "usage_limit_reached"}, "You've hit your 5-hour limit", "session_limit"),
        ({"api_error": "usage_limit_reached"}, "You've hit your weekly limit", "weekly_limit"),
        ({"api_error": "usage_limit_reached"}, "Something new", "session_limit"),
        ({"api_error_status": 429}, "API Error: Request rejected (429) · x", "rate_limit"),
        ({"api_error_status": 429}, "You've hit your session limit · resets 3pm", "session_limit"),
        ({"api_error_status": 429, "api_error": "long_context_credits_required"}, "x", "billing"),
        ({"api_error_status": 529}, "API Error: Repeated 529 Overloaded errors", "overloaded"),
        ({"api_error_status": 500}, "API Error: 500 Internal server error", "overloaded"),
        ({"api_error_status": 503}, "no matter", "overloaded"),
        ({"api_error_status": 401}, "Invalid API key · Fix external API key", "auth"),
        ({"api_error_status": 403}, "OAuth token revoked · Please run /login", "auth"),
        ({"error": "authentication_failed"}, "no matter", "auth"),
        ({}, "Not logged in · Please run /login", "auth"),
        ({"api_error_status": 400}, "Credit balance is too low", "billing"),
        ({"error": "billing_error"}, "no matter", "billing"),
        ({"api_error_status": 402}, "no matter", "billing"),
        ({"terminal_reason": "prompt_too_long"}, "Prompt is too long · …", "context_limit"),
        ({"terminal_reason": "blocking_limit"}, "", "context_limit"),
        (
            {"api_error_status": 400},
            "API Error: 400 … exceed context limit: 1 + 2",
            "context_limit",
        ),
        ({"terminal_reason": "image_error", "api_error_status": 413}, "x", "context_limit"),
        ({"api_error": "connection_failed"}, "API Error: Connection dropped", "network"),
        ({}, "API Error: Unable to connect to API (ECONNREFUSED)", "network"),
        ({}, "Request timed out", "network"),
        ({}, "fetch failed", "network"),
        ({"error": "server_error"}, "no matter", "overloaded"),
        ({"error": "rate_limit"}, "no matter", "rate_limit"),
        ({"api_error_status": 404}, "There's an issue with the selected model", None),
        ({"api_error_status": 400}, "could not connect the dots", None),
        ({"terminal_reason": "max_turns"}, "Reached maximum number of turns (2)", None),
        ({"terminal_reason": "budget_exhausted"}, "Reached maximum budget ($0.012)", None),
        ({"terminal_reason": "aborted_tools"}, "[ede_diagnostic]", None),
        ({"terminal_reason": "aborted_streaming", "api_error_status": 429}, "429", None),
        ({"terminal_reason": "completed"}, "I fixed the weekly limit reached banner", None),
        ({"terminal_reason": "hook_stopped"}, "Invalid API key", None),
    ],
)
def test_an_error_is_a_limit_or_it_is_none(
    facts: dict[str, Any], text: str, kind: str | None
) -> None:
    """What the program ends with, told by its codes first and its words last."""
    events = told(error(text, **facts)) if "error" not in facts else []
    assert stopped_by({"terminal_reason": "api_error", **facts}, text) == kind
    if events:
        assert [hit.kind for hit in of(LimitHit, events)] == ([kind] if kind else [])
        assert of(Finished, events)[0].is_error


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Claude AI usage limit reached|1794770878", "session_limit"),
        ("API Error: 529 Overloaded", "overloaded"),
        ('API Error: 401 {"type":"error"} · Please run /login', "auth"),
        ("API Error (429 Too many tokens, please wait before trying again.)", "rate_limit"),
        ("Prompt is too long", "context_limit"),
        ("Credit balance is too low", "billing"),
        ("API Error: Connection error.", "network"),
    ],
)
def test_older_versions_have_only_words(text: str, kind: str) -> None:
    """Without any code, an error that is called a success is read by its words."""
    told_by_words = result(is_error=True, result=text)
    assert [hit.kind for hit in of(LimitHit, told(told_by_words))] == [kind]


def test_the_agents_own_words_in_a_failed_turn_are_no_limit() -> None:
    """An error without a code or a term, not even called a success, is just an error."""
    failed = {"type": "result", "subtype": "error_during_execution", "is_error": True}
    assert of(LimitHit, told({**failed, "errors": ["I read: weekly limit reached"]})) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("You've hit your weekly limit · resets Nov 18, 6:28pm (UTC)", "weekly_limit"),
        ("You've hit your Opus limit · resets 3pm", "weekly_limit"),
        ("You've hit your session limit · resets 3pm", "session_limit"),
        ("You're out of extra usage · resets 3pm (UTC)", "session_limit"),
        ("You're out of usage credits · resets 8:40pm (UTC)", "session_limit"),
        ("You're out of usage credits. /model to switch models.", "billing"),
        ("You've hit your monthly spend limit.", "billing"),
    ],
)
def test_a_used_up_allowance_is_told_by_its_words(text: str, kind: str) -> None:
    """Where no event came before it."""
    assert limit_from_text(text) == kind


def test_an_event_is_believed_before_the_words() -> None:
    """A refused window has its instant; words that sound like another kind change nothing."""
    events = told(
        limited(status="rejected", rateLimitType="five_hour", resetsAt=SOON),
        error("You've hit your weekly limit", api_error="usage_limit_reached"),
    )
    assert [(hit.kind, hit.resets_at) for hit in of(LimitHit, events)] == [
        ("session_limit", datetime.fromtimestamp(SOON, UTC))
    ]


def test_another_reason_is_told_beside_it() -> None:
    """A refused window and then a server that is down are two reasons."""
    events = told(
        limited(status="rejected", rateLimitType="five_hour", resetsAt=SOON),
        error("API Error: 500", api_error_status=500),
    )
    assert [hit.kind for hit in of(LimitHit, events)] == ["session_limit", "overloaded"]


def test_an_allowed_request_is_no_limit_whatever_its_account_lacks() -> None:
    """What describes extra usage describes the account, not this request."""
    info = {"status": "allowed", "overageStatus": "rejected", "rateLimitType": "five_hour"}
    events = told(limited(**info, utilization=1.7, resetsAt=SOON))
    assert events == [WindowUsed("session_limit", 1.0, datetime.fromtimestamp(SOON, UTC))]


@pytest.mark.parametrize(
    "names", [("seven_day", "seven_day_opus"), ("seven_day_opus", "seven_day")]
)
def test_of_several_weekly_windows_the_fullest_counts(names: tuple[str, str]) -> None:
    """A window of one model alone can stop the work, wherever it stands among the others."""
    shares = {"seven_day": 0.2, "seven_day_opus": 0.9}
    told_by = {name: {"utilization": shares[name], "resetsAt": SOON} for name in names}
    events = told(limited(status="allowed", rateLimitType="seven_day", unifiedWindows=told_by))
    assert events == [WindowUsed("weekly_limit", 0.9, datetime.fromtimestamp(SOON, UTC))]


# What was used


def usage(read: int, written: int, cost: float | None = None) -> dict[str, Any]:
    model = {"inputTokens": read, "outputTokens": written, "costUSD": cost}
    return {"claude": {key: value for key, value in model.items() if value is not None}}


def test_tokens_are_known_before_the_result() -> None:
    """A process that is killed has told its messages: each counts once, as it was told last."""
    events = told(
        said("a", id_="m1", tokens=(100, 1)),
        said("b", id_="m1", tokens=(100, 1)),
        said("c", id_="m1", tokens=(100, 9)),
        said("d", id_="m2", tokens=(150, 2), parent_tool_use_id="toolu_1"),
    )
    assert of(Used, events) == [Used(100, 1), Used(100, 9), Used(250, 11)]


def test_a_result_counts_what_its_process_used() -> None:
    """A resumed conversation tells sums over all of its processes; those of this one are told
    beside them, and add up over its turns."""
    events = told(
        said("a", tokens=(100, 1)),
        result(
            total_cost_usd=7.5,
            modelUsage=usage(90_000, 900, 7.5),
            model_usage_since_last_result=usage(100, 42, 0.25),
        ),
        said("b", id_="m2", tokens=(110, 1)),
        result(
            total_cost_usd=7.75,
            modelUsage=usage(90_110, 942, 7.75),
            model_usage_since_last_result=usage(110, 40, 0.25),
        ),
        error("x", total_cost_usd=7.75, model_usage_since_last_result={}),
    )
    assert of(Used, events) == [
        Used(100, 1),
        Used(100, 42, 0.25),
        Used(210, 43, 0.25),
        Used(210, 82, 0.5),
    ]


def test_older_results_tell_sums_over_the_process() -> None:
    """Without the share of the turn, the sums are taken as they are."""
    one = result(total_cost_usd=0.5, modelUsage=usage(100, 10), usage={"input_tokens": 1})
    two = result(total_cost_usd=0.75, modelUsage=usage(130, 15), usage={"input_tokens": 1})
    assert of(Used, told(one, two)) == [Used(100, 10, 0.5), Used(130, 15, 0.75)]
    bare = result(
        total_cost_usd=0.5,
        usage={
            "input_tokens": 1,
            "cache_read_input_tokens": 20,
            "cache_creation_input_tokens": 300,
            "output_tokens": 5,
        },
    )
    assert of(Used, told(bare, result())) == [Used(321, 5, 0.5)], "a cost once told stays told"


# What is written to it


def test_answers_are_the_lines_that_were_seen_to_work() -> None:
    """Leave is given with the very input that was asked about; each answer is one line."""
    given = {"command": "touch /x", "text": "한글\n\ud800"}
    request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": given}
    asked = told({"type": "control_request", "request_id": "r-7", "request": request})[0]
    assert isinstance(asked, PermissionAsked)
    lines = [
        claude.allow(asked),
        claude.deny(asked, "not\nnow"),
        claude.user_message("계속\n하기"),
        claude.interrupt(),
    ]
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines)
    allowed, denied, message, interrupted = map(json.loads, lines)
    assert allowed == {
        "type": "control_response",
        "response": {
            "subtype": "success",
            "request_id": "r-7",
            "response": {"behavior": "allow", "updatedInput": given},
        },
    }
    assert denied["response"]["response"] == {"behavior": "deny", "message": "not\nnow"}
    assert denied["response"]["request_id"] == "r-7"
    assert message == {"type": "user", "message": {"role": "user", "content": "계속\n하기"}}
    assert interrupted["type"] == "control_request"
    assert interrupted["request"] == {"subtype": "interrupt"}


def test_a_request_that_nobody_can_answer_is_reported() -> None:
    """Without its id or its tool a request is garbled; requests for other things are not ours."""
    request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}}
    for broken in (
        {"request": request},
        {"request_id": "r", "request": {**request, "tool_name": 3}},
    ):
        assert [type(e) for e in told({"type": "control_request", **broken})] == [Garbled]
    other = {"type": "control_request", "request_id": "r", "request": {"subtype": "hook_callback"}}
    assert told(other) == []


# Standard error


@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_a_lost_conversation_is_told_once(chunk: int) -> None:
    """On standard error, on both outputs, in any chunks; elsewhere in a line it is text."""
    line = b"No conversation found with session ID: 99999999-2222"
    by = dialect()
    data = line + b"\n" + line + b"\nI read: " + line + b"\n"
    events = [e for n in range(0, len(data), chunk) for e in by.feed_err(data[n : n + chunk])]
    assert events == [ConversationLost(line.decode()), Said("I read: " + line.decode())]
    assert of(ConversationLost, told(error("", errors=[line.decode()]), by=by)) == []
