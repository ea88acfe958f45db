"""Segue's hooks in the settings of Claude Code: put in, found and taken out of the text.

Everything else in the file is a person's and stays as it is, to the byte. Ours are known by
their command: a program called `segue`, then `hook`, then the event.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from segue.dialects import json_text
from segue.dialects.json_text import Container, Member

EVENTS: dict[str, str] = {
    # event: what it is matched by; empty: it comes without
    "SessionStart": "startup|resume|compact",
    "PreCompact": "",
    "Stop": "",
    "StopFailure": "",
}
HOOKS = "hooks"
TIMEOUT_S = 10  # an agent waits for its hooks
QUIET = "2>/dev/null || true"  # a Segue that is gone must not be noticed by the agent
# Without a terminal Claude Code ends with its limit: it asks this hook to end at once, and waits a
# little. In that time Segue goes into the background.
STAYS = {"StopFailure": "trap '' TERM; "}


class BadSettings(ValueError):  # noqa: N818 - what they are
    """Not what Claude Code would read. `at`: the place in the text."""

    def __init__(self, why: str, at: int) -> None:
        super().__init__(why)
        self.at = at


@dataclass(frozen=True, slots=True)
class Merged:
    """The new text. `empty`: which containers stood empty in the old one, and their insides."""

    text: str
    empty: Mapping[str, str] = field(default_factory=dict)


def command(program: str, event: str) -> str:
    """What Claude Code runs; `program` is quoted already."""
    return f"{STAYS.get(event, '')}{program} hook {event} {QUIET}"


def event_of(text: object) -> str | None:
    """The event that a command of ours is for; None for any other command."""
    words = _words(text)
    if "hook" not in words[1:-1]:
        return None
    at = words.index("hook", 1)
    is_ours = re.fullmatch(r"(?:.*/)?segue", words[at - 1]) is not None
    is_alone = at == 1 or words[at - 2] == "-m"
    event = words[at + 1]
    return event if is_ours and is_alone and event in EVENTS else None


def program_of(text: str) -> str:
    """The program that a command of ours runs."""
    return _words(text)[0]


def _words(text: object) -> list[str]:
    try:
        words = shlex.split(text) if isinstance(text, str) else []
    except ValueError:
        return []
    return words[3:] if words[:1] == ["trap"] else words


def installed(text: str) -> dict[str, str]:
    """Our command for each event that has one."""
    found: dict[str, str] = {}
    for event in EVENTS:
        for _group, _index, _hook, hook in _ours(text, event):
            found.setdefault(event, str(hook["command"]))
    return found


def merged(text: str, program: str) -> Merged:
    """With a hook for each event; one that is there gets the command of today."""
    empty: dict[str, str] = {}
    for event in EVENTS:
        wanted = command(program, event)
        if there := _ours(text, event):
            hook = json_text.container(text, there[0][2].value)
            member = hook.member("command")
            if member is not None and json_text.value_of(text, member) != wanted:
                text = json_text.replaced(text, member, wanted)
            continue
        text = _with(text, event, wanted, empty)
    json.loads(text)  # whatever we have done to it, Claude Code must be able to read it
    return Merged(text, empty)


def without(text: str, empty: Mapping[str, str]) -> str:
    """Without our hooks, and without what would stand empty then; `empty`: see `Merged`."""
    for event in EVENTS:
        while there := _ours(text, event):
            group, index, _hook, _value = there[0]
            hooks = json_text.container(
                text, _needed(json_text.container(text, group), HOOKS).value
            )
            if len(hooks.members) > 1:
                text = json_text.removed(text, hooks, index)
            else:
                text = _without_group(text, event, group, empty)
    json.loads(text)
    return text


def _with(text: str, event: str, wanted: str, empty: dict[str, str]) -> str:
    hook = {"type": "command", "command": wanted, "timeout": TIMEOUT_S}
    matcher = EVENTS[event]
    group = {**({"matcher": matcher} if matcher else {}), HOOKS: [hook]}
    root = _checked(text, 0, "{")
    _note_empty(text, root, "", empty)
    there = root.member(HOOKS)
    if there is None:
        return json_text.appended(text, root, {event: [group]}, HOOKS)
    hooks = _checked(text, there.value, "{", HOOKS)
    _note_empty(text, hooks, HOOKS, empty)
    listed = hooks.member(event)
    if listed is None:
        return json_text.appended(text, hooks, [group], event)
    groups = _checked(text, listed.value, "[", f"{HOOKS}.{event}")
    _note_empty(text, groups, event, empty)
    return json_text.appended(text, groups, group)


def _without_group(text: str, event: str, group: int, empty: Mapping[str, str]) -> str:
    """Take the group out, then what held nothing else, unless it was there before us."""
    root = json_text.container(text)
    hooks = json_text.container(text, _needed(root, HOOKS).value)
    groups = json_text.container(text, _needed(hooks, event).value)
    steps = (
        (event, groups, next(i for i, m in enumerate(groups.members) if m.value == group)),
        (HOOKS, hooks, hooks.members.index(_needed(hooks, event))),
        ("", root, root.members.index(_needed(root, HOOKS))),
    )
    for name, of, index in steps:
        if len(of.members) > 1 or name in empty or not name:
            return json_text.removed(text, of, index, inside=empty.get(name, ""))
    return text


def _ours(text: str, event: str) -> list[tuple[int, int, Member, dict[str, object]]]:
    """Our hooks of an event: where their group is, the number within it, the member, the value."""
    root = _checked(text, 0, "{")
    there = root.member(HOOKS)
    listed = there and _checked(text, there.value, "{", HOOKS).member(event)
    if listed is None:
        return []
    found = []
    for group in _checked(text, listed.value, "[", f"{HOOKS}.{event}").members:
        hooks = text[group.value] == "{" and json_text.container(text, group.value).member(HOOKS)
        if not hooks or text[hooks.value] != "[":
            continue
        for index, hook in enumerate(json_text.container(text, hooks.value).members):
            value = json_text.value_of(text, hook)
            if isinstance(value, dict) and event_of(value.get("command")) == event:
                found.append((group.value, index, hook, value))
    return found


def _checked(text: str, at: int, bracket: str, name: str = "") -> Container:
    found = json_text.start_of(text, at)
    if text[found] != bracket:
        raise BadSettings(name, found)
    return json_text.container(text, found)


def _needed(of: Container, key: str) -> Member:
    member = of.member(key)
    assert member is not None, key
    return member


def _note_empty(text: str, of: Container, name: str, empty: dict[str, str]) -> None:
    if not of.members:
        empty.setdefault(name, text[of.start + 1 : of.close])
