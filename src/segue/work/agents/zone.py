"""The time zone of this machine, with its rules: an offset alone is wrong across a change of the
clocks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

LOCALTIME = Path("/etc/localtime")


def zone_here(environ: Mapping[str, str], offset: tzinfo, now: datetime) -> tzinfo:
    """The zone by its name, if it can be known and agrees with what the clock shows now; else
    the offset."""
    name = environ.get("TZ") or os.path.realpath(LOCALTIME).partition("zoneinfo/")[2]
    zone = named_zone(name)
    if zone is None or now.astimezone(zone).utcoffset() != now.astimezone(offset).utcoffset():
        return offset
    return zone


def named_zone(name: str) -> tzinfo | None:
    """The zone of this name, as TZ has it; None where there is none."""
    try:
        return ZoneInfo(name.removeprefix(":")) if name else None
    except (KeyError, ValueError, OSError):
        return None
