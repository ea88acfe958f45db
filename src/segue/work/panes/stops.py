"""What a stop on a screen means: is it the one that is waited for, and until when. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from segue.core import limits
from segue.core.limits import Waits
from segue.core.machines import PaneState
from segue.dialects.limits import Detection
from segue.dialects.limits.recovery import names_minute
from segue.work.panes.workers import Worker

NEAR = timedelta(seconds=90)  # two readings of one instant: a countdown shows minutes


class Verdict(StrEnum):
    """What is done about a stop."""

    PARK = "park"
    LEAVE = "wait"  # it goes on by itself: hands off, or it is done twice
    ASK = "ask"  # waiting does not help, or nobody would want to wait so long unasked


@dataclass(frozen=True, slots=True)
class Stop:
    """A limit that holds a worker, from its screen or its transcript."""

    kind: str
    evidence: str
    resets_at: datetime | None
    is_minute: bool
    is_self_resuming: bool
    unknown_zone: str = ""  # that its time names


def stop_of(found: Detection) -> Stop:
    assert found.paused
    return Stop(
        found.kind or "unknown",
        found.evidence,
        found.resets_at,
        names_minute(found),
        found.state == "paused_self_resuming",
        found.time_zone if "unknown_zone" in found.notes else "",
    )


def is_known(worker: Worker, stop: Stop) -> bool:
    """Whether this is the stop that the worker is in already: then what was worked out holds.

    Words that count down change all the time, and words that do not would name another instant
    at every look.
    """
    if worker.state not in (PaneState.PAUSED, PaneState.ERROR, PaneState.BLOCKED):
        return False
    if stop.evidence and worker.evidence == stop.evidence:
        return True
    if worker.kind != stop.kind:
        return False
    if worker.resets_at is None or stop.resets_at is None:
        return worker.resets_at is stop.resets_at
    return abs(worker.resets_at - stop.resets_at) <= NEAR


def is_later(worker: Worker, stop: Stop, now: datetime) -> bool:
    """Whether it was refused until another instant, which is still to come."""
    if stop.resets_at is None or stop.resets_at <= now:
        return False
    return worker.resets_at is None or stop.resets_at > worker.resets_at


def judge(stop: Stop, now: datetime, *, windows: int, windows_max: int | None) -> Verdict:
    if stop.is_self_resuming:
        return Verdict.LEAVE
    if limits.needs_person(stop.kind) or limits.is_far(stop.resets_at, now):
        return Verdict.ASK
    if windows_max is not None and limits.holds_account(stop.kind) and windows >= windows_max:
        return Verdict.ASK
    return Verdict.PARK


def wakes_at(stop: Stop, now: datetime, waits: Waits, *, repeated: int, jitter: float) -> datetime:
    """When it is tried again, after so many refusals or tries in vain."""
    _over, at = limits.wakes_at(
        stop.kind,
        now,
        resets_at=stop.resets_at,
        is_minute=stop.is_minute,
        waits=waits,
        repeated=repeated,
        jitter=jitter,
    )
    return at
