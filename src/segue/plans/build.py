"""From the places that the scanner found to the tasks that they state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from segue.core.plan import RETRIES_DEFAULT, Priority, Resume, Step, Task
from segue.i18n import _
from segue.plans import grammar
from segue.plans.fields import LIST_FIELDS, STEPS, BadValue, Fields
from segue.plans.found import Entry, Fault, Script, StepAt
from segue.plans.head import slug
from segue.plans.lines import Lines
from segue.plans.scan import Scanner

_T = TypeVar("_T")

_SAYS_NOTHING = Fields()
SEVERAL = LIST_FIELDS | {STEPS}  # may be given more than once: they grow


def build_tasks(scan: Scanner, lines: Lines, defaults: Fields, faults: list[Fault]) -> list[Task]:
    ids = _ids_of(scan.entries)
    implied = _implied_order(scan.entries, ids)
    tasks = []
    for order, entry in enumerate(scan.entries):
        own = _fields_of(entry, faults)
        error, retries_used = _remarks_of(entry) if entry.remarks else (None, 0)
        before = implied.get(order, ())
        priority = _first(own.priority, defaults.priority)
        retries = _first(own.retries, defaults.retries)
        tasks.append(
            Task(
                id=ids[order],
                title=entry.head.title,
                state=grammar.STATE_OF_MARK[mark_of(lines, entry)],
                line=entry.at + 1,
                order=order,
                wave=entry.wave if scan.has_waves else None,
                blocked_by=_joined(before, own.blocked_by),
                files=_first(own.files, defaults.files) or (),
                priority=Priority.NORMAL if priority is None else priority,
                agent=own.agent or defaults.agent,
                run=own.run or _script_of(entry.scripts, lines) or defaults.run,
                verify=own.verify or defaults.verify,
                timeout_s=own.timeout_s or defaults.timeout_s,
                retries=RETRIES_DEFAULT if retries is None else retries,
                resume=_first(own.resume, defaults.resume) or Resume.RESTART,
                body=body_of(entry, lines) if entry.own else "",
                steps=steps_of(entry, lines) if entry.steps else (),
                previous_error=error,
                retries_used=retries_used,
            )
        )
    return tasks


def _first(own: _T | None, default: _T | None) -> _T | None:
    return default if own is None else own


def _joined(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """Both without repeats; the very same tuple where one is empty, so that big groups share it."""
    if not first or not second:
        return first or second
    return tuple(dict.fromkeys((*first, *second)))


def mark_of(lines: Lines, item: Entry | StepAt) -> bytes:
    return lines.raw[item.at][item.mark_at : item.mark_at + 1]


def steps_of(entry: Entry, lines: Lines) -> tuple[Step, ...]:
    return tuple(
        Step(step.text, grammar.STATE_OF_MARK[mark_of(lines, step)], lines.number(step.at))
        for step in entry.steps
    )


def body_of(entry: Entry, lines: Lines) -> str:
    """The lines under the task as they go to its agent: de-indented, no blank ones at the end."""
    text = "\n".join(
        grammar.dedent(grammar.decode(lines.raw[index]), entry.content) for index in entry.own
    )
    kept = text.rstrip()
    end = text.find("\n", len(kept))  # white space at the end of the last line stays
    return text if end < 0 else text[:end]


def _script_of(scripts: Sequence[Script], lines: Lines) -> str | None:
    """The fenced blocks of a task as one command."""
    texts = (
        "\n".join(
            grammar.dedent(grammar.decode(lines.raw[index]), script.column)
            for index in script.indexes
        )
        for script in scripts
    )
    return "\n".join(text for text in texts if text.strip()) or None


def _remarks_of(entry: Entry) -> tuple[str | None, int]:
    """The previous error and the retries used, of several comments the last ones."""
    error: str | None = None
    retries_used = 0
    for remark in entry.remarks:
        if remark.error is not None:
            error = remark.error
        if remark.retries_used is not None:
            retries_used = remark.retries_used
    return error, retries_used


def _fields_of(entry: Entry, faults: list[Fault]) -> Fields:
    if not entry.fields:
        return _SAYS_NOTHING
    fields = Fields()
    seen: dict[str, int] = {}
    for name, value, index in entry.fields:
        if name not in SEVERAL and seen.setdefault(name, index) != index:
            text = _("the field `{name}` appears twice: first in line {line}")
            message = text.format(name=name, line=seen[name] + 1)
            faults.append(Fault(index, "bad_field", message, _("delete one of the two lines")))
            continue
        try:
            fields.put(name, value)
        except BadValue as bad:
            faults.append(Fault(index, "bad_field", bad.message, bad.hint))
    return fields


def _ids_of(entries: Sequence[Entry]) -> list[str]:
    """The ids as written; where none is, one derived from the title that no other task has."""
    taken = {entry.head.id for entry in entries if entry.head.id is not None}
    repeats: dict[str, int] = {}
    ids = []
    for entry in entries:
        name = entry.head.id
        if name is None:
            base = slug(entry.head.title)
            count = repeats.get(base, 0) + 1
            name = base if count == 1 else f"{base}-{count}"
            while name in taken:
                count += 1
                name = f"{base}-{count}"
            repeats[base] = count
            taken.add(name)
        ids.append(name)
    return ids


def _implied_order(entries: Sequence[Entry], ids: Sequence[str]) -> dict[int, tuple[str, ...]]:
    """spec-kit's order: a group waits for the one before it; [P] tasks in a row are one group."""
    before: dict[int, tuple[str, ...]] = {}
    previous: tuple[str, ...] = ()
    group: list[str] = []
    last: Entry | None = None
    for order, entry in enumerate(entries):
        if not entry.head.is_speckit:
            continue
        is_same = (
            last is not None
            and last.head.is_parallel
            and entry.head.is_parallel
            and last.group == entry.group
        )
        if not is_same:
            previous, group = tuple(group), []
        group.append(ids[order])
        before[order] = previous
        last = entry
    return before
