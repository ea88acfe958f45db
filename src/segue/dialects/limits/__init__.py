"""Limits on a screen: what stopped an agent, which kind, until when.

    detect(text, tool="claude", now=now, tz=tz)      → Detection
    read_limit(text, "codex", now, tz)               → Limit | None
    extra_patterns(settings)                         → what a user adds

The way of a screen: `screen` (rows), `layout` (blocks and whose they are), `paragraphs` (lines
as they were before they were wrapped), `reading` (is it a message; `matching`, `phrases`,
`labels`, `kinds`), `when` (until when; `moments`, `days`, `spans`, `zones`), `detection`. What
messages look like is data: `patterns` (one `pattern` after the other: `used_up`, `troubles`),
`words`, `abroad`, `chrome`.
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
