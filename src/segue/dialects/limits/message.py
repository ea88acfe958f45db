"""One error message that is known to come from the agent itself: its kind, and until when."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

from segue.dialects.limits.brands import brand_of
from segue.dialects.limits.reading import OWN, read
from segue.dialects.limits.screen.rows import normalise
from segue.dialects.limits.time.moments import Here, Moment
from segue.dialects.limits.time.when import when
from segue.dialects.limits.wording.kinds import waited_for


class Limit(NamedTuple):
    """What a message says: a time where it names one, a length of time where it does not."""

    kind: str
    resets_at: datetime | None
    wait_s: float | None


def read_limit(text: str, tool: str | None, now: datetime, tz: tzinfo) -> Limit | None:
    """The limit that the agent's own error reports; None where it is another error."""
    rows = normalise(text)
    here = Here(now.astimezone(UTC), tz, tz)
    lines = [row.strip() for row in rows if row.strip()]
    reading = read(lines, here, brand_of(tool, rows), trust=OWN)
    return None if reading is None else _limit(reading.kind, reading.moment, here)


def told_limit(text: str, tool: str | None, now: datetime, tz: tzinfo) -> Limit:
    """What an agent says itself that it has to wait for: a time counts whatever else it says."""
    if (found := read_limit(text, tool, now, tz)) is not None:
        return found
    here = Here(now.astimezone(UTC), tz, tz)
    line = " ".join(row.strip() for row in normalise(text))
    return _limit(waited_for(line), when(line, here), here)


def _limit(kind: str, moment: Moment | None, here: Here) -> Limit:
    if moment is None:
        return Limit(kind, None, None)
    if moment.form == "span":
        return Limit(kind, None, (moment.at - here.now).total_seconds())
    return Limit(kind, moment.at, None)


def reset_time(text: str, now: datetime, tz: tzinfo) -> datetime | None:
    """The reset that the last rows of a text name, whatever else they say."""
    here = Here(now.astimezone(UTC), tz, tz)
    rows = [row.strip() for row in normalise(text)]
    for at in range(len(rows) - 1, -1, -1):
        moment = when(" ".join(rows[at : at + 2]), here) if rows[at] else None
        if moment is not None:
            return moment.at
    return None
