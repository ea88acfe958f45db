"""What an agent's event means for its run, whatever kind of work the run is of.

Whether it works for real (and so opens its account), how full the account's window is, a limit that
only a person can end. What else an event means is its kind's own; what the attempt comes to is
judged when it has ended (`outcome.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from segue.core.limits import needs_person
from segue.dialects.events import (
    Event,
    Finished,
    LimitHit,
    Said,
    StepDone,
    TodosListed,
    ToolUsed,
    WindowUsed,
)
from segue.engine.attempt import Attempt, Report
from segue.engine.canary import Canaries
from segue.engine.clock import Clock
from segue.engine.executors import Executor
from segue.engine.limit_reader import WordReaders


@dataclass(frozen=True, slots=True)
class AgentEvents:
    """`end`: ends an attempt's process; `opened`: an account is open again, by its canary."""

    clock: Clock
    executor: Executor
    canaries: Canaries
    words: WordReaders
    end: Callable[[str], None]
    opened: Callable[[str], None]

    def hear(self, attempt: Attempt, event: Event) -> None:
        now, said_at = self.clock.now(), None
        if isinstance(event, LimitHit):
            said_at = self.words.files.said_at(attempt.run.id, now)
        attempt.hear(event, now, said_at)
        match event:
            case Said(text):
                self._spoke(attempt, text)
            case ToolUsed() | StepDone() | TodosListed():
                self.works(attempt)
            case WindowUsed(_kind, share, resets_at):
                self.canaries.accounts.note_used(attempt.run.account, share, resets_at)
            case LimitHit() if attempt.limit is event and needs_person(event.kind):
                self.end(attempt.run.id)  # that it tries on by itself cannot help
            case Finished():
                self.executor.end_input(attempt.run.id)

    def report(self, attempt: Attempt, report: Report) -> None:
        """It reported something that counts."""
        attempt.report(report, self.words.files.said_at(attempt.run.id, self.clock.now()))

    def _spoke(self, attempt: Attempt, text: str) -> None:
        """Whether its words show that it works. Those of a canary may be that the limit is not
        over."""
        is_canary = self.canaries.is_canary(attempt.run.account, attempt.run.task_id)
        if is_canary and self.words.of(attempt).is_refusal(text):
            attempt.proof.refused()
        elif attempt.proof.works:
            self.works(attempt)

    def works(self, attempt: Attempt) -> None:
        """An agent works for real: if it is its account's canary, the others may follow."""
        if self.canaries.works(attempt.run.account, attempt.run.task_id):
            self.opened(attempt.run.account)

    def ended(self, attempt: Attempt, *, works: bool = False) -> None:
        """An attempt has ended; `works`: which shows that its account is open."""
        if works:
            self.works(attempt)
        self.canaries.ended(attempt.run.account, attempt.run.task_id)
