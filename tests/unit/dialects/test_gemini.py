"""Gemini CLI: what its golden cases cannot show."""

from __future__ import annotations

import json
from typing import Any

import pytest

from segue.dialects.events import Event, Finished, LimitHit, Retrying, Said, StepDone, Used
from segue.dialects.gemini import Gemini
from segue.dialects.structured import TEXT_CHARS_MAX


def told(*objects: dict[str, Any], err: str = "") -> list[Event]:
    dialect = Gemini("a1b2c3")
    data = b"".join(json.dumps(part).encode() + b"\n" for part in objects)
    return [*dialect.feed(data), *dialect.feed_err(err.encode()), *dialect.close()]


def failed(message: str, **more: Any) -> dict[str, Any]:
    error = {"type": "unknown", "message": message}
    return {"type": "result", "status": "error", "error": error, **more}


def piece(text: str, *, role: str = "assistant") -> dict[str, Any]:
    return {"type": "message", "role": role, "content": text, "delta": True}


def answer(code: int, message: str) -> str:
    return f"[API Error: {json.dumps({'error': {'code': code, 'message': message}})}]"


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("[API Error: You have exhausted your daily quota on this model.]", "daily_quota"),
        ("You have exhausted your capacity on this model. Your quota will reset", "daily_quota"),
        (answer(429, "Quota exceeded for GenerateRequestsPerDayPerProject"), "daily_quota"),
        ("You exceeded your current quota, check billing. Please retry in 3s.", "rate_limit"),
        (answer(429, "Resource exhausted. Please try again later."), "rate_limit"),
        ("got status: 429 Too Many Requests", "rate_limit"),
        (answer(429, "Quota exceeded for metric: x, limit: 0, model: y"), "billing"),
        (answer(429, "Quota exceeded for metric: x, limit: 0.5, model: y"), "rate_limit"),
        (answer(429, "Quota exceeded for metric: x, limit: 50, model: y"), "rate_limit"),
        (answer(429, "No capacity available for model x on the server"), "overloaded"),
        (answer(400, "API key not valid. Please pass a valid API key."), "auth"),
        (answer(403, "The caller does not have permission"), "auth"),
        (answer(400, "The input token count (12) exceeds the maximum"), "context_limit"),
        (answer(503, "The model is overloaded."), "overloaded"),
        (answer(500, "An internal error has occurred."), "overloaded"),
        ("[API Error: exception TypeError: fetch failed sending request]", "network"),
    ],
)
def test_a_failure_has_the_kind_of_its_words(message: str, kind: str) -> None:
    """One limit with the whole text, then one end; a second result changes nothing."""
    events = told(failed(message), failed(message))
    assert events[0] == LimitHit(kind, text=message)
    assert [type(event) for event in events] == [LimitHit, Finished]


@pytest.mark.parametrize(
    "message",
    [
        answer(404, "models/x is not found; network error"),
        answer(400, "Invalid JSON payload: quota"),
        "Maximum session turns exceeded",
    ],
)
def test_another_failure_is_no_limit(message: str) -> None:
    """Waiting mends neither a wrong request nor a missing model."""
    assert [type(event) for event in told(failed(message))] == [Finished]


def test_thoughts_are_counted_as_output() -> None:
    """They stand in the total alone, and are paid for."""
    stats = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 150}
    assert told({"type": "result", "stats": stats})[0] == Used(100, 50)
    assert told({"type": "result", "stats": {**stats, "total_tokens": 0}})[0] == Used(100, 10)


SUCCESS = {"type": "result", "status": "success"}
TOOL = {"type": "tool_use", "tool_name": "glob", "parameters": {}}
LOOP = {"type": "error", "severity": "warning", "message": "Loop detected, stopping execution"}


@pytest.mark.parametrize(
    "before",
    [
        [],
        [TOOL],
        [piece("I look."), TOOL],
        [piece("Hi."), piece("go on", role="user")],
        [piece(" \n")],
    ],
)
def test_success_without_an_answer_is_a_full_context(before: list[dict[str, Any]]) -> None:
    """It sends nothing, says nothing and ends well where the context would not hold any more."""
    assert told(*before, SUCCESS)[-2:] == [
        LimitHit("context_limit", text="no_answer"),
        Finished(True, "", "no_answer"),
    ]


def test_success_after_it_stopped_itself_is_none() -> None:
    """A detected loop ends the work in the middle; one that it came out of does not."""
    stopped = Finished(True, "Loop detected, stopping execution", "stopped")
    assert told(piece("Again. Again."), LOOP, SUCCESS)[-1] == stopped
    assert told(LOOP, piece("Done."), SUCCESS)[-1] == Finished(False, "Done.", "success")
    assert told(LOOP, TOOL, piece("Done."), SUCCESS)[-1] == Finished(False, "Done.", "success")


def test_errors_of_tools_are_not_repeated() -> None:
    """What a tool says of its failure is in its result; here it would pass for the program's."""
    assert told(err="Error executing tool glob: nothing\n") == []


def test_only_the_assistant_is_heard() -> None:
    """The prompt is repeated with the run's own nonce in it; no other role's words count."""
    marker = "=== STEP 1 DONE a1b2c3 ===\n"
    for role in ("user", "tool", "system", ""):
        assert told(piece(marker, role=role)) == []
    assert StepDone(1) in told(piece(marker))


def test_a_message_in_pieces_is_bounded() -> None:
    """However much is said without a pause, the end carries no more than its bound."""
    dialect = Gemini("a1b2c3")
    pieces = [piece("x" * 9_999 + "\n")] * 20
    events = [e for part in pieces for e in dialect.feed(json.dumps(part).encode() + b"\n")]
    assert len(dialect._message) == TEXT_CHARS_MAX
    *_, end = dialect.feed(json.dumps(SUCCESS).encode() + b"\n")
    assert isinstance(end, Finished)
    assert TEXT_CHARS_MAX - 10 <= len(end.text) <= TEXT_CHARS_MAX
    assert len([e for e in events if isinstance(e, Said)]) == 20


@pytest.mark.parametrize(
    ("err", "retries"),
    [
        ("Attempt 1 failed: Slow.\nSuggested 3s.. Retrying after 5628ms...\n", [(1, 5.628, None)]),
        ("Attempt 2 failed: Slow. Retrying after 20ms...\n", [(2, 0.02, None)]),
        ("Attempt 4 failed with status 503. Retrying with backoff... x\n", [(4, None, 503)]),
        ("Attempt 4 failed. Retrying with backoff... Error: fetch\n", [(4, None, None)]),
        ("Attempt 9 failed: Slow. Max attempts reached\n", []),
        ("Attempt 9 failed: Slow.\nSuggested 3s.. Max attempts reached\n", []),
        ("Attempt 1 failed: a\nAttempt 2 failed: b\nother\n", [(1, None, None), (2, None, None)]),
        ("Attempt 1 failed: a", [(1, None, None)]),
        ("> Attempt 1 failed: a. Retrying after 5ms\n", []),
    ],
)
def test_retries_are_read_from_standard_error(
    err: str, retries: list[tuple[int, float | None, int | None]]
) -> None:
    """The attempt and its delay may stand on two lines; the last attempt is no retry."""
    events = [event for event in told(err=err) if isinstance(event, Retrying)]
    assert [(event.attempt, event.wait_s, event.status) for event in events] == retries


def test_what_standard_error_says_after_the_end_changes_nothing() -> None:
    """The two outputs are read one after the other: what comes late is not news."""
    late = "Attempt 1 failed: Slow. Retrying after 20ms...\nError when talking to Gemini API: 401\n"
    assert told(piece("Done."), SUCCESS, err=late)[-1] == Finished(False, "Done.", "success")
    assert [type(e) for e in told(err=late)] == [Retrying, Finished]
