"""Edits that are held: what changed in a plan while agents worked, until a person decides.

What a task runs and by what it is checked is pinned in the tables. Where the file says something
else, it depends on when that was written: while no agent could write, it is a person's, and is
pinned; otherwise the task keeps its pin and a gate shows both. Open gates survive every restart, so
an edit that was held once never counts because it is found again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from segue.core.machines import Trigger
from segue.core.plan import Task, TaskState
from segue.engine.plan import edits
from segue.engine.plan.plan_run import PlanRun
from segue.engine.question_texts import ACCEPT, PLAN_EDIT, REJECT, text_of
from segue.i18n import _
from segue.plans.pins import pin_of, pinned, shown, sound
from segue.store.rows import GateRow, TaskRow

GATES_MAX = 20  # so many tasks are asked about one by one
GONE = ""  # what was refused: that the task is gone

Change = tuple[str | None, str | None]  # the pin and what the file says; None: no such task


@dataclass(slots=True)
class Pins:
    """What counts of the file that was last read. `accepts_new`: new tasks need no person."""

    accepts_new: bool = False
    by_task: dict[str, str] = field(default_factory=dict)  # where the file says something else
    outside: set[str] = field(default_factory=set)  # tasks that wait for a person
    done: set[str] = field(default_factory=set)  # of those that are not in the file

    def tasks(self, tasks: tuple[Task, ...]) -> tuple[Task, ...]:
        """The tasks as they run."""
        if not self.by_task and not self.outside:
            return tasks
        kept = [self.task(task) for task in tasks if task.id not in self.outside]
        return sound(kept, self.done.__contains__)

    def task(self, task: Task) -> Task:
        pin = self.by_task.get(task.id)
        return task if pin is None else pinned(task, pin)


def admit(run: PlanRun, pins: Pins, tasks: tuple[Task, ...]) -> None:
    """Compare the file with what was accepted: pin what is a person's, hold the rest, and ask."""
    rows = run.ledger.tasks
    is_persons = not run.agents_could_edit or not any(row.pinned for row in rows.values())
    proposed = {id: new for gate in _gates(run) for id, (_old, new) in _changes(gate).items()}
    held: dict[str, Change] = {}
    pins.by_task, pins.outside = {}, set()
    for task in tasks:
        row, pin = rows.get(task.id), pin_of(task)
        is_pending = proposed.get(task.id) == pin
        if row is not None and row.pinned == pin:
            _accept(run, row, pin)
        elif row is not None and row.pinned is not None:
            if pin == row.refused:
                pins.by_task[task.id] = row.pinned
            elif is_persons and not is_pending:
                _accept(run, row, pin)
            else:
                pins.by_task[task.id] = row.pinned
                held[task.id] = (row.pinned, pin)
        elif row is not None and row.refused and _is_still_skipped(task, row):
            pass
        elif task.id in proposed or not (is_persons or pins.accepts_new):
            pins.outside.add(task.id)
            held[task.id] = (None, pin)
        elif row is None:
            run.ledger.add_task(task, pinned=pin)
        else:
            _accept(run, row, pin)
    held |= _missing(run, {task.id for task in tasks}, proposed, is_persons=is_persons)
    pins.done = {id for id, row in rows.items() if row.state is TaskState.COMPLETED}
    _ask(run, held, {task.id: task.title for task in tasks})


def _is_still_skipped(task: Task, row: TaskRow) -> bool:
    """A new task that a person refused."""
    return row.state is TaskState.SKIPPED and task.state in (row.state, row.mark)


def _missing(
    run: PlanRun, there: set[str], proposed: Mapping[str, str | None], *, is_persons: bool
) -> dict[str, Change]:
    """Tasks that were accepted and are not in the file any more."""
    held: dict[str, Change] = {}
    for id, row in run.ledger.tasks.items():
        if row.pinned is None or id in there or row.refused == GONE:
            continue
        is_pending = id in proposed and proposed[id] is None
        if row.state is TaskState.COMPLETED or (is_persons and not is_pending):
            _accept(run, row, None)
        else:
            held[id] = (row.pinned, None)
    return held


def _accept(run: PlanRun, row: TaskRow, pin: str | None) -> None:
    if row.pinned != pin or row.refused is not None:
        run.ledger.note_task(row.key, pinned=pin, refused=None)


# Gates


def _gates(run: PlanRun) -> list[GateRow]:
    return [gate for gate in run.ledger.gates.values() if gate.category == PLAN_EDIT]


def _changes(gate: GateRow) -> dict[str, Change]:
    return {id: (told["old"], told["new"]) for id, told in gate.about["edits"].items()}


def _ask(run: PlanRun, held: dict[str, Change], titles: Mapping[str, str]) -> None:
    """One gate for each task; one for all where there are many. A gate that shows something else
    than what is held now is withdrawn: nobody accepts what they did not see."""
    for gate in _gates(run):
        changes = _changes(gate)
        if all(held.get(id) == change for id, change in changes.items()):
            for id in changes:
                del held[id]
        else:
            run.questions.withdraw(gate.id)
            run.ledger.close_gate(gate, None)
    groups: Iterable[list[str]] = [[id] for id in held]
    if len(held) > GATES_MAX:
        groups = [list(held)]
    for ids in groups:
        edited = {
            id: {
                "old": held[id][0],
                "new": held[id][1],
                "title": titles.get(id, ""),
                "shown": shown(*held[id]),
            }
            for id in ids
        }
        about = {"edits": edited} | ({"task": ids[0]} if len(ids) == 1 else {})
        text = text_of(PLAN_EDIT, about)
        options = (ACCEPT, REJECT)
        run.open_gate(run.ledger.add_question(None, text, PLAN_EDIT, options, about=about))


def settle(run: PlanRun, gate: GateRow, answer: str, pins: Pins, tasks: tuple[Task, ...]) -> None:
    """A person has decided about what this gate showed."""
    run.ledger.close_gate(gate, answer)
    there = {task.id: task for task in tasks}
    for id, (_old, new) in _changes(gate).items():
        row = run.ledger.tasks.get(id)
        if answer == ACCEPT:
            _carry_out(run, row, there.get(id), new)
        elif row is not None and row.pinned is not None:
            run.ledger.note_task(id, refused=GONE if new is None else new)
            if new is None:
                text = _("{task} is still missing: put it back into the plan")
                run.publish("notice", text=text.format(task=id))
        elif id in there:
            _refuse_new(run, row, there[id], new or "")
    edits.adopt(run)
    _tell_running(run, pins)


def _carry_out(run: PlanRun, row: TaskRow | None, task: Task | None, pin: str | None) -> None:
    if row is not None:
        _accept(run, row, pin)
    elif task is not None:
        run.ledger.add_task(task, pinned=pin)


def _refuse_new(run: PlanRun, row: TaskRow | None, task: Task, pin: str) -> None:
    """It is skipped, by a person; what depends on it follows."""
    if row is None:
        run.ledger.add_task(task)
    run.ledger.note_task(task.id, refused=pin)
    if run.ledger.tasks[task.id].state is not TaskState.SKIPPED:
        run.ledger.move_task(task.id, TaskState.SKIPPED, Trigger.SKIP, mark=task.state)
    run.mark(task.id, TaskState.SKIPPED)
    run.skipped_here.add(task.id)
    run.publish("task_skipped", task=task.id, because=None)


def _tell_running(run: PlanRun, pins: Pins) -> None:
    """What is at work now is checked by what was accepted; a check that runs is not changed."""
    for job, attempt in run.jobs.items():
        if job == attempt.run.id and attempt.task.id in run.graph:
            attempt.task = run.graph.task(attempt.task.id)
