"""How a stopped pane is brought back, as decisions: how long to wait, which keys, whether at all.

Nothing is done here. Whoever watches panes asks these functions, and does what they say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from segue.core.limits import FAMILY
from segue.dialects.limits.detection import Detection
from segue.dialects.limits.menus import Menu
from segue.i18n import _

RESUME_TEXT = "계속"
MARGIN_S = 5.0  # after a reset
MINUTE_S = 60.0  # a time that names the minute may be rounded down
AGAIN_S = 60.0  # after a second refusal with a time that is just past
WAIT_S_MAX = 3600.0
UNKNOWN_S = 30.0
JITTER = 0.2
BOUNDS = {"default_wait_time": (1, 3600), "max_retries": (1, 10)}
REMEDIES = {"gemini": "/compress", "qwen": "/compress"}

_told: set[str] = set()


@dataclass(frozen=True, slots=True)
class RecoveryConfig:
    """How to resume. Numbers out of bounds are brought back to them, and that is told once."""

    resume_text: str = RESUME_TEXT
    default_wait_time: float = 60
    max_retries: int = 3
    weekly_limit_default: float = 3600
    context_limit_wait: float = 5
    recheck_after: float = 3
    clamped: tuple[str, ...] = field(default=(), init=False, compare=False)

    def __post_init__(self) -> None:
        clamped = []
        if not self.resume_text.strip():
            object.__setattr__(self, "resume_text", RESUME_TEXT)
        for name, (least, most) in BOUNDS.items():
            given = getattr(self, name)
            kept = min(max(given, least), most)
            if kept != given:
                object.__setattr__(self, name, kept)
                text = _("{name} = {given} is outside {least} to {most}: {kept} is used")
                clamped.append(
                    text.format(name=name, given=given, least=least, most=most, kept=kept)
                )
        object.__setattr__(self, "clamped", tuple(clamped))

    def tell(self, log: Callable[[str], None]) -> None:
        """Say what was brought back to its bounds, unless that was said before."""
        for text in self.clamped:
            if text not in _told:
                _told.add(text)
                log(text)


@dataclass(frozen=True, slots=True)
class Wait:
    """Until when. `is_guess`: no time was given, or it could not be read."""

    until: datetime
    seconds: int
    is_guess: bool


def family_of(kind: str | None) -> str:
    """The family that a user configures: weekly, rate, context, person, unknown."""
    return FAMILY.get(kind or "unknown", "unknown")


def wait_for(
    found: Detection, config: RecoveryConfig, now: datetime, *, sent: int = 0, chance: float = 0.5
) -> Wait:
    """How long to wait before the next try. `chance` (0 to 1) spreads what would come at once."""
    family = family_of(found.kind)
    if family == "context":
        return _wait(now, config.context_limit_wait, is_guess=False)
    if found.resets_at is not None:
        return _until(found, found.resets_at, now, sent)
    if family == "weekly":
        return _wait(now, config.weekly_limit_default, is_guess=True)
    if family == "rate":
        seconds = min(config.default_wait_time * 2**sent, WAIT_S_MAX)
        return _wait(now, seconds * (1 + JITTER * chance if sent else 1), is_guess=True)
    return _wait(now, UNKNOWN_S, is_guess=True)


def _until(found: Detection, resets_at: datetime, now: datetime, sent: int) -> Wait:
    end = resets_at + timedelta(seconds=MINUTE_S if names_minute(found) else 0)
    if sent and end <= now:
        return _wait(now, AGAIN_S, is_guess=False)
    until = max(end, now) + timedelta(seconds=MARGIN_S)
    seconds = -int(-(until - now).total_seconds() // 1)  # never a second too short
    return Wait(until, seconds, is_guess=False)


def names_minute(found: Detection) -> bool:
    """Whether the time names a minute, which may be rounded down."""
    return found.is_minute_rounded and found.time_form in ("clock", "date", "weekday", "day", "iso")


def _wait(now: datetime, seconds: float, *, is_guess: bool) -> Wait:
    return Wait(now + timedelta(seconds=seconds), round(seconds), is_guess)


def is_same_stop(before: Detection, after: Detection) -> bool:
    """Whether a second look shows the stop that was waited for, and nobody came first."""
    return after.paused and after.state != "paused_self_resuming" and after.kind == before.kind


def remedy(found: Detection, brand: str) -> str | None:
    """What the agent itself has against a full conversation, to be sent before the resume text."""
    if family_of(found.kind) != "context":
        return None
    return REMEDIES.get(brand, "/compact")


def keys_to_wait(menu: Menu | None) -> tuple[str, ...] | None:
    """The keys that choose the entry "wait": found by its text, never by its place.

    None where there is no such entry, or it cannot be told where the cursor is.
    """
    if menu is None or menu.cursor is None:
        return None
    waits = [n for n, entry in enumerate(menu.entries) if menu.is_wait(entry)]
    if not waits:
        return None
    steps = waits[0] - menu.cursor
    return (*(["Down"] * steps if steps > 0 else ["Up"] * -steps), "Enter")
