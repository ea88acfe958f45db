"""The fields of a task: their keys in both languages, and what their values mean."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from segue.core.plan import Priority, Resume
from segue.i18n import _

BLOCKED_BY, VERIFY, AGENT, FILES = "blocked by", "verify", "agent", "files"
RUN, TIMEOUT, RETRIES, PRIORITY, STEPS = "run", "timeout", "retries", "priority", "steps"
RESUME = "resume"

_SPELLINGS = {
    BLOCKED_BY: (
        "blocked by, blocked-by, blocked_by, blockedby, depends, depends on, depends-on, "
        "depends_on, dependencies, deps, 선행, 선행 작업, 선행 태스크, 의존성, 의존"
    ),
    VERIFY: "verify, 검증",
    AGENT: "agent, 에이전트",
    FILES: "files, 파일",
    RUN: "run, 실행",
    TIMEOUT: "timeout, 제한 시간, 시간 제한, 제한시간",
    RETRIES: "retries, 재시도",
    PRIORITY: "priority, 우선순위",
    RESUME: "resume, 재개",
    STEPS: "steps, 작업, 단계",
}
_NAME_OF_KEY = {key: name for name, keys in _SPELLINGS.items() for key in keys.split(", ")}
LIST_FIELDS = frozenset({BLOCKED_BY, FILES})

KEY_CHARS_MAX = 32  # with its bold and back-ticks
RETRIES_MAX = 100

_PRIORITIES = {
    "critical": Priority.CRITICAL,
    "긴급": Priority.CRITICAL,
    "high": Priority.HIGH,
    "높음": Priority.HIGH,
    "normal": Priority.NORMAL,
    "보통": Priority.NORMAL,
    "low": Priority.LOW,
    "낮음": Priority.LOW,
}
_RESUMES = {
    "conversation": Resume.CONVERSATION,
    "대화": Resume.CONVERSATION,
    "restart": Resume.RESTART,
    "처음부터": Resume.RESTART,
    "fresh": Resume.FRESH,
    "새로": Resume.FRESH,
    "새 대화": Resume.FRESH,
}
_RESUME_BEGINS = frozenset(word[:4] for word in _RESUMES)
_NOTHING = frozenset({"", "none", "-", "–", "—", "n/a", "없음"})
_JOINERS = frozenset({"", "and", "및", "&"})
_BETWEEN = re.compile(r"[,;、，；\s]+")
_ONE_ID = re.compile(r"[^\W\d_]+-[0-9]+")
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
_PATH = re.compile(r"`([^`]+)`|\"([^\"]+)\"|'([^']+)'|((?:[^\s,;、，{}\"'`]|\{[^{}]*\}|[{}\"'`])+)")
_CODE_SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1", re.DOTALL)
_NUMBER = r"([0-9]{1,9}(?:\.[0-9]{1,9})?)"
_DURATION = re.compile(
    rf"(?:{_NUMBER}\s*h\s*)?(?:{_NUMBER}\s*m\s*)?(?:{_NUMBER}\s*s\s*)?(?:{_NUMBER}\s*ms)?",
    re.IGNORECASE,
)
_SECONDS_OF_UNIT = (3600.0, 60.0, 1.0, 0.001)


class BadValue(ValueError):  # noqa: N818 - the word says it
    """A field's value cannot be used. Says what is wrong, and the cure."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def field_name(key: str) -> str | None:
    """The field that this key names, whatever its spelling; None for any other word."""
    if not key.isascii():
        key = unicodedata.normalize("NFC", key)
    return _NAME_OF_KEY.get(" ".join(key.lower().split()))


def split_field(text: str) -> tuple[str, str] | None:
    """`key: value` → (name, value), if the key is a field's; bold and back-ticks are seen through.

    `steps:` is a label: with a value behind it, it is a sentence like any other; so is
    `resume:` before anything but (nearly) its own words.
    """
    found = split_key(text)
    name = field_name(found[0]) if found is not None else None
    if found is None or name is None:
        return None
    value = found[1]
    if name == STEPS and value:
        return None
    if name == RESUME and not is_resume_value(value):
        return None
    return name, value


def split_key(text: str) -> tuple[str, str] | None:
    """`key: value` → (key, value) for any key that is short enough to be one."""
    at = _colon(text)
    if at < 0:
        return None
    key, value = text[:at].strip(), text[at + 1 :].strip()
    opened = key[: len(key) - len(key.lstrip("*_`"))]
    if opened and not key.endswith(opened[::-1]):
        value = _without_closing(value, opened[::-1])
    return key.strip("*_`"), value


def is_resume_value(value: str) -> bool:
    """Whether this is (nearly) one of the words that `resume:` takes."""
    return value.strip("`*_ ").lower()[:4] in _RESUME_BEGINS


def spellings() -> Iterable[str]:
    """Every key of every field, in both languages."""
    return _NAME_OF_KEY


def _colon(text: str) -> int:
    """Where the key ends; -1 if no key can stand here."""
    narrow, wide = text.find(":", 0, KEY_CHARS_MAX), text.find("：", 0, KEY_CHARS_MAX)
    return narrow if wide < 0 else wide if narrow < 0 else min(narrow, wide)


def _without_closing(value: str, closing: str) -> str:
    """The value of `**key:** value` or `**key: value**` without the second bold mark."""
    if value.startswith(closing):
        return value[len(closing) :].strip()
    return value.removesuffix(closing).strip()


@dataclass(slots=True)
class Fields:
    """What the fields of one task, or the front matter, say. None: nothing is said."""

    blocked_by: tuple[str, ...] = ()
    files: tuple[str, ...] | None = None
    priority: Priority | None = None
    agent: str | None = None
    run: str | None = None
    verify: str | None = None
    timeout_s: float | None = None
    retries: int | None = None
    resume: Resume | None = None

    def put(self, name: str, value: str) -> None:
        """Take in one field; lists grow, of the others the later wins. Raises BadValue."""
        if name == BLOCKED_BY:
            self.blocked_by = _union(self.blocked_by, blockers(value))
        elif name == FILES:
            self.files = _union(self.files or (), paths(value))
        elif name == STEPS:
            return
        else:
            self._put_one(name, _given(name, value))

    def _put_one(self, name: str, value: str) -> None:
        if name == VERIFY:
            self.verify = command(value)
        elif name == RUN:
            self.run = command(value)
        elif name == AGENT:
            self.agent = value.strip("`*")
        elif name == TIMEOUT:
            self.timeout_s = duration_s(value)
        elif name == RETRIES:
            self.retries = retries(value)
        elif name == PRIORITY:
            self.priority = priority(value)
        elif name == RESUME:
            self.resume = resume(value)


def _union(first: tuple[str, ...], second: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second) if first else second))


def _given(name: str, value: str) -> str:
    value = value.strip()
    if not value.strip("`* "):
        raise BadValue(
            _("the field `{name}` is empty").format(name=name),
            _("give it a value, or delete the line"),
        )
    return value


def blockers(value: str) -> tuple[str, ...]:
    """The ids in the value of `blocked by`."""
    if _ONE_ID.fullmatch(value):  # nearly all of them; the rest is for the others
        return (value,)
    if "](" in value:
        value = _LINK.sub(r"\1", value)
    if value.strip("`*()[]{}. \t").lower() in _NOTHING:
        return ()
    tokens = (token.strip("`*_()[]{}<>\"'.") for token in _BETWEEN.split(value))
    return _union((), (token for token in tokens if token.lower() not in _JOINERS))


def paths(value: str) -> tuple[str, ...]:
    """The globs in the value of `files`; quotes and braces hold one together."""
    if value.strip("`. \t").lower() in _NOTHING:
        return ()
    return _union((), ("".join(groups) for groups in _PATH.findall(value)))


def command(value: str) -> str:
    """A command without the back-ticks around it, if the whole of it is one code span."""
    match = _CODE_SPAN.fullmatch(value)
    if match is None or match[1] in match[2]:
        return value
    return match[2].strip()


def duration_s(value: str) -> float:
    match = _DURATION.fullmatch(value.strip("`* "))
    parts = match.groups() if match else ()
    total = sum(
        float(part) * unit_s for part, unit_s in zip(parts, _SECONDS_OF_UNIT, strict=False) if part
    )
    if total <= 0:
        raise BadValue(
            _("timeout: `{value}` is not a duration").format(value=shortened(value)),
            _("write a number with its unit: 90s, 5m, 2h or 1h30m"),
        )
    return total


def retries(value: str) -> int:
    bare = value.strip("`* ")
    if not re.fullmatch(r"[0-9]{1,9}", bare) or int(bare) > RETRIES_MAX:
        raise BadValue(
            _("retries: `{value}` is not a number of tries").format(value=shortened(value)),
            _("write a whole number from 0 to {max}").format(max=RETRIES_MAX),
        )
    return int(bare)


def priority(value: str) -> Priority:
    found = _PRIORITIES.get(value.strip("`* ").lower())
    if found is None:
        raise BadValue(
            _("priority: `{value}` is unknown").format(value=shortened(value)),
            _("write critical, high, normal or low"),
        )
    return found


def resume(value: str) -> Resume:
    found = _RESUMES.get(value.strip("`*_ ").lower())
    if found is None:
        raise BadValue(
            _("resume: `{value}` is unknown").format(value=shortened(value)),
            _("write restart, conversation or fresh"),
        )
    return found


def shortened(value: str) -> str:
    """A value as it is shown in a message."""
    return value if len(value) <= 60 else value[:59] + "…"
