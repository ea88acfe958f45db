"""Placeholder of the interface; replaced by its owner."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class TranscriptStop:
    kind: str
    resets_at: datetime | None
    text: str
    at: datetime
