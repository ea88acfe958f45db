"""Pins: what a task of a plan runs and by what it is checked, as a person accepted it.

A pin is a text, the same for the same fields, so that thousands of them are compared without being
read. Fields that a task does not set are left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from segue.core.plan import RETRIES_DEFAULT, Task
from segue.i18n import _

DEFAULTS: dict[str, Any] = {
    "run": None,
    "verify": None,
    "agent": None,
    "blocked_by": (),
    "wave": None,
    "retries": RETRIES_DEFAULT,
    "timeout_s": None,
}
NAMES = {"blocked_by": "blocked by", "timeout_s": "timeout"}  # as a plan has them
EMPTY = "{}"
VALUE_CHARS_MAX = 4_000  # of one value, in a question


def pin_of(task: Task) -> str:
    found = {name: value for name in DEFAULTS if (value := getattr(task, name)) != DEFAULTS[name]}
    return json.dumps(found, ensure_ascii=False, sort_keys=True) if found else EMPTY


def pinned(task: Task, pin: str) -> Task:
    """The task with the fields of its pin."""
    fields = {**DEFAULTS, **json.loads(pin)}
    fields["blocked_by"] = tuple(fields["blocked_by"])
    return replace(task, **{name: fields[name] for name in DEFAULTS})


def shown(old: str | None, new: str | None) -> str:
    """The fields in which two pins differ, the old lines before the new ones; of a task that is
    new or gone all that it sets."""
    before, after = _lines(old), _lines(new)
    lines = []
    for name in DEFAULTS:
        if before.get(name) != after.get(name):
            lines += [f"- {before[name]}"] if name in before else []
            lines += [f"+ {after[name]}"] if name in after else []
    return "\n".join(lines)


def _lines(pin: str | None) -> dict[str, str]:
    if pin is None:
        return {}
    return {name: _line(name, value) for name, value in json.loads(pin).items()}


def _line(name: str, value: Any) -> str:
    if isinstance(value, list):
        value = ", ".join(value)
    if name == "timeout_s":
        value = f"{value:g}s"
    text = str(value)
    if len(text) > VALUE_CHARS_MAX:
        more = _("… ({n} more characters)").format(n=len(text) - VALUE_CHARS_MAX)
        text = f"{text[:VALUE_CHARS_MAX]}{more}"
    return f"{NAMES.get(name, name)}: {text}"


def sound(tasks: Sequence[Task], is_done: Callable[[str], bool]) -> tuple[Task, ...]:
    """The tasks that can be scheduled together. Pinned and accepted fields may contradict each
    other: a task stays out whose blocker is missing (unless that is done), stands in a later wave,
    or waits for the task itself."""
    known = {task.id: task for task in tasks}
    open_blockers: dict[str, int] = {}
    dependants: dict[str, list[str]] = {}
    blockers: dict[str, tuple[str, ...]] = {}
    for task in tasks:
        wanted = dict.fromkeys(id for id in task.blocked_by if id in known or not is_done(id))
        blockers[task.id] = tuple(wanted)
        is_out = any(_is_impossible(task, known, id) for id in wanted)
        open_blockers[task.id] = len(wanted) + is_out
        for id in wanted:
            dependants.setdefault(id, []).append(task.id)
    reached: set[str] = set()
    ready = [id for id, count in open_blockers.items() if not count]
    while ready:
        id = ready.pop()
        reached.add(id)
        for dependant in dependants.get(id, ()):
            open_blockers[dependant] -= 1
            if not open_blockers[dependant]:
                ready.append(dependant)
    return tuple(
        task
        if blockers[task.id] == task.blocked_by
        else replace(task, blocked_by=blockers[task.id])
        for task in tasks
        if task.id in reached
    )


def _is_impossible(task: Task, known: Mapping[str, Task], blocker: str) -> bool:
    found = known.get(blocker)
    if found is None:
        return True
    return task.wave is not None and found.wave is not None and found.wave > task.wave
