"""One attempt of one run: what was heard of its agent, and why Segue ended it, if it did.

An attempt only takes in. What it comes to is one value, made when the process has ended
(`outcome.py`); until then nothing that was heard decides anything.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from segue.core.limits import UNKNOWN
from segue.dialects.events import (
    Asked,
    ConversationLost,
    DependencyAsked,
    ErrorReported,
    Event,
    Finished,
    LimitHit,
    PhaseDone,
    Said,
    StepDone,
    TaskDone,
    TodosListed,
    ToolUsed,
    Used,
    by_importance,
)
from segue.engine.agent import Agent
from segue.engine.canary import Proof
from segue.store.actors import SEGUE, Actor
from segue.store.conversations import ConversationHolder
from segue.store.rows import RunRow

LINES_KEPT = 400
LIMITS_KEPT = 20
Report = ErrorReported | PhaseDone | TaskDone | DependencyAsked | Asked


@dataclass(frozen=True, slots=True)
class Dropped:
    """A person took the task out of Segue's hands: how the agent ends does not matter."""


@dataclass(frozen=True, slots=True)
class ParkedByHand:
    limit: LimitHit
    by: Actor = SEGUE


@dataclass(frozen=True, slots=True)
class TooSilent:
    """It printed nothing for longer than allowed."""

    bound_s: float


@dataclass(slots=True)
class HeardLimit:
    """The limits that an agent hit since it last worked.

    Figures are kept over vague words, whichever came first and whatever kind of limit they are
    about. Of several figures the last ones count; of several texts all are kept, because only
    reading them shows which one names a time (`limit_words.py`).
    """

    heard: list[tuple[LimitHit, datetime]] = field(default_factory=list)
    is_reported: bool = False  # by the agent itself, as a reason to wait: it ends for that

    def hear(self, limit: LimitHit, now: datetime, *, is_reported: bool = False) -> None:
        self.is_reported = self.is_reported or is_reported
        if limit.has_time:
            self.heard = [(limit, now)]
        elif not self.has_time:
            self.heard = [*self.heard[-LIMITS_KEPT:], (limit, now)]

    def worked(self) -> None:
        """The agent works again: whatever it hit is over."""
        self.heard, self.is_reported = [], False

    @property
    def has_time(self) -> bool:
        return bool(self.heard) and self.heard[-1][0].has_time

    @property
    def last(self) -> LimitHit | None:
        return self.heard[-1][0] if self.heard else None


@dataclass(slots=True, kw_only=True)
class Attempt:
    """A run under way, as its owner sees it. A kind of work adds what only it needs."""

    run: RunRow
    profile: Agent
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=LINES_KEPT))
    limits: HeardLimit = field(default_factory=HeardLimit)
    reports: list[Report] = field(default_factory=list)  # that count and were not acted on yet
    permission: dict[str, Any] = field(default_factory=dict)  # what it asks permission for
    used: Used | None = None
    finished: Finished | None = None
    lost: ConversationLost | None = None  # the conversation that it was to continue
    busy: ConversationHolder | None = None  # who works in its conversation
    heard_at: datetime | None = None
    is_silent: bool = False  # and people know
    ended_for: Dropped | ParkedByHand | TooSilent | None = None  # why Segue itself ended it
    proof: Proof = field(init=False)  # whether it works for real

    def __post_init__(self) -> None:
        self.proof = Proof(is_structured=self.profile.is_structured)

    def hear(self, event: Event, now: datetime, said_at: datetime | None = None) -> None:
        """`said_at`: when the agent said it, where its owner heard it later."""
        self.heard_at, self.is_silent = now, False
        match event:
            case Said(text):
                self.lines.append(text)
                self.proof.said(now)
            case ToolUsed() | StepDone() | TodosListed():
                self._worked()
            case Used():
                self.used = event
            case LimitHit():
                self.limits.hear(event, said_at or now)
            case Finished():
                self.finished = event
            case ConversationLost():
                self.lost = event
            case _:
                pass  # reports count when their kind of work says so

    def report(self, report: Report, now: datetime) -> None:
        """It reported something that counts."""
        self.reports.append(report)
        if isinstance(report, ErrorReported) and report.is_pause:
            self.limits.hear(LimitHit(UNKNOWN, text=report.message), now, is_reported=True)

    def _worked(self) -> None:
        self.proof.used_tool()
        self.limits.worked()
        self.reports = [one for one in self.reports if not _is_pause(one)]

    def ranked(self) -> list[Report]:
        """What it reported, each thing once; what counts most comes first."""
        return cast("list[Report]", list(dict.fromkeys(by_importance(self.reports))))

    def acted_on(self) -> None:
        """Its reports were acted on, and it lives on."""
        self.reports.clear()
        self.limits.worked()

    @property
    def limit(self) -> LimitHit | None:
        """The limit that stopped it, as reported."""
        return self.limits.last

    def in_short(self, reason: str) -> str:
        """Why it ended, with what it said last."""
        last = next((line.strip() for line in reversed(self.lines) if line.strip()), "")
        return f"{reason}: {last}" if last else reason

    @property
    def is_dropped(self) -> bool:
        return isinstance(self.ended_for, Dropped)

    @property
    def has_asked(self) -> bool:
        """A person must answer something before it can continue."""
        return any(isinstance(one, Asked | DependencyAsked) for one in self.reports)

    @property
    def has_finished_well(self) -> bool:
        return self.finished is not None and not self.finished.is_error

    @property
    def may_cost_more(self) -> bool:
        """What an agent costs in all is often reported with its end, a moment before the process
        has ended: by then it has cost everything."""
        return self.finished is None

    @property
    def has_last_word(self) -> bool:
        """It said itself how it ended: by an event, or by a report that it failed."""
        is_fatal = any(isinstance(one, ErrorReported) and one.is_fatal for one in self.reports)
        return self.finished is not None or is_fatal


def _is_pause(report: Report) -> bool:
    return isinstance(report, ErrorReported) and report.is_pause


def share_of(used: Used, before: Used) -> Used:
    """What one run used, where the agent counts its whole conversation. `before`: what the
    conversation had used when the run began."""
    cost = used.cost_usd
    return Used(
        max(0, (used.input_tokens or 0) - (before.input_tokens or 0)),
        max(0, (used.output_tokens or 0) - (before.output_tokens or 0)),
        None if cost is None else max(0.0, cost - (before.cost_usd or 0.0)),
    )
