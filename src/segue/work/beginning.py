"""How a task begins: its run, its conversation, and what its agent is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segue.core.machines import RunState, Trigger
from segue.core.plan import Task, TaskState
from segue.engine.port import Job
from segue.errors import AgentError
from segue.i18n import _
from segue.work import conversations, parking, place
from segue.work.attempts import Attempt

if TYPE_CHECKING:
    from segue.work.plan_run import PlanRun


def start(run: PlanRun, task_id: str) -> None:
    """A task begins from its beginning."""
    task = run.graph.task(task_id)
    row = run.ledger.tasks[task_id]
    run.move_task(task_id, TaskState.IN_PROGRESS, Trigger.START)
    run.mark(task_id, TaskState.IN_PROGRESS)
    attempt = first_attempt(run, task, row.retries_used + 1)
    attempt.is_new = True


def again(run: PlanRun, task: Task) -> None:
    """A task that was cut off: from its beginning, unless it asks to go on in its conversation."""
    if _goes_on(run, task):
        return
    used = max(run.ledger.tasks[task.id].retries_used, task.retries_used)
    run.move_task(task.id, TaskState.PENDING, Trigger.RESTART, retries_used=used)
    run.mark(task.id, TaskState.PENDING)
    if task.steps:
        run.clear_steps(task.id)
    if worktrees := run.workshop.worktrees_of(task.id):
        try:
            worktrees.set_aside(task.id)
        except AgentError as error:
            run.tell("notice", text=str(error))
    run.tell("task_restarted", task=task.id, why=_("it was cut off"))


def _goes_on(run: PlanRun, task: Task) -> bool:
    if not task.resumes_conversation:
        return False
    run.ledger.commit()
    before = run.ledger.last_run(task.id)
    if before is None or before.resume_id is None or before.state is not RunState.CUT_OFF:
        return False
    attempt = run.new_attempt(task, attempt=before.attempt, resumes=before)
    run.tell("task_resumed", task=task.id, run=attempt.run.id, after="cut off")
    return True


def first_attempt(run: PlanRun, task: Task, number: int) -> Attempt:
    """A run that begins with its task; in the conversation that the plan says, if in any."""
    before = run.file.goes_on_from(run, task)
    if before is None:
        return run.new_attempt(task, attempt=number)
    profile = run.profile_named(before.agent)
    if profile is None or profile.brand is None or before.resume_id is None:
        return run.new_attempt(task, attempt=number, conversation=before.conversation)
    error = run.ledger.tasks[task.id].error
    told = run.workshop.prompt(task, before.nonce, _produced(run, task), error, number)
    return run.new_attempt(task, attempt=number, resumes=before, answer=told)


def first_job(run: PlanRun, attempt: Attempt) -> Job:
    """The process of an attempt that is committed: on in its conversation, or with its prompt."""
    shop = run.workshop
    conversations.hold(run, attempt)
    attempt.provided = run.ledger.provided(attempt.task.id)
    if attempt.run.resumes is not None and conversations.can_go_on(attempt):
        if attempt.run.purpose == parking.COMPACT and attempt.profile.brand is not None:
            return shop.agent_job(attempt, attempt.profile.brand.compact)
        return shop.agent_job(attempt, shop.resume_prompt(attempt.answer))
    is_first = attempt.run.attempt == 1 and attempt.run.resumes is None
    worktrees = shop.worktrees_of(attempt.task.id)
    if worktrees and (is_first or not shop.folder(attempt.task.id).exists()):
        worktrees.make(attempt.task.id)
    run.file.prepare(attempt)
    error = run.ledger.tasks[attempt.task.id].error
    prompt = shop.first_prompt(attempt, _produced(run, attempt.task), error)
    return shop.agent_job(attempt, place.sentence(run, prompt))


def _produced(run: PlanRun, task: Task) -> list[tuple[str, str]]:
    """What the tasks that it waited for have left behind, in their own words."""
    found = []
    for blocker in task.blocked_by:
        row = run.ledger.tasks.get(blocker)
        if row is not None and row.summary:
            title = run.graph.task(blocker).title if blocker in run.graph else ""
            found.append((f"{blocker}: {title}", row.summary))
    return found
