"""A limit in a plan: the run is parked until it is over, or another agent takes the task over.

What follows from a limit is decided in `engine/limits.py`; here it is committed for a plan's
task. Parking uses up no retry.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from segue.core.limits import family
from segue.core.machines import ParkState, RunState, Trigger
from segue.core.plan import TaskState
from segue.dialects.events import Asked, LimitHit
from segue.engine import limits
from segue.engine.fallback import agent_or_fallback, fallback
from segue.engine.limits import AFRESH, COMPACT, CONTEXT, AskPerson, Before, GiveUp, Park, iso
from segue.i18n import _
from segue.store.rows import ParkRow, RunRow
from segue.work.agents.profiles import Profile
from segue.work.plans import conversations
from segue.work.plans.attempts import Attempt

if TYPE_CHECKING:
    from segue.work.plans.plan_run import PlanRun


def park(run: PlanRun, attempt: Attempt, limit: LimitHit) -> Asked | str | None:
    """Park the run. A question: a person must be asked instead; a text: why it has failed."""
    now = run.clock.now()
    before = Before(
        refusals=_refusals(run, attempt, limit),
        windows=run.ledger.windows,
        purpose=attempt.run.purpose,
    )
    policy = limits.Policy(run.options.waits, run.leash.max_windows)
    jitter = random.random()  # noqa: S311 - it only spreads
    match limits.judge(limit, attempt.profile.name, now, policy, before, jitter):
        case AskPerson(question):
            return question
        case GiveUp(reason):
            return reason
        case Park() as verdict:
            _park(run, attempt, verdict, before.refusals)
    return None


def _refusals(run: PlanRun, attempt: Attempt, limit: LimitHit) -> int:
    """An agent that worked before this limit was not refused again: it hit a new one."""
    if attempt.proof.works:
        return 0
    return run.ledger.refusals(attempt.task.id, family(limit.kind))


def _park(run: PlanRun, attempt: Attempt, park: Park, refusals: int) -> None:
    """The run, its task and its account in one transaction."""
    lasts = park.wakes_at - run.clock.now()
    other = fallback(attempt.profile, lasts, run.profile_named, run.accounts)
    if other is not None and park.holds_account:
        _hand_over(run, attempt, park, other)
        return
    run.ledger.move_run(attempt.run, RunState.PARKED, Trigger.PARK)
    run.move_task(attempt.task.id, TaskState.IN_PROGRESS, Trigger.PARK)
    run.ledger.add_park(
        attempt.run, park.kind, park.resets_at, park.wakes_at, park.data(), refusals
    )
    if park.holds_account:
        run.ledger.count_window()
    _park_account(run, attempt, park)
    run.publish(
        "task_parked",
        task=attempt.task.id,
        kind=park.kind,
        account=attempt.run.account,
        resets_at=iso(park.resets_at),
        wakes_at=iso(park.wakes_at),
        why=park.text,
    )
    _tell_doubts(run, attempt, park)


def _tell_doubts(run: PlanRun, attempt: Attempt, park: Park) -> None:
    """What had to be assumed about the instant."""
    if park.unknown_zone:
        text = _("{task}: the time zone “{zone}” is not known; that of this machine is used")
        run.publish("notice", text=text.format(task=attempt.task.id, zone=park.unknown_zone))
    if park.is_guess:
        text = _("[WARN] could not read the reset time; waiting {seconds} s")
        run.publish("notice", text=text.format(seconds=round(run.options.waits.weekly_s)))


def _park_account(run: PlanRun, attempt: Attempt, park: Park) -> None:
    """Committed with what was staged before: whoever decides next must see it."""
    account = attempt.run.account
    if park.holds_account:
        run.ledger.stage_made(lambda: run.accounts.parked(account, park.kind, park.wakes_at))
        run.canaries.parked(account)
    run.ledger.commit()


# Another agent in the meantime


def profile_or_fallback(run: PlanRun, profile: Profile) -> Profile:
    """Who works for this agent now."""
    return agent_or_fallback(profile, run.profile_named, run.accounts, run.clock.now())


def _hand_over(run: PlanRun, attempt: Attempt, park: Park, other: Profile) -> None:
    """The other agent cannot know the conversation: it gets a summary of it."""
    run.ledger.move_run(attempt.run, RunState.PARKED, Trigger.PARK)
    before = conversations.what_is_known(run, attempt.run)
    again = run.new_attempt(
        attempt.task,
        attempt=attempt.run.attempt,
        resumes=attempt.run,
        before=before,
        profile=other,
    )
    _park_account(run, attempt, park)
    run.publish(
        "task_handed_over",
        task=attempt.task.id,
        run=again.run.id,
        agent=other.name,
        kind=park.kind,
        until=iso(park.wakes_at),
    )
    run.queue()


# Waking


def wake(run: PlanRun, park: ParkRow) -> None:
    """A park's instant has come: on, in the same conversation."""
    before = run.ledger.run_row(park.run) if park.run else None
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
    run.publish("task_resumed", task=park.task, run=attempt.run.id, after="park", purpose=purpose)


def _remedy(run: PlanRun, full: RunRow) -> str:
    """What is tried with a full context."""
    profile = run.profile_named(full.agent)
    before = run.ledger.run_row(full.resumes) if full.resumes else None
    return limits.remedy(
        has_context=profile is not None and profile.settings.kind not in ("shell", "script"),
        compact=profile.brand.compact if profile is not None and profile.brand else None,
        conversation=full.resume_id,
        purposes=(full.purpose, before.purpose if before else ""),
    )


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


__all__ = ["AFRESH", "COMPACT", "CONTEXT", "compacted", "park", "profile_or_fallback", "wake"]
