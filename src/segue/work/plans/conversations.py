"""The agents' own conversations: kept by name as soon as it is seen, gone on with by one alone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from segue.core.machines import RunState, Trigger
from segue.core.plan import TaskState
from segue.engine import prompts, said
from segue.engine.limits import Park
from segue.errors import AgentError
from segue.i18n import _
from segue.store.conversations import ConversationHolder
from segue.store.rows import RunRow
from segue.work.agents.brands import named_conversation
from segue.work.plans.attempts import Attempt

if TYPE_CHECKING:
    from segue.work.plans.plan_run import PlanRun

BUSY = "conversation"  # the kind of a park that waits for another run's end
BUSY_S = 5.0


def can_go_on(attempt: Attempt) -> bool:
    """A program that keeps conversations needs to know which; others just start again. With a
    summary of the earlier one, a new one is meant."""
    if attempt.before:
        return False
    return attempt.profile.brand is None or attempt.run.resume_id is not None


def opened(run: PlanRun, attempt: Attempt, conversation: str) -> None:
    """The program has named its conversation: remembered, and held."""
    if attempt.busy is not None:
        return
    attempt.busy = _take(run, attempt, conversation)
    if attempt.busy is not None:
        run.engine.end_soon(attempt.run.id)
    elif attempt.run.resume_id != conversation:
        run.ledger.note_conversation(attempt.run, conversation)


def hold(run: PlanRun, attempt: Attempt) -> None:
    """Before a conversation is gone on with; AgentError if somebody else is at work in it."""
    brand, command = attempt.profile.brand, attempt.profile.settings.command
    if brand is None:
        return
    conversation = attempt.run.resume_id or named_conversation(brand, command)
    if conversation is None:
        return
    attempt.busy = _take(run, attempt, conversation)
    if attempt.busy is not None:
        raise AgentError(_("its conversation is in use"))


def _take(run: PlanRun, attempt: Attempt, conversation: str) -> ConversationHolder | None:
    wanting = ConversationHolder(
        attempt.run.id,
        str(run.job_factory.claim(attempt.run)),
        str(run.file.path),
        attempt.task.id,
    )
    kind = attempt.profile.settings.kind
    return run.held_conversations.take(kind, conversation, wanting)


def ended(run: PlanRun, attempt: Attempt) -> None:
    """Nobody is at work in it any more."""
    if attempt.run.resume_id is not None and attempt.busy is None:
        kind = attempt.profile.settings.kind
        run.held_conversations.release(kind, attempt.run.resume_id, attempt.run.id)


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


def lost(run: PlanRun, attempt: Attempt) -> None:
    """The program does not know it any more: afresh, with what is known of it. No retry used."""
    row = attempt.run
    run.ledger.move_run(row, RunState.CUT_OFF, Trigger.CUT_OFF)
    again = run.new_attempt(
        attempt.task,
        attempt=row.attempt,
        resumes=row,
        answer=attempt.answer,
        before=what_is_known(run, row),
        purpose=prompts.RESTART if prompts.interrupted(row.purpose) else "",
    )
    run.publish(
        "conversation_lost",
        task=row.task,
        conversation=row.resume_id,
        run=again.run.id,
        why=attempt.lost.text if attempt.lost else "",
    )


def what_is_known(run: PlanRun, row: RunRow) -> str:
    """For a new conversation in the place of one that is lost or full: the end of what was said
    in it, by whichever of its runs; never empty."""
    return said.what_is_known(_said_by_each(run, row))


def said_before(run: PlanRun, row: RunRow | None) -> str:
    """The end of what was said by a run, or by the one that it went on from."""
    return next(filter(None, map(said.summarise, _said_by_each(run, row))), "")


def _said_by_each(run: PlanRun, row: RunRow | None) -> Iterator[list[str]]:
    return said.said_by_each(run.job_factory.files, _chain(run, row), run.profile_named)


def _chain(run: PlanRun, row: RunRow | None) -> Iterator[RunRow]:
    """A run, then the one that it went on from, and so on."""
    while row is not None:
        yield row
        row = run.ledger.run_row(row.resumes) if row.resumes else None
