"""A limit: the run is parked until it is over, or somebody else takes the task over.

Parking uses up no retry. Billing and login wait for a person; a full context is made smaller
first and begun afresh second; all else waits for its instant, for the whole account.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from segue.core.limits import MANUAL, family, holds_account, is_far, needs_person, wakes_at
from segue.core.machines import ParkState, RunState, Trigger
from segue.core.plan import TaskState
from segue.dialects.events import Asked, LimitHit
from segue.i18n import _
from segue.work import conversations
from segue.work.agents import Profile
from segue.work.attempts import Attempt
from segue.work.rows import ParkRow, RunRow

if TYPE_CHECKING:
    from segue.work.plan_run import PlanRun

CONTEXT = "context_limit"
COMPACT, AFRESH = "compact", "afresh"  # what a run is for, when it is not simply to go on
TEXT_CHARS_MAX = 500


def park(run: PlanRun, attempt: Attempt, limit: LimitHit) -> Asked | str | None:
    """Park the run. A question: a person must be asked instead; a text: why it has failed."""
    now = run.clock.now()
    limit = _understood(run, attempt, limit)
    if limit.kind == CONTEXT and attempt.run.purpose == AFRESH:
        return _("its context is full even with nothing but a summary in it")
    if question := _for_a_person(run, attempt, limit, now):
        return question
    resets_at, at = wakes_at(
        limit.kind,
        now,
        resets_at=limit.resets_at,
        wait_s=limit.wait_s,
        is_minute=limit.is_minute,
        waits=run.options.waits,
        repeated=run.ledger.parks_in_a_row(attempt.task.id, family(limit.kind)),
        jitter=random.random(),  # noqa: S311 - it only spreads
    )
    other = _fallback(run, attempt.profile, at - now)
    if other is not None and holds_account(limit.kind):
        _hand_over(run, attempt, limit, at, other)
        return None
    run.ledger.move_run(attempt.run, RunState.PARKED, Trigger.PARK)
    run.move_task(attempt.task.id, TaskState.IN_PROGRESS, Trigger.PARK)
    run.ledger.add_park(attempt.run, limit.kind, resets_at, at, told=_told(limit))
    if holds_account(limit.kind):
        run.ledger.count_window()
    run.ledger.commit()
    _park_account(run, attempt, limit, at)
    run.tell(
        "task_parked",
        task=attempt.task.id,
        kind=limit.kind,
        account=attempt.run.account,
        resets_at=_text(resets_at),
        wakes_at=_text(at),
        why=limit.text,
    )
    _tell_doubts(run, attempt, limit)
    return None


def _understood(run: PlanRun, attempt: Attempt, limit: LimitHit) -> LimitHit:
    """The limit with its instant, counted from when it was told; read from its words if they are
    all there is."""
    if limit.kind == MANUAL or limit.resets_at is not None:
        return limit
    if limit.wait_s is not None:
        said_at = attempt.limit_at or run.clock.now()
        return replace(limit, resets_at=said_at + timedelta(seconds=limit.wait_s), wait_s=None)
    if family(limit.kind) in ("context", "person"):
        return limit  # no instant would change what is done about it
    from segue.work import limit_words  # noqa: PLC0415 - many patterns, needed by few runs

    return limit_words.understood(run, attempt, limit)


def _told(limit: LimitHit) -> dict[str, object]:
    """What a park is for, as the journal keeps it."""
    told = {"text": limit.text[:TEXT_CHARS_MAX], "unknown_zone": limit.unknown_zone}
    return {name: value for name, value in told.items() if value}


def _tell_doubts(run: PlanRun, attempt: Attempt, limit: LimitHit) -> None:
    """What had to be assumed about the instant."""
    if limit.unknown_zone:
        text = _("{task}: the time zone “{zone}” is not known; that of this machine is used")
        run.tell("notice", text=text.format(task=attempt.task.id, zone=limit.unknown_zone))
    if limit.resets_at is None and family(limit.kind) == "weekly":
        text = _("[WARN] the time of the reset cannot be read, {seconds} s are waited instead")
        run.tell("notice", text=text.format(seconds=round(run.options.waits.weekly_s)))


def _park_account(run: PlanRun, attempt: Attempt, limit: LimitHit, at: datetime) -> None:
    if holds_account(limit.kind):
        run.accounts.park(attempt.run.account, limit.kind, at)
        run.probing.discard(attempt.run.account)


def _for_a_person(run: PlanRun, attempt: Attempt, limit: LimitHit, now: datetime) -> Asked | None:
    """What waiting cannot mend, or must not go on for without a word."""
    agent = attempt.profile.name
    if needs_person(limit.kind):
        text = _("{agent} is not logged in, or may not do this ({why}); log in, then go on")
        if limit.kind == "billing":
            text = _("{agent} needs to be paid for ({why}); see to it, then go on")
        return Asked(text.format(agent=agent, why=limit.text or limit.kind), category=limit.kind)
    if is_far(limit.resets_at, now):
        text = _("{agent} says that it can go on only at {time} ({why}); shall it be tried now?")
        asked = text.format(agent=agent, time=_text(limit.resets_at), why=limit.text or limit.kind)
        return Asked(asked, category="confirmation")
    most = run.leash.max_windows
    if most is not None and holds_account(limit.kind) and run.ledger.windows >= most:
        text = _("this plan has waited through {n} limit windows, as many as it may; go on?")
        return Asked(text.format(n=most), category="confirmation")
    return None


# Another agent in the meantime


def _fallback(run: PlanRun, profile: Profile, lasts: timedelta) -> Profile | None:
    """Who takes over while this agent's account is parked for so long, if anybody can."""
    settings = profile.settings
    if settings.fallback is None or lasts.total_seconds() <= (settings.fallback_after_s or 0.0):
        return None
    other = run.profile_named(settings.fallback)
    if other is None or other.account == profile.account or run.accounts.is_parked(other.account):
        return None
    return other


def stand_in(run: PlanRun, profile: Profile) -> Profile:
    """Who works for this agent now: itself, or its fallback while its account is parked."""
    until = run.accounts.parked_until(profile.account) if profile.settings.fallback else None
    if until is None:
        return profile
    return _fallback(run, profile, until - run.clock.now()) or profile


def _hand_over(
    run: PlanRun, attempt: Attempt, limit: LimitHit, at: datetime, other: Profile
) -> None:
    """The other agent cannot know the conversation: it gets a summary of it."""
    run.ledger.move_run(attempt.run, RunState.PARKED, Trigger.PARK)
    before = conversations.what_is_known(run, attempt.run)
    run.ledger.commit()
    _park_account(run, attempt, limit, at)
    again = run.new_attempt(
        attempt.task,
        attempt=attempt.run.attempt,
        resumes=attempt.run,
        before=before,
        profile=other,
    )
    run.tell(
        "task_handed_over",
        task=attempt.task.id,
        run=again.run.id,
        agent=other.name,
        kind=limit.kind,
        until=_text(at),
    )
    run.queue()


# Waking


def that_matter(parks: Iterable[ParkRow], now: datetime) -> list[ParkRow]:
    """Those that are due, and the next one of each account: what is decided about ten thousand
    does not depend on the others."""
    due: list[ParkRow] = []
    following: dict[str, ParkRow] = {}
    for park in parks:
        if park.wakes_at <= now:
            due.append(park)
            continue
        first = following.get(park.account)
        if first is None or park.wakes_at < first.wakes_at:
            following[park.account] = park
    return [*due, *following.values()]


def wake(run: PlanRun, park: ParkRow) -> None:
    """A park's instant has come: on, in the same conversation."""
    before = run.ledger.run_row(park.run)
    task = run.graph.task(park.task)
    run.ledger.end_park(park, ParkState.WOKEN, Trigger.WAKE)
    run.move_task(park.task, TaskState.IN_PROGRESS, Trigger.WAKE)
    purpose, answer, summary = "", None, ""
    if park.kind == conversations.BUSY and before is not None:  # it has not begun yet
        purpose, answer = before.purpose, before.answer
    if park.kind == CONTEXT and before is not None:
        purpose = _remedy(run, before)
        if purpose == AFRESH:
            summary = conversations.what_is_known(run, before)
    attempt = run.new_attempt(
        task,
        attempt=before.attempt if before else 1,
        resumes=before,
        before=summary,
        purpose=purpose,
        answer=answer,
    )
    run.tell("task_resumed", task=park.task, run=attempt.run.id, after="park", purpose=purpose)


def _remedy(run: PlanRun, full: RunRow) -> str:
    """What is tried with a full context: its own compaction, once; then a new conversation."""
    profile = run.profile_named(full.agent)
    if profile is None or profile.settings.kind in ("shell", "script"):
        return ""  # it has no context: it is simply started again
    if profile.brand is None:
        return AFRESH  # nobody knows how it could be made shorter
    before = run.ledger.run_row(full.resumes) if full.resumes else None
    was_compacted = full.purpose == COMPACT or (before is not None and before.purpose == COMPACT)
    if profile.brand.compact and full.resume_id and not was_compacted:
        return COMPACT
    return AFRESH


def compacted(run: PlanRun, attempt: Attempt, *, is_well: bool) -> None:
    """The compaction has ended: on in the conversation, or (it failed) in a new one."""
    run.ledger.move_run(attempt.run, RunState.CUT_OFF, Trigger.CUT_OFF)
    summary = ""
    if not is_well:
        summary = conversations.what_is_known(run, attempt.run)
    run.new_attempt(
        attempt.task,
        attempt=attempt.run.attempt,
        resumes=attempt.run,
        before=summary,
        purpose="" if is_well else AFRESH,
    )


def _text(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat().replace("+00:00", "Z")
