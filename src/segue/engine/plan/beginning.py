"""How a task begins: its run, its conversation, and what its agent is given."""

from __future__ import annotations

from segue.core.machines import RunState, Trigger
from segue.core.plan import Resume, Task, TaskState
from segue.engine import prompts
from segue.engine.agent import Agent
from segue.engine.executors import Job
from segue.engine.gates import as_told
from segue.engine.limits import COMPACT
from segue.engine.messages import is_message, worded
from segue.engine.plan import context_files, conversations
from segue.engine.plan.attempts import Attempt
from segue.engine.plan.plan_run import PlanRun
from segue.engine.question_texts import BUDGET
from segue.errors import AgentError
from segue.i18n import _
from segue.plans.task_edit import TaskEdit
from segue.store.rows import GateRow, RunRow


def start(run: PlanRun, task_id: str) -> None:
    """A task begins from its beginning."""
    task = run.graph.task(task_id)
    row = run.ledger.tasks[task_id]
    run.move_task(task_id, TaskState.IN_PROGRESS, Trigger.START)
    run.mark(task_id, TaskState.IN_PROGRESS)
    attempt = first_attempt(run, task, row.retries_used + 1)
    attempt.is_new = True


def again(run: PlanRun, task: Task) -> None:
    """A task that was cut off: from its beginning, unless it asks to continue where it was."""
    before = _cut_off_run(run, task)
    if task.resume is Resume.CONVERSATION and before is not None and before.resume_id is not None:
        attempt = new_attempt(
            run, task, attempt=before.attempt, resumes=before, purpose=prompts.CONTINUE
        )
        run.publish("task_resumed", task=task.id, run=attempt.run.id, after="cut off")
        return
    run.cut_off[task.id] = before
    used = max(run.ledger.tasks[task.id].retries_used, task.retries_used)
    run.move_task(task.id, TaskState.PENDING, Trigger.RESTART, retries_used=used)
    run.mark(task.id, TaskState.PENDING)
    if task.steps:
        run.edit(task.id, TaskEdit(all_steps=False))
    worktrees = run.job_factory.worktrees_of(task.id)
    if worktrees and _conversation(run, task, before) is None:
        try:
            worktrees.set_aside(task.id)
        except AgentError as error:
            run.publish("notice", text=str(error))
    run.publish("task_restarted", task=task.id, why=_("it was interrupted"))


def _cut_off_run(run: PlanRun, task: Task) -> RunRow | None:
    run.ledger.commit()
    before = run.ledger.last_run(task.id)
    return before if before is not None and before.state is RunState.CUT_OFF else None


def _conversation(run: PlanRun, task: Task, before: RunRow | None) -> RunRow | None:
    """The run in whose conversation a task that was cut off begins again. A program that is not
    known to keep any learns from SEGUE_RESUME that it may have one."""
    if before is None or task.resume is Resume.FRESH:
        return None
    profile = run.agent_for(task)
    if profile.name != before.agent:
        return None
    if not profile.is_structured:
        return before if profile.kind == "command" else None
    return before if before.resume_id is not None else None


def first_attempt(run: PlanRun, task: Task, number: int) -> Attempt:
    """A run that begins with its task; in the conversation that the plan says, if in any."""
    purpose = ""
    if task.id in run.cut_off:
        cut_off = run.cut_off.pop(task.id)
        purpose = prompts.RESTART
        if (conversation := _conversation(run, task, cut_off)) is not None:
            return new_attempt(run, task, attempt=number, resumes=conversation, purpose=purpose)
    before = run.file.goes_on_from(run, task)
    if before is None:
        return new_attempt(run, task, attempt=number, purpose=purpose)
    profile = run.profile_named(before.agent)
    if profile is None or not profile.is_structured or before.resume_id is None:
        return new_attempt(
            run, task, attempt=number, conversation=before.conversation, purpose=purpose
        )
    error = run.ledger.tasks[task.id].error
    told = run.job_factory.prompt(task, before.nonce, _produced(run, task), error, number)
    if purpose:
        told = f"{prompts.interrupted(prompts.RESTART)}\n\n{told}"
    return new_attempt(run, task, attempt=number, resumes=before, answer=told)


def first_job(run: PlanRun, attempt: Attempt) -> Job:
    """The process of an attempt that is committed: on in its conversation, or with its prompt."""
    factory = run.job_factory
    conversations.hold(run, attempt)
    attempt.provided = run.ledger.provided(attempt.task.id)
    is_restart = attempt.run.purpose == prompts.RESTART
    if attempt.run.resumes is not None and conversations.can_go_on(attempt) and not is_restart:
        if attempt.run.purpose == COMPACT and attempt.profile.is_structured:
            return factory.agent_job(attempt, attempt.profile.compact)
        return factory.agent_job(attempt, _with_messages(attempt, factory.resume_prompt(attempt)))
    is_first = attempt.run.attempt == 1 and attempt.run.resumes is None
    worktrees = factory.worktrees_of(attempt.task.id)
    if worktrees and (is_first or not factory.folder(attempt.task.id).exists()):
        worktrees.make(attempt.task.id)
    run.file.prepare(attempt)
    error = run.ledger.tasks[attempt.task.id].error
    prompt = factory.first_prompt(attempt, _produced(run, attempt.task), error)
    prompt = _with_messages(attempt, prompt)
    return factory.agent_job(attempt, context_files.sentence(run, prompt))


def _with_messages(attempt: Attempt, prompt: str) -> str:
    return "\n\n".join(filter(None, (prompt, attempt.run.prompt)))


def _produced(run: PlanRun, task: Task) -> list[tuple[str, str]]:
    """What the tasks that it waited for have left behind, in their own words."""
    found = []
    for blocker in task.blocked_by:
        row = run.ledger.tasks.get(blocker)
        if row is not None and row.summary:
            title = run.graph.task(blocker).title if blocker in run.graph else ""
            found.append((f"{blocker}: {title}", row.summary))
    return found


def new_attempt(
    run: PlanRun,
    task: Task,
    *,
    attempt: int,
    resumes: RunRow | None = None,
    answer: str | None = None,
    before: str = "",
    purpose: str = "",
    profile: Agent | None = None,
    conversation: str | None = None,
) -> Attempt:
    """A run of a task: a new one, or (`resumes`) one that continues the conversation of an
    earlier one; with `before`, one that cannot, and gets a summary of it.
    `conversation`: as it is called, where the agent keeps none itself."""
    if profile is None and resumes is not None:
        profile = run.profile_named(resumes.agent)
    profile = profile or run.agent_for(task)
    messages = _messages(run, task.id) if purpose != COMPACT else None
    row = run.ledger.add_run(
        task.id,
        attempt=attempt,
        agent=profile.name,
        account=profile.account,
        resumes=resumes,
        keeps_conversation=not before and resumes is not None and resumes.agent == profile.name,
        purpose=purpose,
        answer=answer,
        conversation=conversation,
        prompt=messages,
    )
    new = Attempt(run=row, task=task, profile=profile, answer=answer, before=before)
    run.begin_after_commit(new, lambda: first_job(run, new))
    return new


def _messages(run: PlanRun, task: str) -> str | None:
    """What people said to the agent of a task since its last turn; it counts as said with the run
    that is told."""
    said = [act for act in run.ledger.waiting_acts() if is_message(act) and act.task == task]
    for act in said:
        run.ledger.take_act(act)
    texts = [run.undelivered.pop(task, ""), *map(worded, said)]
    return "\n".join(filter(None, texts)) or None


def go_on_with(run: PlanRun, gate: GateRow, answer: str) -> None:
    """A person answered: on, in the same conversation."""
    if gate.category == BUDGET:
        run.ledger.close_gate(gate, answer)
        run.budget.answered(answer)
        return
    if run.file.answered(run, gate, answer):
        return
    said = as_told(gate, answer)
    before = run.ledger.run(gate.run) if gate.run else None
    run.ledger.close_gate(gate, answer)
    if before is None or before.task not in run.graph:
        return
    run.move_task(before.task, TaskState.IN_PROGRESS, Trigger.ANSWER)
    attempt = new_attempt(
        run, run.graph.task(before.task), attempt=before.attempt, resumes=before, answer=said
    )
    attempt.question = gate.id
    run.publish("task_resumed", task=before.task, run=attempt.run.id, after="answer")


def tell_started(run: PlanRun, attempt: Attempt) -> None:
    """A task has begun: its agent runs."""
    if attempt.is_new:
        attempt.is_new = False
        run.emit(
            "task_started",
            task=attempt.task.id,
            title=attempt.task.title,
            run=attempt.run.id,
            attempt=attempt.run.attempt,
            agent=attempt.run.agent,
        )
