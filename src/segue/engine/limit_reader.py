"""Reads limits from an agent's words when that is needed, and imports the patterns only then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

from segue.core.limits import has_instant
from segue.dialects.events import LimitHit
from segue.engine.agent import Agent
from segue.engine.attempt import Attempt
from segue.engine.clock import Clock
from segue.engine.executors import Ended
from segue.engine.run_files import RunFiles

if TYPE_CHECKING:
    from segue.dialects.limits import Extra
    from segue.engine.limit_words import Speaker

TAIL_BYTES = 64 * 1024
COMMAND = "command"
SILENT_KINDS = ("shell", "script")  # they have no words of their own about limits


@dataclass(frozen=True, slots=True)
class WordReader:
    """The words of one run. `tz`: the agent's zone, else that of this machine."""

    agent: Agent
    run: str
    files: RunFiles
    now: datetime
    tz: tzinfo
    patterns: tuple[Extra, ...] = ()  # the user's own

    def hit(self, attempt: Attempt) -> LimitHit | None:
        if attempt.limit is None:
            return None
        limit, at = attempt.limits.heard[-1]
        if limit.has_time:
            return counted_from(limit, at)
        if len(attempt.limits.heard) == 1 and not has_instant(limit.kind):
            return limit
        from segue.engine import limit_words  # noqa: PLC0415 - many patterns, needed by few runs

        end = attempt.finished
        error = end.text if end is not None and end.is_error else ""
        return limit_words.hit(attempt.limits, error, self._speaker())

    def last_words(self, attempt: Attempt, ended: Ended) -> LimitHit | None:
        if self.agent.kind in SILENT_KINDS:
            return None
        from segue.engine import limit_words  # noqa: PLC0415 - many patterns, needed by few runs

        said_at = self.files.said_at(self.run, self.now)
        return limit_words.last_words(attempt, ended, self._tail, said_at, self._speaker())

    def is_refusal(self, line: str) -> bool:
        """Whether the line reports a limit: then the agent is not at work. What a known program
        says is not its limit: that is an event."""
        if self.agent.kind != COMMAND:
            return False
        from segue.engine import limit_words  # noqa: PLC0415 - many patterns, needed by few runs

        return limit_words.is_refusal(line, self.now, self._speaker())

    def _tail(self) -> str:
        return self.files.tail(self.run, TAIL_BYTES)

    def _speaker(self) -> Speaker:
        from segue.engine.limit_words import Speaker  # noqa: PLC0415 - many patterns

        return Speaker(self.agent, self.tz, self.patterns)


@dataclass(frozen=True, slots=True)
class WordReaders:
    """Makes the reader of an attempt's words. `tz`: for an agent that has no zone of its own."""

    files: RunFiles
    environ: Mapping[str, str]
    clock: Clock
    tz: tzinfo
    patterns: tuple[Extra, ...] = ()  # the user's own

    def of(self, attempt: Attempt) -> WordReader:
        agent, now = attempt.profile, self.clock.now()
        tz = agent.zone(self.environ) or self.tz
        return WordReader(agent, attempt.run.id, self.files, now, tz, self.patterns)


def counted_from(limit: LimitHit, at: datetime) -> LimitHit:
    """A length as a time: counted from when the agent printed it."""
    if limit.resets_at is not None or limit.wait_s is None:
        return limit
    return replace(limit, resets_at=at + timedelta(seconds=limit.wait_s), wait_s=None)
