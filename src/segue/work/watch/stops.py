"""What a stop on a screen means: is it the one that is waited for, and until when. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from segue.core import limits
from segue.core.limits import Waits
from segue.core.machines import WorkerState
from segue.dialects.limits import Detection
from segue.dialects.limits.recovery import names_minute
from segue.work.watch.workers import Worker

REFUSALS_FREE = 3  # in a row, each with a time of its own
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
    if worker.state not in (WorkerState.PAUSED, WorkerState.ERROR, WorkerState.BLOCKED):
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


def wakes_at(
    stop: Stop, now: datetime, waits: Waits, *, sends: int, jitter: float, refusals: int = 0
) -> datetime:
    """When it is tried again, after so many tries in vain. However short the times are that it
    names, it is not asked again and again without end."""
    _over, at = limits.wakes_at(
        stop.kind,
        now,
        resets_at=stop.resets_at,
        is_minute=stop.is_minute,
        waits=waits,
        repeated=sends,
        jitter=jitter,
    )
    if refusals > REFUSALS_FREE:
        least_s = waits.rate_s * 2.0 ** min(refusals - REFUSALS_FREE, limits.DOUBLINGS_MAX)
        return max(at, now + timedelta(seconds=min(least_s, limits.RATE_S_MAX)))
    return at
