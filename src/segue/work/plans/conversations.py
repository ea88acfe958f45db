"""The agents' own conversations: kept by name as soon as it is seen, gone on with by one alone."""

from __future__ import annotations

from collections.abc import Iterator

from segue.engine import said
from segue.errors import AgentError
from segue.i18n import _
from segue.store.conversations import ConversationHolder
from segue.store.rows import RunRow
from segue.work.agents.brands import named_conversation
from segue.work.plans.attempts import Attempt
from segue.work.plans.plan_run import PlanRun


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
