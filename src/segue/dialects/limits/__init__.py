"""Limits on a screen: what stopped an agent, which kind, until when.

    detect(text, tool="claude", now=now, tz=tz)      → Detection
    read_limit(text, "codex", now, tz)               → Limit | None
    extra_patterns(settings)                         → what a user adds

A screen passes through four rooms:

    screen/    text → rows, blocks and who speaks in them
    envelope/  what carries a message: log heads, labels, JSON, exceptions, HTTP
    wording/   which allowance, is it over: tables of words, by language
    time/      until when

`detection` walks through them from the newest block upwards; `reading` judges one block.
"""

from segue.dialects.limits.detection import PAUSED, Detection, detect
from segue.dialects.limits.extra import Extra, extra_patterns
from segue.dialects.limits.message import Limit, read_limit, reset_time, told_limit

__all__ = [
    "PAUSED",
    "Detection",
    "Extra",
    "Limit",
    "detect",
    "extra_patterns",
    "read_limit",
    "reset_time",
    "told_limit",
]
