"""Segue's own comments under a task: the previous error, and the retries used.

Both languages are read, whichever is written. An error text is made harmless first:
it can neither close the comment nor start a line.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from segue.plans.grammar import COMMENT_CLOSE, COMMENT_OPEN

Language = Literal["en", "ko"]

ERROR_CHARS_MAX = 400
_INPUT_CHARS_MAX = 20_000  # of an error text; more cannot show up in the comment
_COUNT_MAX = 999_999_999

_ERROR_KEY = {"en": "previous error", "ko": "이전 에러"}
_RETRIES_KEY = {"en": "retries", "ko": "재시도"}
_OVER_LIMIT = {"en": "(over the limit)", "ko": "(한도 초과)"}
_UNKNOWN = {"en": "unknown", "ko": "알 수 없음"}

_ERROR = re.compile(r"(?:previous error|이전 에러)\s*[:：](.*)", re.IGNORECASE | re.DOTALL)
_RETRIES = re.compile(
    r"(?:retries|재시도)\s*[:：]\s*([0-9]{1,9})\s*/\s*[0-9]{1,9}\s*(?:[(（\[].*[)）\]])?",
    re.IGNORECASE,
)
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|(?:\x1b\]|\x9d)[^\x07\x1b\x9c\x9d]*(?:\x07|\x1b\\|\x9c)"  # titles, links
    r"|\x1b[PX^_][^\x1b]*\x1b\\"
    r"|\x1b[ -/]*[0-~]"
)
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_CLOSERS = re.compile(r"--(?=!?>)")


class Remark(NamedTuple):
    """One of Segue's comments, as read: an error, or a number of retries, or an empty one."""

    error: str | None = None
    retries_used: int | None = None


def read_comment(line: bytes) -> Remark | None:
    """What Segue's comment in this line says; None if the line is anything else."""
    text = line.strip()
    if not (text.startswith(COMMENT_OPEN) and text.endswith(COMMENT_CLOSE)):
        return None
    inner = text[4:-3]
    if COMMENT_CLOSE in inner or COMMENT_OPEN in inner[:3]:
        return None
    said = inner.decode("utf-8", "replace").strip()
    if match := _ERROR.fullmatch(said):
        return Remark(error=match[1].strip() or None)
    if match := _RETRIES.fullmatch(said):
        return Remark(retries_used=int(match[1]))
    return None


def one_line(text: str, language: Language = "en") -> str:
    """An error text as it may stand in a comment."""
    text = text[:_INPUT_CHARS_MAX].encode("utf-8", "replace").decode("utf-8")
    text = _CONTROLS.sub(" ", _ESCAPES.sub("", text))
    text = _CLOSERS.sub("-- ", " ".join(text.split()))
    if len(text) > ERROR_CHARS_MAX:
        text = text[: ERROR_CHARS_MAX - 1].rstrip() + "…"
    return text or _UNKNOWN[language]


def error_comment(text: str, language: Language) -> bytes:
    """The comment for an error text that `one_line` has made harmless."""
    return f"<!-- {_ERROR_KEY[language]}: {text} -->".encode()


def retries_comment(used: int, limit: int, language: Language) -> bytes:
    remark = f" {_OVER_LIMIT[language]}" if used > limit else ""
    return f"<!-- {_RETRIES_KEY[language]}: {used}/{limit}{remark} -->".encode()


def counted(number: int) -> int:
    """A number of retries as it may stand in a comment."""
    return min(max(number, 0), _COUNT_MAX)


NO_ERROR = f"<!-- {_ERROR_KEY['en']}: -->".encode()  # reads as: no error
