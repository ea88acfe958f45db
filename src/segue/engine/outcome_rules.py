"""What follows from the end of a run: one value (`outcome.py`), one rule of its kind."""

from __future__ import annotations

from typing import Protocol, TypeVar

from segue.dialects.events import LimitHit, PhaseDone, TaskDone
from segue.engine.agent_events import AgentEvents
from segue.engine.attempt import Attempt, Dropped
from segue.engine.executors import Ended
from segue.engine.limits import COMPACT
from segue.engine.outcome import (
    Circumstances,
    Claimed,
    Completed,
    ConversationBusy,
    ConversationLost,
    CutOff,
    Failed,
    Limited,
    Need,
    NeedsPerson,
    Outcome,
    outcome,
)
from segue.store.conversations import ConversationHolder

AnAttempt = TypeVar("AnAttempt", bound=Attempt)
AnAttempt_contra = TypeVar("AnAttempt_contra", bound=Attempt, contravariant=True)
PROVEN = (Claimed, Completed, NeedsPerson)  # its account is open


class OutcomeRules(Protocol[AnAttempt_contra]):
    """What a kind of work does when a run of it has ended."""

    def dropped(self, attempt: AnAttempt_contra) -> None: ...

    def cut_off(self, attempt: AnAttempt_contra) -> None: ...

    def completed(self, attempt: AnAttempt_contra, ended: Ended) -> None:
        """It ended well, and reported nothing."""
        ...

    def claimed(
        self, attempt: AnAttempt_contra, ended: Ended, claim: PhaseDone | TaskDone
    ) -> None: ...

    def needs_person(
        self, attempt: AnAttempt_contra, ended: Ended, needs: tuple[Need, ...]
    ) -> None: ...

    def limited(self, attempt: AnAttempt_contra, ended: Ended, limit: LimitHit) -> None: ...

    def compacted(self, attempt: AnAttempt_contra, *, is_well: bool) -> None:
        """It was to make its context smaller."""
        ...

    def conversation_busy(
        self, attempt: AnAttempt_contra, ended: Ended, holder: ConversationHolder
    ) -> None: ...

    def conversation_lost(self, attempt: AnAttempt_contra) -> None: ...

    def failed(self, attempt: AnAttempt_contra, ended: Ended, how: Failed) -> None: ...


def settle(
    attempt: AnAttempt,
    ended: Ended,
    circumstances: Circumstances,
    events: AgentEvents,
    rules: OutcomeRules[AnAttempt],
) -> None:
    """A run has ended: what it shows about its account, then what follows for its task."""
    how = outcome(attempt, ended, circumstances, events.words.of(attempt))
    if not isinstance(how, Limited):  # then its account is parked with it
        events.ended(attempt, works=isinstance(how, PROVEN))
    apply(how, attempt, ended, rules)


def apply(how: Outcome, attempt: AnAttempt, ended: Ended, rules: OutcomeRules[AnAttempt]) -> None:
    match how:
        case Dropped():
            rules.dropped(attempt)
        case CutOff():
            rules.cut_off(attempt)
        case NeedsPerson(needs):
            rules.needs_person(attempt, ended, needs)
        case Limited(limit):
            rules.limited(attempt, ended, limit)
        case ConversationBusy(holder):
            rules.conversation_busy(attempt, ended, holder)
        case Completed() | Failed() | ConversationLost() if attempt.run.purpose == COMPACT:
            rules.compacted(attempt, is_well=isinstance(how, Completed))
        case Completed():
            rules.completed(attempt, ended)
        case Claimed(claim):
            rules.claimed(attempt, ended, claim)
        case ConversationLost():
            rules.conversation_lost(attempt)
        case Failed():
            rules.failed(attempt, ended, how)
