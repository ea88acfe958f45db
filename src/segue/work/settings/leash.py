"""The leash of the settings, at a clock and in a zone."""

from __future__ import annotations

from datetime import tzinfo

from segue.core.leash import Leash, next_instant, parse_quiet
from segue.engine.clock import Clock
from segue.work.settings import config


def leash(settings: config.LeashSettings, clock: Clock, tz: tzinfo) -> Leash:
    return Leash(
        max_windows=settings.max_windows,
        until=next_instant(settings.until, clock.now(), tz) if settings.until else None,
        quiet=parse_quiet(settings.quiet_hours) if settings.quiet_hours else None,
        tz=tz,
        drain_at=settings.drain_at,
    )
