"""Limits: their kinds, and how long each is waited for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from segue.i18n import _

FAMILY = {
    "session_limit": "weekly",
    "weekly_limit": "weekly",
    "daily_quota": "weekly",
    "rate_limit": "rate",
    "overloaded": "rate",
    "network": "rate",
    "context_limit": "context",
    "billing": "person",
    "auth": "person",
    "unknown": "unknown",
}
UNKNOWN = "unknown"
MANUAL = "manual"  # a person's own park: no limit, and no margin needed
UNKNOWN_S = 30.0
BACKOFF_S_MAX = 3600.0
DOUBLINGS_MAX = 10
BOUNDS = {"default_wait_time": (1.0, 3600.0), "max_retries": (1, 10)}  # of what a user may set
REFUSALS_FREE = 3  # in a row, each with a time of its own, before their waits grow
MINUTE = timedelta(minutes=1)
FAR = timedelta(days=8)


@dataclass(frozen=True, slots=True)
class Waits:
    """How long a limit that names no time is waited for, by its family, in seconds; and the
    margin after a reset."""

    weekly_s: float = 3600.0
    rate_s: float = 60.0
    context_s: float = 5.0
    margin_s: float = 5.0


def bounded(values: Mapping[str, float]) -> tuple[dict[str, float], tuple[str, ...]]:
    """Settings with every number within its bounds, and what had to be changed, in words."""
    kept, changed = dict(values), []
    for name, (least, most) in BOUNDS.items():
        kept[name] = min(max(values[name], least), most)
        if kept[name] != values[name]:
            text = _("{name} = {given} is outside {least} to {most}: Segue uses {kept}")
            facts = {"given": values[name], "least": least, "most": most, "kept": kept[name]}
            changed.append(text.format(name=name, **{k: f"{v:g}" for k, v in facts.items()}))
    return kept, tuple(changed)


def family(kind: str) -> str:
    return FAMILY.get(kind, "unknown")


def needs_person(kind: str) -> bool:
    """Waiting does not help: a person must pay or log in."""
    return family(kind) == "person"


def holds_account(kind: str) -> bool:
    """Whether all others of the account would run into it, too."""
    return family(kind) in ("weekly", "rate")


def has_instant(kind: str) -> bool:
    """Whether it matters until when it lasts: a full context and a person are not waited for."""
    return family(kind) not in ("context", "person")


def is_far(resets_at: datetime | None, now: datetime) -> bool:
    """So far ahead that it was misread, or that a person must agree to the wait."""
    return resets_at is not None and resets_at - now > FAR


def wakes_at(
    kind: str,
    now: datetime,
    *,
    resets_at: datetime | None = None,
    wait_s: float | None = None,
    is_minute: bool = False,
    waits: Waits = Waits(),  # noqa: B008 - it cannot be changed
    repeated: int = 0,
    jitter: float = 0.0,
) -> tuple[datetime | None, datetime]:
    """When the limit is over (if that is known) and when to continue: never before it.

    `is_minute`: the time names a minute and may be rounded down. `repeated`: how many refusals of
    this family came directly before, with no work between: each makes the wait longer, up to an
    hour, unless the agent names a time ahead. `jitter`, 0 to 1, spreads those that wait for no
    known time.
    """
    margin = timedelta(seconds=0.0 if kind == MANUAL else waits.margin_s)
    if family(kind) == "context":
        return None, now + timedelta(seconds=waits.context_s)
    if resets_at is None and wait_s is not None:
        resets_at = now + timedelta(seconds=wait_s)
    if resets_at is None:
        return None, now + timedelta(seconds=_wait_s(kind, waits, repeated, jitter))
    over = resets_at + MINUTE if is_minute else resets_at
    if over <= now and repeated:  # refused again though it is past: neither a day nor a storm
        more = max(0, repeated - REFUSALS_FREE)
        return resets_at, now + timedelta(seconds=backoff_s(MINUTE.total_seconds(), more))
    at = max(over, now) + margin
    if kind != MANUAL and repeated > REFUSALS_FREE:
        least_s = backoff_s(waits.rate_s, repeated - REFUSALS_FREE)
        at = max(at, now + timedelta(seconds=least_s))
    return resets_at, at


def backoff_s(first_s: float, repeated: int) -> float:
    """A wait that doubles with every refusal, up to an hour (or the first one, if that is more)."""
    return min(first_s * 2.0 ** min(repeated, DOUBLINGS_MAX), max(BACKOFF_S_MAX, first_s))


def _wait_s(kind: str, waits: Waits, repeated: int, jitter: float) -> float:
    match family(kind):
        case "weekly":
            return waits.weekly_s
        case "rate":
            return backoff_s(waits.rate_s, repeated) * (1 + jitter * 0.1)
    return backoff_s(UNKNOWN_S, repeated)
