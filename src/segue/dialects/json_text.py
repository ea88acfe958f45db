"""Changes of a JSON text that leave every other byte as it is.

A settings file is a person's: its order, its spaces and its line breaks are theirs. So members are
put in and taken out of the text itself, by their places, instead of rewriting the whole.
The text must be valid JSON: see `json.loads` first. A change makes the places that were found
before it stale.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

DEFAULT_INDENT = "  "

_SPACE = re.compile(r"[ \t\r\n]*")
_STRETCH = re.compile(r"\r?\n([ \t]*)")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object, or (`key` is None) of a list: from `start`, with its key, to `end`."""

    key: str | None
    start: int
    value: int
    end: int


@dataclass(frozen=True, slots=True)
class Container:
    """An object or a list in the text: from its opening bracket to its closing one."""

    start: int
    close: int
    members: tuple[Member, ...]

    def member(self, key: str) -> Member | None:
        """The member of this key; of several the last, as all readers take it."""
        return next((found for found in reversed(self.members) if found.key == key), None)


def container(text: str, at: int = 0) -> Container:
    """The object or list that begins here, spaces before it aside."""
    start = start_of(text, at)
    is_object = text[start] == "{"
    members = []
    here = start_of(text, start + 1)
    while text[here] not in "}]":
        begin, key = here, None
        if is_object:
            key, here = _DECODER.raw_decode(text, here)
            here = start_of(text, start_of(text, here) + 1)  # past the colon
        _value, end = _DECODER.raw_decode(text, here)
        members.append(Member(key, begin, here, end))
        here = start_of(text, end)
        if text[here] == ",":
            here = start_of(text, here + 1)
    return Container(start, here, tuple(members))


def value_of(text: str, member: Member) -> object:
    return _DECODER.raw_decode(text, member.value)[0]


def appended(text: str, to: Container, value: object, key: str | None = None) -> str:
    """With one more member, the last one, laid out as its neighbours are."""
    unit, line_end = indent_of(text), "\r\n" if "\r\n" in text else "\n"
    if to.members:
        last = to.members[-1]
        lead = text[to.start + 1 : last.start]
        if len(to.members) > 1:
            lead = text[to.members[-2].end : last.start].partition(",")[2]
        broken = _STRETCH.search(lead)
        if broken is None:
            return f"{text[: last.end]}, {_written(value, key)}{text[last.end :]}"
        new = _written(value, key, unit, line_end + broken[1])
        return f"{text[: last.end]},{lead}{new}{text[last.end :]}"
    line = text[text.rfind("\n", 0, to.start) + 1 : to.start]
    outer = line_end + line[: len(line) - len(line.lstrip(" \t"))]
    new = _written(value, key, unit, outer + unit)
    return f"{text[: to.start + 1]}{outer}{unit}{new}{outer}{text[to.close :]}"


def removed(text: str, of: Container, index: int, *, inside: str = "") -> str:
    """Without this member. `inside`: what stands between the brackets if it was the only one."""
    member = of.members[index]
    if len(of.members) == 1:
        return f"{text[: of.start + 1]}{inside}{text[of.close :]}"
    if index == 0:
        return text[: member.start] + text[of.members[1].start :]
    return text[: of.members[index - 1].end] + text[member.end :]


def replaced(text: str, member: Member, value: object) -> str:
    """With another value of a member, written on one line."""
    return text[: member.value] + json.dumps(value, ensure_ascii=False) + text[member.end :]


def indent_of(text: str) -> str:
    """One step of indentation: that of the outermost members, if they have lines of their own."""
    outermost = container(text)
    if outermost.members:
        broken = _STRETCH.search(text[outermost.start : outermost.members[0].start])
        if broken and broken[1]:
            return broken[1]
    return DEFAULT_INDENT


def _written(value: object, key: str | None, indent: str | None = None, line_end: str = "") -> str:
    """In one line, or (`indent`) in several; `line_end`: with what the next line begins with."""
    text = json.dumps(value, ensure_ascii=False, indent=indent).replace("\n", line_end)
    return text if key is None else f"{json.dumps(key, ensure_ascii=False)}: {text}"


def start_of(text: str, at: int) -> int:
    """The next place that is no space."""
    found = _SPACE.match(text, at)
    return found.end() if found else at
