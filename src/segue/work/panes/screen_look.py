"""A look at a pane: what its screen shows, and what is really typed in its input line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from segue.core.machines import PaneState
from segue.dialects.frames import last_said
from segue.dialects.limits import Detection, Extra, detect
from segue.dialects.screen import Screen, is_faint

# Claude Code turns a circle in the pane's title while it works, Codex a braille spinner.
_CLOCKS = re.compile(r"\d+")
BUSY_TITLE = re.compile(r"[◐◓◑◒⠀-⣿] ")

SEEN = {
    "busy": PaneState.BUSY,
    "self_retrying": PaneState.BUSY,
    "asks": PaneState.BLOCKED,
    "idle": PaneState.IDLE,
    "unknown": PaneState.IDLE,
}


@dataclass(frozen=True, slots=True)
class Look:
    """What was found, on which text."""

    found: Detection
    text: str

    @property
    def state(self) -> PaneState:
        """How the worker stands if no limit stops it."""
        return SEEN.get(self.found.state, PaneState.IDLE)

    def is_typed(self, text: str) -> bool:
        """Whether just this stands in the input line, however it is wrapped."""
        return bool(self.found.draft) and _bare(self.found.draft or "") == _bare(text)

    def is_unanswered(self, text: str) -> bool:
        """Whether this was said last, and the agent neither said nor did anything after it."""
        if self.found.state not in ("idle", "unknown"):
            return False
        said = last_said(self.text)
        return said is not None and _bare(said) == _bare(text)

    def has_moved_since(self, before: Look, typed: str) -> bool:
        """Whether more changed than the input line and a clock."""
        return self._still(typed) != before._still(typed)

    def _still(self, typed: str) -> str:
        text = _bare(self.text)
        if self.is_typed(typed):
            text = "".join(text.rsplit(_bare(typed), 1))
        return _CLOCKS.sub("", text)


def look_at(
    screen: Screen, agent: str, now: datetime, tz: tzinfo, extra: Sequence[Extra] = ()
) -> Look:
    text = screen.text
    found = detect(text, tool=agent or None, now=now, tz=tz, extra=extra)
    if found.draft and is_faint(screen, found.draft):
        found = replace(found, draft="")  # the program's own suggestion
    if found.state in ("idle", "unknown") and BUSY_TITLE.match(screen.title):
        found = replace(found, state="busy")
    return Look(found, text)


def _bare(text: str) -> str:
    return "".join(text.split())
