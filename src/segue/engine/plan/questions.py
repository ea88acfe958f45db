"""What a person is asked while a plan runs, one question after the other.

On a terminal the asker shows a question and tells the answer through the engine's inbox.
Elsewhere there is no asker: what waits for a person stays open, and the exit code says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Protocol

from segue.core.machines import Trigger
from segue.core.plan import Task, TaskState
from segue.engine.executors import Answered
from segue.engine.plan import beginning
from segue.engine.plan.plan_run import PlanRun
from segue.i18n import _
from segue.plans.task_edit import TaskEdit
from segue.store.rows import GateRow

RETRY, SKIP, MEND = "1", "2", "3"
EDIT = "edit"  # of the questions about a checkpoint and a chapter


class Asker(Protocol):
    def ask(
        self,
        text: str,
        options: tuple[str, ...],
        preset: str | None,
        on_answer: Callable[[str | None], None],
        *,
        is_menu: bool = False,
        by_hand: str | None = None,
    ) -> None:
        """Show a question; call back with the answer, or None when no person is present.

        `is_menu`: the text shows the numbers that can be chosen. `by_hand`: the option that a
        person carries out first; the callback follows when that is done.
        """
        ...

    def withdraw(self, on_answer: Callable[[str | None], None]) -> None:
        """The question that would call this back waits no longer."""
        ...


class Questions:
    def __init__(self, asker: Asker | None, tell: Callable[[Answered], None]) -> None:
        self._asker = asker
        self._tell = tell
        self._open: set[str] = set()  # what they are about
        self._gates: dict[str, GateRow] = {}
        self._callbacks: dict[str, Callable[[str | None], None]] = {}

    @property
    def is_asking(self) -> bool:
        return bool(self._open)

    def ask_gate(self, gate: GateRow) -> None:
        if self._asker is None:
            return
        self._gates[gate.id] = gate
        self._ask(
            gate.id,
            f"❓ {gate.task}: {gate.text}" if gate.task else f"❓ {gate.text}",
            gate.options,
            gate.preset,
            by_hand=EDIT if gate.run is None and EDIT in gate.options else None,
        )

    def ask_failed(self, run: PlanRun, tasks: list[str]) -> bool:
        """Ask what to do about failed tasks, while what does not depend on them continues; False
        where there is no person to ask."""
        if self._asker is None or not tasks:
            return False
        for key in tasks:
            text = failed_question(run.file.task(key), run.ledger.tasks[key].error)
            options = (RETRY, SKIP, MEND)
            about = f"failed:{key}"
            self._ask(about, text, options, None, is_menu=True, by_hand=MEND)
        return True

    def ask_about_failed_here(self, run: PlanRun) -> bool:
        """On a terminal, when nothing else can run now: what failed in this run is asked about
        once."""
        asked = [task for task in run.failed_here if task in run.graph]
        run.failed_here, told = [], run.failed_here
        if run.options.on_failed == "ask" and self.ask_failed(run, asked):
            return True
        run.failed_here = told
        return False

    def _ask(
        self,
        about: str,
        text: str,
        options: tuple[str, ...],
        preset: str | None,
        *,
        is_menu: bool = False,
        by_hand: str | None = None,
    ) -> None:
        assert self._asker is not None
        self._open.add(about)
        tell = self._tell

        def on_answer(answer: str | None) -> None:
            self._callbacks.pop(about, None)
            tell(Answered(about, answer))

        self._callbacks[about] = on_answer
        show = partial(self._asker.ask, text, options, preset, on_answer)

        def ask() -> None:
            if about in self._callbacks:  # else it was withdrawn meanwhile
                show(is_menu=is_menu, by_hand=by_hand)

        # Behind everything that is printed now: a question is the last thing on the screen.
        asyncio.get_running_loop().call_soon(ask)

    def withdraw(self, gate: str) -> None:
        """It was answered elsewhere, or its time is over: it is shown no more."""
        self._open.discard(gate)
        self._gates.pop(gate, None)
        on_answer = self._callbacks.pop(gate, None)
        if self._asker is not None and on_answer is not None:
            self._asker.withdraw(on_answer)

    def answered(self, run: PlanRun, answered: Answered) -> None:
        self._open.discard(answered.about)
        gate = self._gates.pop(answered.about, None)
        if gate is not None:
            if gate.id in run.ledger.gates and answered.answer is not None:
                beginning.go_on_with(run, gate, answered.answer)
            return
        task = answered.about.removeprefix("failed:")
        if (
            answered.about.startswith("failed:")
            and task in run.graph
            and run.ledger.tasks[task].state is TaskState.FAILED
        ):
            if answered.answer is None:
                run.unanswered.append(task)
            elif answered.answer == SKIP:
                skip_failed(run, task)
            else:
                retry_failed(run, task)


def failed_question(task: Task, error: str | None) -> str:
    """The question about a failed task, as the original words it."""
    first_line = (task.previous_error or error or _("unknown")).splitlines()[0]
    tried = _("  - tried: {used}/{retries}")
    return "\n".join(
        [
            _("⚠️ Found a failed task:"),
            "",
            f"{task.id}: {task.title}",
            _("  - error: {error}").format(error=first_line),
            *([tried.format(used=task.retries_used, retries=task.retries)] if task.retries else []),
            "",
            _("Choose:"),
            _("[1] retry - run it again (the count starts anew)"),
            _("[2] skip - pass it over (and what depends on it)"),
            _("[3] fix and retry - fix it yourself, then continue"),
        ]
    )


def retry_failed(run: PlanRun, key: str, *, used: int = 0) -> None:
    """Run it again: the count restarts (or with `used`), the error stays as a comment."""
    run.move_task(key, TaskState.PENDING, Trigger.RETRY, retries_used=used)
    run.mark(key, TaskState.PENDING)
    retries = run.graph.task(key).retries
    run.edit(key, TaskEdit(all_steps=False, retries=(None, retries)))
    run.publish("task_retried", task=key)
    run.reopen_skipped()


def skip_failed(run: PlanRun, key: str) -> None:
    """Pass it over, and with it what depends on it."""
    run.move_task(key, TaskState.SKIPPED, Trigger.SKIP)
    run.mark(key, TaskState.SKIPPED)
    run.skipped_here.add(key)
    run.publish("task_skipped", task=key, because=None)
    run.skip_dependants([key])
