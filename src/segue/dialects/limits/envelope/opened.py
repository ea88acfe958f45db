"""Rows of a block → the message that they carry, and whether a program raised an alarm with it.

Its carrier is recognized by structure: the head of a log line, an answer of HTTP, an exception with
or without the frames below it, data with the key of an error (JSON, Python, JavaScript, logfmt,
YAML). The message is all that is left without the head and the frames; which words in it count,
and which time, the grammar decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from segue.dialects.limits.envelope import heads, labels
from segue.dialects.limits.lazy_regex import Expression

ENTRY_ROWS_MAX = 40

# `"error": …`, `level=error`, `statusCode: 429`, `'code': '429'`: any notation, escaped or not.
_PAIR = Expression(
    r"""(?:^|[\s{,(\[])\\{0,4}["']?(?:
        (?:level|lvl|severity|loglevel)\\{0,4}["']?\s*[:=]\s*\\{0,4}["']?
            (?:(?P<quiet>info|debug|trace|notice|[123]0\b)|err|fatal|crit|warn|severe|panic|[56]0\b)
      | (?:status|status_?code|code|http_?status|error_?code)\\{0,4}["']?\s*[:=]\s*\\{0,4}["']?
            (?:[45]\d\d\b|error|failed|rejected|[a-z_]*(?:limit|quota|exceeded|exhausted))
      | (?:error|err|errors|exception|cause)\\{0,4}["']?\s*[:=]\s*\\{0,4}["'{\[]
      | (?:type|reason|kind)\\{0,4}["']?\s*[:=]\s*\\{0,4}["'](?:error|[a-z_]+(?:_error|_exceeded))\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_IS_DATA = Expression(r"\s*(?:[\[{]|['\"]\w+['\"]\s*:|[\w.]+=\S)")
_YAML = Expression(r"\s*[\w-]+:(?:\s|$)")
_HTTP = Expression(r"[\s<*>]*HTTP/\d(?:\.\d)? (?P<status>\d{3})\b")
_FRAME = Expression(
    r"""\s*(?:at\ (?:async\ )?[\w.$<>\[\]/ ]{1,200}(?:\(|\ in\ )|at\ \S{1,200}\.\w{1,4}:\d+
        |File\ "[^"]{1,300}",\ line\ \d+
        |\.\.\.\ \d+\ more|Traceback\ \(most\ recent|During\ handling\ of|The\ above\ exception
        |\^+\s*$|stack\ backtrace:|\d+:\ 0x)""",
    re.VERBOSE,
)
_RAISED = Expression(
    r"""\s*(?:(?:error|fatal|failed):\ )?
        (?:Exception\ in\ thread\ "[^"]{1,60}"\ |Unhandled\ exception[.:]?\ |Caused\ by:\ ?
        |Uncaught\ |panicked\ at\ )?
        (?:[\w$]{1,40}(?:[.\\]|::)){0,8}
        (?P<name>(?-i:[A-Z])[\w$]{0,60}?
            (?-i:Error|Exception|Reached|Exceeded|Exhausted|TooManyRequests))
        (?:\ \[\w+\])?(?:$|:\ (?!if\b|when|raised|in\ case)|\ \(|\s-\s)""",
    re.VERBOSE | re.IGNORECASE,
)
_CAUSE = Expression(r"\s*Caused by:")


class Opened(NamedTuple):
    """`lines` without what carried them. `how`: what raised the alarm; empty where nothing did."""

    lines: list[str]
    how: str = ""
    status: int | None = None
    is_grave: bool = True  # else nothing but a log's head tells that a program speaks


def last_entry(rows: Sequence[str]) -> int:
    """Where the last entry of a log begins in these rows; 0 where they are none."""
    for at in range(len(rows) - 1, max(-1, len(rows) - 1 - ENTRY_ROWS_MAX), -1):
        if heads.head_of(rows[at]).is_log:
            return at
    return 0


def opened(rows: Sequence[str]) -> Opened:
    """The message in the rows of one entry."""
    head = heads.head_of(rows[0])
    rest = [rows[0][head.end :].strip(), *(row.strip() for row in rows[1:])]
    kept = [row for row in rest if row]
    text = "\n".join(kept)
    if head.level == heads.QUIET or not kept or (not head.is_log and labels.is_alien(text)):
        return Opened(kept)
    if answer := _HTTP.match(text):
        status = int(answer["status"])
        return Opened([" ".join(kept)], "http" if status >= 400 else "", status)
    if is_raised(rows):
        return Opened(_without_frames(rows, head.end), "exception")
    if _is_alarming(text, rows):
        return Opened([" ".join(kept)], "data")
    if head.is_log:
        return Opened([" ".join(kept)], "log", is_grave=head.level >= heads.WARNING)
    return Opened(kept)


def is_raised(rows: Sequence[str]) -> bool:
    """An exception: frames and its name, or a cause below an error."""
    if any(_FRAME.match(row) or _CAUSE.match(row) for row in rows[1:]):
        return True
    return exception_name(rows[0]) != "" and not labels.is_source(rows)


def _without_frames(rows: Sequence[str], end: int) -> list[str]:
    kept: list[str] = []
    is_code = False  # below `File "…", line 3` stands a line of the program
    for at, row in enumerate(rows):
        body = row[end:].strip() if at == 0 else row.strip()
        if _FRAME.match(row):
            is_code = row.lstrip().startswith("File ")
            braced = body.endswith("{")  # JavaScript prints its fields behind the last frame
            kept += ["{"] if braced else []
            continue
        if not (is_code and row[:1].isspace()) and body:
            kept.append(body)
        is_code = False
    return [" ".join(kept)]


def _is_alarming(text: str, rows: Sequence[str]) -> bool:
    is_data = _IS_DATA.match(text) is not None or "{" in text
    is_yaml = len(rows) > 1 and all(_YAML.match(row) or row[:1].isspace() for row in rows)
    if not (is_data or is_yaml):
        return False
    found = _PAIR.search(text)
    return found is not None and found["quiet"] is None


def exception_name(line: str) -> str:
    """The class of an exception at the beginning of a line."""
    found = _RAISED.match(line)
    return found["name"] if found else ""
