"""The start of a run: where was it, what became of what ran, what is judged again.

A run whose agent still lives is adopted; one that ended meanwhile is settled as if it had
ended now; one that never started never will; one that was cut off begins again from its
beginning, because a new agent cannot know half a step. Parks and questions stay.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from segue.core.limits import needs_person
from segue.core.machines import PlanState, RunState, Trigger
from segue.core.plan import TaskState
from segue.engine.executors import Alive, Finished
from segue.engine.plan import (
    answers,
    beginning,
    conversations,
    edits,
    memory,
    orphans,
    outcomes,
    plan_acts,
)
from segue.engine.plan.attempts import Attempt
from segue.engine.plan.plan_run import PlanRun
from segue.engine.plan.questions import retry_failed, skip_failed
from segue.engine.recovery import adopt_canaries, keep_account_parks, recover_run
from segue.i18n import _, language, ngettext
from segue.plans.task_edit import TaskEdit
from segue.store.changes import stamp
from segue.store.rows import RunRow

PARKS_TOLD_MAX = 100


async def recover(run: PlanRun, *, restart: bool = False) -> None:
    """Bring file, tables and processes together; then the loop can continue.

    `restart`: what is in progress begins again, whether it runs, is parked or has asked.
    """
    is_after_death = run.ledger.state is PlanState.RUNNING
    cause = Trigger.RECOVER if is_after_death else Trigger.START
    run.agents_could_edit = is_after_death or run.ledger.is_unread
    run.ledger.note_unread(is_unread=False)
    run.ledger.move_plan(PlanState.RUNNING, cause)
    run.ledger.note_held([])  # who waits is decided again
    if lost := memory.what_is_lost(run):
        run.publish("notice", text=lost)
    is_memory_new = not run.ledger.tasks
    pending = {id for id, row in run.ledger.tasks.items() if row.state is TaskState.PENDING}
    edits.compare(run, is_running=False)
    run.rebuild()
    orphans.take_over(run, is_memory_new=is_memory_new)
    run.ledger.commit()
    await _end_unwanted(run, restart=restart)
    for row in list(run.ledger.runs.values()):
        _recover_run(run, row)
    if restart:
        run.ledger.end_waits()
    edits.drop_what_is_out_of_our_hands(run)
    plan_acts.take_in(run)
    answers.take_defaults(run)
    for gate in list(run.ledger.gates.values()):
        if needs_person(gate.category):  # being started again is the answer: it was seen to
            beginning.go_on_with(run, gate, run.job_factory.resume_text)
        else:
            run.open_gate(gate)
    _keep_parks(run)
    _restart_cut_off(run, pending)
    adopt_canaries(run.canaries, run.jobs.values())
    _past_limit(run)
    _failed(run)
    run.reopen_skipped()
    stuck = (TaskState.FAILED, TaskState.SKIPPED)
    run.skip_dependants([id for id, state in run.frontier.states.items() if state in stuck])


def _keep_parks(run: PlanRun) -> None:
    """Of very many only the next are named."""
    keep_account_parks(run.accounts, run.ledger.parks.values(), run.clock.now())
    parks = sorted(run.ledger.parks.values(), key=lambda park: park.wakes_at)
    for park in parks[:PARKS_TOLD_MAX]:
        run.publish("park_kept", task=park.task, wakes_at=stamp(park.wakes_at))
    more = len(parks) - PARKS_TOLD_MAX
    if more > 0:
        text = ngettext("{n} more task is still parked", "{n} more tasks are still parked", more)
        run.publish("notice", text=text.format(n=more))


def _recover_run(run: PlanRun, row: RunRow) -> None:
    profile = run.profile_named(row.agent)
    assert profile is not None, "else it was ended"
    attempt = Attempt(run=row, task=run.graph.task(row.task), profile=profile)
    match row.state:
        case RunState.VERIFYING:
            _recover_verify(run, attempt)
        case RunState.MERGING:
            attempt.summary = conversations.said_before(run, attempt.run)
            outcomes.merge_or_complete(run, attempt)
        case _:
            job = run.job_factory.agent_job(attempt, None)
            recover_run(run.engine, run.job_factory.files, attempt, job, Rules(run))


def _is_wanted(run: PlanRun, row: RunRow) -> bool:
    """Whether its task is still in progress: a person may have settled it, or set it back."""
    return run.ledger.tasks[row.task].state is TaskState.IN_PROGRESS


@dataclass(frozen=True, slots=True)
class Rules:
    """What becomes of an agent's run of a plan."""

    run: PlanRun

    def adopted(self, attempt: Attempt, job: str, *, is_alive: bool) -> None:
        self.run.jobs[job] = attempt
        if is_alive:
            self.run.has_begun = True
            self.run.publish("run_adopted", task=attempt.run.task, run=attempt.run.id)

    def never_started(self, attempt: Attempt) -> None:
        conversations.ended(self.run, attempt)
        self.run.ledger.move_run(attempt.run, *_unstarted(attempt.run))
        if attempt.run.prompt is not None:
            self.run.undelivered[attempt.run.task] = attempt.run.prompt
        if _is_wanted(self.run, attempt.run):
            _go_on_unstarted(self.run, attempt.run)

    def cut_off(self, attempt: Attempt, conversation: str | None) -> None:
        if conversation is not None:
            self.run.ledger.note_conversation(attempt.run, conversation)
        outcomes.note_usage(self.run, attempt)
        conversations.ended(self.run, attempt)
        self.run.ledger.move_run(attempt.run, RunState.CUT_OFF, Trigger.CUT_OFF)


def _unstarted(row: RunRow) -> tuple[RunState, Trigger]:
    if row.state is RunState.INTENDED:
        return RunState.REVOKED, Trigger.REVOKE
    return RunState.CUT_OFF, Trigger.CUT_OFF


def _go_on_unstarted(run: PlanRun, row: RunRow) -> None:
    """A resumption that had not begun is made again; a fresh start falls to the restart."""
    before = run.ledger.run(row.resumes) if row.resumes else None
    if before is not None:
        is_same = row.conversation == before.conversation
        has_conversation = is_same and (row.resume_id is not None or before.resume_id is None)
        beginning.new_attempt(
            run,
            run.graph.task(row.task),
            attempt=row.attempt,
            resumes=before,
            answer=row.answer,
            before="" if has_conversation else conversations.what_is_known(run, before),
            purpose=row.purpose,
            profile=run.profile_named(row.agent),
        )


def _recover_verify(run: PlanRun, attempt: Attempt) -> None:
    attempt.summary = conversations.said_before(run, attempt.run)
    job = run.job_factory.verify_job(attempt, None)
    match run.engine.recover(job):
        case Alive():
            run.jobs[job.id] = attempt
        case Finished():
            run.jobs[job.id] = attempt
        case _:
            outcomes.verify(run, attempt)


async def _end_unwanted(run: PlanRun, *, restart: bool) -> None:
    """End what is no longer wanted, and wait until it is gone. Only then does its row say so: a
    death in between leaves a row by which the next start finds what still ends."""
    unwanted = [row for row in run.ledger.runs.values() if restart or not _can_go_on(run, row)]
    for row in unwanted:
        run.engine.end_unknown(row.id)
        if row.verify_job:
            run.engine.end_unknown(row.verify_job)
    await run.engine.unknown_ended()
    for row in unwanted:
        run.ledger.move_run(row, RunState.CUT_OFF, Trigger.CUT_OFF)


def _can_go_on(run: PlanRun, row: RunRow) -> bool:
    """Whether its task and its agent are still in the plan, and no person changed the mark of what
    is being checked."""
    if row.task not in run.graph or run.profile_named(row.agent) is None:
        return False
    is_check = row.state in (RunState.VERIFYING, RunState.MERGING)
    return not is_check or _is_wanted(run, row)


def _restart_cut_off(run: PlanRun, pending: Collection[str]) -> None:
    """`pending`: those that were to begin again already, and not because a person says so."""
    for before in run.ledger.cut_off_runs():
        if before.task in pending:
            run.cut_off[before.task] = before
    held = {attempt.task.id for attempt in run.jobs.values()}
    held |= {attempt.task.id for attempt, _make in run.to_begin}
    held |= {park.task for park in run.ledger.parks.values()}
    held |= {gate.task for gate in run.ledger.gates.values() if gate.task}
    for task in run.graph.tasks:
        row = run.ledger.tasks[task.id]
        if row.state is TaskState.IN_PROGRESS and task.id not in held:
            beginning.again(run, task)


def _past_limit(run: PlanRun) -> None:
    """Tried more often than the plan allows: skip it with a message, without asking."""
    for task in run.graph.tasks:
        row = run.ledger.tasks[task.id]
        if row.state is TaskState.FAILED and task.is_past_limit:
            run.move_task(task.id, TaskState.SKIPPED, Trigger.SKIP)
            run.mark(task.id, TaskState.SKIPPED)
            used, limit = task.retries_used, task.retries
            run.edit(task.id, TaskEdit(retries=(used, limit), language=language()))
            run.publish(
                "task_skipped",
                task=task.id,
                because=None,
                why=_("failed {used} times, {limit} allowed: please handle it by hand").format(
                    used=used, limit=limit
                ),
            )


def _failed(run: PlanRun) -> None:
    """Tasks that an earlier run left failed: asked about, or as --on-failed says."""
    failed = [
        task.id for task in run.graph.tasks if run.ledger.tasks[task.id].state is TaskState.FAILED
    ]
    match run.options.on_failed:
        case "retry":
            for task in failed:
                retry_failed(run, task)
        case "skip":
            for task in failed:
                skip_failed(run, task)
        case "ask" if run.questions.ask_failed(run, failed):
            pass
        case _:
            run.unanswered.extend(failed)
