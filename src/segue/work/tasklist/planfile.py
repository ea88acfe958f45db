"""The plan's file while a plan runs: two hands write in it, Segue's and a person's.

Segue's edits are kept, one for each task, until they are safely in the file. A write
compares first: if a person has changed the file meanwhile, their text is taken and the
edits are made again on top of it. So neither hand loses anything.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from segue.core.plan import Task, TaskState
from segue.engine.plan import context_note
from segue.engine.plan.attempts import Attempt
from segue.engine.plan.plan_run import PlanRun
from segue.engine.plan.source import Source
from segue.engine.question_texts import PLAN_EDIT
from segue.errors import Problem, UserError
from segue.i18n import _
from segue.plans.check import check
from segue.plans.task_edit import TaskEdit
from segue.plans.tasklist import Document
from segue.store import files
from segue.work.tasklist import held_edits
from segue.work.tasklist.held_edits import Pins

if TYPE_CHECKING:
    from segue.store.rows import GateRow

TRIES_MAX = 50


class PlanFile(Source[PlanRun]):
    """The file, what it said when last read, and Segue's edits that are not in it yet.

    `check_more`: what else a plan must have to be run (its agents, its commands).
    """

    kind = "tasklist"
    may_lag = True

    def __init__(
        self,
        path: Path,
        shown: str,
        check_more: Callable[[Document], list[Problem]],
        *,
        accepts_new: bool = False,
    ) -> None:
        super().__init__(path, shown)
        self._check_more = check_more
        self.spare: Path | None = None  # where the next text is written before it is shown
        self._bytes = b""
        self._seen: tuple[int, ...] | None = None
        self._was_gone = False
        self._is_unsynced = False
        self._edits: dict[str, TaskEdit] = {}  # by task
        self._is_fresh = False  # the document is a person's text, without them
        self.document = Document.parse(b"", file=shown)
        self._pins = Pins(accepts_new)

    def read_first(self) -> None:
        """The first look. An empty file is a plan too: one without tasks."""
        try:
            if not self.read():
                self._take_whole(b"")
            if self._was_gone:
                raise FileNotFoundError(2, "No such file or directory")
        except OSError as error:
            raise UserError(
                "plan_unreadable",
                _("cannot read the plan: {why}").format(why=error.strerror),
                file=self.shown,
                hint=_("make it readable: chmod u+r"),
            ) from error

    def read(self) -> bool:
        """Look at the file; True if it is not what we last saw or wrote."""
        try:
            status = self.path.stat()
            # The time of a change cannot be set back, unlike that of the last write.
            seen = (status.st_ctime_ns, status.st_mtime_ns, status.st_size, status.st_ino)
            if seen == self._seen:
                return False
            data = self.path.read_bytes()
        except FileNotFoundError:
            return self._is_gone()
        self._seen = seen
        return self._take(data)

    def _is_gone(self) -> bool:
        """An editor or a checkout may take the file away for a moment: nothing new starts."""
        self._seen = None
        if self._was_gone:
            return False
        self._was_gone = True
        message = _("the plan file no longer exists")
        hint = _("put it back; the work continues automatically")
        self.problems = [Problem("plan_not_found", message, self.shown, None, hint)]
        return True

    def _take(self, data: bytes) -> bool:
        if data == self._bytes and not self._was_gone:
            return False
        self._was_gone = False
        self._take_whole(data)
        return True

    def _take_whole(self, data: bytes) -> None:
        self._bytes = data
        self._is_fresh = bool(self._edits)
        self.document = Document.parse(data, file=self.shown)
        self.problems = check(self.document) or self._check_more(self.document)

    @property
    def trusted_files(self) -> tuple[Path, ...]:
        return (self.path,)

    def edit(self, task: str, edit: TaskEdit) -> TaskEdit:
        """Note a change of Segue's own. It is in the file after the next `write`."""
        if not self._is_fresh:
            edit.apply(self.document, task)
        return self._note(task, edit)

    def _note(self, task: str, edit: TaskEdit) -> TaskEdit:
        before = self._edits.get(task)
        whole = self._edits[task] = edit if before is None else before.then(edit)
        return whole

    def mark(self, task: str, state: TaskState) -> None:
        self._note(task, TaskEdit(state))  # the document gets it when it is written

    def forget(self, task: str) -> None:
        self._edits.pop(task, None)

    def write(self, taken_in: Callable[[], None]) -> bool:
        """Put the noted changes into the file; `taken_in` is called when a person's text
        came in between, before the changes are made again. False: the plan is broken
        right now; the changes wait until a person has mended it."""
        for _try in range(TRIES_MAX):
            if not self._edits:
                return True
            if self.is_broken:
                return False
            for task, edit in self._edits.items():
                edit.apply(self.document, task)
            self._is_fresh = False
            new = self.document.render()
            try:
                theirs = files.exchange_if(self.path, new, self._bytes, spare=self.spare)
            except FileNotFoundError:
                if self._is_gone():
                    taken_in()
                return False
            except OSError as error:
                raise files.in_words(error, self.path) from error
            if theirs is None:
                self._bytes = new
                self._edits.clear()
                self._seen = None  # what came right behind us must be seen
                self._is_unsynced = True
                return True
            self._seen = None
            self._take(theirs)
            taken_in()
        return False  # it changes faster than it can be written: after the next change

    def sync(self) -> None:
        """The last step of a write: the folder. Work that was begun need not wait for it."""
        if self._is_unsynced:
            self._is_unsynced = False
            try:
                files.sync_folder(self.path.parent)
            except OSError as error:
                raise files.in_words(error, self.path) from error

    def tasks(self) -> tuple[Task, ...]:
        """As they run: with what was accepted of them."""
        return self._pins.tasks(self.document.tasks)

    def task(self, key: str) -> Task:
        return self._pins.task(self.document.task(key))

    def admit(self, run: PlanRun) -> None:
        held_edits.admit(run, self._pins, self.document.tasks)

    @property
    def withheld(self) -> list[str]:
        running = {task.id for task in self.tasks()}
        return [task.id for task in self.document.tasks if task.id not in running]

    def answered(self, run: PlanRun, gate: GateRow, answer: str) -> bool:
        if gate.category != PLAN_EDIT:
            return False  # it is the agent that has asked
        held_edits.settle(run, gate, answer, self._pins, self.document.tasks)
        return True

    def place(self, attempt: Attempt) -> str:
        known = attempt.task.id in self.document
        task = self.document.task(attempt.task.id) if known else attempt.task
        where = _("{file}, line {line}").format(file=self.path.name, line=task.line)
        done = context_note.steps_done(attempt, task)
        return context_note.described(
            attempt, self.shown, reread=[where], steps=task.steps, done=done
        )

    def progress(self, run: PlanRun) -> tuple[int, int]:
        return run.frontier.counts[TaskState.COMPLETED], len(run.graph)
