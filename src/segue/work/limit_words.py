"""Limits that are told in words: which they are, and until when.

The dialects know no clock: they hand on what the program said. Here it is read, with the
instant at which it was said and the zone of whoever said it. What a program tells in figures
(an event, a header) is never overruled by its words. A `command` agent has no events at all:
if it ends with an exit code other than 0, the end of its output is judged like a screen.

This module is imported when a limit was told, or may have been: the patterns are many, and most
runs never need them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, tzinfo
from pathlib import PurePath
from typing import TYPE_CHECKING

from segue.core.limits import family
from segue.dialects.events import LimitHit
from segue.dialects.limits import Detection, Extra, detect
from segue.dialects.limits.brands import NAMES, brand_of
from segue.dialects.limits.kinds import waited_for
from segue.dialects.limits.moments import UNKNOWN_ZONE, Here, Moment
from segue.dialects.limits.reading import OWN, Reading, read
from segue.dialects.limits.recovery import names_minute
from segue.dialects.limits.screen import normalise
from segue.dialects.limits.when import when
from segue.engine.port import Ended
from segue.work import agents
from segue.work.attempts import Attempt
from segue.work.zone import named_zone

if TYPE_CHECKING:
    from segue.work.plan_run import PlanRun

TAIL_BYTES = 64 * 1024
COMMAND = "command"
TO_THE_MINUTE = frozenset({"clock", "date", "weekday", "day", "iso"})


def understood(run: PlanRun, attempt: Attempt, limit: LimitHit) -> LimitHit:
    """A limit that names no time, with what its words tell: an instant, perhaps a finer kind."""
    texts = [limit.text]
    if attempt.finished is not None and attempt.finished.is_error:
        texts.append(attempt.finished.text)
    here = _here(run, attempt, attempt.limit_at or run.clock.now())
    return with_words(limit, texts, attempt.profile.settings.kind, here)


def with_words(limit: LimitHit, texts: Iterable[str], tool: str, here: Here) -> LimitHit:
    """The limit as the first of these texts tells it that adds anything."""
    return next(
        (found for text in texts if (found := _read(limit, text, tool, here)) != limit), limit
    )


def told_at_the_end(run: PlanRun, attempt: Attempt, ended: Ended) -> LimitHit | None:
    """The limit that a run which ended badly told of in its last words, where its dialect cannot
    know: of a `command` agent, or in words that the user's own patterns name."""
    if ended.is_ours:
        return None
    attempt.limit_at = run.workshop.last_words_at(attempt.run, run.clock.now())
    here = _here(run, attempt, attempt.limit_at)
    if attempt.profile.settings.kind != COMMAND:
        return _from_error(run, attempt, here)
    return _from_output(run, attempt, here) if ended.code else None


def is_refusal(run: PlanRun, attempt: Attempt, line: str) -> bool:
    """Whether a `command` agent's line tells of a limit: then it is not at work."""
    if attempt.profile.settings.kind != COMMAND:
        return False
    return _seen(run, attempt, line, _here(run, attempt, run.clock.now())).is_stop


def _here(run: PlanRun, attempt: Attempt, at: datetime) -> Here:
    """When something was said, and in which zone: the agent's own, else that of the machine."""
    own = agents.own_variables(attempt.profile.settings, run.workshop.environ).get("TZ")
    zone: tzinfo = (named_zone(own) if own else None) or run.leash.tz
    return Here(at, zone, zone)


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
        resets_at=moment.at,
        is_minute=moment.is_minute_rounded and moment.form in TO_THE_MINUTE,
        unknown_zone=moment.zone if UNKNOWN_ZONE in moment.notes else "",
    )


# The end of an output


def _from_output(run: PlanRun, attempt: Attempt, here: Here) -> LimitHit | None:
    """It has ended: that it would go on by itself, or that a menu waits, is a stop all the same.
    That it was about to try again is none: why it gave up is not said."""
    found = _seen(run, attempt, run.workshop.tail(attempt.run, TAIL_BYTES), here)
    if not found.paused or found.kind is None:
        return None
    return LimitHit(
        found.kind,
        found.resets_at,
        text=found.evidence,
        is_minute=names_minute(found),
        unknown_zone=found.time_zone if UNKNOWN_ZONE in found.notes else "",
    )


def _seen(run: PlanRun, attempt: Attempt, text: str, here: Here) -> Detection:
    return detect(
        text, tool=_tool(attempt), now=here.now, tz=here.tz, extra=_patterns(run, attempt)
    )


def _from_error(run: PlanRun, attempt: Attempt, here: Here) -> LimitHit | None:
    """A structured program's own error, by the user's own patterns alone."""
    patterns, end = _patterns(run, attempt), attempt.finished
    if not patterns or end is None or not end.is_error or attempt.profile.brand is None:
        return None
    _lines, reading = _message(end.text, attempt.profile.settings.kind, here, patterns)
    if reading is None or reading.rule not in {pattern.id for pattern in patterns}:
        return None
    return _timed(LimitHit(reading.kind, text=reading.line), reading.moment)


def _tool(attempt: Attempt) -> str | None:
    """The known program that a command is about, if any: some have words of their own."""
    settings = attempt.profile.settings
    names = [*(PurePath(word).name for word in settings.command), settings.name]
    begun = (re.match("[a-z]*", name.lower()) for name in names)
    return next((found[0] for found in begun if found and found[0] in NAMES), None)


def _patterns(run: PlanRun, attempt: Attempt) -> tuple[Extra, ...]:
    """The user's own patterns that are meant for this agent."""
    settings = attempt.profile.settings
    names = {"", settings.name, settings.kind, _tool(attempt)}
    return tuple(replace(p, agent="") for p in run.options.limit_patterns if p.agent in names)
