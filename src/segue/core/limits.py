"""Limits: their kinds, and how long each is waited for where no time was given."""

from __future__ import annotations

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
WAIT_S = {"weekly": 3600.0, "rate": 60.0, "context": 5.0, "unknown": 30.0}


def needs_person(kind: str) -> bool:
    """Waiting does not help: somebody must pay or log in."""
    return FAMILY.get(kind) == "person"


def wakes_at(
    kind: str, now: datetime, *, resets_at: datetime | None, wait_s: float | None, margin_s: float
) -> tuple[datetime | None, datetime]:
    """When the limit is over (if that is known) and when to go on: never before it."""
    if resets_at is None and wait_s is not None:
        resets_at = now + timedelta(seconds=wait_s)
    if resets_at is None:
        family = FAMILY.get(kind, "unknown")
        return None, now + timedelta(seconds=WAIT_S.get(family, WAIT_S["unknown"]))
    return resets_at, max(resets_at, now) + timedelta(seconds=margin_s)
