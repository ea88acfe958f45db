"""What a person changed in the plan, against what the tables know.

Three marks meet for each task: what the file shows, what the tables say, and what the
file showed when Segue last looked. Shown and known agree: nothing to do. Shown is what
it was: Segue's own write is missing, and is made, with the steps and comments that belong to it
(`unwritten`). Otherwise a person changed it, and the file is the truth of its marks.
"""

from __future__ import annotations

from segue.core.machines import Trigger
from segue.core.plan import Task, TaskState
from segue.engine.attempt import Dropped
from segue.engine.plan.plan_run import PlanRun
from segue.i18n import _
from segue.plans.task_edit import TaskEdit
from segue.store.actors import FILE, acting

BEHIND = (TaskState.PENDING, TaskState.IN_PROGRESS)


@acting(FILE)
def take_in(run: PlanRun) -> None:
    """The file has changed while the plan runs."""
    if run.file.is_broken:
        first = run.file.problems[0]
        run.emit("plan_broken", **first.to_json())
        return
    known = set(run.ledger.tasks)
    run.emit("plan_edited", new=[t.id for t in run.file.tasks() if t.id not in known])
    adopt(run)


def adopt(run: PlanRun) -> None:
    """What counts of the file is what is worked on from now on."""
    skipped = {id for id, state in run.frontier.states.items() if state is TaskState.SKIPPED}
    follow(run)
    drop_what_is_out_of_our_hands(run)
    if any(run.frontier.states.get(id, id) not in (TaskState.SKIPPED, id) for id in skipped):
        run.reopen_skipped()  # a person wants one of them after all: what waits for it may follow
    stuck = (TaskState.FAILED, TaskState.SKIPPED)
    run.skip_dependants([id for id, state in run.frontier.states.items() if state in stuck])


def follow(run: PlanRun) -> None:
    """The tasks are not those that they were."""
    compare(run, is_running=True)
    run.rebuild()


def compare(run: PlanRun, *, is_running: bool) -> None:
    """Bring tables and marks together, task by task."""
    run.file.admit(run)
    for task in run.file.tasks():
        row = run.ledger.tasks.get(task.id)
        if row is None:
            run.ledger.add_task(task)
        elif task.state is row.state:
            run.ledger.note_mark(task.id, task.state)
            _edit_again(run, task, row.unwritten)
        elif task.state == row.mark:
            run.mark(task.id, row.state)
            _edit_again(run, task, row.unwritten)
        elif is_running and (_is_stale(row.state, task.state) or _is_claim(run, task)):
            # Their editor had the plan open while we marked it: an old mark, no decision.
            run.mark(task.id, row.state)
            run.emit("mark_restored", task=task.id, state=row.state)
        else:
            _edited(run, task)


def _edit_again(run: PlanRun, task: Task, unwritten: str | None) -> None:
    """Steps and comments that a death kept from the file, or that are about to be written."""
    if unwritten is not None:
        run.edit(task.id, TaskEdit.from_text(unwritten))


def _is_stale(known: TaskState, shown: TaskState) -> bool:
    """An older mark of the same task: what is running is not begun twice, and what was
    completed in this run is not run again because of a late save."""
    return known in {TaskState.IN_PROGRESS, TaskState.COMPLETED} and shown in BEHIND


def _is_claim(run: PlanRun, task: Task) -> bool:
    """Ticked while its agent is at work, perhaps by that agent: what was done is checked when it
    has ended, even if a mark says that it is done."""
    return task.state is TaskState.COMPLETED and any(
        attempt.task.id == task.id and not attempt.is_dropped for attempt in run.jobs.values()
    )


def _edited(run: PlanRun, task: Task) -> None:
    row = run.ledger.tasks[task.id]
    run.publish("mark_edited", task=task.id, was=row.state, now=task.state)
    is_retry = row.state is TaskState.FAILED and task.state is TaskState.PENDING
    used = 0 if is_retry else task.retries_used
    run.skipped_here.discard(task.id)
    run.forget_edits(task.id)
    run.ledger.move_task(task.id, task.state, Trigger.EDIT, retries_used=used, mark=task.state)
    if is_retry:
        run.edit(task.id, TaskEdit(retries=(None, task.retries)))


def drop_what_is_out_of_our_hands(run: PlanRun) -> None:
    """A task that a person skipped, or ticked while it waited, needs no agent, no park and no
    question."""
    for job, attempt in list(run.jobs.items()):
        row = run.ledger.tasks[attempt.task.id]
        if row.state is not TaskState.IN_PROGRESS and not attempt.is_dropped:
            attempt.ended_for = Dropped()
            run.emit("run_dropped", task=attempt.task.id, why=_("a person changed its mark"))
            run.engine.end_soon(job)
    for park in list(run.ledger.parks.values()):
        if run.ledger.tasks[park.task].state is not TaskState.IN_PROGRESS or not _has(
            run, park.task
        ):
            run.ledger.end_park(park, Trigger.CANCEL)
    for gate in list(run.ledger.gates.values()):
        task = gate.task
        if task and (
            run.ledger.tasks[task].state is not TaskState.IN_PROGRESS or not _has(run, task)
        ):
            run.ledger.close_gate(gate, None)


def _has(run: PlanRun, task: str) -> bool:
    return task in run.graph
