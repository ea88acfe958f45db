"""The messages of the protocol: named values → events, however they were written.

Lines of a text block, a JSON block and the arguments of a tool call all end here, so that they
mean the same. Every value is checked, cut to its bound and made plain. A message that cannot be
used is a text instead, which tells its author why.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence

from segue.core.durations import parse_duration
from segue.core.variables import decides_what_runs
from segue.dialects.events import Asked, DependencyAsked, ErrorReported, Event, Garbled
from segue.dialects.lines import plain_text
from segue.i18n import _

QUESTION, DEPENDENCY, ERROR = "USER_QUESTION", "DEPENDENCY_REQUEST", "ERROR"

FIELD_CHARS_MAX = 10_000
BLOCK_CHARS_MAX = 100_000
NAME_CHARS_MAX = 200
OPTIONS_MAX = 100
PRIORITY_MAX = 9

CATEGORIES = ("business", "clarification", "choice", "confirmation")  # an agent may ask about
DEPENDENCY_TYPES = ("api_key", "env_variable", "service", "file", "permission", "package")
VARIABLES = ("api_key", "env_variable")  # what is named like the variable that it comes in
ERROR_TYPES = ("recoverable", "fatal")
RECOVERIES = ("pause_and_retry", "checkpoint_and_fail", "notify_user")
PRIORITIES = {"low": -1, "normal": 0, "high": 1, "urgent": 2}

Given = Mapping[str, object]

_VARIABLE = re.compile(r"(?!SEGUE_)[A-Za-z_][A-Za-z0-9_]{0,127}")  # ours are not an agent's to set
_FIELD = re.compile(r"\s*([A-Za-z]+)\s*:(.*)")
_ITEM = re.compile(r"\s*-\s+(.*)")
_NO = ("false", "no", "off", "0")

# The fields of each block, and which of them may span several lines.
FIELDS = {
    QUESTION: ("category", "question", "options", "default", "required", "deadline", "priority"),
    DEPENDENCY: ("type", "name", "description", "required", "default"),
    ERROR: ("type", "message", "recovery"),
}
_LONG = ("question", "description", "message")


def read(
    name: str, body: Sequence[str], *, is_json: bool = False, chars_max: int = FIELD_CHARS_MAX
) -> Event:
    """The lines of a closed block → its event; garbled where it says nothing."""
    given = _in_json(body) if is_json else _in_lines(FIELDS[name], body)
    told = READERS[name](given, chars_max) if given is not None else _("it is not a JSON object")
    if isinstance(told, str):
        return Garbled(sum(len(line) + 1 for line in body), f"{name}: {told}")
    return told


def _in_json(body: Sequence[str]) -> Given | None:
    try:
        given = json.loads("\n".join(body), strict=False)
    except (ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) else None


def _in_lines(names: Sequence[str], body: Sequence[str]) -> Given:
    """`name: value` lines; the last of a name counts, and below `options:` each `- ` is one."""
    given: dict[str, list[str]] = {}
    options: list[str] = []
    key = ""
    for line in body:
        field, item = _FIELD.match(line), _ITEM.match(line)
        if field and field[1].lower() in names:
            key = field[1].lower()
            given[key] = [field[2].strip()]
        elif item and key == "options":
            options.append(item[1])
        elif key in _LONG and line.strip():
            given[key].append(line.strip())
    return {**{name: "\n".join(lines) for name, lines in given.items()}, "options": options}


def question(given: Given, chars_max: int = FIELD_CHARS_MAX) -> Asked | str:
    asked = text_of(given, "question", chars_max)
    if _is_blank(asked):
        return _("it contains no question")
    options = texts_of(given, "options", chars_max)
    preset = _preset(text_of(given, "default", chars_max), options)
    category = given.get("category")
    deadline = given.get("deadline")
    is_required, remark = _is_required(given), ""
    if not is_required and preset is None:
        is_required = True  # there is nothing it could take
        remark = _("it is optional but has no default, so Segue waits for an answer")
    return Asked(
        asked,
        options,
        preset,
        # Segue's own categories (a budget, a permission) are not an agent's to claim.
        category if isinstance(category, str) and category in CATEGORIES else "clarification",
        is_required=is_required,
        deadline_s=(parse_duration(deadline) if isinstance(deadline, str) else None) or None,
        priority=_priority(given.get("priority")),
        remark=remark,
    )


def dependency(given: Given, chars_max: int = FIELD_CHARS_MAX) -> DependencyAsked | str:
    kind = text_of(given, "type", chars_max)
    name = " ".join(text_of(given, "name", chars_max).split())
    if kind not in DEPENDENCY_TYPES:
        return _("the type must be one of {types}").format(types=", ".join(DEPENDENCY_TYPES))
    if _is_blank(name) or len(name) > NAME_CHARS_MAX:
        return _("it has no name, or the name is too long")
    if kind in VARIABLES and not is_variable(name):
        return _(
            "the name must be a valid environment variable such as STRIPE_KEY, and not SEGUE_…"
        )
    if kind in VARIABLES and decides_what_runs(name):
        text = _("{name} decides which programs run, so it cannot be provided; choose another name")
        return text.format(name=name)
    return DependencyAsked(
        kind,
        name,
        text_of(given, "description", chars_max),
        _is_required(given),
        _preset(text_of(given, "default", chars_max), ()),
    )


def error(given: Given, chars_max: int = FIELD_CHARS_MAX) -> ErrorReported | str:
    """What is missing of type and recovery follows from the other."""
    message = text_of(given, "message", chars_max)
    kind, recovery = text_of(given, "type", chars_max), text_of(given, "recovery", chars_max)
    if _is_blank(message) and (message or kind not in ERROR_TYPES):
        return _("it has no message")
    if recovery not in RECOVERIES:
        recovery = "checkpoint_and_fail" if kind == "fatal" else "notify_user"
    if kind not in ERROR_TYPES:
        kind = "fatal" if recovery == "checkpoint_and_fail" else "recoverable"
    return ErrorReported(kind, message, recovery)


READERS: dict[str, Callable[[Given, int], Event | str]] = {
    QUESTION: question,
    DEPENDENCY: dependency,
    ERROR: error,
}


def is_variable(name: str) -> bool:
    """Whether an agent may get a value in an environment variable of this name."""
    return _VARIABLE.fullmatch(name) is not None


def text_of(given: Given, name: str, chars_max: int = FIELD_CHARS_MAX) -> str:
    value = given.get(name)
    return plain_text(value[:chars_max]).strip() if isinstance(value, str) else ""


def texts_of(given: Given, name: str, chars_max: int = FIELD_CHARS_MAX) -> tuple[str, ...]:
    value = given.get(name)
    parts = value[:OPTIONS_MAX] if isinstance(value, list) else []
    kept = [plain_text(part[:chars_max]) for part in parts if isinstance(part, str)]
    return tuple(" ".join(part.split()) for part in kept if part.strip())


def _is_blank(text: str) -> bool:
    """Nothing, or the example of the prompt, repeated."""
    return not text.strip(" .…")


def _preset(text: str, options: tuple[str, ...]) -> str | None:
    """What is taken by default is something that could be chosen."""
    if not options:
        return None if _is_blank(text) else text
    wanted = " ".join(text.split())
    alike = [option for option in options if option.casefold() == wanted.casefold()]
    return wanted if wanted in options else next(iter(alike), None)


def _is_required(given: Given) -> bool:
    """So, unless it clearly says otherwise."""
    value = given.get("required", True)
    return value.strip().lower() not in _NO if isinstance(value, str) else value is not False


def _priority(value: object) -> int:
    if isinstance(value, str):
        word = value.strip().lower()
        value = int(word) if re.fullmatch(r"-?[0-9]", word) else PRIORITIES.get(word, 0)
    return max(-PRIORITY_MAX, min(value, PRIORITY_MAX)) if type(value) is int else 0
