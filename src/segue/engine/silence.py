"""Agents that say nothing: looked at and told of; ended only past a bound that somebody set.

A long silence may be a long thought, a long build or a stream that died without a word.
Which one it is cannot be known from outside, so nothing is ended by guess.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from segue.engine.attempt import Attempt, TooSilent

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
