"""Lengths of time as people write and read them: `90s`, `1h30m`, `2.4s`."""

from __future__ import annotations

import re

UNITS_S = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 0.001}

# Far beyond any timeout or wait that is meant; a longer one could leave the calendar.
DURATION_S_MAX = 10 * 366 * UNITS_S["d"]
TEXT_CHARS_MAX = 64

_NUMBER = r"([0-9]+(?:\.[0-9]+)?)"
_DURATION = re.compile(r"\s*".join(rf"(?:{_NUMBER}\s*{unit})?" for unit in UNITS_S))


def parse_duration(text: str) -> float | None:
    """Seconds of `90s`, `5m`, `2h`, `1h30m`, `1.5h`, `500ms`, `2d`; None if it is none.

    Units go from long to short, each at most once. A number without a unit is no duration:
    seconds and minutes could not be told apart.
    """
    text = text.strip().lower()
    if not text or len(text) > TEXT_CHARS_MAX:
        return None
    match = _DURATION.fullmatch(text)
    if match is None:
        return None
    total_s = sum(
        float(number) * unit_s
        for number, unit_s in zip(match.groups(), UNITS_S.values(), strict=True)
        if number is not None
    )
    return total_s if total_s <= DURATION_S_MAX else None


def format_duration(seconds: float) -> str:
    """The two largest units that matter: `2d 3h`, `1h 30m`, `5m 3s`, `42s`, `2.4s`, `350ms`."""
    if seconds < 0:
        return "-" + format_duration(-seconds)
    if round(seconds) < 60:
        return _seconds(seconds)
    if round(seconds) < 3600:
        return _two(round(seconds), 60, "m", "s")
    if round(seconds / 60) < 24 * 60:
        return _two(round(seconds / 60), 60, "h", "m")
    return _two(round(seconds / 3600), 24, "d", "h")


def _seconds(seconds: float) -> str:
    ms = round(seconds * 1000)
    if 0 < ms < 1000:
        return f"{ms}ms"
    return f"{round(seconds, 1):g}s" if round(seconds, 1) < 10 else f"{round(seconds)}s"


def _two(count: int, per_large: int, large: str, small: str) -> str:
    whole, rest = divmod(count, per_large)
    return f"{whole}{large} {rest}{small}" if rest else f"{whole}{large}"
