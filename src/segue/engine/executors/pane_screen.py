"""What a pane's screen says: the limit that stops its agent, and what stands in its input line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo

from segue.core.limits import family, holds_account
from segue.core.machines import PaneState
from segue.dialects.claude_transcript import TranscriptStop
from segue.dialects.events import LimitHit
from segue.dialects.frames import last_prompt, last_said
from segue.dialects.limits import Detection, Extra, detect
from segue.dialects.limits.detection import EVIDENCE_CHARS_MAX
from segue.dialects.limits.recovery import names_minute
from segue.dialects.records import FINISHED, Record
from segue.dialects.screen import Screen, is_faint

# Claude Code turns a circle in the pane's title while it works, Codex a braille spinner.
_CLOCKS = re.compile(r"\d+")
BUSY_TITLE = re.compile(r"[◐◓◑◒⠀-⣿] ")
PROMPT_CHARS = 60  # enough of a prompt to know it again
NEAR = timedelta(seconds=90)  # two readings of one time: a countdown shows minutes

SHOWN_STATES = {
    "busy": PaneState.BUSY,
    "self_retrying": PaneState.BUSY,
    "asks": PaneState.BLOCKED,
    "idle": PaneState.IDLE,
    "unknown": PaneState.IDLE,
}


@dataclass(frozen=True, slots=True)
class ScreenReading:
    """What was detected on which text. `record`: what the agent itself wrote down about its
    stop."""

    found: Detection
    text: str
    record: TranscriptStop | None = None

    @property
    def state(self) -> PaneState:
        """The state of the pane if no limit stops its agent."""
        return SHOWN_STATES.get(self.found.state, PaneState.IDLE)

    @property
    def has_menu(self) -> bool:
        """A menu about the limit waits for a key."""
        return self.found.state == "paused_menu"

    # The limit

    @property
    def limit(self) -> LimitHit | None:
        """The limit that the screen shows; its `text` is the line that names it."""
        found = self.found
        if not found.paused:
            return None
        zone = found.time_zone if "unknown_zone" in found.notes else ""
        return LimitHit(
            found.kind or "unknown",
            found.resets_at,
            text=found.evidence,
            is_minute=names_minute(found),
            unknown_zone=zone,
        )

    @property
    def recorded_limit(self) -> LimitHit | None:
        """The same, with the kind and the time of the agent's own record where it has one: a record
        is believed before a screen."""
        limit, record = self.limit, self._matching_record
        if limit is None or record is None:
            return limit
        if self.found.state == "paused_self_resuming" and record.is_self_resuming is not False:
            return limit
        limit = replace(limit, kind=record.kind)
        if record.resets_at is None:
            return limit
        is_minute = record.is_minute
        return replace(limit, resets_at=record.resets_at, is_minute=is_minute, unknown_zone="")

    @property
    def is_self_resuming(self) -> bool:
        """The agent will continue by itself. A resumed conversation shows words that an earlier
        process meant: its record says so."""
        record = self._matching_record
        is_revoked = record is not None and record.is_self_resuming is False
        return self.found.state == "paused_self_resuming" and not is_revoked

    @property
    def _matching_record(self) -> TranscriptStop | None:
        record, kind = self.record, self.found.kind or "unknown"
        if record is None:
            return None
        is_same = family(record.kind) == family(kind)
        return record if is_same or (holds_account(record.kind) and holds_account(kind)) else None

    # The input line

    def is_typed(self, text: str) -> bool:
        """Whether just this stands in the input line, however it is wrapped."""
        return bool(self.found.draft) and _bare(self.found.draft or "") == _bare(text)

    def is_unanswered(self, text: str) -> bool:
        """Whether this was said last, and the agent neither said nor did anything after it."""
        if self.found.state not in ("idle", "unknown"):
            return False
        said = last_said(self.text)
        return said is not None and _bare(said) == _bare(text)

    def has_moved_since(self, before: ScreenReading, typed: str) -> bool:
        """Whether more changed than the input line and a clock."""
        return self._still(typed) != before._still(typed)

    @property
    def still_text(self) -> str:
        """The text without what changes while nothing happens."""
        return self._still("")

    def _still(self, typed: str) -> str:
        text = _bare(self.text)
        if typed and self.is_typed(typed):
            text = "".join(text.rsplit(_bare(typed), 1))
        return _CLOCKS.sub("", text)


def read_screen(
    screen: Screen, agent: str, now: datetime, tz: tzinfo, extra: Sequence[Extra] = ()
) -> ScreenReading:
    text = screen.text
    found = detect(text, tool=agent or None, now=now, tz=tz, extra=extra)
    if found.draft and is_faint(screen, found.draft):
        found = replace(found, draft="")  # the program's own suggestion
    if found.state in ("idle", "unknown") and BUSY_TITLE.match(screen.title):
        found = replace(found, state="busy")
    return ScreenReading(found, text)


def with_record(reading: ScreenReading, record: Record) -> ScreenReading:
    """The agent's own record is believed before its screen, both ways: a limit in the record stops
    it whatever the screen shows, and words about limits that it answered itself do not."""
    found, stop = reading.found, record.stop
    if not _is_recorded_here(reading, record):
        return reading
    if record.state == FINISHED and found.state == "paused":
        return ScreenReading(Detection("idle", draft=found.draft), reading.text)
    if stop is None:
        return reading
    if found.state in ("idle", "unknown"):
        found = Detection(
            "paused_self_resuming" if stop.is_self_resuming else "paused",
            stop.kind,
            stop.resets_at,
            evidence=stop.text[:EVIDENCE_CHARS_MAX],
            rule="record",
            is_minute_rounded=stop.is_minute,
            is_named=True,
            draft=found.draft,
            source="transcript",
        )
    elif found.is_probable:
        found = replace(found, is_probable=False)
    return ScreenReading(found, reading.text, stop)


def _is_recorded_here(reading: ScreenReading, record: Record) -> bool:
    """Whether the screen shows the turn that was recorded last, and none after it."""
    said = last_prompt(reading.text)
    if said is None or not record.prompt:
        return record.is_sure
    shown, asked = _bare(said), _bare(record.prompt)
    return asked.startswith(shown[:PROMPT_CHARS]) or shown.startswith(asked[:PROMPT_CHARS])


def is_same_limit(known: LimitHit, shown: LimitHit) -> bool:
    """Whether a screen shows the limit that is waited for: then what was worked out holds.

    Words that count down change all the time, and words that do not would name another time at
    every look.
    """
    if shown.text and known.text == shown.text:
        return True
    if known.kind != shown.kind:
        return False
    if known.resets_at is None or shown.resets_at is None:
        return known.resets_at is shown.resets_at
    return abs(known.resets_at - shown.resets_at) <= NEAR


def is_later_limit(known: LimitHit, shown: LimitHit, now: datetime) -> bool:
    """Whether the agent was refused until a later time: a new wait, and no failed try. A rate limit
    may say so again and again, so it is none."""
    if shown.resets_at is None or shown.resets_at <= now or family(shown.kind) == "rate":
        return False
    return known.resets_at is None or shown.resets_at > known.resets_at


def _bare(text: str) -> str:
    return "".join(text.split())
