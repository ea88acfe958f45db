"""Where the tasks of a plan come from and where their marks go.

A task list is a Markdown file (`planfile.py`). A book and a feature are plans whose next tasks
depend on how the last ones came out: their `Steps` are worked out from a state file of their own,
which is written where a task list gets its marks: after the tables, before the processes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from segue.core.plan import Task, TaskState
from segue.engine.plan import context_note
from segue.engine.plan.attempts import Attempt
from segue.errors import Problem
from segue.plans.task_edit import TaskEdit
from segue.store.rows import GateRow, RunRow

Run = TypeVar("Run")  # of a plan, as the engine has it
Run_contra = TypeVar("Run_contra", contravariant=True)


class Source(Protocol[Run_contra]):
    """What a run of a plan needs of it."""

    path: Path
    shown: str  # the name that people know it by
    kind: str
    problems: list[Problem]
    retries_conflicts: bool  # whether the next attempt hears of a merge conflict of the last
    may_lag: bool  # whether its marks may follow the tables by a moment

    @property
    def trusted_files(self) -> tuple[Path, ...]:
        """The files of a person that say what is run."""
        ...

    @property
    def is_broken(self) -> bool: ...

    def tasks(self) -> tuple[Task, ...]: ...

    def task(self, key: str) -> Task: ...

    def read(self) -> bool:
        """Look at the file; True if a person has changed it."""
        ...

    def admit(self, run: Run_contra) -> None:
        """Decide what counts of a file that has changed; called before its tasks are taken in."""
        ...

    @property
    def withheld(self) -> list[str]:
        """Tasks of the file that wait until a person has accepted them."""
        ...

    def edit(self, task: str, edit: TaskEdit) -> TaskEdit | None:
        """Note a change of a task's entry; it is in the file after the next `write`. All that is
        not in the file yet of this task; None: it has no entry."""
        ...

    def forget(self, task: str) -> None:
        """A person decided about a task: no change of its entry that is not in the file yet."""
        ...

    def mark(self, task: str, state: TaskState) -> None:
        """Note how a task stands now; it is in the file after the next `write`."""
        ...

    def write(self, taken_in: Callable[[], None]) -> bool: ...

    def sync(self) -> None: ...

    def has_moved_on(self) -> bool:
        """Whether the last write brought other tasks."""
        ...

    def followed(self, run: Run_contra) -> None:
        """The other tasks are taken in."""
        ...

    def prepare(self, attempt: Attempt) -> None:
        """An attempt is about to begin from its beginning."""
        ...

    def object_to(self, attempt: Attempt) -> str | None:
        """Why the work of an agent that ended well does not count; None: it does."""
        ...

    def answered(self, run: Run_contra, gate: GateRow, answer: str) -> bool:
        """A person has answered; True: the question was the plan's own, and is settled."""
        ...

    def decide(self, run: Run_contra, task: str, verb: str, take: Callable[[], None]) -> bool:
        """A person wants a task retried or skipped (`verb`). True: that is the plan's own to
        settle, and is settled; it called `take` first. CannotError: not now."""
        ...

    def progress(self, run: Run_contra) -> tuple[int, int]:
        """How much is done, of how much, as people count it."""
        ...

    def place(self, attempt: Attempt) -> str:
        """A short Markdown text by which an agent without its context knows where it is: what
        plan, what task, which try, what to do next, what to read again. A line `- [ ] …` is a
        thing that it is reminded of if it stops without it."""
        ...

    def at_rest(self, run: Run_contra) -> bool:
        """Nothing runs and nothing can start now, though something may be parked; True: something
        has changed by this."""
        ...

    def goes_on_from(self, run: Run_contra, task: Task) -> RunRow | None:
        """The run in whose conversation a task begins; None: in one of its own."""
        ...


class Steps(Generic[Run]):
    """The part of a source that every plan of steps has: no person edits its marks."""

    kind = ""
    retries_conflicts = False
    may_lag = False

    def __init__(self, path: Path, shown: str) -> None:
        self.path = path
        self.shown = shown
        self.problems: list[Problem] = []

    @property
    def trusted_files(self) -> tuple[Path, ...]:
        return ()

    @property
    def is_broken(self) -> bool:
        return bool(self.problems)

    def tasks(self) -> tuple[Task, ...]:
        raise NotImplementedError

    def task(self, key: str) -> Task:
        return next(task for task in self.tasks() if task.id == key)

    def read(self) -> bool:
        return False

    def admit(self, run: Run) -> None:
        """Its tasks are Segue's own."""

    @property
    def withheld(self) -> list[str]:
        return []

    def edit(self, task: str, edit: TaskEdit) -> TaskEdit | None:
        return None  # a step has no text in a file

    def forget(self, task: str) -> None:
        """Nobody decides about a step in a file."""

    def sync(self) -> None:
        """Every write was synced."""

    def followed(self, run: Run) -> None:
        """Nothing more is to be done about it."""

    def prepare(self, attempt: Attempt) -> None:
        """Nothing needs to be made ready."""

    def object_to(self, attempt: Attempt) -> str | None:
        return None

    def decide(self, run: Run, task: str, verb: str, take: Callable[[], None]) -> bool:
        return False

    def at_rest(self, run: Run) -> bool:
        return False

    def goes_on_from(self, run: Run, task: Task) -> RunRow | None:
        return None

    def place(self, attempt: Attempt) -> str:
        target = dict(attempt.task.env).get("SEGUE_TARGET")
        return context_note.described(attempt, self.shown, reread=[target] if target else [])
