"""A task list: a Markdown file whose checklist entries are tasks.

`Document.parse(data).render() == data` for any bytes. What Segue may change are marks and
its own two comments; a change touches the line it is about, and no other byte.
"""

from __future__ import annotations

from dataclasses import replace

from segue.core.bulk import no_collection
from segue.core.plan import Task, TaskState
from segue.errors import Problem
from segue.i18n import _
from segue.plans import comments
from segue.plans.build import body_of, build_tasks, mark_of, steps_of
from segue.plans.comments import Language
from segue.plans.fields import BLOCKED_BY, Fields, blockers
from segue.plans.found import Entry, Fault, StepAt
from segue.plans.frontmatter import read_front_matter
from segue.plans.grammar import MARK_OF_STATE, STATE_OF_MARK, line_end
from segue.plans.lines import Lines, Place
from segue.plans.misspelt import Note
from segue.plans.scan import Scanner

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class Document:
    """A plan file as it stands, changed in place. Tasks are values: ask again after a change."""

    def __init__(self, data: bytes, *, file: str = "PLAN.md") -> None:
        self.file = file
        self._lines = Lines(data)
        front = read_front_matter(self._lines.raw)
        self.defaults: Fields = front.defaults
        scan = Scanner(self._lines, front.line_count)
        self.has_waves = scan.has_waves
        self._faults = [*_encoding_faults(data), *front.faults, *scan.faults]
        self._tasks = build_tasks(scan, self._lines, front.defaults, self._faults)
        self._faults.sort(key=lambda fault: fault.at)
        self._entries = scan.entries
        self._notes = scan.notes
        self._unclosed_at = scan.unclosed_at
        self._nameless_at = scan.nameless_at
        self._orders: dict[str, int] = {}
        for order, task in enumerate(self._tasks):
            self._orders.setdefault(task.id, order)
        self._shown: tuple[Task, ...] | None = None

    @classmethod
    def parse(cls, data: bytes, *, file: str = "PLAN.md") -> Document:
        """Read a plan. Never fails: what is wrong with it is in `problems`."""
        with no_collection():
            return cls(data, file=file)

    def render(self) -> bytes:
        return self._lines.render()

    # What it says

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Every task, in the order of the file."""
        if self._shown is None:
            self._shown = tuple(self._fresh(order) for order in range(len(self._tasks)))
        return self._shown

    def task(self, task_id: str) -> Task:
        """The task with this id (the first one, if it stands twice). KeyError if there is none."""
        return self._fresh(self._orders[task_id])

    def __contains__(self, task_id: object) -> bool:
        return task_id in self._orders

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with single lines, in the order of the file."""
        return tuple(
            Problem(fault.code, fault.message, self.file, self.line_of(fault.at), fault.hint)
            for fault in self._faults
        )

    @property
    def notes(self) -> tuple[Note, ...]:
        """Bullets of tasks that look like fields and are none: text for the agent."""
        return tuple(Note(self.line_of(at), word, text) for at, word, text in self._notes)

    @property
    def unclosed_line(self) -> int | None:
        """The line of a fence or comment that runs to the end of the file."""
        return None if self._unclosed_at is None else self.line_of(self._unclosed_at)

    @property
    def nameless_line(self) -> int | None:
        """The first line with a mark that is no task, because it is nested and has no id."""
        return None if self._nameless_at is None else self.line_of(self._nameless_at)

    def line_of(self, index: int) -> int:
        return self._lines.number(index)

    def blocker_line(self, order: int, blocker: str) -> int:
        """The line in which the task at this place names its blocker."""
        entry = self._entries[order]
        for name, value, index in entry.fields:
            if name == BLOCKED_BY and blocker in blockers(value):
                return self.line_of(index)
        return self.line_of(entry.at)

    def field_line(self, task_id: str, field: str) -> int:
        """The line in which a task has this field; its own line where it has none."""
        entry = self._entries[self._orders[task_id]]
        for name, _value, index in entry.fields:
            if name == field:
                return self.line_of(index)
        return self.line_of(entry.at)

    @property
    def has_ids(self) -> bool:
        """Whether some task has an id of its own: a plan rather than any checklist."""
        return any(entry.head.id for entry in self._entries)

    # Changes

    def set_mark(self, task_id: str, state: TaskState) -> None:
        order = self._orders[task_id]
        self._mark(self._entries[order], state)
        self._tasks[order] = replace(self._tasks[order], state=state)
        self._shown = None

    def set_step(self, task_id: str, n: int, done: bool) -> bool:
        """Tick the nth sub-step, counted from 1, or clear it. False if there is none."""
        order = self._orders[task_id]
        entry = self._entries[order]
        if not 1 <= n <= len(entry.steps):
            return False
        self._mark(entry.steps[n - 1], _state_of(done))
        self._steps_changed(order)
        return True

    def set_all_steps(self, task_id: str, done: bool) -> None:
        order = self._orders[task_id]
        for step in self._entries[order].steps:
            self._mark(step, _state_of(done))
        self._steps_changed(order)

    def set_error(self, task_id: str, text: str | None, language: Language = "en") -> None:
        """Write the `previous error` comment of a task; None takes it away."""
        order = self._orders[task_id]
        entry = self._entries[order]
        shown = None if text is None else comments.one_line(text, language)
        comment = None if shown is None else comments.error_comment(shown, language)
        self._write_comment(entry, entry.errors, comment)
        self._tasks[order] = replace(self._tasks[order], previous_error=shown)
        self._shown = None

    def set_retries(
        self, task_id: str, used: int | None, limit: int, language: Language = "en"
    ) -> None:
        """Write the `retries` comment of a task; None takes it away."""
        order = self._orders[task_id]
        entry = self._entries[order]
        count = comments.counted(used or 0)
        comment = None
        if used is not None:
            comment = comments.retries_comment(count, comments.counted(limit), language)
        self._write_comment(entry, entry.retries, comment)
        self._tasks[order] = replace(self._tasks[order], retries_used=count)
        self._shown = None

    def _mark(self, item: Entry | StepAt, state: TaskState) -> None:
        if STATE_OF_MARK[mark_of(self._lines, item)] is not state:  # [X] stays [X]
            self._lines.set_byte(item.at, item.mark_at, MARK_OF_STATE[state])

    def _steps_changed(self, order: int) -> None:
        entry = self._entries[order]
        self._tasks[order] = replace(
            self._tasks[order],
            steps=steps_of(entry, self._lines),
            body=body_of(entry, self._lines),  # the steps stand in it, with their marks
        )
        self._shown = None

    def _write_comment(self, entry: Entry, places: list[Place], comment: bytes | None) -> None:
        """Put the comment where one stands; else at the end of the task's block."""
        stale = places if comment is None else places[:-1]
        kept = [place for place in stale if not self._lines.remove(place)]
        for place in kept:
            self._lines.replace(place, comments.NO_ERROR)
        if comment is None:
            places[:] = []
            entry.errors.extend(kept)
            return
        if places:
            self._lines.replace(places[-1], comment)
            places[:] = [*kept, places[-1]]
            return
        after = entry.at if entry.is_open_end else entry.anchor
        indented = b" " * entry.content + comment
        places.append(self._lines.add(after, indented, line_end(self._lines[entry.at])))

    def _fresh(self, order: int) -> Task:
        """The task with the line numbers of now: comments above may have moved it."""
        entry, task = self._entries[order], self._tasks[order]
        if entry.version != self._lines.version:
            entry.version = self._lines.version
            line = self.line_of(entry.at)
            if line != task.line or entry.steps:
                task = replace(task, line=line, steps=steps_of(entry, self._lines))
                self._tasks[order] = task
        return task


def _state_of(done: bool) -> TaskState:
    return TaskState.COMPLETED if done else TaskState.PENDING


def _encoding_faults(data: bytes) -> list[Fault]:
    if not data.startswith(_UTF_16):
        return []
    message = _("the file is UTF-16, not UTF-8")
    return [Fault(0, "not_utf8", message, _("save the file as UTF-8"))]
