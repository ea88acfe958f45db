"""Why Claude Code cannot continue: its windows, its refusals, the errors it ends with.

Its words for these drift from release to release; its codes less so. A code is believed before
a word, and words are read only where it says itself that they are an error of the API.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from segue.dialects.events import LimitHit, WindowUsed
from segue.dialects.structured import Object, amount_of, count_of, instant_of, object_of, one_line

SESSION, WEEKLY, CONTEXT, BILLING = "session_limit", "weekly_limit", "context_limit", "billing"
USAGE_KINDS = frozenset({SESSION, WEEKLY})  # what a refused window means
AUTH_STATUSES = frozenset({401, 403})
HEAD_CHARS = 400  # an error says what it is at its beginning

Instant = Callable[[object], datetime | None]

# Its terms for the end of a turn. Others (max_turns, aborted_tools, …) are no limit at all.
_FULL = frozenset({"prompt_too_long", "blocking_limit", "rapid_refill_breaker"})
_ERRORS = frozenset({"", "api_error", "model_error", "image_error"})

_STATUS = re.compile(r"API Error\b.{0,40}?\b([45]\d\d)\b")
_WINDOW = re.compile(r"hit your\b.*\blimit|usage limit reached|5.hour limit|weekly limit|out of")
_WORDS = (
    (CONTEXT, r"prompt is too long|context (?:window )?limit|conversation too long"),
    (BILLING, r"credit balance|out of (?:usage )?credits|(?:spend|credit) limit"),
    ("auth", r"invalid api key|run /login|oauth token"),
)
_WORDS_WITHOUT_STATUS = (  # with one, the server did answer, and said what it was
    ("overloaded", r"overloaded|high load"),
    ("network", r"connect|timed? ?out|network|fetch failed|socket|enotfound|eai_again"),
)


def kind_of_window(name: object) -> str:
    """The kind of a window by the program's name for it; empty for others (`overage`)."""
    if name == "five_hour":
        return SESSION
    return WEEKLY if isinstance(name, str) and name.startswith("seven_day") else ""


def is_refused(info: Object) -> bool:
    """Whether the request was turned down; not so where paid extra usage takes over."""
    is_paid = info.get("isUsingOverage")
    if is_paid is None:
        is_paid = str(info.get("overageStatus")).startswith("allowed")
    return info.get("status") == "rejected" and is_paid is not True


def refusal(info: Object, instant: Instant) -> LimitHit:
    """The window that is used up, and until when."""
    name = info.get("rateLimitType")
    kind, resets_at = kind_of_window(name), instant(info.get("resetsAt"))
    if not kind:
        full = [w for w in windows(info, instant) if w.share >= 1]
        last = max(full, key=lambda w: (w.resets_at is not None, w.resets_at), default=None)
        kind = last.kind if last else SESSION
        resets_at = (last.resets_at if last else None) or resets_at
    return LimitHit(kind, resets_at, text=one_line(name))


def windows(info: Object, instant: Instant = instant_of) -> Iterator[WindowUsed]:
    """How full each kind of window is. Of several of one kind the fullest counts."""
    told = object_of(info.get("unifiedWindows")) or {one_line(info.get("rateLimitType")): info}
    fullest: dict[str, WindowUsed] = {}
    for name, window in told.items():
        kind, share = kind_of_window(name), amount_of(object_of(window).get("utilization"))
        if not kind or share is None:
            continue
        used = WindowUsed(kind, min(share, 1.0), instant(window.get("resetsAt")))
        if kind not in fullest or used.share > fullest[kind].share:
            fullest[kind] = used
    yield from fullest.values()


def limit_from_text(text: str) -> str:
    """The kind of a used-up allowance, where there is nothing but its words to go by."""
    words = text[:HEAD_CHARS].lower()
    if "week" in words or re.search(r"\b(?:opus|sonnet|haiku|fable)\b.*limit", words):
        return WEEKLY
    if "spend limit" in words or ("credit" in words and "reset" not in words):
        return BILLING
    return SESSION


def stopped_by(told: Mapping[str, Any], text: str) -> str | None:
    """The kind of limit that an error is; None where neither waiting nor a person can fix it."""
    reason = one_line(told.get("terminal_reason"))
    if reason in _FULL:
        return CONTEXT
    if reason not in _ERRORS:
        return None
    status = _status(told, text)
    return _by_code(told, text) or _by_status(status, text) or _by_words(told, text, status)


def _by_code(told: Mapping[str, Any], text: str) -> str | None:
    match told.get("api_error"):
        case "usage_limit_reached":
            return limit_from_text(text)
        case "connection_failed":
            return "network"
        case str(code) if "credits" in code:
            return BILLING
    match told.get("api_error_type"):
        case "request_too_large":
            return CONTEXT  # its own advice is to compact
        case "overloaded_error":
            return "overloaded"
        case "billing_error":
            return BILLING
    match told.get("error"):
        case "billing_error":
            return BILLING
        case "authentication_failed" | "oauth_org_not_allowed":
            return "auth"
        case "overloaded":
            return "overloaded"
    return None


def _by_words(told: Mapping[str, Any], text: str, status: int) -> str | None:
    words = text[:HEAD_CHARS].lower()
    code = told.get("error")
    if not (told.get("terminal_reason") or code or told.get("subtype") == "success"):
        return None  # nothing says that these are words about the API
    for kind, pattern in _WORDS if status else _WORDS + _WORDS_WITHOUT_STATUS:
        if re.search(pattern, words):
            return kind
    if _WINDOW.search(words):
        return limit_from_text(text)
    return {"server_error": "overloaded", "rate_limit": "rate_limit"}.get(str(code))


def _status(told: Mapping[str, Any], text: str) -> int:
    status = count_of(told.get("api_error_status"))
    if status is None and (found := _STATUS.match(text)):
        status = int(found[1])
    return status or 0


def _by_status(status: int, text: str) -> str | None:
    words = text[:HEAD_CHARS].lower()
    if status == 429:
        return limit_from_text(text) if _WINDOW.search(words) else "rate_limit"
    if status in AUTH_STATUSES:
        return "auth"
    if status == 402:
        return BILLING
    if status == 408:
        return "network"
    if status == 413:
        return CONTEXT
    return "overloaded" if 500 <= status <= 599 else None
