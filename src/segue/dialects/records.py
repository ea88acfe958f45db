"""How a conversation stands by the program's own record: stopped, finished, or under way.

Claude Code keeps a transcript, Codex a rollout file, Gemini CLI a chat file, opencode a database.
They differ in form and say the same: what was asked last, and how the turn ended. A record that
ends with an error of the model tells the limit better than a screen; one that ends with the
agent's own answer tells that words about limits on the screen are that answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple

from segue.dialects.claude_transcript import TranscriptStop, is_api_error, last_stop
from segue.dialects.limits import read_limit
from segue.dialects.structured import (
    Object,
    Objects,
    amount_of,
    instant_of,
    object_of,
    objects_of,
    text_of,
)

STOPPED, FINISHED, UNDER_WAY = "stopped", "finished", "under_way"
TEXT_CHARS_MAX = 2_000
USED_UP_PERCENT = 100.0
DAY_MINUTES = 24 * 60
_WINDOWS = ("primary", "secondary")


class Record(NamedTuple):
    """`prompt`: what was asked last. `is_sure`: no other conversation can be meant."""

    state: str
    prompt: str = ""
    stop: TranscriptStop | None = None
    is_sure: bool = False


def claude_record(lines: Sequence[bytes], tz: tzinfo, *, since: datetime | None) -> Record | None:
    """By the end of a transcript; `since`: when the process began that writes it."""
    stop = last_stop(lines, tz, since=since)
    prompt, state = "", UNDER_WAY
    for told in _objects(lines):
        if told.get("isSidechain") is True:
            continue
        message = object_of(told.get("message"))
        if told.get("type") == "user" and (words := _words(message.get("content"))):
            prompt, state = words, UNDER_WAY
        elif told.get("type") == "assistant" and not is_api_error(told):
            is_end = message.get("stop_reason") == "end_turn"
            state = FINISHED if is_end else UNDER_WAY
    if stop is not None:
        return Record(STOPPED, prompt, stop, is_sure=True)
    return Record(state, prompt, is_sure=True)


def codex_record(lines: Iterable[bytes], tz: tzinfo) -> Record | None:
    """By a rollout file: each turn begins and ends with an event of its own."""
    found: Record | None = None
    windows: Object = {}
    prompt = ""
    for told in _objects(lines):
        payload = object_of(told.get("payload"))
        at = _instant(told.get("timestamp"))
        match payload.get("type"):
            case "task_started" | "turn_aborted":
                found = Record(UNDER_WAY, prompt)
            case "user_message":
                prompt = text_of(payload.get("message"))
            case "item_completed" if object_of(payload.get("item")).get("type") == "UserMessage":
                prompt = _words(object_of(payload.get("item")).get("content"))
            case "token_count":
                windows = object_of(payload.get("rate_limits")) or windows
            case "error" if at is not None:
                found = _failed(payload, at, windows, "codex", prompt, tz)
            case "task_complete" if at is not None:
                error = object_of(payload.get("error"))
                if error:
                    found = _failed(error, at, windows, "codex", prompt, tz)
                elif found is None or found.state != STOPPED:
                    found = Record(FINISHED, prompt)
    return None if found is None else found._replace(prompt=prompt)


def gemini_record(lines: Iterable[bytes], tz: tzinfo) -> Record | None:
    """By a chat file: messages one below the other; of errors it keeps only some."""
    found: Record | None = None
    prompt = ""
    for told in _objects(lines):
        match told.get("type"):
            case "user":
                prompt = _words(told.get("content"))
                found = Record(UNDER_WAY, prompt)
            case "gemini":
                is_end = not told.get("toolCalls") and bool(_words(told.get("content")))
                found = Record(FINISHED if is_end else UNDER_WAY, prompt)
            case "error" if (at := _instant(told.get("timestamp"))) is not None:
                error = {"message": _words(told.get("content"))}
                found = _failed(error, at, {}, "gemini", prompt, tz)
    return found


def opencode_record(messages: Iterable[Object], prompt: str, tz: tzinfo) -> Record | None:
    """By the messages of a conversation, oldest first."""
    found: Record | None = None
    for told in messages:
        times = object_of(told.get("time"))
        if told.get("role") == "user":
            found = Record(UNDER_WAY, prompt)
            continue
        error = object_of(told.get("error"))
        ended_ms = amount_of(times.get("completed")) or amount_of(times.get("created"))
        at = instant_of(ended_ms / 1000) if ended_ms is not None else None
        if error and at is not None:
            data = object_of(error.get("data"))
            said = text_of(data.get("message"))
            status = data.get("statusCode")
            body = text_of(data.get("responseBody"))
            text = f"{error.get('name')}: {status} {said} {body}" if status else said
            found = _failed({"message": text}, at, {}, "opencode", prompt, tz)
        else:
            is_end = told.get("finish") in ("stop", "end_turn")
            found = Record(FINISHED if is_end else UNDER_WAY, prompt)
    return found


def _failed(
    error: Object, at: datetime, windows: Object, tool: str, prompt: str, tz: tzinfo
) -> Record:
    """A turn that ended with an error: a stop if the error reports a limit."""
    text = text_of(error.get("message"))[:TEXT_CHARS_MAX]
    words = read_limit(text, tool, at, tz)
    used_up = _used_up(windows, at) if _is_usage(error) else None
    if words is None and used_up is None and not _is_usage(error):
        return Record(UNDER_WAY, prompt)
    kind, resets_at = used_up or (words.kind if words else "session_limit", None)
    is_minute = False
    if resets_at is None and words is not None:
        resets_at, is_minute = words.resets_at, words.resets_at is not None
        if words.wait_s is not None:
            resets_at = at + timedelta(seconds=words.wait_s)
    return Record(STOPPED, prompt, TranscriptStop(kind, resets_at, text, at, is_minute))


def _is_usage(error: Object) -> bool:
    """Codex names what went wrong; older ones as a table with one key."""
    info = error.get("codex_error_info")
    name = info if isinstance(info, str) else next(iter(object_of(info)), "")
    return name == "usage_limit_exceeded"


def _used_up(windows: Object, at: datetime) -> tuple[str, datetime | None] | None:
    """The window that is used up, by the figures that came before."""
    for name in reversed(_WINDOWS):  # the longer one holds longer
        window = object_of(windows.get(name))
        if (amount_of(window.get("used_percent")) or 0.0) < USED_UP_PERCENT:
            continue
        minutes = amount_of(window.get("window_minutes")) or 0.0
        resets_at = instant_of(window.get("resets_at"))
        if resets_at is None and (after_s := amount_of(window.get("resets_in_seconds"))):
            resets_at = at + timedelta(seconds=after_s)
        return "weekly_limit" if minutes > DAY_MINUTES else "session_limit", resets_at
    return None


def _objects(lines: Iterable[bytes]) -> Iterator[Object]:
    objects = Objects()
    for line in lines:
        for told in objects.feed(line.rstrip(b"\n") + b"\n"):
            if isinstance(told, dict):
                yield told


def _words(content: object) -> str:
    """All the text of a message; nothing of what tools gave back."""
    if isinstance(content, str):
        return text_of(content)
    return "\n".join(text for part in objects_of(content) if (text := text_of(part.get("text"))))


def _instant(value: object) -> datetime | None:
    try:
        at = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return at.astimezone(UTC) if at is not None and at.tzinfo else None
