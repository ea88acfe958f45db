"""Agents that say nothing: people learn of it; they are ended only past a bound that a person set.

A long silence may be a long thought, a long build or a stream that died without a word.
Which one it is cannot be known from outside, so nothing is ended by guess.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Generic, TypeVar

from segue.core.durations import format_duration
from segue.core.machines import RunState
from segue.engine.attempt import Attempt, TooSilent
from segue.engine.executors import Executor, Look
from segue.i18n import _

A = TypeVar("A", bound=Attempt)
FINISHED_S = 30.0  # an agent that has said its last word may take so long to end


class Silence(Enum):
    """What is to be done about an agent that says nothing."""

    NOTHING = "nothing"
    TELL = "tell"
    END = "end"


@dataclass(frozen=True, slots=True)
class SilenceBounds:
    """`after_s`: people learn of it; `max_s`: it is ended. An agent may have its own."""

    after_s: float = 600.0
    max_s: float | None = None

    def due(self, attempt: Attempt) -> datetime | None:
        """The next instant at which the silence of an agent at work matters."""
        if attempt.heard_at is None or attempt.ended_for is not None:
            return None
        if attempt.finished is not None:
            wait_s = None if attempt.is_silent else FINISHED_S
        elif attempt.is_silent:
            wait_s = self._max_s(attempt)
        else:
            after_s = attempt.profile.silence_after_s or self.after_s
            wait_s = min(after_s, self._max_s(attempt) or after_s)
        return None if wait_s is None else attempt.heard_at + timedelta(seconds=wait_s)

    def look(self, attempt: Attempt, now: datetime) -> Silence:
        """Note how long the silence lasts, and say what follows."""
        due = self.due(attempt)
        if due is None or now < due:
            return Silence.NOTHING
        if attempt.finished is not None:
            attempt.is_silent = True
            return Silence.END
        if not attempt.is_silent:
            attempt.is_silent = True
            return Silence.TELL
        attempt.ended_for = TooSilent(self._max_s(attempt) or 0.0)
        return Silence.END

    def _max_s(self, attempt: Attempt) -> float | None:
        return attempt.profile.silence_max_s or self.max_s


@dataclass(frozen=True, slots=True)
class LongSilence:
    """How long an agent has said nothing, and what its processes do. `seen` is None if it has
    none."""

    lasted_s: float
    seen: Look | None

    def in_words(self, task: str) -> str:
        text = _("… {task} has printed nothing for {time}").format(
            task=task, time=format_duration(round(self.lasted_s))
        )
        if self.seen is None:
            return text + _("; its process has exited")
        seen = _("; running ({programs}), open connections: {n}").format(
            programs=", ".join(self.seen.processes) or "–", n=self.seen.connections
        )
        stopped = _("; stopped: {n}").format(n=self.seen.stopped) if self.seen.stopped else ""
        return text + seen + stopped


@dataclass(frozen=True, slots=True)
class SilenceWatch(Generic[A]):
    """Looks at the agents of a work. `attempts`: all that its owner follows and that could speak;
    `tell` and `end`: what the kind of work does."""

    bounds: SilenceBounds
    executor: Executor
    attempts: Callable[[], Iterable[A]]
    tell: Callable[[A, LongSilence], None]
    end: Callable[[A], None]

    def next_at(self) -> datetime | None:
        """When the next silence will have lasted too long, if no agent says a word until then."""
        due = (self.bounds.due(attempt) for attempt in self._working())
        return min((at for at in due if at is not None), default=None)

    def look(self, now: datetime) -> None:
        """Deal with every agent whose time has come."""
        for attempt in self._working():
            match self.bounds.look(attempt, now):
                case Silence.TELL:
                    lasted_s = (now - (attempt.heard_at or now)).total_seconds()
                    seen = self.executor.look(attempt.run.id)
                    self.tell(attempt, LongSilence(lasted_s, seen))
                case Silence.END:
                    self.end(attempt)

    def _working(self) -> list[A]:
        return [one for one in self.attempts() if one.run.state is RunState.RUNNING]
