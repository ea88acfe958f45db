"""The tools of Claude Code: what each is used with, and what it asks before it uses one."""

from __future__ import annotations

from collections.abc import Iterator

from segue.dialects.events import Asked, Garbled, PermissionAsked
from segue.dialects.structured import Object, object_of, objects_of, one_line, text_of
from segue.dialects.text import FIELD_CHARS_MAX

OPTIONS_MAX = 20
QUESTION_TOOL = "AskUserQuestion"

# In which field a tool tells what it is about, the most telling first.
_WHAT = ("command", "file_path", "notebook_path", "pattern", "path", "url", "query", "description")


def what(given: Object) -> str:
    """In one line what a tool is used with."""
    first = next((given[key] for key in _WHAT if isinstance(given.get(key), str)), None)
    if first is None:
        first = next((value for value in given.values() if isinstance(value, str)), "")
    return one_line(first)


def asked(told: Object) -> Iterator[Asked | PermissionAsked | Garbled]:
    """A request for permission; that for its question tool is the question itself."""
    request = object_of(told.get("request"))
    if request.get("subtype") != "can_use_tool":
        return
    id_, tool, given = told.get("request_id"), request.get("tool_name"), request.get("input")
    if not (isinstance(id_, str) and id_ and isinstance(tool, str) and tool):
        yield Garbled(len(str(told)))  # it waits for an answer that no one can give
        return
    question = _question(object_of(given)) if tool == QUESTION_TOOL else None
    yield question or PermissionAsked(id_, one_line(tool), what(object_of(given)), object_of(given))


def _question(given: Object) -> Asked | None:
    """The first question with its options; the others stand in its text."""
    found = [q for q in objects_of(given.get("questions")) if text_of(q.get("question")).strip()]
    if not found:
        return None
    lines = [text_of(found[0].get("question")).strip()]
    for more in found[1:]:
        options = " / ".join(_options(more))
        lines.append(text_of(more.get("question")).strip() + (f" ({options})" if options else ""))
    return Asked("\n".join(lines)[:FIELD_CHARS_MAX], _options(found[0]), category="choice")


def _options(question: Object) -> tuple[str, ...]:
    told = objects_of(question.get("options"))[:OPTIONS_MAX]
    return tuple(label for option in told if (label := one_line(option.get("label"))))
