"""What has waited for a person for long is told again: a reminder, then urgent, then too long.

Nothing is stored for it: a gate's row says since when it waits, and the row of a notice says that
it was told. So each goes out once, whatever dies in between; of several that fell due while nobody
ran the work only the last one does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from segue.i18n import _
from segue.work.settings.config import ReviewSettings

Steps = Sequence[tuple[str, timedelta]]  # what it is called, and after how long


def steps(told: ReviewSettings) -> Steps:
    found = {
        "remind": told.remind_after,
        "urgent": told.urgent_after,
        "escalate": told.escalate_after,
    }
    return [
        (kind, timedelta(seconds=s)) for kind, s in sorted(found.items(), key=lambda one: one[1])
    ]


def due(since: datetime, now: datetime, steps: Steps) -> str | None:
    """The last reminder that is due for something that waits since then."""
    kinds = [kind for kind, after in steps if since + after <= now]
    return kinds[-1] if kinds else None


def next_at(waiting: Iterable[datetime], now: datetime, steps: Steps) -> datetime | None:
    """When the next one falls due, of all that wait since these times."""
    times = (since + after for since in waiting for _kind, after in steps)
    return min((at for at in times if at > now), default=None)


def in_words(kind: str, text: str) -> str:
    texts = {
        "remind": _("still waits for you: {text}"),
        "urgent": _("urgent, waits for you: {text}"),
        "escalate": _("has waited for too long: {text}"),
    }
    return texts[kind].format(text=text)
