"""What the state file says, against what the tables know, at a start.

The file is the truth of what it says. The tables may be ahead of it by one write that a death
prevented, and by nothing else. Whatever differs otherwise was changed by a person (by hand, by
`git checkout`, by a backup), and the tables follow. So they never put back a step that the file
has set back.
"""

from __future__ import annotations

from segue.core.develop import Phase, Progress, Status
from segue.core.machines import RunState, Trigger
from segue.core.plan import Task, TaskState
from segue.store.rows import TaskRow
from segue.work.feature import gates
from segue.work.feature.feature_work import FeatureWork
from segue.work.feature.tasks import DESIGN, MERGE, REVIEW, STATES, checkpoint_tasks
from segue.work.feature.validations import CHECK

PHASE_OF = {DESIGN: Phase.DESIGN, REVIEW: Phase.REVIEW, CHECK: Phase.MERGE, MERGE: Phase.MERGE}
ORDER = tuple(Phase)
HAS_BEGUN = (TaskState.PENDING, TaskState.IN_PROGRESS)


def take_in(steps: FeatureWork) -> None:
    """Bring the tables to the file."""
    take_in_checkpoints(steps)
    _take_in_phases(steps)
    gates.withdraw_stale(steps)


def take_in_checkpoints(steps: FeatureWork) -> None:
    ledger = steps.run.ledger
    for task in checkpoint_tasks(steps):
        row = ledger.tasks.get(task.id)
        if row is None:
            ledger.add_task(task)
            continue
        shown = steps.state.checkpoints[task.id]
        is_due = any(
            run.task == task.id and run.state is RunState.INTENDED for run in ledger.runs.values()
        )
        wanted = edited(shown, row, is_due=is_due)
        if wanted is None:
            continue
        state, used = wanted
        if state is row.state:
            ledger.note_task(task.id, mark=state, retries_used=used)
        else:
            steps.run.publish("mark_edited", task=task.id, was=row.state, now=state)
            ledger.move_task(task.id, state, Trigger.EDIT, mark=state, retries_used=used)


def edited(shown: Progress, row: TaskRow, *, is_due: bool) -> tuple[TaskState, int] | None:
    """The state and the count that the file asks for; None: the tables agree with it, or are ahead
    by a write that is missing. `is_due`: a run was decided on and its process has not begun, as it
    does only after the write."""
    state, used = STATES[shown.status], max(0, shown.iteration - 1)
    is_last_write = state == row.mark
    match shown.status:
        case Status.PENDING if row.state is TaskState.PENDING:
            is_ours = used == row.retries_used
        case Status.PENDING if row.state is TaskState.SKIPPED:
            is_ours = row.mark != TaskState.FAILED  # by what it depends on, not by a person
        case Status.PENDING:
            is_ours = is_last_write and row.state is TaskState.IN_PROGRESS
        case Status.IN_PROGRESS if row.state in HAS_BEGUN:
            is_ours = used == row.retries_used or (is_due and used < row.retries_used)
        case Status.PASSED if row.state is TaskState.COMPLETED:
            is_ours = used == row.retries_used
        case Status.ESCALATED if row.state is TaskState.FAILED:
            is_ours = True
        case Status.ESCALATED if row.state in HAS_BEGUN:  # a person said "retry"
            is_ours = row.mark == TaskState.PENDING and row.error is not None
        case _:
            is_ours = is_last_write
    return None if is_ours else (state, used)


def _take_in_phases(steps: FeatureWork) -> None:
    at = ORDER.index(steps.state.resumes_in)
    for key, phase in PHASE_OF.items():
        row = steps.run.ledger.tasks.get(key)
        if ORDER.index(phase) < at:
            _note_earlier(steps, key, row)
        elif row is None or row.state is TaskState.PENDING:
            continue
        elif ORDER.index(phase) > at:
            steps.back_to_pending(key, None)
        elif row.state in (TaskState.FAILED, TaskState.SKIPPED):
            steps.back_to_pending(key, row.error)
        elif row.state is TaskState.COMPLETED and not _still_counts(steps, row):
            steps.back_to_pending(key, None)


def _note_earlier(steps: FeatureWork, key: str, row: TaskRow | None) -> None:
    """A phase that the file has left is over, also for a repair from the journal."""
    if key not in (DESIGN, REVIEW):
        return
    if row is None:
        title = steps.state.feature if key == DESIGN else key
        steps.run.ledger.add_task(Task(key, title, state=TaskState.COMPLETED))
    elif row.state is not TaskState.COMPLETED:
        done = TaskState.COMPLETED
        steps.run.ledger.move_task(key, done, Trigger.EDIT, mark=done)


def _still_counts(steps: FeatureWork, row: TaskRow) -> bool:
    """Whether what completed the phase of the file is only not written yet. The validations on the
    whole are of their moment: they count while the merge that they allowed is at work."""
    if row.key == CHECK:
        return steps.state_of(MERGE) is TaskState.IN_PROGRESS
    was_shown = row.mark == TaskState.COMPLETED and not gates.is_open(steps, row.key)
    return not was_shown and steps.objection_to(row.key) is None
