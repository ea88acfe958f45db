"""Placeholder of the interface; replaced by its owner."""

from __future__ import annotations

from datetime import datetime, tzinfo

from segue.dialects.claude_transcript import TranscriptStop


def stop_of(pid: int, *, now: datetime, tz: tzinfo) -> TranscriptStop | None:
    return None
