"""Claude Code, headless: what its stream-json lines tell.

Standard output is one object per line (`-p --output-format stream-json --verbose`), standard
error is text. `assistant` lines carry its own words and its tool calls, one block each; only
those of the main agent are read for markers, never those of its subagents, nor what a tool
printed. A `result` ends a turn; trust its `is_error`, not its `subtype`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from segue.dialects import claude_limits as limits
from segue.dialects import claude_tools as tools
from segue.dialects.claude_input import allow, deny, interrupt, user_message
from segue.dialects.claude_usage import Meter
from segue.dialects.events import (
    ConversationLost,
    Event,
    Finished,
    Garbled,
    LimitHit,
    Opened,
    Retrying,
    Said,
    ToolUsed,
    WindowUsed,
)
from segue.dialects.lines import Lines, plain
from segue.dialects.structured import (
    Object,
    Objects,
    amount_of,
    count_of,
    encoded,
    instant_of,
    object_of,
    objects_of,
    one_line,
    said,
    text_of,
)
from segue.dialects.text import Text
from segue.dialects.todos import Entries

__all__ = ["Claude", "allow", "deny", "interrupt", "user_message"]

AUTH_RETRIES_MAX = 3  # ten of them take three minutes and cannot help
RESET_AHEAD_MAX = timedelta(days=366)
ERRORS_MAX = 20
REASON_CHARS_MAX = 400

_LOST = re.compile(r"(?:error: )?no conversation found with session id", re.IGNORECASE)
_CODES = ("error", "api_error", "api_error_status", "api_error_type")
_CONVERSATION = re.compile(r"[0-9A-Za-z][\w-]{0,127}", re.ASCII)


@dataclass(slots=True)
class _Turn:
    """What one turn has reported so far about why it cannot continue."""

    hits: dict[str, LimitHit] = field(default_factory=dict)
    refused: int = 0  # attempts in a row that failed because no user was logged in
    error: Object = field(default_factory=dict)


class Claude:
    """The dialect of one process. With `now`, a reset that cannot be meant is not believed."""

    def __init__(self, nonce: str, now: Callable[[], datetime] | None = None) -> None:
        self._nonce = nonce
        self._now = now
        self._objects = Objects()
        self._err = Lines()
        self._conversation = ""
        self._is_lost = False
        self._meter = Meter()
        self._windows: dict[str, WindowUsed] = {}
        self._turn = _Turn()
        self._todos = Entries()

    def feed(self, data: bytes) -> Iterator[Event]:
        for told in self._objects.feed(data):
            yield from self._told(told)

    def feed_err(self, data: bytes) -> Iterator[Event]:
        for line, _is_whole in self._err.feed(data):
            yield from self._complained(plain(line))

    def close(self) -> Iterator[Event]:
        for told in self._objects.close():
            yield from self._told(told)
        for line, _is_whole in self._err.close():
            yield from self._complained(plain(line))

    def _told(self, told: Object | Said | Garbled) -> Iterator[Event]:
        if not isinstance(told, dict):
            yield told
            return
        kind = told.get("type")
        if kind == "result":
            yield from self._result(told)
            return
        yield from self._opened(told)
        match kind:
            case "assistant":
                yield from self._assistant(told)
            case "system" if told.get("subtype") == "api_retry":
                yield from self._retry(told)
            case "rate_limit_event":
                yield from self._window(object_of(told.get("rate_limit_info")))
            case "control_request":
                yield from tools.asked(told)

    def _opened(self, told: Object) -> Iterator[Event]:
        conversation = told.get("session_id")
        if not isinstance(conversation, str) or not _CONVERSATION.fullmatch(conversation):
            return
        if conversation != self._conversation and not told.get("parent_tool_use_id"):
            self._conversation = conversation
            yield Opened(conversation)

    def _complained(self, text: str) -> Iterator[Event]:
        if _LOST.match(text):
            yield from self._lost(text)
        elif text.strip():
            yield Said(text)

    def _lost(self, text: str) -> Iterator[Event]:
        """Told on both outputs, and once to us."""
        if not self._is_lost:
            self._is_lost = True
            yield ConversationLost(text)

    # Words and deeds

    def _assistant(self, told: Object) -> Iterator[Event]:
        message = object_of(told.get("message"))
        is_main = told.get("parent_tool_use_id") is None
        if _is_api_error(told, message):
            yield from self._api_error(told) if is_main else ()
            return
        self._turn.refused, self._turn.error = 0, {}
        for block in objects_of(message.get("content")):
            match block:
                case {"type": "text", "text": str(text)}:
                    yield from self._text(text) if is_main else said(text)
                case {"type": "tool_use", "name": str(name)} if name:
                    given = object_of(block.get("input"))
                    yield ToolUsed(one_line(name), tools.what(given))
                    yield from self._todos.changed(name, given) if is_main else ()
        if used := self._meter.message(message):
            yield used

    def _text(self, text: str) -> Iterator[Event]:
        """Its own words. Each block is a text of its own: a fence left open ends with it."""
        dialect = Text(self._nonce, is_own=True)
        yield from dialect.feed(encoded(text))
        yield from dialect.close()

    def _api_error(self, told: Object) -> Iterator[Event]:
        """Not words of the agent: the result tells them again, and what they mean."""
        self._turn.error = {key: told[key] for key in _CODES if told.get(key) is not None}
        info = object_of(object_of(told.get("api_error_params")).get("rate_limit_info"))
        if limits.is_refused(info):
            yield from self._hit(limits.refusal(info, self._instant))

    # Limits

    def _window(self, info: Object) -> Iterator[Event]:
        if limits.is_refused(info):
            yield from self._hit(limits.refusal(info, self._instant))
            return
        for window in limits.windows(info, self._instant):
            if self._windows.get(window.kind) != window:
                self._windows[window.kind] = window
                yield window

    def _hit(self, hit: LimitHit) -> Iterator[Event]:
        """Each reason once in a turn; a second time only to name another instant."""
        before = self._turn.hits.get(hit.kind)
        if before is None or hit.resets_at not in (None, before.resets_at):
            self._turn.hits[hit.kind] = hit
            yield hit

    def _retry(self, told: Object) -> Iterator[Event]:
        status = count_of(told.get("error_status"))
        delay_ms = amount_of(told.get("retry_delay_ms"))
        error = one_line(told.get("error"))
        yield Retrying(
            attempt=count_of(told.get("attempt")) or 0,
            attempts_max=count_of(told.get("max_retries")),
            wait_s=None if delay_ms is None else delay_ms / 1000,
            status=status,
            text=error,
        )
        self._turn.refused = self._turn.refused + 1 if status in limits.AUTH_STATUSES else 0
        if self._turn.refused >= AUTH_RETRIES_MAX:
            yield from self._hit(LimitHit("auth", text=f"{status} {error}".strip()))

    def _instant(self, epoch_s: object) -> datetime | None:
        at = instant_of(epoch_s)
        if at is None or (self._now is not None and at > self._now() + RESET_AHEAD_MAX):
            return None
        return at

    # The end of a turn

    def _result(self, told: Object) -> Iterator[Event]:
        is_error = told.get("is_error")
        if not isinstance(is_error, bool):
            is_error = told.get("subtype") != "success"
        text = text_of(told.get("result")) or "\n".join(_errors(told.get("errors")))
        if is_error and _LOST.match(text):  # it names the id it was asked for: none was opened
            yield from self._lost(text)
        else:
            yield from self._opened(told)
        if used := self._meter.result(told):
            yield used
        if is_error:
            yield from self._stopped(told, text)
        reason = told.get("terminal_reason") or (told.get("subtype") if is_error else "")
        self._turn = _Turn()
        yield Finished(is_error, text, one_line(reason))

    def _stopped(self, told: Object, text: str) -> Iterator[Event]:
        facts = {**self._turn.error, **{key: told[key] for key in told if told[key] is not None}}
        kind = limits.stopped_by(facts, text)
        is_told = kind in limits.USAGE_KINDS and limits.USAGE_KINDS & self._turn.hits.keys()
        if kind is not None and not is_told:
            yield from self._hit(LimitHit(kind, text=one_line(text, REASON_CHARS_MAX)))


def _is_api_error(told: Object, message: Object) -> bool:
    """The program's own message in the agent's place; older ones are known by their model."""
    is_synthetic = message.get("model") == "<synthetic>" and isinstance(told.get("error"), str)
    return told.get("is_api_error_message") is True or is_synthetic


def _errors(value: object) -> list[str]:
    return [text_of(part) for part in value[:ERRORS_MAX]] if isinstance(value, list) else []
