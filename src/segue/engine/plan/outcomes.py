"""How a run ended, and what follows for its task.

An agent that ended well is a claim; the task's `verify`, run by Segue, is the evidence.
A limit is neither a failure nor an end: it parks, and costs no retry.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from segue.core.machines import RunState, Trigger
from segue.core.plan import Resume, Task, TaskState
from segue.dialects.events import Asked, DependencyAsked, LimitHit, PhaseDone, TaskDone
from segue.engine import gates, prompts
from segue.engine.attempt import TooSilent
from segue.engine.budget import used_by
from segue.engine.executors import Ended
from segue.engine.ledger import DEPENDENCY
from segue.engine.outcome import Circumstances, Failed, Need, was_cut_off, why
from segue.engine.outcome_rules import settle
from segue.engine.plan import beginning, conversations, parking
from segue.engine.plan.attempts import Attempt, in_full
from segue.engine.plan.plan_run import PlanRun
from segue.engine.question_texts import PERMISSION
from segue.engine.said import summarise
from segue.engine.worktree import Conflict, Worktrees
from segue.errors import AgentError
from segue.i18n import _, language
from segue.plans.task_edit import TaskEdit
from segue.store.conversations import ConversationHolder
from segue.store.usage import Usage


def ended(run: PlanRun, ended: Ended) -> None:
    attempt = run.jobs.pop(ended.job, None)
    if attempt is None:
        return
    if attempt.run.state is RunState.INTENDED:  # it ended before it was seen to start
        run.ledger.run_started(attempt.run, {})
    beginning.tell_started(run, attempt)
    if ended.keeper_died:
        run.keeper_deaths[attempt.task.id] += 1
    if ended.job == attempt.run.verify_job:
        verified(run, attempt, ended)
    else:
        agent_ended(run, attempt, ended)
    run.forget_after_commit(ended.job)


def agent_ended(run: PlanRun, attempt: Attempt, ended: Ended) -> None:
    note_usage(run, attempt)
    conversations.ended(run, attempt)
    circumstances = Circumstances(
        is_stopping=run.stopping is not None,
        is_continued=attempt.run.resumes is not None,
        is_unheard=attempt.run.id in run.unheard,
        keeper_deaths=run.keeper_deaths[attempt.task.id],
        timeout_s=attempt.task.timeout_s,
    )
    settle(attempt, ended, circumstances, run.events, Rules(run))


@dataclass(frozen=True, slots=True)
class Rules:
    """What follows for a task of a plan."""

    run: PlanRun

    def dropped(self, attempt: Attempt) -> None:
        cut_off(self.run, attempt)

    def cut_off(self, attempt: Attempt) -> None:
        cut_off(self.run, attempt)
        if not self.run.stopping:  # else it begins again at the next start
            beginning.again(self.run, attempt.task)

    def completed(self, attempt: Attempt, ended: Ended) -> None:
        agent_ended_well(self.run, attempt, ended)

    def claimed(self, attempt: Attempt, ended: Ended, claim: PhaseDone | TaskDone) -> None:
        agent_ended_well(self.run, attempt, ended)

    def needs_person(self, attempt: Attempt, ended: Ended, needs: tuple[Need, ...]) -> None:
        ask(self.run, attempt, needs[0])

    def limited(self, attempt: Attempt, ended: Ended, limit: LimitHit) -> None:
        park(self.run, attempt, limit)

    def compacted(self, attempt: Attempt, *, is_well: bool) -> None:
        parking.compacted(self.run, attempt, is_well=is_well)

    def conversation_busy(self, attempt: Attempt, ended: Ended, holder: ConversationHolder) -> None:
        parking.wait_until_free(self.run, attempt, holder)

    def conversation_lost(self, attempt: Attempt) -> None:
        parking.conversation_lost(self.run, attempt)

    def failed(self, attempt: Attempt, ended: Ended, how: Failed) -> None:
        attempt_failed(self.run, attempt, how.reason, ended)


def note_usage(run: PlanRun, attempt: Attempt) -> None:
    """What this run used; of a program that counts over its conversation, what it used more."""
    used = attempt.used = used_by(attempt, run.ledger.usage_before)
    if used is None:
        return
    run.ledger.note_usage(attempt.run, used.input_tokens, used.output_tokens, used.cost_usd)


def agent_ended_well(run: PlanRun, attempt: Attempt, ended: Ended) -> None:
    attempt.summary = summarise(attempt.lines)
    if has_changed_git(run, attempt):
        return
    if objection := run.file.object_to(attempt):
        attempt_failed(run, attempt, objection, ended)
    elif attempt.task.verify:
        attempt.lines.clear()
        verify(run, attempt)
    else:
        merge_or_complete(run, attempt)


def verify(run: PlanRun, attempt: Attempt) -> None:
    run.ledger.verify_run(attempt.run)
    run.publish("task_verifying", task=attempt.task.id, command=attempt.task.verify)
    run.begin_after_commit(
        attempt, lambda: run.job_factory.verify_job(attempt, _deadline(run, attempt))
    )


def _deadline(run: PlanRun, attempt: Attempt) -> datetime | None:
    timeout_s = attempt.task.timeout_s
    return None if timeout_s is None else run.clock.now() + timedelta(seconds=timeout_s)


def verified(run: PlanRun, attempt: Attempt, ended: Ended) -> None:
    if attempt.is_dropped:
        cut_off(run, attempt)
        return
    if run.stopping and ended.is_ours:
        return  # the next start verifies it again
    if was_cut_off(ended, run.keeper_deaths[attempt.task.id]):
        verify(run, attempt)
        return
    run.ledger.stage(run.job_factory.keep_evidence(attempt, ended, run.clock.now()))
    if ended.code == 0 and not ended.timed_out:
        merge_or_complete(run, attempt)
    else:
        reason = _("verify failed ({why})").format(why=why(ended, attempt.task.timeout_s))
        attempt_failed(run, attempt, reason, ended)


def has_changed_git(run: PlanRun, attempt: Attempt) -> bool:
    """Whether the agent changed what says to which repository its worktree belongs: then its
    task fails, without another try, and nothing of its folder is merged."""
    task, worktrees = attempt.task.id, run.job_factory.worktrees_of(attempt.task.id)
    if worktrees is None:
        return False
    try:
        if not worktrees.is_changed(task):
            return False
        text = _(
            "the agent changed .git in its worktree, so Segue merged nothing; the "
            "files are in {folder}"
        )
        reason = text.format(folder=worktrees.keep_folder(task))
    except AgentError as error:
        reason = str(error)
    fail(run, attempt, reason, reason)
    return True


def merge_or_complete(run: PlanRun, attempt: Attempt) -> None:
    worktrees = run.job_factory.worktrees_of(attempt.task.id)
    if worktrees is None:
        complete(run, attempt)
    elif not has_changed_git(run, attempt):
        try:
            merge(run, attempt, worktrees)
        except AgentError as error:
            fail(run, attempt, str(error), str(error))


def merge(run: PlanRun, attempt: Attempt, worktrees: Worktrees) -> None:
    task, has_worktree = attempt.task, worktrees.has(attempt.task.id)
    if attempt.run.state is not RunState.MERGING:
        if not has_worktree:
            reason = _("its worktree was removed, and uncommitted changes with it")
            attempt_failed(run, attempt, reason, Ended(attempt.run.id, None))
            return
        run.ledger.move_run(attempt.run, RunState.MERGING, Trigger.MERGE)
    run.ledger.commit()  # from here on a next start finishes the merge
    try:
        if has_worktree:
            worktrees.commit(task.id, f"{task.id}: {task.title}")
            worktrees.take_back(task.id)
        worktrees.merge(task.id, f"{task.id}: {task.title}")
    except Conflict as conflict:
        worktrees.close(task.id)
        text = _("merge conflict in {files}; the work is on branch {branch}")
        if not conflict.files:
            text = _("could not merge: {why}; the work is on branch {branch}")
        reason = text.format(
            files=", ".join(conflict.files), why=conflict, branch=worktrees.branch(task.id)
        )
        if run.file.retries_conflicts:
            attempt_failed(run, attempt, reason, Ended(attempt.run.id, None))
        else:
            fail(run, attempt, reason, reason)
    else:
        complete(run, attempt)


def complete(run: PlanRun, attempt: Attempt) -> None:
    task = attempt.task
    run.ledger.move_run(attempt.run, RunState.COMPLETED, Trigger.COMPLETE, exit_code=0)
    run.move_task(task.id, TaskState.COMPLETED, Trigger.COMPLETE, summary=attempt.summary)
    run.mark(task.id, TaskState.COMPLETED)
    if task.steps:
        run.edit(task.id, TaskEdit(all_steps=True))
    run.publish(
        "task_completed",
        task=task.id,
        title=task.title,
        attempt=attempt.run.attempt,
        seconds=round((run.clock.now() - attempt.run.created_at).total_seconds(), 3),
        usage=_usage(run, attempt),
    )


def _usage(run: PlanRun, attempt: Attempt) -> Usage:
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


def attempt_failed(run: PlanRun, attempt: Attempt, reason: str, ended: Ended) -> None:
    """One try failed: another one while the plan allows it, else the task has failed."""
    task = attempt.task
    if has_changed_git(run, attempt):
        return
    is_told = attempt.has_last_word  # its own words: no need to say them twice
    short = reason if is_told else attempt.in_short(reason)
    full = in_full(reason, attempt.lines)
    used = run.ledger.tasks[task.id].retries_used
    if used >= task.retries:
        fail(run, attempt, short, full, ended)
    elif run.stopping:
        cut_off(run, attempt)
    elif run.budget.is_spent:
        try_again_later(run, attempt, short, full, ended)
    else:
        try_again(run, attempt, short, full, ended)


def try_again(run: PlanRun, attempt: Attempt, short: str, full: str, ended: Ended) -> None:
    task = attempt.task
    used = run.ledger.tasks[task.id].retries_used + 1
    run.ledger.move_run(
        attempt.run, RunState.FAILED, Trigger.FAIL, exit_code=ended.code, error=short
    )
    run.move_task(task.id, TaskState.IN_PROGRESS, Trigger.TRY_AGAIN, retries_used=used, error=full)
    comment(run, task, short, used)
    run.show_marks()  # its next agent finds the error in the plan
    if task.steps and not _goes_on(attempt):
        run.edit(task.id, TaskEdit(all_steps=False))
    if _goes_on(attempt):
        was_ended = isinstance(attempt.ended_for, TooSilent)
        purpose = prompts.CONTINUE if was_ended else ""
        again = beginning.new_attempt(
            run, task, attempt=used + 1, resumes=attempt.run, purpose=purpose
        )
    else:
        again = beginning.first_attempt(run, task, used + 1)
    run.publish(
        "task_retrying",
        task=task.id,
        error=short,
        retry=used,
        retries=task.retries,
        run=again.run.id,
    )


def try_again_later(run: PlanRun, attempt: Attempt, short: str, full: str, ended: Ended) -> None:
    """The budget is used up: the next try begins like a new task, once a person allows more."""
    task = attempt.task
    used = run.ledger.tasks[task.id].retries_used + 1
    run.ledger.move_run(
        attempt.run, RunState.FAILED, Trigger.FAIL, exit_code=ended.code, error=short
    )
    run.move_task(task.id, TaskState.PENDING, Trigger.RESTART, retries_used=used, error=full)
    run.mark(task.id, TaskState.PENDING)
    comment(run, task, short, used)
    if _goes_on(attempt):
        run.cut_off[task.id] = attempt.run
    elif task.steps:
        run.edit(task.id, TaskEdit(all_steps=False))
    run.publish("task_restarted", task=task.id, why=_("the budget is used up"))


def _goes_on(attempt: Attempt) -> bool:
    """Whether the next attempt continues the conversation: it was interrupted, not wrong."""
    was_silent = isinstance(attempt.ended_for, TooSilent)
    is_cut_off = was_silent or not attempt.has_last_word
    is_wanted = was_silent or attempt.task.resume is Resume.CONVERSATION
    return is_cut_off and is_wanted and attempt.run.resume_id is not None


def fail(run: PlanRun, attempt: Attempt, short: str, full: str, ended: Ended | None = None) -> None:
    task = attempt.task
    code = ended.code if ended else None
    run.ledger.move_run(attempt.run, RunState.FAILED, Trigger.FAIL, exit_code=code, error=short)
    run.move_task(task.id, TaskState.FAILED, Trigger.FAIL, error=full)
    run.mark(task.id, TaskState.FAILED)
    comment(run, task, short, run.ledger.tasks[task.id].retries_used)
    run.failed_here.append(task.id)
    run.publish(
        "task_failed",
        task=task.id,
        title=task.title,
        error=short,
        attempts=attempt.run.attempt,
        exit_code=code,
        log=str(run.job_factory.log(attempt.run)),
    )
    if task.id in run.graph:
        run.skip_dependants([task.id])


def comment(run: PlanRun, task: Task, error: str, used: int) -> None:
    """The error and the count, below the task, in the language in use."""
    edit = TaskEdit(error=error, retries=(used, task.retries), language=language())
    run.edit(task.id, edit)


def cut_off(run: PlanRun, attempt: Attempt) -> None:
    """Segue stops: the mark stays, and the task begins again at the next start."""
    run.ledger.move_run(attempt.run, RunState.CUT_OFF, Trigger.CUT_OFF)


def park(run: PlanRun, attempt: Attempt, limit: LimitHit) -> None:
    match parking.park(run, attempt, limit):
        case Asked() as question:
            ask(run, attempt, question)
        case str(reason):
            fail(run, attempt, reason, in_full(reason, attempt.lines))


def ask(run: PlanRun, attempt: Attempt, need: Need) -> None:
    """The agent waits for a person; nothing sits in memory for it."""
    asked = _as_question(need) if isinstance(need, DependencyAsked) else need
    about = attempt.permission if asked.category == PERMISSION else {}
    if isinstance(need, DependencyAsked):
        about = {"name": need.name}
    run.ledger.move_run(attempt.run, RunState.ASKED, Trigger.ASK)
    run.move_task(attempt.task.id, TaskState.IN_PROGRESS, Trigger.ASK)
    gate = run.ledger.add_question(
        attempt.run,
        asked.question,
        asked.category,
        asked.options,
        asked.preset,
        about,
        gates.deadline(asked, run.clock.now()),
        is_required=asked.is_required,
    )
    run.open_gate(gate)


def _as_question(asked: DependencyAsked) -> Asked:
    """Only a person can provide it. The answers are fixed: a secret must not be typed in here."""
    what = f"{asked.name} ({asked.type})"
    if asked.description:
        what = f"{what}: {asked.description}"
    how = _("Provide it where the agent can find it (its `env` table, or `export`), then continue.")
    options = (_("it is available now"), _("continue without it"))
    preset = None if asked.required else options[1]
    return Asked(f"{what}\n{how}", options, preset, category=DEPENDENCY)
