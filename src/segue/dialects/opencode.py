"""opencode, headless: what the lines of `opencode run --format json` tell.

Every line names its conversation. A step is one answer of the model: text, tools (reported when
they are over), its tokens and cost. Which step is the last is taken to be known only at the end
of the output, so that a step which another follows is no end; an error may be reported twice.
Where a tool needed permission, it was refused, and the program ended with exit code 0 in mid-work.
Its own retries are silent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from email.utils import parsedate_to_datetime

from segue.dialects import todos
from segue.dialects.events import Event, LimitHit, ToolUsed, Used
from segue.dialects.jsonlines import (
    FAILURE_CHARS_MAX,
    JsonLines,
    Words,
    by_status,
    by_words,
    what,
)
from segue.dialects.structured import (
    Object,
    amount_of,
    count_of,
    instant_of,
    object_of,
    one_line,
    text_of,
)

WAIT_S_MAX = 366 * 86_400
BODY_CHARS_MAX = 64 * 1024
DATE_CHARS_MAX = 64

_READ = ("read", "write")
_GOES_ON = ("tool-calls", "unknown")  # its terms for a step after which another comes
_CUT_SHORT = ("length", "content-filter", "error")
_REFUSED = "rejected permission"

_NAMES = {"ContextOverflowError": "context_limit", "ProviderAuthError": "auth"}
_USAGE: Words = (  # only where the status allows it: bodies quote all sorts of things
    ("weekly_limit", r"weekly (?:usage )?(?:limit|quota)"),
    ("session_limit", r"\b5[ -]hour|usage limit|usage_limit_reached|subscription quota"),
    ("daily_quota", r"daily.{0,40}(?:quota|limit)|per ?day|free usage exceeded"),
    ("billing", r"insufficient[ _](?:quota|credits?|balance|funds)|credit balance|out of credits"),
    ("billing", r"billing_|payment required"),
)
_CONTEXT: Words = (
    ("context_limit", r"context_length_exceeded|context window|context limit"),
    ("context_limit", r"prompt is too long|prompt_too_large|maximum number of tokens"),
)
_WORDS_WITHOUT_STATUS: Words = (
    ("rate_limit", r"rate.?limit|request rate|too many requests"),
    ("auth", r"unauthorized|api key|auth login"),
    ("overloaded", r"overloaded|at capacity|service unavailable|throttled"),
    (
        "network",
        r"cannot connect|socket (?:connection|hang)|fetch failed|network error|timed? ?out",
    ),
)


class Opencode(JsonLines):
    """The dialect of one process."""

    chatter = re.compile(r"INFO |Performing one time database migration|Database migration|\s*\^$")
    gave_up = re.compile(r"Error: ")
    lost = re.compile(r"Session not found|NotFoundError")

    def __init__(self, nonce: str, now: Callable[[], datetime] | None = None) -> None:
        super().__init__(nonce, now)
        self._read_tokens = self._written_tokens = 0
        self._cost: float | None = None
        self._used_before = Used(0, 0)
        self._reason = ""  # how the last step ended; empty while one is under way
        self._refused = ""
        self._failure: Object | None = None
        self._is_quoting = False

    def _told(self, told: Object) -> Iterator[Event]:
        yield from self._opened(told.get("sessionID"))
        part = object_of(told.get("part"))
        match told.get("type"):
            case "step_start":
                self._reason = self._refused = ""
                self._failure = None
            case "text" if isinstance(text := part.get("text"), str):
                yield from self._spoke(text)
            case "tool_use":
                yield from self._tool(part)
            case "step_finish":
                self._reason = one_line(part.get("reason"))
                yield from self._used(part)
            case "error":
                self._failure = object_of(told.get("error"))

    def _tool(self, part: Object) -> Iterator[Event]:
        name, state = one_line(part.get("tool")), object_of(part.get("state"))
        if not name:
            return
        used = ToolUsed(name, what(object_of(state.get("input"))))
        error = one_line(state.get("error"))
        if state.get("status") == "error" and _REFUSED in error:
            self._refused = f"{error} ({used.tool}: {used.what})"
        yield used
        yield from todos.by_tool(name, object_of(state.get("input")))

    def _used(self, part: Object) -> Iterator[Event]:
        tokens, cost = object_of(part.get("tokens")), amount_of(part.get("cost"))
        cached = object_of(tokens.get("cache"))
        read = [tokens.get("input"), *(cached.get(key) for key in _READ)]
        written = [tokens.get("output"), tokens.get("reasoning")]
        self._read_tokens += sum(count_of(count) or 0 for count in read)
        self._written_tokens += sum(count_of(count) or 0 for count in written)
        if cost is not None:
            self._cost = round((self._cost or 0.0) + cost, 9)
        used = Used(self._read_tokens, self._written_tokens, self._cost)
        if used != self._used_before:
            self._used_before = used
            yield used

    def _noted(self, line: str) -> Iterator[Event]:
        """A configuration that it cannot read is quoted in full, keys and all: not by us."""
        if line.startswith("--- "):
            self._is_quoting = "Input" in line
        elif not self._is_quoting and not line.startswith("   Line "):
            self._keep(line)
        return iter(())

    # The end

    def _closed(self) -> Iterator[Event]:
        if self._failure is not None:
            yield from self._erred(self._failure)
        elif self._reason in _GOES_ON and self._refused:
            yield from self._failed(self._refused, "permission_rejected", None)
        elif self._reason in _CUT_SHORT:
            yield from self._failed(self._last, self._reason, None)
        elif self._reason and self._reason not in _GOES_ON:
            yield from self._done(self._reason)

    def _erred(self, error: Object) -> Iterator[Event]:
        name, data = one_line(error.get("name")), object_of(error.get("data"))
        message = text_of(data.get("message")) or name
        body = data.get("responseBody")
        quoted = f"{message}\n{body if isinstance(body, str) else ''}"[:FAILURE_CHARS_MAX]
        kind = _NAMES.get(name) or _kind(quoted.lower(), count_of(data.get("statusCode")))
        limit = None
        if kind:
            resets_at, wait_s = _until(data)
            limit = LimitHit(kind, resets_at, wait_s, message)
        yield from self._failed(message, name, limit)

    def _kind(self, text: str) -> str | None:
        return _kind(text, None)


def _kind(text: str, status: int | None) -> str | None:
    usage = by_words(_USAGE, text) if status in (None, 402, 403, 429) else None
    kind = usage or by_words(_CONTEXT, text) or by_status(status)
    return kind or (by_words(_WORDS_WITHOUT_STATUS, text) if status is None else None)


def _until(data: Object) -> tuple[datetime | None, float | None]:
    """Until when, or for how long, in the figures of the server's answer or its headers."""
    told = _error_in(data.get("responseBody"))
    if resets_at := instant_of(told.get("resets_at")):
        return resets_at, None
    wait_s = amount_of(told.get("resets_in_seconds"))
    if wait_s is not None:
        return None, min(wait_s, WAIT_S_MAX)
    return _retry_after(object_of(data.get("responseHeaders")).get("retry-after"))


def _error_in(body: object) -> Object:
    """The error that an answer of an API describes, if it is JSON."""
    if not isinstance(body, str) or len(body) > BODY_CHARS_MAX:
        return {}
    try:
        return object_of(object_of(json.loads(body)).get("error"))
    except (ValueError, RecursionError):
        return {}


def _retry_after(given: object) -> tuple[datetime | None, float | None]:
    """A number of seconds, or a date."""
    if not isinstance(given, str):
        return None, None
    if re.fullmatch(r"\d{1,8}(?:\.\d{1,3})?", given, re.ASCII):
        return None, min(float(given), WAIT_S_MAX)
    try:
        return instant_of(parsedate_to_datetime(given[:DATE_CHARS_MAX]).timestamp()), None
    except (ValueError, OverflowError, OSError):
        return None, None
