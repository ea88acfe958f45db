"""A limit in a plan: the run is parked until it is over, or another agent takes the task over.

What follows from a limit is decided in `engine/parking.py`; here it is committed for a plan's task.
"""

from __future__ import annotations

from datetime import timedelta

from segue.core.machines import RunState, Trigger
from segue.core.plan import TaskState
from segue.dialects.events import Asked, LimitHit
from segue.engine import prompts
from segue.engine.agent import Agent
from segue.engine.conversations import BUSY_S
from segue.engine.limits import AFRESH, CONTEXT, AskPerson, GiveUp, Park, iso
from segue.engine.parking import HandOver, remedy
from segue.engine.plan import conversations
from segue.engine.plan.attempts import Attempt
from segue.engine.plan.beginning import new_attempt
from segue.engine.plan.plan_run import PlanRun
from segue.i18n import _
from segue.store.actors import TIMER, acting
from segue.store.conversations import ConversationHolder
from segue.store.rows import ParkRow

BUSY = "conversation"  # the kind of a park that waits for another run's end


def park(run: PlanRun, attempt: Attempt, limit: LimitHit) -> Asked | str | None:
    """Park the run. A question: a person must be asked instead; a text: why it has failed."""
    match run.parking.judge(attempt, limit, run.ledger.windows):
        case AskPerson(question):
            return question
        case GiveUp(reason):
            return reason
        case HandOver(park, other):
            _hand_over(run, attempt, park, other)
        case Park() as park:
            _park(run, attempt, park)
    return None


def _park(run: PlanRun, attempt: Attempt, park: Park) -> None:
    """The run, its task and its account in one transaction."""
    run.ledger.move_run(attempt.run, RunState.PARKED, Trigger.PARK)
    run.move_task(attempt.task.id, TaskState.IN_PROGRESS, Trigger.PARK)
    run.ledger.add_park(attempt.run, park)
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
        text = _("{task}: unknown time zone “{zone}”; Segue ignores the reset time")
        run.publish("notice", text=text.format(task=attempt.task.id, zone=park.unknown_zone))
    if park.is_guess:
        text = _("[WARN] could not read the reset time; waiting {seconds} s")
        run.publish("notice", text=text.format(seconds=round(run.options.waits.weekly_s)))


def _park_account(run: PlanRun, attempt: Attempt, park: Park) -> None:
    """Committed with what was staged before: the next decision must see it."""
    run.ledger.stage_made(run.parking.account_parked(attempt.run.account, park))
    run.ledger.commit()


# Another agent in the meantime


def _hand_over(run: PlanRun, attempt: Attempt, park: Park, other: Agent) -> None:
    """The other agent cannot know the conversation: it gets a summary of it."""
    run.ledger.move_run(attempt.run, RunState.PARKED, Trigger.PARK)
    before = conversations.what_is_known(run, attempt.run)
    again = new_attempt(
        run,
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


# A conversation that is in use, or lost


def wait_until_free(run: PlanRun, attempt: Attempt, holder: ConversationHolder) -> None:
    """Somebody else is in its conversation: it is tried again when they may have ended."""
    at = run.clock.now() + timedelta(seconds=BUSY_S)
    run.ledger.move_run(attempt.run, RunState.PARKED, Trigger.PARK)
    run.move_task(attempt.task.id, TaskState.IN_PROGRESS, Trigger.PARK)
    run.ledger.add_park(attempt.run, Park(BUSY, None, at))
    run.publish(
        "task_parked",
        task=attempt.task.id,
        kind=BUSY,
        account=attempt.run.account,
        resets_at=None,
        wakes_at=at.isoformat().replace("+00:00", "Z"),
        held_by={"plan": holder.plan, "task": holder.task},
    )


def conversation_lost(run: PlanRun, attempt: Attempt) -> None:
    """The program does not know it any more: afresh, with what is known of it. No retry used."""
    row = attempt.run
    run.ledger.move_run(row, RunState.CUT_OFF, Trigger.CUT_OFF)
    again = new_attempt(
        run,
        attempt.task,
        attempt=row.attempt,
        resumes=row,
        answer=attempt.answer,
        before=conversations.what_is_known(run, row),
        purpose=prompts.RESTART if prompts.interrupted(row.purpose) else "",
    )
    run.publish(
        "conversation_lost",
        task=row.task,
        conversation=row.resume_id,
        run=again.run.id,
        why=attempt.lost.text if attempt.lost else "",
    )


# Waking


@acting(TIMER)
def wake(run: PlanRun, park: ParkRow) -> None:
    """A park's instant has come: on, in the same conversation."""
    before = run.ledger.run(park.run) if park.run else None
    task = run.graph.task(park.task)
    run.ledger.end_park(park, Trigger.WAKE)
    run.move_task(park.task, TaskState.IN_PROGRESS, Trigger.WAKE)
    purpose, answer, summary = "", None, ""
    if park.kind == BUSY and before is not None:  # it has not begun yet
        purpose, answer = before.purpose, before.answer
    if park.kind == CONTEXT and before is not None:
        continued = run.ledger.run(before.resumes) if before.resumes else None
        agent = run.profile_named(before.agent)
        purpose = remedy(agent, before, continued, before.resume_id)
        if purpose == AFRESH:
            summary = conversations.what_is_known(run, before)
    attempt = new_attempt(
        run,
        task,
        attempt=before.attempt if before else 1,
        resumes=before,
        before=summary,
        purpose=purpose,
        answer=answer,
    )
    run.publish("task_resumed", task=park.task, run=attempt.run.id, after="park", purpose=purpose)


def compacted(run: PlanRun, attempt: Attempt, *, is_well: bool) -> None:
    """The compaction has ended: on in the conversation, or (it failed) in a new one."""
    run.ledger.move_run(attempt.run, RunState.CUT_OFF, Trigger.CUT_OFF)
    summary = ""
    if not is_well:
        summary = conversations.what_is_known(run, attempt.run)
    new_attempt(
        run,
        attempt.task,
        attempt=attempt.run.attempt,
        resumes=attempt.run,
        before=summary,
        purpose="" if is_well else AFRESH,
    )
