"""How a run ended, and what follows for its task.

An agent that ended well is a claim; the task's `verify`, run by Segue, is the evidence.
A limit is neither a failure nor an end: it parks, and costs no retry.
"""

from __future__ import annotations

import signal
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from segue.core.durations import format_duration
from segue.core.machines import RunState, Trigger
from segue.core.plan import Resume, Task, TaskState
from segue.dialects.events import Asked, LimitHit, Used
from segue.engine.port import Ended
from segue.errors import AgentError
from segue.i18n import _, language
from segue.work import answers, beginning, conversations, parking, prompts
from segue.work.attempts import Attempt, in_full, one_line, why
from segue.work.usage import Usage
from segue.work.worktree import Conflict, Worktrees

if TYPE_CHECKING:
    from segue.work.plan_run import PlanRun

KEEPER_DEATHS_MAX = 3  # of one task, that use no try
KILLS = frozenset({signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGKILL})


def ended(run: PlanRun, ended: Ended) -> None:
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


def agent_ended(run: PlanRun, attempt: Attempt, ended: Ended) -> None:
    note_usage(run, attempt)
    conversations.ended(run, attempt)
    if attempt.asked is not None:
        ask(run, attempt, attempt.asked)
    elif attempt.busy is not None:
        conversations.wait_until_free(run, attempt, attempt.busy)
    elif run.stopping and ended.is_ours and not has_finished_well(attempt):
        cut_off(run, attempt)
    elif _begins_again(run, attempt, ended):
        cut_off(run, attempt)
        beginning.again(run, attempt.task)
    elif attempt.is_parked_by_hand and attempt.limit is not None:
        park(run, attempt, attempt.limit)
    elif ended.timed_out or attempt.was_too_silent:
        attempt_failed(run, attempt, _reason(attempt, ended), ended)
    elif attempt.run.purpose == parking.COMPACT and attempt.limit is None:
        parking.compacted(run, attempt, is_well=is_well(attempt, ended))
    elif is_well(attempt, ended):
        agent_ended_well(run, attempt, ended)
    elif attempt.limit is not None:
        park(run, attempt, attempt.limit)
    elif attempt.lost is not None and attempt.run.resumes is not None:
        conversations.lost(run, attempt)
    elif (told := _told_at_the_end(run, attempt, ended)) is not None:
        park(run, attempt, told)
    else:
        attempt_failed(run, attempt, _reason(attempt, ended), ended)
    run.seen_at_work(attempt.run.account)


def _begins_again(run: PlanRun, attempt: Attempt, ended: Ended) -> bool:
    """Whether it ended by no fault of its own, so that its task begins again and no try is used."""
    if attempt.run.id in run.unheard and attempt.profile.settings.kind != "shell":
        return True
    if attempt.limit is not None or has_finished_well(attempt):
        return False
    return was_cut_off(attempt, ended) or _keeper_died(run, attempt, ended)


def _keeper_died(run: PlanRun, attempt: Attempt, ended: Ended) -> bool:
    """Something killed the keeper, not the agent. If that happens again and again, the task may be
    the reason (it uses all the memory there is): then it counts as a failed try."""
    if not ended.keeper_died or ended.timed_out:
        return False
    run.keeper_deaths[attempt.task.id] += 1
    return run.keeper_deaths[attempt.task.id] <= KEEPER_DEATHS_MAX


def _told_at_the_end(run: PlanRun, attempt: Attempt, ended: Ended) -> LimitHit | None:
    """The limit in the last words of an agent that is not known to speak of limits by itself."""
    if attempt.profile.settings.kind in ("shell", "script"):
        return None
    from segue.work import limit_words  # noqa: PLC0415 - many patterns, needed by few runs

    return limit_words.told_at_the_end(run, attempt, ended)


def note_usage(run: PlanRun, attempt: Attempt) -> None:
    """What this run used; of a program that counts over its conversation, what it used more."""
    used, brand = attempt.used, attempt.profile.brand
    if used is None:
        return
    if brand is not None and brand.counts_conversation and attempt.run.resume_id is not None:
        before = run.ledger.usage_before(attempt.run)
        used = attempt.used = Used(
            max(0, (used.input_tokens or 0) - before["input_tokens"]),
            max(0, (used.output_tokens or 0) - before["output_tokens"]),
            used.cost_usd,
        )
    run.ledger.note_usage(attempt.run, used.input_tokens, used.output_tokens, used.cost_usd)


def has_finished_well(attempt: Attempt) -> bool:
    return attempt.finished is not None and not attempt.finished.is_error


def is_well(attempt: Attempt, ended: Ended) -> bool:
    """By its last word where it has one (an exit code of 0 can be a cut-off turn), else by its
    exit code."""
    if attempt.finished is not None and attempt.finished.is_error:
        return False
    if attempt.profile.brand is not None:
        return has_finished_well(attempt)
    return ended.code == 0


def _reason(attempt: Attempt, ended: Ended) -> str:
    """Why a try failed, in a few words."""
    if attempt.was_too_silent:
        bound_s = attempt.profile.settings.silence_max_s
        said = _("it said nothing for too long")
        return said if bound_s is None else f"{said} ({format_duration(bound_s)})"
    if attempt.finished is not None and attempt.finished.is_error and not ended.timed_out:
        return attempt.finished.text or attempt.finished.reason or _("it ended with an error")
    if ended.code == 0:
        return _("it ended without a last word")
    return why(ended, attempt.task.timeout_s)


def agent_ended_well(run: PlanRun, attempt: Attempt, ended: Ended) -> None:
    attempt.summary = prompts.summarise(attempt.lines)
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
    run.tell("task_verifying", task=attempt.task.id, command=attempt.task.verify)
    run.begin_after_commit(
        attempt, lambda: run.workshop.verify_job(attempt, _deadline(run, attempt))
    )


def _deadline(run: PlanRun, attempt: Attempt) -> datetime | None:
    timeout_s = attempt.task.timeout_s
    return None if timeout_s is None else run.clock.now() + timedelta(seconds=timeout_s)


def verified(run: PlanRun, attempt: Attempt, ended: Ended) -> None:
    if run.stopping and ended.is_ours:
        return  # the next start verifies it again
    if was_cut_off(attempt, ended) or _keeper_died(run, attempt, ended):
        attempt.ended_unseen = False
        verify(run, attempt)
        return
    run.workshop.keep_evidence(attempt, ended, run.clock.now().isoformat())
    if ended.code == 0 and not ended.timed_out:
        merge_or_complete(run, attempt)
    else:
        reason = _("verify failed ({why})").format(why=why(ended, attempt.task.timeout_s))
        attempt_failed(run, attempt, reason, ended)


def has_changed_git(run: PlanRun, attempt: Attempt) -> bool:
    """Whether the agent changed what says to which repository its worktree belongs: then its
    task fails, without another try, and nothing of its folder is merged."""
    task, worktrees = attempt.task.id, run.workshop.worktrees_of(attempt.task.id)
    if worktrees is None:
        return False
    try:
        if not worktrees.is_changed(task):
            return False
        text = _("the agent changed .git in its worktree; nothing was merged, its files: {folder}")
        reason = text.format(folder=worktrees.keep_folder(task))
    except AgentError as error:
        reason = str(error)
    fail(run, attempt, reason, reason)
    return True


def merge_or_complete(run: PlanRun, attempt: Attempt) -> None:
    worktrees = run.workshop.worktrees_of(attempt.task.id)
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
            reason = _("its worktree was removed, with what was not committed in it")
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
            text = _("it could not be merged: {why}; the work is on branch {branch}")
        reason = text.format(
            files=", ".join(conflict.files), why=conflict, branch=worktrees.branch(task.id)
        )
        if run.file.mends_conflicts:
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
        run.file.edit(lambda document: document.set_all_steps(task.id, True), task.id)
    run.tell(
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
    is_told = attempt.finished is not None  # its own words: no need to say them twice
    short = reason if is_told else one_line(reason, attempt.lines)
    full = in_full(reason, attempt.lines)
    used = run.ledger.tasks[task.id].retries_used
    if used >= task.retries:
        fail(run, attempt, short, full, ended)
    elif run.stopping:
        cut_off(run, attempt)
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
    if task.steps and not _goes_on(attempt):
        run.clear_steps(task.id)
    if _goes_on(attempt):
        again = run.new_attempt(task, attempt=used + 1, resumes=attempt.run)
    else:
        again = beginning.first_attempt(run, task, used + 1)
    run.tell(
        "task_retrying",
        task=task.id,
        error=short,
        retry=used,
        retries=task.retries,
        run=again.run.id,
    )


def _goes_on(attempt: Attempt) -> bool:
    """Whether the next try goes on in the conversation: it was cut off in it, not wrong."""
    is_cut_off = attempt.finished is None or attempt.was_too_silent
    is_wanted = attempt.task.resume is Resume.CONVERSATION or attempt.was_too_silent
    return is_cut_off and is_wanted and attempt.run.resume_id is not None


def fail(run: PlanRun, attempt: Attempt, short: str, full: str, ended: Ended | None = None) -> None:
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


def comment(run: PlanRun, task: Task, error: str, used: int) -> None:
    """The error and the count, below the task, in the language in use."""
    lang = language()
    run.file.edit(lambda document: document.set_error(task.id, error, lang), task.id)
    run.file.edit(lambda document: document.set_retries(task.id, used, task.retries, lang), task.id)


def cut_off(run: PlanRun, attempt: Attempt) -> None:
    """Segue stops: the mark stays, and the task begins again at the next start."""
    run.ledger.move_run(attempt.run, RunState.CUT_OFF, Trigger.CUT_OFF)


def was_cut_off(attempt: Attempt, ended: Ended) -> bool:
    """While no Segue lived, or by one that could not go on: by a signal, as when a machine goes
    down or a terminal is closed. That is no failed try."""
    was_killed = ended.signal in KILLS or (ended.code or 0) - 128 in KILLS
    return attempt.ended_unseen and (ended.is_ours or was_killed)


def park(run: PlanRun, attempt: Attempt, limit: LimitHit) -> None:
    match parking.park(run, attempt, limit):
        case Asked() as question:
            ask(run, attempt, question)
        case str(reason):
            fail(run, attempt, reason, in_full(reason, attempt.lines))


def ask(run: PlanRun, attempt: Attempt, asked: Asked) -> None:
    """The agent waits for a person; nothing sits in memory for it."""
    run.ledger.move_run(attempt.run, RunState.ASKED, Trigger.ASK)
    run.move_task(attempt.task.id, TaskState.IN_PROGRESS, Trigger.ASK)
    gate = run.ledger.add_question(
        attempt.run,
        asked.question,
        asked.category,
        asked.options,
        asked.preset,
        attempt.about,
        answers.deadline(asked, run.clock.now()),
    )
    run.open_gate(gate)
