"""Names of time zones as messages print them → a zone that can be computed with.

`Etc/GMT+5` counts westwards (it is five hours behind UTC), while a bare `GMT+5` counts
eastwards. An abbreviation that the machine's own zone uses means that zone, whatever else in
the world is called so.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from segue.dialects.limits.lazy_regex import Expression

OFFSET_H_MAX = 14

# Abbreviation → the place whose rules it follows: a winter name printed in summer is common,
# and then the wall clock of the place is meant.
PLACES = {
    **dict.fromkeys(("pst", "pdt", "pt", "pacific"), "America/Los_Angeles"),
    **dict.fromkeys(("mst", "mdt", "mt", "mountain"), "America/Denver"),
    **dict.fromkeys(("cst", "cdt", "ct", "central"), "America/Chicago"),
    **dict.fromkeys(("est", "edt", "et", "eastern"), "America/New_York"),
    **dict.fromkeys(("akst", "akdt"), "America/Anchorage"),
    "hst": "Pacific/Honolulu",
    "brt": "America/Sao_Paulo",
    "art": "America/Argentina/Buenos_Aires",
    "bst": "Europe/London",
    **dict.fromkeys(("wet", "west"), "Europe/Lisbon"),
    **dict.fromkeys(("cet", "cest", "mez", "mesz"), "Europe/Berlin"),
    **dict.fromkeys(("eet", "eest"), "Europe/Athens"),
    "msk": "Europe/Moscow",
    "sast": "Africa/Johannesburg",
    "eat": "Africa/Nairobi",
    "gst": "Asia/Dubai",
    "pkt": "Asia/Karachi",
    "ist": "Asia/Kolkata",
    "ict": "Asia/Bangkok",
    "wib": "Asia/Jakarta",
    "sgt": "Asia/Singapore",
    "hkt": "Asia/Hong_Kong",
    "pht": "Asia/Manila",
    "awst": "Australia/Perth",
    "jst": "Asia/Tokyo",
    "kst": "Asia/Seoul",
    **dict.fromkeys(("北京时间", "北京時間", "中国标准时间"), "Asia/Shanghai"),
    **dict.fromkeys(("日本時間", "日本标准时间"), "Asia/Tokyo"),
    **dict.fromkeys(("한국시간", "한국 시간", "한국 표준시"), "Asia/Seoul"),
    **dict.fromkeys(("acst", "acdt"), "Australia/Adelaide"),
    **dict.fromkeys(("aest", "aedt"), "Australia/Sydney"),
    **dict.fromkeys(("nzst", "nzdt"), "Pacific/Auckland"),
}
_LOCAL = frozenset({"local", "local time", "your local time", "your time", "your timezone"})

_OFFSET = r"[+\-]\d{1,2}(?::?\d{2})?"
# What may stand behind a time of day: in brackets, or bare.
NAME = Expression(
    r"\s*,?\s*(?:\(\s*)?"
    rf"(?P<zone>[A-Za-z]{{2,14}}/ ?[A-Za-z0-9_+\-/]{{2,40}}|(?:UTC|GMT)\s?{_OFFSET}|UTC|GMT|Z\b"
    rf"|{_OFFSET}\b|[A-Z]{{2,5}}\b|(?:Pacific|Mountain|Central|Eastern)(?= (?:standard "
    rf"|daylight )?time)"
    r"|(?:your )?local time|your time(?:zone)?)"
    r"(?:\s+(?:standard |daylight )?time\b)?(?:\s*\))?",
    re.IGNORECASE,
)
_EASTERN = Expression(r"\s*\(?\s*(?P<zone>北京时间|北京時間|日本時間|한국 ?시간)\s*\)?")
# A name in brackets that is cut off or strange is still a zone, only an unknown one.
BRACKETED = Expression(r"\s*\(\s*(?P<zone>[A-Za-z][A-Za-z0-9_+\-/: ]{1,40}?)\s*(?:\)|…|\.\.\.|$)")
_FIXED = Expression(
    r"(?:UTC|GMT)?\s?(?P<sign>[+\-])(?P<h>\d{1,2})(?::?(?P<m>\d{2}))?", re.IGNORECASE
)
# Capitals that end the sentence behind a time can only be a zone.
_STRANGE = Expression(r" (?P<zone>(?-i:[A-Z]{3,5}))(?=[.,;)\]]?(?:\s|$))(?! [A-Za-z])")
_ABBREVIATION = Expression(r"[A-Z]{2,6}")
_WORDS_NO_ZONE = frozenset(
    {"am", "pm", "on", "or", "to", "if", "in", "at", "by", "and", "but", "for", "the", "you", "is"}
)


def named(name: str, now: datetime, local: tzinfo) -> tzinfo | None:
    """The zone of this name; None where there is none."""
    key = name.strip().lower()
    if key in _LOCAL:
        return local
    if key in ("utc", "gmt", "z", "etc/utc", "zulu"):
        return UTC
    if fixed := _FIXED.fullmatch(name.strip()):
        return _offset(fixed)
    if "/" in name:
        return _by_key(name.replace(" ", ""))
    if (now.astimezone(local).tzname() or "").lower() == key:
        return local
    place = PLACES.get(key)
    return _by_key(place) if place else None


def after(text: str, at: int) -> tuple[str, int]:
    """The name of a zone that stands at this place, and where it ends; ("", at) if none does."""
    found = NAME.match(text, at)
    if found and _is_meant(found["zone"]):
        return found["zone"], found.end()
    if not text.isascii() and (eastern := _EASTERN.match(text, at)):
        return eastern["zone"], eastern.end()
    bracketed = BRACKETED.match(text, at)
    if bracketed and ("/" in bracketed["zone"] or _ABBREVIATION.fullmatch(bracketed["zone"])):
        return bracketed["zone"], bracketed.end()
    if strange := _STRANGE.match(text, at):
        return strange["zone"], strange.end()
    return "", at


def _is_meant(name: str) -> bool:
    """Bare words of two to five letters are zones only if they are known as such."""
    key = name.lower()
    if key in _WORDS_NO_ZONE:
        return False
    return not key.isalpha() or key in PLACES or key in ("utc", "gmt", "z") or key in _LOCAL


def _offset(found: re.Match[str]) -> tzinfo | None:
    hours, minutes = int(found["h"]), int(found["m"] or 0)
    if hours > OFFSET_H_MAX or minutes > 59:
        return None
    away = timedelta(hours=hours, minutes=minutes)
    return timezone(away if found["sign"] == "+" else -away)


@lru_cache(maxsize=256)
def _by_key(key: str) -> tzinfo | None:
    """By its name in the time zone database, in any case."""
    titled = "/".join(_titled(part) for part in key.split("/"))
    for name in (key, titled, key.upper()):
        try:
            return ZoneInfo(name)
        except (KeyError, ValueError, OSError):
            continue
    return None


def _titled(part: str) -> str:
    small = ("of", "es", "au")
    return "_".join(
        word if word in small else word[:1].upper() + word[1:].lower() for word in part.split("_")
    )
