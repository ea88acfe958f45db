"""Codex, headless: what the lines of `codex exec --json` tell.

A thread is its conversation. A process runs one turn of it, which ends with `turn.completed`
or `turn.failed`; the same failure stands in an `error` line before. Other `error` lines tell
that it tries again, and items of the type `error` are mere warnings. The usage of a turn is
the sum over the whole thread: a resumed one begins where the last process ended.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from datetime import datetime

from segue.dialects import todos
from segue.dialects.events import Event, Retrying, ToolUsed, Used
from segue.dialects.jsonlines import JsonLines, Words, by_status, by_words, what
from segue.dialects.structured import Object, count_of, object_of, objects_of, one_line, text_of

ITEMS_MAX = 256  # those under way at a time
COMMAND_CHARS_MAX = 2_000

_RETRY = re.compile(
    r"Reconnecting\.\.\. (?:(\d{1,4})/(\d{1,4})|waiting for network)(?: \((.*)\))?", re.DOTALL
)
_STATUS = re.compile(r"\bstatus:? (\d{3})\b")
_WEEKLY = re.compile(r"\bweekly\b")

# Before the status: each of these comes with one that means something else, too.
_WORDS: Words = (
    ("billing", r"out of credits|spend cap|credit limit|token budget exhausted"),
    (
        "session_limit",
        r"(?:hit|reached|exceeded) your (?:\S+ ){0,3}limit|usage limit.{0,10} reached",
    ),
    ("context_limit", r"context window|context_length_exceeded|maximum context length"),
    ("billing", r"quota exceeded|exceeded your current quota|insufficient_quota"),
    ("billing", r"with your chatgpt plan, upgrade"),
)
_WORDS_WITHOUT_STATUS: Words = (
    ("rate_limit", r"rate limit|too many requests|rate_limit_exceeded"),
    ("auth", r"unauthorized|api key|\b(?:log|sign|logged) in\b|(?:access|refresh) token"),
    ("overloaded", r"at capacity|capacity (?:is )?unavailable|high demand|overloaded"),
    (
        "network",
        r"stream disconnected|connection (?:failed|refused|reset|closed)|error sending request",
    ),
    ("network", r"network error|timed? ?out"),
)


class Codex(JsonLines):
    """The dialect of one process."""

    chatter = re.compile(r"Reading (?:additional input|prompt) from stdin|Model metadata for ")
    gave_up = re.compile(
        r"error: |Error loading config|Not inside a trusted directory|No prompt provided",
        re.IGNORECASE,
    )
    lost = re.compile(
        r"no (?:rollout|saved session|thread) found|(?:thread|session|conversation) not found"
    )

    def __init__(self, nonce: str, now: Callable[[], datetime] | None = None) -> None:
        super().__init__(nonce, now)
        self._begun: set[str] = set()
        self._error = ""
        self._retries = 0

    def _told(self, told: Object) -> Iterator[Event]:
        match told.get("type"):
            case "thread.started":
                yield from self._opened(told.get("thread_id"))
            case "turn.started":
                self._end, self._error = None, ""
            case "item.started" | "item.updated" | "item.completed" as stage:
                yield from self._item(object_of(told.get("item")), stage)
            case "turn.completed":
                yield from self._used(object_of(told.get("usage")))
                yield from self._done("turn.completed")
            case "turn.failed":
                message = object_of(told.get("error")).get("message")
                yield from self._gives_up(message if isinstance(message, str) else self._error)
            case "error":
                yield from self._erred(told.get("message"))

    def _closed(self) -> Iterator[Event]:
        if self._error:
            yield from self._gives_up(self._error)

    # Words and deeds

    def _item(self, item: Object, stage: str) -> Iterator[Event]:
        kind, text = item.get("type"), item.get("text")
        if kind == "todo_list":
            yield from todos.listed(item.get("items"))
            return
        if stage == "item.updated":
            return
        is_begin = stage == "item.started"
        if kind == "error":
            self._keep(one_line(item.get("message"), 1_000))
            return
        self._error, self._retries = "", 0
        if kind == "agent_message" and isinstance(text, str) and not is_begin:
            yield from self._spoke(text)
        elif tool := tool_used(item):
            yield from self._tool_used(item.get("id"), tool, is_begin)

    def _tool_used(self, id_: object, tool: ToolUsed, is_begin: bool) -> Iterator[Event]:
        """Most tools are reported at their start and their end, some only at their end."""
        if isinstance(id_, str) and id_ in self._begun:
            if not is_begin:
                self._begun.discard(id_)
            return
        if is_begin and isinstance(id_, str) and len(id_) < 200 and len(self._begun) < ITEMS_MAX:
            self._begun.add(id_)
        yield tool

    def _used(self, usage: Object) -> Iterator[Event]:
        read, written = count_of(usage.get("input_tokens")), count_of(usage.get("output_tokens"))
        if read is not None or written is not None:
            yield Used(read, written)

    # Errors

    def _erred(self, message: object) -> Iterator[Event]:
        if not isinstance(message, str):
            return
        retry = _RETRY.match(message)
        if retry is None:
            self._error = message
            return
        self._retries = int(retry[1]) if retry[1] else self._retries + 1
        yield Retrying(
            self._retries,
            attempts_max=int(retry[2]) if retry[2] else None,
            status=_status(message),
            text=one_line(retry[3] or message),
        )

    def _gives_up(self, text: str) -> Iterator[Event]:
        self._error = ""
        yield from self._failed(text, "turn.failed", self._limit(text))

    def _kind(self, text: str) -> str | None:
        kind = by_words(_WORDS, text)
        if kind == "session_limit" and _WEEKLY.search(text):
            return "weekly_limit"
        status = _status(text)
        return kind or (by_status(status) if status else by_words(_WORDS_WITHOUT_STATUS, text))


def _status(text: str) -> int | None:
    found = _STATUS.search(text)
    return int(found[1]) if found else None


def tool_used(item: Object) -> ToolUsed | None:
    match item.get("type"):
        case "command_execution":
            return ToolUsed("command_execution", one_line(shell_command(item.get("command"))))
        case "file_change":
            paths = [text_of(change.get("path")) for change in objects_of(item.get("changes"))]
            return ToolUsed("file_change", one_line(", ".join(paths[:20])))
        case "mcp_tool_call":
            names = (one_line(item.get("server"), 60), one_line(item.get("tool"), 60))
            name = ".".join(names).strip(".") or "mcp_tool_call"
            return ToolUsed(name, what(object_of(item.get("arguments"))))
        case "web_search":
            return ToolUsed("web_search", one_line(item.get("query")))
        case "collab_tool_call":
            return ToolUsed(one_line(item.get("tool")) or "collab_tool_call", what(item))
    return None


def shell_command(command: object) -> object:
    """What the shell is to do, without the shell that does it."""
    if not isinstance(command, str) or len(command) > COMMAND_CHARS_MAX:
        return command
    try:
        parts = shlex.split(command)
    except ValueError:
        return command
    is_shell = len(parts) == 3 and parts[0].endswith("sh") and parts[1] in ("-c", "-lc")
    return parts[2] if is_shell else command
