"""How a stopped pane is brought back, as decisions: which keys, which remedy.

Nothing is done here. Whoever watches panes asks these functions, and does what they say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from segue.core.limits import Waits, bounded, family
from segue.dialects.limits.detection import Detection
from segue.dialects.limits.screen.menus import Menu

RESUME_TEXT = "계속"
REMEDIES = {"gemini": "/compress", "qwen": "/compress"}

_told: set[str] = set()


@dataclass(frozen=True, slots=True)
class RecoveryConfig:
    """How to resume. Numbers out of bounds are clamped, with one warning."""

    resume_text: str = RESUME_TEXT
    default_wait_time: float = 60
    max_retries: int = 3
    weekly_limit_default: float = 3600
    context_limit_wait: float = 5
    recheck_after: float = 3
    clamped: tuple[str, ...] = field(default=(), init=False, compare=False)

    def __post_init__(self) -> None:
        if not self.resume_text.strip():
            object.__setattr__(self, "resume_text", RESUME_TEXT)
        kept, clamped = bounded(
            {"default_wait_time": self.default_wait_time, "max_retries": self.max_retries}
        )
        object.__setattr__(self, "default_wait_time", kept["default_wait_time"])
        object.__setattr__(self, "max_retries", int(kept["max_retries"]))
        object.__setattr__(self, "clamped", clamped)

    @property
    def waits(self) -> Waits:
        return Waits(self.weekly_limit_default, self.default_wait_time, self.context_limit_wait)

    def tell(self, log: Callable[[str], None]) -> None:
        """Say what was brought back to its bounds, unless that was said before."""
        for text in self.clamped:
            if text not in _told:
                _told.add(text)
                log(text)


def names_minute(found: Detection) -> bool:
    """Whether the time names a minute, which may be rounded down."""
    return found.is_minute_rounded and found.time_form in ("clock", "date", "weekday", "day", "iso")


def remedy(found: Detection, brand: str) -> str | None:
    """What the agent itself has against a full conversation, to be sent before the resume text."""
    if family(found.kind or "unknown") != "context":
        return None
    return REMEDIES.get(brand, "/compact")


def keys_to_wait(menu: Menu | None) -> tuple[str, ...] | None:
    """The keys that choose the entry "wait": found by its text, never by its place.

    None where there is no such entry, or the position of the cursor is unknown.
    """
    if menu is None or menu.cursor is None:
        return None
    waits = [n for n, entry in enumerate(menu.entries) if menu.is_wait(entry)]
    if not waits:
        return None
    steps = waits[0] - menu.cursor
    return (*(["Down"] * steps if steps > 0 else ["Up"] * -steps), "Enter")
