"""Limits reported in words: which kind, and until when.

The dialects know no clock: they hand on what the program said. Here it is read, with the
time at which it was printed and the zone of its author. What a program reports in figures
(an event, a header) is never overruled by its words. A `command` agent has no events at all:
if it ends with an exit code other than 0, the end of its output is judged like a screen.

This module is imported when a limit was reported, or may have been: the patterns are many, and most
runs never need them (`limit_reader.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from pathlib import PurePath

from segue.core.limits import family, has_instant
from segue.dialects.events import LimitHit
from segue.dialects.limits import Detection, Extra, detect
from segue.dialects.limits.brands import NAMES, brand_of
from segue.dialects.limits.reading import OWN, Reading, read
from segue.dialects.limits.recovery import names_minute
from segue.dialects.limits.screen.rows import normalise
from segue.dialects.limits.time.moments import UNKNOWN_ZONE, Here, Moment
from segue.dialects.limits.time.when import when
from segue.dialects.limits.wording.kinds import waited_for
from segue.engine.agent import Agent
from segue.engine.attempt import Attempt, HeardLimit
from segue.engine.executors import Ended

COMMAND = "command"
TO_THE_MINUTE = frozenset({"clock", "date", "weekday", "day", "iso"})


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who says it: the agent, the zone that it speaks of, the user's own patterns."""

    agent: Agent
    tz: tzinfo
    patterns: tuple[Extra, ...] = ()

    def here(self, at: datetime) -> Here:
        return Here(at, self.tz, self.tz)


def hit(limits: HeardLimit, error: str, by: Speaker) -> LimitHit | None:
    """The limit that was heard without figures: the last one whose words name a time, else the
    last one. `error`: what the agent ended with; it may name the time as well."""
    found = [_worded(limit, limit.text, by, at) for limit, at in limits.heard]
    if not found:
        return None
    timed = [limit for limit in found if limit.has_time]
    return timed[-1] if timed else _worded(found[-1], error, by, limits.heard[-1][1])


def _worded(limit: LimitHit, text: str, by: Speaker, at: datetime) -> LimitHit:
    if limit.has_time or not has_instant(limit.kind):
        return limit
    return with_words(limit, (text,), by.agent.kind, by.here(at))


def with_words(limit: LimitHit, texts: Iterable[str], tool: str, here: Here) -> LimitHit:
    """The limit as the first of these texts tells it that adds anything."""
    return next(
        (found for text in texts if (found := _read(limit, text, tool, here)) != limit), limit
    )


def last_words(
    attempt: Attempt, ended: Ended, tail: Callable[[], str], at: datetime, by: Speaker
) -> LimitHit | None:
    """The limit that a failed run reported in its last words, where its dialect cannot
    know: of a `command` agent, or in words that the user's own patterns name."""
    if ended.is_ours:
        return None
    if by.agent.kind != COMMAND:
        return _from_error(attempt, by, by.here(at))
    return _from_output(tail(), by, by.here(at)) if ended.code else None


def is_refusal(line: str, at: datetime, by: Speaker) -> bool:
    """Whether a `command` agent's line reports a limit: then it is not at work."""
    return by.agent.kind == COMMAND and _seen(line, by, by.here(at)).is_stop


# A message that the dialect knows as a limit


def _read(limit: LimitHit, text: str, tool: str, here: Here) -> LimitHit:
    lines, reading = _message(text, tool, here)
    # That it is a limit is known: a time counts even where the rest of the words is strange.
    text = " ".join(lines)
    moment = reading.moment if reading else when(text, here)
    return _timed(replace(limit, kind=_kind(limit.kind, reading, text)), moment)


def _message(
    text: str, tool: str, here: Here, extra: tuple[Extra, ...] = ()
) -> tuple[list[str], Reading | None]:
    """The lines of an error of the program's own, and what they say."""
    lines = [row.strip() for row in normalise(text) if row.strip()]
    return lines, read(lines, here, brand_of(tool, lines), trust=OWN, extra=extra)


def _kind(told: str, reading: Reading | None, text: str) -> str:
    """The dialect's kind, unless the words are clearer than a mere status or habit."""
    if reading is None:
        return waited_for(text) if family(told) == "unknown" else told
    finer = reading.kind
    match family(told):
        case "unknown":
            return finer
        case "rate" if told == "rate_limit" and reading.is_named:
            is_clearer = family(finer) == "weekly" or finer == "billing"
        case "weekly" if told == "session_limit":
            is_clearer = finer == "weekly_limit" or (finer == "daily_quota" and reading.is_named)
        case _:
            is_clearer = False
    return finer if is_clearer else told


def _timed(limit: LimitHit, moment: Moment | None) -> LimitHit:
    if moment is None:
        return limit
    return replace(
        limit,
        resets_at=moment.resets_at,
        is_minute=moment.is_minute_rounded and moment.form in TO_THE_MINUTE,
        unknown_zone=moment.zone if UNKNOWN_ZONE in moment.notes else "",
    )


# The end of an output


def _from_output(text: str, by: Speaker, here: Here) -> LimitHit | None:
    """It has ended: that it would continue by itself, or that a menu waits, is a stop all the same.
    That it was about to try again is none: why it gave up is not said."""
    found = _seen(text, by, here)
    if not found.paused or found.kind is None:
        return None
    return LimitHit(
        found.kind,
        found.resets_at,
        text=found.evidence,
        is_minute=names_minute(found),
        unknown_zone=found.time_zone if UNKNOWN_ZONE in found.notes else "",
    )


def _seen(text: str, by: Speaker, here: Here) -> Detection:
    return detect(text, tool=_tool(by.agent), now=here.now, tz=here.tz, extra=_patterns(by))


def _from_error(attempt: Attempt, by: Speaker, here: Here) -> LimitHit | None:
    """A structured program's own error, by the user's own patterns alone."""
    patterns, end = _patterns(by), attempt.finished
    if not patterns or end is None or not end.is_error or not by.agent.is_structured:
        return None
    _lines, reading = _message(end.text, by.agent.kind, here, patterns)
    if reading is None or reading.rule not in {pattern.id for pattern in patterns}:
        return None
    return _timed(LimitHit(reading.kind, text=reading.line), reading.moment)


def _tool(agent: Agent) -> str | None:
    """The known program that a command is about, if any: some have words of their own."""
    names = [*(PurePath(word).name for word in agent.command), agent.name]
    begun = (re.match("[a-z]*", name.lower()) for name in names)
    return next((found[0] for found in begun if found and found[0] in NAMES), None)


def _patterns(by: Speaker) -> tuple[Extra, ...]:
    """The user's own patterns that are meant for this agent."""
    names = {"", by.agent.name, by.agent.kind, _tool(by.agent)}
    return tuple(replace(p, agent="") for p in by.patterns if p.agent in names)
