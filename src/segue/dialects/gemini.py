"""Gemini CLI, headless: what the lines of `gemini --output-format stream-json` tell.

It repeats the prompt as a `message` of the user, which holds the run's own markers: only those
of the assistant are read. Its text comes in pieces of any size, one message of them until a
tool is used. That it tries again stands on standard error alone. A `result` ends it, and its
`success` means little: it also stands where a loop was detected (an `error` line tells it) and
where the context was full (nothing tells it, and it has not answered).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime

from segue.dialects import todos
from segue.dialects.events import Event, LimitHit, Retrying, ToolUsed, Used
from segue.dialects.jsonlines import JsonLines, Words, by_status, by_words, spoken, what
from segue.dialects.structured import (
    TEXT_CHARS_MAX,
    Object,
    count_of,
    encoded,
    object_of,
    one_line,
    text_of,
)
from segue.dialects.text import Text

_ATTEMPT = re.compile(r"Attempt (\d{1,4}) failed(?: with status (\d{3}))?[.:] ?(.*)")
_AGAIN = re.compile(r"\bRetrying (?:after (\d{1,6})ms|with backoff)\b")
_PREFACE = re.compile(r"Retrying with backoff\.\.\. (?:_?\w*Error: )?")
_OVER = re.compile(r"\bMax attempts reached")
_STATUS = re.compile(r'"code": ?(\d{3})\b|\b(?:status:?|http) (\d{3})\b')

# Before the status: a 429 may mean any of these, and a bad key is reported as a 400.
_WORDS: Words = (
    ("daily_quota", r"daily.{0,40}(?:quota|limit)|per ?day|exhausted your capacity"),
    ("daily_quota", r"quota will reset|usage limit reached"),
    ("billing", r"credits?[ _]balance|\blimit: ?0(?![\d.])|billing (?:account|is) (?:dis|not)"),
    ("context_limit", r"input token count|maximum number of tokens|context window"),
    ("auth", r"api[ _]key[ _](?:not valid|invalid)|unauthenticated|permission_denied"),
    (
        "auth",
        r"invalid auth|set an auth method|error authenticating|authentication (?:failed|required)",
    ),
    ("overloaded", r"overloaded|no capacity available"),
)
_WORDS_WITHOUT_STATUS: Words = (
    ("rate_limit", r"resource[_ ]?(?:has been )?exhausted|quota|rate limit|too many requests"),
    ("overloaded", r"unavailable|internal error"),
    (
        "network",
        r"fetch failed|econn|enotfound|etimedout|eai_again|socket hang|network error|timed? ?out",
    ),
)


class Gemini(JsonLines):
    """The dialect of one process."""

    chatter = re.compile(
        r"\s+at |\s+\w+: |Warning: |Ripgrep is not |YOLO mode is |\[STARTUP\]"
        r"|Loaded cached credentials|Error executing tool |[\s\]})]*[,;]?$"
    )
    gave_up = re.compile(
        r"Error (?:when talking to|resuming session|starting session|authenticating|loading)"
        r"|Invalid auth method|Please set an Auth method|No input provided"
        r"|Gemini CLI is not running in a trusted|\[API Error:|An unexpected critical error"
    )
    lost = re.compile(r"Error resuming session: (?:Invalid session|No previous sessions)")

    def __init__(self, nonce: str, now: Callable[[], datetime] | None = None) -> None:
        super().__init__(nonce, now)
        self._words: Text | None = None
        self._message = ""
        self._attempt: Retrying | None = None
        self._error = ""
        self._has_answered = False

    def _told(self, told: Object) -> Iterator[Event]:
        kind = told.get("type")
        content = told.get("content")
        if kind == "message" and told.get("role") == "assistant":
            if isinstance(content, str):
                yield from self._spoke_on(content, is_piece=told.get("delta") is True)
            return
        yield from self._paused()
        match kind:
            case "message":
                self._has_answered = False
            case "init":
                yield from self._opened(told.get("session_id"))
            case "tool_use":
                self._error, self._has_answered = "", False
                name = one_line(told.get("tool_name"))
                if name:
                    given = object_of(told.get("parameters"))
                    yield ToolUsed(name, what(given))
                    yield from todos.by_tool(name, given)
            case "error":
                self._error = one_line(told.get("message"), 1_000)
                self._keep(self._error)
            case "result":
                yield from self._result(told)

    def _closed(self) -> Iterator[Event]:
        yield from self._paused()
        yield from self._tries()

    # Words

    def _spoke_on(self, text: str, *, is_piece: bool) -> Iterator[Event]:
        if not is_piece:
            yield from self._paused()
        if self._words is None:
            self._words, self._message = Text(self._nonce, is_own=True), ""
        if text.strip():
            self._error, self._has_answered = "", True
        self._message += text[: TEXT_CHARS_MAX - len(self._message)]
        yield from self._words.feed(encoded(text))
        if not is_piece:
            yield from self._paused()

    def _paused(self) -> Iterator[Event]:
        """What follows is not the same message."""
        if self._words is None:
            return
        yield from self._words.close()
        self._words, self._last = None, text_of(self._message)

    # Standard error

    def _noted(self, line: str) -> Iterator[Event]:
        """How long it waits may stand on the line after the one that names the attempt."""
        failed = _ATTEMPT.match(line)
        if failed:
            yield from self._tries()
            status = int(failed[2]) if failed[2] else None
            text = one_line(spoken(_PREFACE.sub("", failed[3]))) or one_line(line)
            self._attempt = Retrying(int(failed[1]), status=status, text=text)
        if self._attempt is None:
            self._keep(line)
        elif _OVER.search(line):
            self._attempt = None
        elif again := _AGAIN.search(line):
            yield from self._tries(int(again[1]) / 1000 if again[1] else None)
        elif not failed:
            yield from self._tries()
            self._keep(line)

    def _tries(self, wait_s: float | None = None) -> Iterator[Event]:
        attempt, self._attempt = self._attempt, None
        if attempt is not None and self._end is None:
            text, status = attempt.text, attempt.status
            yield Retrying(attempt.attempt, wait_s=wait_s, status=status, text=text)

    # The end

    def _result(self, told: Object) -> Iterator[Event]:
        stats = object_of(told.get("stats"))
        read, written = count_of(stats.get("input_tokens")), count_of(stats.get("output_tokens"))
        if read is not None and written is not None and read + written:
            # Thoughts are paid for, and stand in the total alone.
            whole = count_of(stats.get("total_tokens")) or 0
            yield Used(read, max(written, whole - read))
        status = told.get("status")
        if status == "success":
            yield from self._succeeded()
            return
        error = object_of(told.get("error"))
        text = text_of(error.get("message"))
        reason = one_line(error.get("type")) or one_line(status)
        yield from self._failed(text, reason, self._limit(text))

    def _succeeded(self) -> Iterator[Event]:
        if self._error:
            yield from self._failed(self._error, "stopped", self._limit(self._error))
        elif not self._has_answered:
            yield from self._failed("", "no_answer", LimitHit("context_limit", text="no_answer"))
        else:
            yield from self._done("success")

    def _kind(self, text: str) -> str | None:
        found = _STATUS.search(text)
        if kind := by_words(_WORDS, text):
            return kind
        if found:
            return by_status(int(found[1] or found[2]))
        return by_words(_WORDS_WITHOUT_STATUS, text)
