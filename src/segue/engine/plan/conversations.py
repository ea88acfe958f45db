"""The agents' own conversations: kept by name as soon as it is seen, continued by one run alone."""

from __future__ import annotations

from collections.abc import Iterator

from segue.engine import said
from segue.engine.conversations import ConversationHolds
from segue.engine.plan.attempts import Attempt
from segue.engine.plan.plan_run import PlanRun
from segue.errors import AgentError
from segue.i18n import _
from segue.store.rows import RunRow


def can_go_on(attempt: Attempt) -> bool:
    """A program that keeps conversations needs to know which; others just start again. With a
    summary of the earlier one, a new one is meant."""
    if attempt.before:
        return False
    return not attempt.profile.is_structured or attempt.run.resume_id is not None


def opened(run: PlanRun, attempt: Attempt, conversation: str) -> None:
    """The program has named its conversation: remembered, and held."""
    if attempt.busy is not None:
        return
    if not _holds(run).take(attempt, conversation):
        run.engine.end_soon(attempt.run.id)
    elif attempt.run.resume_id != conversation:
        run.ledger.note_conversation(attempt.run, conversation)


def hold(run: PlanRun, attempt: Attempt) -> None:
    """Before a conversation is continued; AgentError if another run is at work in it."""
    conversation = attempt.run.resume_id or attempt.profile.own_conversation
    if not _holds(run).take(attempt, conversation):
        raise AgentError(_("its conversation is in use"))


def ended(run: PlanRun, attempt: Attempt) -> None:
    """Nothing works in it any more."""
    _holds(run).release(attempt)


def _holds(run: PlanRun) -> ConversationHolds:
    return ConversationHolds(run.held_conversations, run.job_factory.files, str(run.file.path))


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
        row = run.ledger.run(row.resumes) if row.resumes else None
