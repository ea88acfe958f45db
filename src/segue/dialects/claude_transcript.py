"""Claude Code's own record of a conversation: what stopped it last, if nothing was done since.

One object per line. A stop is an `assistant` entry of the program itself (`isApiErrorMessage`),
with codes, and for a used-up allowance with the window and the second of its reset. Prompts,
answers and requests after it are work. What only a person looked at (`/usage`), titles, costs and
durations are not. Entries are not quite in the order of their times: a request may be written
after the answer that it got, so it counts by its own time.

Whether the program continues by itself is said in notes after the stop. That is kept in the
memory of the process which said so: one that has resumed the conversation since knows nothing of
it, though it shows the same words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo

from segue.dialects import claude_limits
from segue.dialects.limits import read_limit
from segue.dialects.limits.screen import activity
from segue.dialects.structured import (
    Object,
    Objects,
    instant_of,
    object_of,
    objects_of,
    text_of,
)

TEXT_CHARS_MAX = 2_000
RESET_AHEAD_MAX = timedelta(days=366)

# Its own names → those of the structured output, by which errors are judged.
_CODES = {
    "error": "error",
    "apiError": "api_error",
    "apiErrorStatus": "api_error_status",
    "apiErrorType": "api_error_type",
}
_COMMAND = re.compile(r"\s*<command-name>/?([\w:-]+)</command-name>")
_ASIDE = re.compile(r"\s*<local-command-(?:caveat|stdout|stderr)>")
# After any other command (a model, a login, a compaction) the stop may be over.
_HARMLESS = frozenset(
    (
        *("config", "copy", "cost", "doctor", "export", "help", "hooks", "rate-limit-options"),
        *("release-notes", "rename", "stats", "status", "statusline", "tasks", "todos", "usage"),
    )
)
_WORK_NOTES = frozenset({"compact_boundary", "microcompact_boundary", "api_error"})


@dataclass(frozen=True, slots=True)
class TranscriptStop:
    """Why the conversation stopped. `is_self_resuming`: None if unknown."""

    kind: str
    resets_at: datetime | None
    text: str
    at: datetime
    is_minute: bool = False  # the reset was read from words, which name no seconds
    is_self_resuming: bool | None = None


def last_stop(
    lines: Iterable[bytes], tz: tzinfo, *, since: datetime | None = None
) -> TranscriptStop | None:
    """The stop at the end of these lines; `since` is when the process began that shows it now."""
    reading, objects = _Reading(tz, since), Objects()
    for line in lines:
        for told in objects.feed(line.rstrip(b"\n") + b"\n"):
            if isinstance(told, dict):
                reading.take(told)
            else:
                reading.work()  # unknown content counts as work
    return reading.stop


class _Reading:
    """The entries so far."""

    def __init__(self, tz: tzinfo, since: datetime | None) -> None:
        self._tz = tz
        self._since = since
        self._error: TranscriptStop | None = None
        self._is_armed: bool | None = None

    @property
    def stop(self) -> TranscriptStop | None:
        return replace(self._error, is_self_resuming=self._is_armed) if self._error else None

    def work(self) -> None:
        self._error = None

    def take(self, told: Object) -> None:
        if told.get("isSidechain") is True:
            return  # a subagent's
        match told.get("type"):
            case "assistant" if is_api_error(told):
                self._error = stop_in(told, self._tz)
                if self._error and self._is_before(self._error.at):
                    self._is_armed = False
            case "assistant":
                self.work()
                self._is_armed = None
            case "user":
                self._said(_words(object_of(told.get("message"))), told)
            case "system" if told.get("subtype") == "local_command":
                self._said(text_of(told.get("content")), told)
            case "system" if told.get("subtype") == "informational":
                self._noted(text_of(told.get("content")), told)
            case "system" if told.get("subtype") in _WORK_NOTES:
                self.work()
            case "api-request":
                self._requested(told)
            case "queue-operation" if told.get("operation") in ("enqueue", "dequeue"):
                self.work()

    def _said(self, text: str, told: Object) -> None:
        """A prompt, or a command of the program, which is written down as one."""
        if command := _COMMAND.match(text):
            if command[1] not in _HARMLESS:
                self.work()
        elif _ASIDE.match(text):
            self._noted(text, told)
        else:
            self.work()

    def _noted(self, text: str, told: Object) -> None:
        head = text[:TEXT_CHARS_MAX]
        if activity.is_lifted(head):
            self.work()
        elif activity.is_cancelled(head):
            self._is_armed = False
        elif activity.is_resuming(head):
            at = _instant(told.get("timestamp"))
            self._is_armed = at is not None and not self._is_before(at)

    def _requested(self, told: Object) -> None:
        is_main = str(told.get("querySource")).startswith("repl_main_thread")
        at = _instant(told.get("timestamp"))
        if is_main and self._error and (at is None or at > self._error.at):
            self.work()

    def _is_before(self, at: datetime) -> bool:
        return self._since is not None and at < self._since


def is_api_error(told: Object) -> bool:
    """The program's own message in the agent's place; older ones are known by their model."""
    model = object_of(told.get("message")).get("model")
    is_synthetic = model == "<synthetic>" and isinstance(told.get("error"), str)
    return told.get("isApiErrorMessage") is True or is_synthetic


def stop_in(told: Object, tz: tzinfo) -> TranscriptStop | None:
    """The limit that such a message is about; None for another error, or one without a time."""
    at = _instant(told.get("timestamp"))
    if at is None:
        return None
    text = _words(object_of(told.get("message")))[:TEXT_CHARS_MAX]
    kind, resets_at = _by_codes(told, text, at)
    words = read_limit(text, "claude", at, tz)
    kind = kind or (words.kind if words else None)
    if kind is None:
        return None
    is_minute = False
    if resets_at is None and words:
        resets_at, is_minute = words.resets_at, words.resets_at is not None
        if words.wait_s is not None:
            resets_at = at + timedelta(seconds=words.wait_s)
    return TranscriptStop(kind, resets_at, text, at, is_minute)


def _by_codes(told: Object, text: str, at: datetime) -> tuple[str | None, datetime | None]:
    def instant(epoch_s: object) -> datetime | None:
        found = instant_of(epoch_s)
        return found if found and found <= at + RESET_AHEAD_MAX else None

    window = object_of(object_of(told.get("apiErrorParams")).get("rate_limit_info"))
    window = window or object_of(told.get("quotaLimits"))
    if claude_limits.is_refused(window):
        hit = claude_limits.refusal(window, instant)
        return hit.kind, hit.resets_at
    facts = {name: told[key] for key, name in _CODES.items() if told.get(key) is not None}
    return claude_limits.stopped_by(facts, text), None


def _words(message: Object) -> str:
    """All the text of a message."""
    content = message.get("content")
    if isinstance(content, str):
        return text_of(content)
    return "\n".join(text_of(block.get("text")) for block in objects_of(content))


def _instant(value: object) -> datetime | None:
    try:
        at = datetime.fromisoformat(value) if isinstance(value, str) else None
        return at.astimezone(UTC) if at and at.tzinfo else None
    except (ValueError, OverflowError):
        return None
