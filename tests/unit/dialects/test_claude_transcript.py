"""What Claude Code wrote down about a stop, as it is read from the end of its transcript.

A case is a folder `tests/golden/claude_transcripts/<case>/` with the `transcript.jsonl` of a real
conversation (shortened), `since` (an instant) where the process that shows it was started later,
and `stop.json`. To record that file, run

    SEGUE_UPDATE_GOLDEN=1 pytest tests/unit/dialects/test_claude_transcript.py

and read what changed before it is kept.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from segue.dialects.claude_transcript import TranscriptStop, last_stop

FOLDER = Path(__file__).parents[2] / "golden" / "claude_transcripts"
CASES = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())
AT = "2026-11-16T04:00:00.000Z"
LATER = "2026-11-16T04:00:09.000Z"
SEOUL = ZoneInfo("Asia/Seoul")


def told(stop: TranscriptStop | None) -> dict[str, Any] | None:
    if stop is None:
        return None
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in asdict(stop).items()
    }


def entry(kind: str, at: str = AT, **more: Any) -> bytes:
    return json.dumps({"type": kind, "timestamp": at, "isSidechain": False, **more}).encode()


def error(text: str, at: str = AT, **codes: Any) -> bytes:
    message = {"model": "<synthetic>", "content": [{"type": "text", "text": text}]}
    return entry("assistant", at, message=message, **{"isApiErrorMessage": True, **codes})


def user(text: str, **more: Any) -> bytes:
    return entry("user", LATER, message={"role": "user", "content": text}, **more)


WEEKLY = error(
    "You've hit your weekly limit · resets Nov 19, 3:17pm (UTC)",
    apiError="usage_limit_reached",
    quotaLimits={"status": "rejected", "resetsAt": 1795101452, "rateLimitType": "seven_day"},
)
AFTER = {  # what may stand after a stop, and whether the stop still holds then
    "a duration": (entry("system", LATER, subtype="turn_duration", durationMs=90), True),
    "an unknown entry": (b'{"type":"ai-title","aiTitle":"Weekly limit"}', True),
    "a look at the usage": (user("<command-name>/usage</command-name>"), True),
    "what a command printed": (user("<local-command-stdout>Set.</local-command-stdout>"), True),
    "a subagent's answer": (entry("assistant", LATER, isSidechain=True, message={}), True),
    "a request before it": (entry("api-request", AT, querySource="repl_main_thread"), True),
    "a request for a title": (entry("api-request", LATER, querySource="session_title"), True),
    "a request": (entry("api-request", LATER, querySource="repl_main_thread"), False),
    "a prompt": (user("go on"), False),
    "a prompt in blocks": (entry("user", message={"content": [{"type": "text"}]}), False),
    "the program's own prompt": (user("Your limit has reset. Continue.", isMeta=True), False),
    "an answer": (entry("assistant", LATER, message={"content": []}), False),
    "a login": (user("<command-name>/login</command-name>"), False),
    "a compaction": (entry("system", LATER, subtype="compact_boundary", content="…"), False),
    "a retry": (entry("system", LATER, subtype="api_error", retryAttempt=1), False),
    "a reset": (entry("system", subtype="informational", content="Usage limit reset · Cont"
                      "inuing automatically"), False),
    "half of a line": (b'{"type":"user","message":{"content":"go o', False),
    "another error": (error("There's an issue with the selected model", LATER), False),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_real_transcript_tells_its_stop(name: str) -> None:
    """Kind, instant and words of the last stop, or none where the conversation went on."""
    case = FOLDER / name
    since = case / "since"
    began = datetime.fromisoformat(since.read_text().strip()) if since.exists() else None
    lines = (case / "transcript.jsonl").read_bytes().splitlines()
    found = told(last_stop(lines, UTC, since=began))
    file = case / "stop.json"
    if os.environ.get("SEGUE_UPDATE_GOLDEN"):
        file.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    assert file.exists(), f"{name} has no stop.json: record it, and read it"
    assert found == json.loads(file.read_text(encoding="utf-8"))


def test_there_are_cases() -> None:
    """Stops of each kind that was seen, and conversations without one."""
    stops = [json.loads((FOLDER / name / "stop.json").read_text("utf-8")) for name in CASES]
    kinds = {stop["kind"] for stop in stops if stop}
    wanted = {"session_limit", "weekly_limit", "rate_limit", "overloaded", "context_limit"}
    assert kinds >= wanted | {"billing", "auth", "network"}
    assert None in stops


@pytest.mark.parametrize("what", AFTER)
def test_a_stop_holds_until_something_is_done(what: str) -> None:
    """Work after it ends it; what the program notes by the way does not."""
    after, holds = AFTER[what]
    assert last_stop([WEEKLY], UTC) is not None
    assert (last_stop([WEEKLY, after], UTC) is not None) is holds
    assert last_stop([after, WEEKLY], UTC) is not None, "what stood before it does not count"


def test_the_second_of_the_reset_is_believed_before_the_words() -> None:
    """The window of the refusal names its reset to the second; words only to the minute."""
    stop = last_stop([WEEKLY], SEOUL)
    assert stop is not None
    assert (stop.kind, stop.is_minute) == ("weekly_limit", False)
    assert stop.resets_at == datetime.fromtimestamp(1795101452, UTC)
    assert stop.at == datetime(2026, 11, 16, 4, tzinfo=UTC)


@pytest.mark.parametrize(
    ("resets_at_s", "status"), [(4_000_000_000, "rejected"), (1795101452, "allowed"), ("x", 7)]
)
def test_a_window_that_cannot_be_meant_leaves_the_words(resets_at_s: Any, status: Any) -> None:
    """A reset in a hundred years, a window that was not refused, nonsense: the words count."""
    window = {"status": status, "resetsAt": resets_at_s, "rateLimitType": "seven_day"}
    text = "You've hit your weekly limit · resets Nov 19, 3:17pm (UTC)"
    stop = last_stop([error(text, quotaLimits=window, error="rate_limit")], SEOUL)
    assert stop is not None
    assert (stop.kind, stop.is_minute) == ("weekly_limit", True)
    assert stop.resets_at == datetime(2026, 11, 19, 15, 17, tzinfo=UTC)


def test_words_are_read_as_of_when_they_were_written() -> None:
    """“resets 1am”, in the zone given, is the night after the entry, whenever it is read."""
    stop = last_stop([error("5-hour limit reached ∙ resets 1am", "2026-11-15T14:00:00Z")], SEOUL)
    assert stop is not None
    assert stop.resets_at == datetime(2026, 11, 15, 16, tzinfo=UTC)
    assert stop.resets_at.tzinfo is UTC


def test_going_on_by_itself_is_known_of_the_process_that_said_so() -> None:
    """Said: yes; cancelled: no; said by a process before this one: no; nothing said: unknown."""
    armed = entry("system", subtype="informational", content="Continuing automatically at 4am")
    off = entry("system", subtype="informational", content="Automatic continue cancelled")
    again = user("<local-command-stdout>Claude Code will continue automatically at 5am.")

    def tells(*lines: bytes, since: str | None = None) -> bool | None:
        began = datetime.fromisoformat(since) if since else None
        stop = last_stop([WEEKLY, *lines], UTC, since=began)
        assert stop is not None
        return stop.is_self_resuming

    assert tells() is None
    assert tells(armed) is True
    assert tells(armed, off) is False
    assert tells(armed, WEEKLY) is True, "a prompt that was refused meanwhile changes nothing"
    assert tells(armed, since="2026-11-16T04:00:05Z") is False
    assert tells(since="2026-11-16T04:00:05Z") is False
    assert tells(armed, again, since="2026-11-16T04:00:05Z") is True


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"null",
        b'{"type":"assistant"}',
        error("You've hit your weekly limit", at="yesterday"),
        error("You've hit your weekly limit", at="2026-11-16T04:00:00"),
        error("You've hit your weekly limit", at="0001-01-01T00:00:00+14:00"),
        b'{"type":"assistant","isApiErrorMessage":true,"timestamp":[],"message":7}',
        entry("assistant", isApiErrorMessage=True, message={"content": {"text": 3}}),
        b"{" * 100_000,
    ],
)
def test_nonsense_is_no_stop(line: bytes) -> None:
    """Whatever stands there, nothing is raised, and nothing is made of it."""
    assert last_stop([line], UTC) is None


def test_what_the_agent_says_about_limits_is_no_stop() -> None:
    """Only the program's own messages count, not an answer or a prompt with the same words."""
    text = "You've hit your weekly limit · resets Nov 19, 3:17pm (UTC)"
    answer = entry("assistant", message={"model": "m", "content": [{"type": "text", "text": text}]})
    assert last_stop([answer], UTC) is None
    assert last_stop([user(text)], UTC) is None
