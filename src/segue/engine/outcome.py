"""How an attempt came out, as one value: what counts more, and what counts less.

In this order: what the agent reported; that its end was no one's fault (Segue stopped, the machine
or the keeper died); why Segue ended it; its last word, else its exit code; the limit that it hit;
and at last the words it ended with. So a good end counts more than a limit before it, and a limit
more than the error that came of it.

What follows from an outcome (another try, a reminder, the next phase) is the kind's own rule.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import Protocol

from segue.core.durations import format_duration
from segue.dialects.events import (
    Asked,
    DependencyAsked,
    ErrorReported,
    LimitHit,
    PhaseDone,
    TaskDone,
)
from segue.engine.attempt import Attempt, Dropped, ParkedByHand, Report, TooSilent
from segue.engine.executors import Ended
from segue.i18n import _
from segue.store.conversations import ConversationHolder

KEEPER_DEATHS_MAX = 3  # of one task, that are no failure of it
KILLS = frozenset({signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGKILL})
Need = DependencyAsked | Asked


@dataclass(frozen=True, slots=True)
class Completed:
    """It ended well, by its last word or its exit code, and reported nothing."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """It reports that its phase or its task is complete."""

    claim: PhaseDone | TaskDone


@dataclass(frozen=True, slots=True)
class NeedsPerson:
    """It cannot continue without these, the most important one first."""

    needs: tuple[Need, ...]


@dataclass(frozen=True, slots=True)
class Limited:
    """It is at a limit. The limit has its instant, where figures or words name one."""

    limit: LimitHit


@dataclass(frozen=True, slots=True)
class CutOff:
    """It ended by no fault of its own: that is no failed try."""


@dataclass(frozen=True, slots=True)
class ConversationBusy:
    """Another run works in its conversation."""

    holder: ConversationHolder


@dataclass(frozen=True, slots=True)
class ConversationLost:
    """Its program does not know the conversation that it was to continue."""

    text: str


@dataclass(frozen=True, slots=True)
class Failed:
    """`is_reported`: the agent itself says that the work has failed."""

    reason: str
    is_reported: bool = False


@dataclass(frozen=True, slots=True)
class TimedOut(Failed):
    """It had no more time."""


@dataclass(frozen=True, slots=True)
class Silenced(Failed):
    """Segue ended it because it said nothing for too long."""


Outcome = (
    Completed
    | Claimed
    | NeedsPerson
    | Limited
    | CutOff
    | ConversationBusy
    | ConversationLost
    | Failed
    | Dropped
)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the owner of an attempt knows beside what was heard."""

    is_stopping: bool = False  # Segue itself stops, and ends its agents
    is_continued: bool = False  # it was to continue an earlier conversation
    is_unheard: bool = False  # its output was lost: nothing can be said about it
    keeper_deaths: int = 0  # of its task, with this one
    timeout_s: float | None = None


class LimitReader(Protocol):
    """Reads limits from words (`limit_words.py`)."""

    def hit(self, attempt: Attempt) -> LimitHit | None:
        """The limit that was heard, with the instant that its words name."""
        ...

    def last_words(self, attempt: Attempt, ended: Ended) -> LimitHit | None:
        """The limit in the last words of an agent whose dialect cannot know it."""
        ...


def outcome(
    attempt: Attempt, ended: Ended, circumstances: Circumstances, limits: LimitReader
) -> Outcome:
    if isinstance(attempt.ended_for, Dropped):
        return attempt.ended_for
    if (told := reported(attempt, limits)) is not None:
        return told
    if attempt.busy is not None:
        return ConversationBusy(attempt.busy)
    if _is_cut_off(attempt, ended, circumstances):
        return CutOff()
    match attempt.ended_for:
        case ParkedByHand(wanted):
            return Limited(wanted)
        case TooSilent(bound_s) if not ended.timed_out:
            said = _("it printed nothing for too long")
            return Silenced(f"{said} ({format_duration(bound_s)})")
    if ended.timed_out:
        return TimedOut(why(ended, circumstances.timeout_s))
    if is_well(attempt, ended):
        return Completed()
    if (limit := limits.hit(attempt)) is not None:
        return Limited(limit)
    if attempt.lost is not None and circumstances.is_continued:
        return ConversationLost(attempt.lost.text)
    if (limit := limits.last_words(attempt, ended)) is not None:
        return Limited(limit)
    return Failed(_reason(attempt, ended, circumstances))


def reported(attempt: Attempt, limits: LimitReader) -> Outcome | None:
    """What its reports come to; None: it made none that counts."""
    match attempt.ranked():
        case [ErrorReported() as error, *_rest]:
            limit = limits.hit(attempt) if error.is_pause else None
            return Failed(error.message, is_reported=True) if limit is None else Limited(limit)
        case [PhaseDone() | TaskDone() as claim, *_rest]:
            return Claimed(claim)
        case [_first, *_rest] as ranked:
            return NeedsPerson(tuple(one for one in ranked if isinstance(one, Need)))
    return None


def passed_over(attempt: Attempt, needs_max: int) -> list[Report]:
    """What it reported in one breath with something that counts more, which leaves no room."""
    ranked = attempt.ranked()
    acted_on = 1
    if ranked and isinstance(ranked[0], Need):
        acted_on = min(needs_max, sum(isinstance(one, Need) for one in ranked))
    return ranked[acted_on:]


def _is_cut_off(attempt: Attempt, ended: Ended, circumstances: Circumstances) -> bool:
    if circumstances.is_stopping and ended.is_ours and not attempt.has_finished_well:
        return True
    if circumstances.is_unheard and not attempt.profile.needs_command:
        return True
    if attempt.limit is not None or attempt.has_finished_well:
        return False
    return was_cut_off(ended, circumstances.keeper_deaths)


def was_cut_off(ended: Ended, keeper_deaths: int) -> bool:
    """By a signal while no Segue lived, as when a machine goes down or a terminal is closed; or
    something killed the keeper, not the agent. If that happens again and again, the task may be
    the reason (it uses all the memory there is): then it is a failure."""
    if ended.keeper_died and not ended.timed_out:
        return keeper_deaths <= KEEPER_DEATHS_MAX
    was_killed = ended.signal in KILLS or (ended.code or 0) - 128 in KILLS
    return ended.is_unseen and (ended.is_ours or was_killed)


def is_well(attempt: Attempt, ended: Ended) -> bool:
    """By its last word where it has one (an exit code of 0 can be a cut-off turn), else by its
    exit code."""
    if attempt.finished is not None and attempt.finished.is_error:
        return False
    if attempt.profile.is_structured:
        return attempt.has_finished_well
    return ended.code == 0


def _reason(attempt: Attempt, ended: Ended, circumstances: Circumstances) -> str:
    """Why it failed, in a few words."""
    if attempt.finished is not None and attempt.finished.is_error:
        return attempt.finished.text or attempt.finished.reason or _("it ended with an error")
    if ended.code == 0:
        return _("it ended without a final message")
    return why(ended, circumstances.timeout_s)


def why(ended: Ended, timeout_s: float | None = None) -> str:
    """How a process ended badly, in a few words."""
    if ended.timed_out and timeout_s is not None:
        return _("timed out after {time}").format(time=format_duration(timeout_s))
    if ended.error is not None:
        return ended.error
    if ended.signal is not None:
        return _("killed by signal {number}").format(number=ended.signal)
    return _("exit code {code}").format(code=ended.code)
