"""The block between `---` lines at the top of a plan: defaults for every task."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from segue.i18n import _
from segue.plans import misspelt
from segue.plans.fields import (
    BLOCKED_BY,
    FILES,
    RUN,
    STEPS,
    VERIFY,
    BadValue,
    Fields,
    field_name,
)
from segue.plans.found import Fault
from segue.plans.grammar import BOM, decode

_END = (b"---", b"...")
_QUOTED = re.compile(r"(?:\"((?:[^\"\\]|\\.)*)\"|'((?:[^']|'')*)')(?:\s+#.*)?")
_ESCAPED = re.compile(r"\\([\"\\])")
_PAIR = re.compile(r"([^\s#:：][^:：]*)[:：](.*)")


class FrontMatter(NamedTuple):
    defaults: Fields
    faults: list[Fault]
    line_count: int  # 0: the plan has none


def read_front_matter(lines: Sequence[bytes]) -> FrontMatter:
    defaults, faults = Fields(), list[Fault]()
    end = _end_of(lines)
    for index, name, value in _pairs(lines[:end], faults):
        try:
            if name == BLOCKED_BY:
                raise BadValue(
                    _("`blocked by` is not allowed in the front matter"),
                    _("write it below the tasks that depend on others"),
                )
            defaults.put(name, value)
        except BadValue as bad:
            faults.append(Fault(index, "bad_field", bad.message, bad.hint))
    return FrontMatter(defaults, faults, end)


def _end_of(lines: Sequence[bytes]) -> int:
    """How many lines the block has, with its two borders; 0 if it has no end, or no beginning."""
    if not lines or lines[0].removeprefix(BOM).rstrip() != b"---":
        return 0
    for index in range(1, len(lines)):
        if lines[index].rstrip() in _END:
            return index + 1
    return 0


def _pairs(lines: Sequence[bytes], faults: list[Fault]) -> Iterator[tuple[int, str, str]]:
    """The known keys of the block with their values; the items of a list come one by one."""
    listed: str | None = None
    for index, line in enumerate(lines[1:-1], start=1):
        text = decode(line)
        bare = text.strip()
        if listed and bare.startswith("- "):
            yield index, listed, f"`{_value_of(listed, bare[2:].strip())}`"
            continue
        match = _PAIR.match(text)
        if match is None:
            continue
        key, value = match.groups()
        name = field_name(key.strip())
        listed = None
        if name is None and (meant := misspelt.meant(key.strip(), value)) is not None:
            faults.append(Fault(index, *misspelt.in_words(key.strip(), meant)))
        if name is None or name == STEPS:
            continue
        value = _value_of(name, value.strip())
        if name == FILES and not value:
            listed = name
            continue
        yield index, name, value


def _value_of(name: str, value: str) -> str:
    """The value without what YAML would take off: quotes, brackets of a list, a comment."""
    if match := _QUOTED.fullmatch(value):
        double, single = match.groups()
        return single.replace("''", "'") if double is None else _ESCAPED.sub(r"\1", double)
    if name not in (RUN, VERIFY):  # there a # is the shell's
        value = "" if value.startswith("#") else value.split(" #", 1)[0].rstrip()
    if name == FILES and value.startswith("[") and value.endswith("]"):
        return value[1:-1]
    return value
