"""How a run ended, and what follows for its task.

An agent that ended well is a claim; the task's `verify`, run by Segue, is the evidence.
A limit is neither a failure nor an end: it parks, and costs no retry.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from segue.core.limits import needs_person, wakes_at
from segue.core.machines import RunState, Trigger
from segue.core.plan import Task, TaskState
from segue.dialects.events import Asked, LimitHit
from segue.engine.port import Ended
from segue.errors import AgentError
from segue.i18n import _, language
from segue.work import prompts
from segue.work.attempts import Attempt, in_full, one_line, why
from segue.work.worktree import Conflict

if TYPE_CHECKING:
    from segue.work.tasklist import TaskListRun


def ended(run: TaskListRun, ended: Ended) -> None:
    attempt = run.jobs.pop(ended.job, None)
    if attempt is None:
        return
    if attempt.run.state is RunState.INTENDED:  # it ended before it was seen to start
        run.ledger.run_started(attempt.run, 0, 0)
    run.tell_started(attempt)
    if attempt.is_dropped:
        run.ledger.move_run(attempt.run, RunState.CUT_OFF, Trigger.CUT_OFF)
    elif ended.job == attempt.run.verify_job:
        verified(run, attempt, ended)
    else:
        agent_ended(run, attempt, ended)
    run.forget_after_commit(ended.job)


def agent_ended(run: TaskListRun, attempt: Attempt, ended: Ended) -> None:
    used = attempt.used
    if used is not None:
        run.ledger.note_usage(attempt.run, used.input_tokens, used.output_tokens, used.cost_usd)
    if attempt.asked is not None:
        ask(run, attempt, attempt.asked)
    elif run.stopping and ended.is_ours:
        cut_off(run, attempt)
    elif ended.code == 0 and not ended.timed_out:
        agent_ended_well(run, attempt)
    elif attempt.limit is not None and not ended.timed_out:
        park(run, attempt, attempt.limit)
    else:
        attempt_failed(run, attempt, why(ended, attempt.task.timeout_s), ended)
    run.seen_at_work(attempt.run.account)


def agent_ended_well(run: TaskListRun, attempt: Attempt) -> None:
    attempt.summary = prompts.summarise(attempt.lines)
    if attempt.task.verify:
        attempt.lines.clear()
        verify(run, attempt)
    else:
        merge_or_complete(run, attempt)


def verify(run: TaskListRun, attempt: Attempt) -> None:
    run.ledger.verify_run(attempt.run)
    run.tell("task_verifying", task=attempt.task.id, command=attempt.task.verify)
    run.begin_after_commit(
        attempt, lambda: run.workshop.verify_job(attempt, _deadline(run, attempt))
    )


def _deadline(run: TaskListRun, attempt: Attempt) -> datetime | None:
    timeout_s = attempt.task.timeout_s
    return None if timeout_s is None else run.clock.now() + timedelta(seconds=timeout_s)


def verified(run: TaskListRun, attempt: Attempt, ended: Ended) -> None:
    if run.stopping and ended.is_ours:
        return  # the next start verifies it again
    run.workshop.keep_evidence(attempt, ended, run.clock.now().isoformat())
    if ended.code == 0 and not ended.timed_out:
        merge_or_complete(run, attempt)
    else:
        reason = _("verify failed ({why})").format(why=why(ended, attempt.task.timeout_s))
        attempt_failed(run, attempt, reason, ended)


def merge_or_complete(run: TaskListRun, attempt: Attempt) -> None:
    worktrees = run.workshop.worktrees
    if worktrees is None:
        complete(run, attempt)
        return
    if attempt.run.state is not RunState.MERGING:
        run.ledger.move_run(attempt.run, RunState.MERGING, Trigger.MERGE)
    run.ledger.commit()  # from here on a next start finishes the merge
    task = attempt.task
    try:
        if worktrees.has(task.id):
            worktrees.commit(task.id, f"{task.id}: {task.title}")
        worktrees.merge(task.id, f"{task.id}: {task.title}")
    except Conflict as conflict:
        worktrees.close(task.id)
        reason = _("merge conflict in {files}; the work is on branch {branch}").format(
            files=", ".join(conflict.files) or str(conflict), branch=worktrees.branch(task.id)
        )
        fail(run, attempt, reason, reason)
    except AgentError as error:
        fail(run, attempt, str(error), str(error))
    else:
        complete(run, attempt)


def complete(run: TaskListRun, attempt: Attempt) -> None:
    task = attempt.task
    run.ledger.move_run(attempt.run, RunState.COMPLETED, Trigger.COMPLETE, exit_code=0)
    run.move_task(task.id, TaskState.COMPLETED, Trigger.COMPLETE, summary=attempt.summary)
    run.mark(task.id, TaskState.COMPLETED)
    if task.steps:
        run.file.edit(lambda document: document.set_all_steps(task.id, True), task.id)
    run.tell(
        "task_completed",
        task=task.id,
        title=task.title,
        attempt=attempt.run.attempt,
        seconds=round((run.clock.now() - attempt.run.created_at).total_seconds(), 3),
        usage=_usage(run, attempt),
    )


def _usage(run: TaskListRun, attempt: Attempt) -> dict[str, float | int | None]:
    """What the task used over all its runs; this one's share is not in the tables yet."""
    had_others = attempt.run.resumes is not None or attempt.run.attempt > 1
    if had_others:
        run.ledger.commit()
        return run.ledger.usage(attempt.task.id)
    used = attempt.used
    return {
        "input_tokens": (used.input_tokens if used else None) or 0,
        "output_tokens": (used.output_tokens if used else None) or 0,
        "cost_usd": used.cost_usd if used else None,
    }


def attempt_failed(run: TaskListRun, attempt: Attempt, reason: str, ended: Ended) -> None:
    """One try failed: another one while the plan allows it, else the task has failed."""
    task = attempt.task
    short, full = one_line(reason, attempt.lines), in_full(reason, attempt.lines)
    used = run.ledger.tasks[task.id].retries_used
    if used >= task.retries:
        fail(run, attempt, short, full, ended)
    elif run.stopping:
        cut_off(run, attempt)
    else:
        try_again(run, attempt, short, full, ended)


def try_again(run: TaskListRun, attempt: Attempt, short: str, full: str, ended: Ended) -> None:
    task = attempt.task
    used = run.ledger.tasks[task.id].retries_used + 1
    run.ledger.move_run(
        attempt.run, RunState.FAILED, Trigger.FAIL, exit_code=ended.code, error=short
    )
    run.move_task(task.id, TaskState.IN_PROGRESS, Trigger.TRY_AGAIN, retries_used=used, error=full)
    comment(run, task, short, used)
    if task.steps:
        run.clear_steps(task.id)
    again = run.new_attempt(task, attempt=used + 1)
    run.tell(
        "task_retrying",
        task=task.id,
        error=short,
        retry=used,
        retries=task.retries,
        run=again.run.id,
    )


def fail(
    run: TaskListRun, attempt: Attempt, short: str, full: str, ended: Ended | None = None
) -> None:
    task = attempt.task
    code = ended.code if ended else None
    run.ledger.move_run(attempt.run, RunState.FAILED, Trigger.FAIL, exit_code=code, error=short)
    run.move_task(task.id, TaskState.FAILED, Trigger.FAIL, error=full)
    run.mark(task.id, TaskState.FAILED)
    comment(run, task, short, run.ledger.tasks[task.id].retries_used)
    run.failed_here.append(task.id)
    run.tell(
        "task_failed",
        task=task.id,
        title=task.title,
        error=short,
        attempts=attempt.run.attempt,
        exit_code=code,
        log=str(run.workshop.log(attempt.run)),
    )
    if task.id in run.graph:
        run.skip_dependants([task.id])


def comment(run: TaskListRun, task: Task, error: str, used: int) -> None:
    """The error and the count, below the task, in the language in use."""
    lang = language()
    run.file.edit(lambda document: document.set_error(task.id, error, lang), task.id)
    run.file.edit(lambda document: document.set_retries(task.id, used, task.retries, lang), task.id)


def cut_off(run: TaskListRun, attempt: Attempt) -> None:
    """Segue stops: the mark stays, and the task begins again at the next start."""
    run.ledger.move_run(attempt.run, RunState.CUT_OFF, Trigger.CUT_OFF)


def park(run: TaskListRun, attempt: Attempt, limit: LimitHit) -> None:
    if needs_person(limit.kind):
        ask(run, attempt, Asked(limit.text or limit.kind, category=limit.kind))
        return
    most = run.leash.max_windows
    if most is not None and run.ledger.windows >= most:
        text = _("this plan has waited through {n} limit windows, as many as it may; go on?")
        ask(run, attempt, Asked(text.format(n=most), category="confirmation"))
        return
    resets_at, at = wakes_at(
        limit.kind,
        run.clock.now(),
        resets_at=limit.resets_at,
        wait_s=limit.wait_s,
        margin_s=run.options.wake_margin_s,
    )
    run.ledger.move_run(attempt.run, RunState.PARKED, Trigger.PARK)
    run.move_task(attempt.task.id, TaskState.IN_PROGRESS, Trigger.PARK)
    run.ledger.add_park(attempt.run, limit.kind, resets_at, at)
    run.ledger.count_window()
    run.ledger.commit()
    run.accounts.park(attempt.run.account, limit.kind, at)
    run.probing.discard(attempt.run.account)
    run.tell(
        "task_parked",
        task=attempt.task.id,
        kind=limit.kind,
        account=attempt.run.account,
        resets_at=_text(resets_at),
        wakes_at=_text(at),
    )


def ask(run: TaskListRun, attempt: Attempt, asked: Asked) -> None:
    """The agent waits for a person; nothing sits in memory for it."""
    run.ledger.move_run(attempt.run, RunState.ASKED, Trigger.ASK)
    run.move_task(attempt.task.id, TaskState.IN_PROGRESS, Trigger.ASK)
    gate = run.ledger.add_question(
        attempt.run, asked.question, asked.category, asked.options, asked.preset
    )
    run.open_gate(gate)


def _text(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat().replace("+00:00", "Z")
