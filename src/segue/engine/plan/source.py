"""Where the tasks of a plan come from and where their marks go.

A task list is a Markdown file (`planfile.py`). A book and a feature are plans whose next tasks
depend on how the last ones came out: their steps are worked out from a state file of their own,
which is written where a task list gets its marks: after the tables, before the processes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from segue.core.plan import Task, TaskState
from segue.engine.plan import context_note
from segue.engine.plan.attempts import Attempt
from segue.errors import Problem
from segue.plans.task_edit import TaskEdit
from segue.store.rows import GateRow, RunRow

Run = TypeVar("Run")  # of a plan, as the engine has it


class Source(Generic[Run]):
    """What a run of a plan needs of it. What is said here is right for a plan of steps, whose marks
    no person edits: a kind says what is different."""

    kind = ""
    retries_conflicts = False  # whether the next attempt hears of a merge conflict of the last
    may_lag = False  # whether its marks may follow the tables by a moment

    def __init__(self, path: Path, shown: str) -> None:
        """`shown`: the name that people know it by."""
        self.path = path
        self.shown = shown
        self.problems: list[Problem] = []

    @property
    def trusted_files(self) -> tuple[Path, ...]:
        """The files of a person that say what is run."""
        return ()

    @property
    def is_broken(self) -> bool:
        return bool(self.problems)

    def tasks(self) -> tuple[Task, ...]:
        raise NotImplementedError

    def task(self, key: str) -> Task:
        return next(task for task in self.tasks() if task.id == key)

    def progress(self, run: Run) -> tuple[int, int]:
        """How much is done, of how much, as people count it."""
        raise NotImplementedError

    # The file

    def read(self) -> bool:
        """Look at the file; True if a person has changed it."""
        return False

    def admit(self, run: Run) -> None:
        """Decide what counts of a file that has changed; called before its tasks are taken in."""

    @property
    def withheld(self) -> list[str]:
        """Tasks of the file that wait until a person has accepted them."""
        return []

    def edit(self, task: str, edit: TaskEdit) -> TaskEdit | None:
        """Note a change of a task's entry; it is in the file after the next `write`. All that is
        not in the file yet of this task; None: it has no entry."""
        return None

    def forget(self, task: str) -> None:
        """A person decided about a task: no change of its entry that is not in the file yet."""

    def mark(self, task: str, state: TaskState) -> None:
        """Note how a task stands now; it is in the file after the next `write`."""
        raise NotImplementedError

    def write(self, taken_in: Callable[[], None]) -> bool:
        """False: nothing can be written now. `taken_in`: a person's text came in between."""
        raise NotImplementedError

    def sync(self) -> None:
        """What `write` may leave for later."""

    def has_moved_on(self) -> bool:
        """Whether the last write brought other tasks."""
        return False

    def followed(self, run: Run) -> None:
        """The other tasks are taken in."""

    # Its tasks

    def prepare(self, attempt: Attempt) -> None:
        """An attempt is about to begin from its beginning."""

    def goes_on_from(self, run: Run, task: Task) -> RunRow | None:
        """The run in whose conversation a task begins; None: in one of its own."""
        return None

    def object_to(self, attempt: Attempt) -> str | None:
        """Why the work of an agent that ended well does not count; None: it does."""
        return None

    def place(self, attempt: Attempt) -> str:
        """A short Markdown text by which an agent without its context knows where it is: what
        plan, what task, which try, what to do next, what to read again. A line `- [ ] …` is a
        thing that it is reminded of if it stops without it."""
        target = dict(attempt.task.env).get("SEGUE_TARGET")
        return context_note.described(attempt, self.shown, reread=[target] if target else [])

    def answered(self, run: Run, gate: GateRow, answer: str) -> bool:
        """A person has answered; True: the question was the plan's own, and is settled."""
        return False

    def decide(self, run: Run, task: str, verb: str, take: Callable[[], None]) -> bool:
        """A person wants a task retried or skipped (`verb`). True: that is the plan's own to
        settle, and is settled; it called `take` first. CannotError: not now."""
        return False

    def at_rest(self, run: Run) -> bool:
        """Nothing runs and nothing can start now, though something may be parked; True: something
        has changed by this."""
        return False
