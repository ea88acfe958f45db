"""What a person wants watched, and how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo

from segue.core.leash import Leash
from segue.core.limits import Waits
from segue.dialects.limits import Extra


@dataclass(frozen=True, slots=True)
class CommandOptions:
    panes: frozenset[str] = frozenset()  # none: all that hold an agent
    agent: str | None = None  # whose screens these are, if not what runs in them
    accounts: Mapping[str, str] = field(default_factory=dict)  # of single panes
    is_dry: bool = False
    resume_text: str = "continue"
    recheck_s: float = 3.0
    max_sends: int = 3
    probable_after_s: float = 60.0  # how long a pane must be quiet before a guess counts
    waits: Waits = field(default_factory=Waits)
    leash: Leash = field(default_factory=Leash)
    tz: tzinfo = UTC
    extra: Sequence[Extra] = ()
