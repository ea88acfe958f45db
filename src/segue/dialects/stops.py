"""What an agent tells in its own structured words, where a text is made of these: the events of a
run, its transcript, what it gives to a hook. They are believed before the words for people, and
name the reset to the second."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import NamedTuple, Protocol

from segue.dialects.claude import Claude
from segue.dialects.claude_transcript import TranscriptStop, last_stop, stop_in
from segue.dialects.codex import Codex
from segue.dialects.events import Event, Finished, LimitHit, Retrying, Said, ToolUsed
from segue.dialects.gemini import Gemini
from segue.dialects.limits import Detection, read_limit
from segue.dialects.limits.brands import brand_of
from segue.dialects.opencode import Opencode
from segue.dialects.structured import Object, text_of

EVENT, TRANSCRIPT = "event", "transcript"
TEXT_CHARS_MAX = 500

_HOOK = "hook_event_name"
_CLAUDE_TYPES = frozenset({"assistant", "user", "system", "result", "rate_limit_event"})
_CODEX_BEGINS = ("thread.", "turn.", "item.")


class ReportedStop(NamedTuple):
    """`state` as that of a screen, `source` where it came from."""

    state: str
    source: str
    kind: str | None = None
    resets_at: datetime | None = None
    text: str = ""
    is_minute: bool = False


def detection(text: str, tool: str | None, now: datetime, tz: tzinfo) -> Detection | None:
    """The same as an answer about a screen."""
    found = reported_stop(text, tool, now, tz)
    if found is None:
        return None
    wait_s = max(0.0, (found.resets_at - now).total_seconds()) if found.resets_at else None
    return Detection(
        found.state,
        found.kind,
        found.resets_at,
        wait_s,
        found.text,
        rule=found.source,
        is_minute_rounded=found.is_minute,
        is_named=found.kind is not None,
        source=found.source,
    )


class _Dialect(Protocol):
    def feed(self, data: bytes) -> Iterable[Event]: ...

    def close(self) -> Iterable[Event]: ...


def reported_stop(text: str, tool: str | None, now: datetime, tz: tzinfo) -> ReportedStop | None:
    """How such a text ends; None where it is no such text, or does not say."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines or lines[-1].lstrip()[:1] != "{":
        return None
    objects = [found for line in lines if (found := _object(line)) is not None]
    if 2 * len(objects) <= len(lines):
        return None
    if _HOOK in objects[-1]:
        return _hooked(objects[-1], now, tz)
    if any("sessionId" in told and "type" in told for told in objects):
        stop = last_stop([line.encode() for line in lines], tz)
        return _written(stop) if stop else None
    dialect = _dialect(objects, brand_of(tool, ()), now)
    return _happened(dialect, lines, tool, now, tz) if dialect else None


def _object(line: str) -> Object | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _hooked(told: Object, now: datetime, tz: tzinfo) -> ReportedStop | None:
    if told[_HOOK] != "StopFailure":
        return None
    said = text_of(told.get("last_assistant_message")) or text_of(told.get("error_details"))
    facts = {"timestamp": now.isoformat(), "error": told.get("error"), "message": {"content": said}}
    found = stop_in(facts, tz)
    return _written(found) if found else None


def _written(found: TranscriptStop) -> ReportedStop:
    state = "paused_self_resuming" if found.is_self_resuming else "paused"
    text = found.text[:TEXT_CHARS_MAX]
    return ReportedStop(state, TRANSCRIPT, found.kind, found.resets_at, text, found.is_minute)


def _dialect(objects: Sequence[Object], brand: str, now: datetime) -> _Dialect | None:
    """By the form of the report; the tool's name decides where two are alike."""
    types = [kind for told in objects if isinstance(kind := told.get("type"), str)]
    make: Callable[..., _Dialect] | None = None
    if any(kind.startswith(_CODEX_BEGINS) for kind in types):
        make = Codex
    elif any("sessionID" in told for told in objects):
        make = Opencode
    elif brand in ("gemini", "qwen") or "init" in types:
        make = Gemini
    elif any("session_id" in told for told in objects) and not _CLAUDE_TYPES.isdisjoint(types):
        make = Claude
    return make("", lambda: now) if make else None


def _happened(
    dialect: _Dialect, lines: Sequence[str], tool: str | None, now: datetime, tz: tzinfo
) -> ReportedStop | None:
    hit: LimitHit | None = None
    state: str | None = None
    said = ""
    for event in [*dialect.feed("\n".join([*lines, ""]).encode()), *dialect.close()]:
        match event:
            case LimitHit():
                hit = _fuller(hit, event)
            case Said() | ToolUsed():  # it went on
                hit, state = None, "busy"
            case Retrying():
                hit, state = None, "self_retrying"
            case Finished(text=text):
                state, said = "idle", text
    if hit is None:
        return ReportedStop(state, EVENT) if state else None
    resets_at, is_minute = hit.resets_at, hit.is_minute
    if hit.wait_s is not None:
        resets_at = resets_at or now + timedelta(seconds=hit.wait_s)
    if resets_at is None and (words := read_limit(hit.text, tool, now, tz)):
        resets_at, is_minute = words.resets_at, words.resets_at is not None
        if words.wait_s is not None:
            resets_at = now + timedelta(seconds=words.wait_s)
    text = (said or hit.text)[:TEXT_CHARS_MAX]
    return ReportedStop("paused", EVENT, hit.kind, resets_at, text, is_minute)


def _fuller(before: LimitHit | None, hit: LimitHit) -> LimitHit:
    """One stop may be reported twice; the report that names a time counts."""
    return before if before and before.has_time and not hit.has_time else hit
