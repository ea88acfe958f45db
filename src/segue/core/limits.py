"""Limits: their kinds, and how long each is waited for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

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
MANUAL = "manual"  # a person's own park: no limit, and no margin needed
UNKNOWN_S = 30.0
RATE_S_MAX = 3600.0
DOUBLINGS_MAX = 10
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


def family(kind: str) -> str:
    return FAMILY.get(kind, "unknown")


def needs_person(kind: str) -> bool:
    """Waiting does not help: somebody must pay or log in."""
    return family(kind) == "person"


def holds_account(kind: str) -> bool:
    """Whether all others of the account would run into it, too."""
    return family(kind) in ("weekly", "rate")


def is_far(resets_at: datetime | None, now: datetime) -> bool:
    """So far ahead that it was misread, or nobody would want to wait for it unasked."""
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
    """When the limit is over (if that is known) and when to go on: never before it.

    `is_minute`: the time names a minute and may be rounded down. `repeated`: how often the same
    was waited for already; `jitter`, 0 to 1, spreads those that wait for no known time.
    """
    margin = timedelta(seconds=0.0 if kind == MANUAL else waits.margin_s)
    if family(kind) == "context":
        return None, now + timedelta(seconds=waits.context_s)
    if resets_at is None and wait_s is not None:
        resets_at = now + timedelta(seconds=wait_s)
    if resets_at is None:
        return None, now + timedelta(seconds=_wait_s(kind, waits, repeated, jitter))
    over = resets_at + MINUTE if is_minute else resets_at
    if over <= now and repeated:
        return resets_at, now + MINUTE  # refused again though it is past: neither a day nor a storm
    return resets_at, max(over, now) + margin


def _wait_s(kind: str, waits: Waits, repeated: int, jitter: float) -> float:
    match family(kind):
        case "weekly":
            return waits.weekly_s
        case "rate":
            grown_s = waits.rate_s * 2.0 ** min(repeated, DOUBLINGS_MAX)
            return min(float(grown_s), max(RATE_S_MAX, waits.rate_s)) * (1 + jitter * 0.1)
    return UNKNOWN_S
