"""After a death, or a time in which nothing could be kept: what was left is taken up, in every
state, by what the tables say and the processes show."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from datetime import timedelta

from segue.core.machines import RunState
from segue.core.serving import AgentState
from segue.engine import outage
from segue.engine.recovery import adopt_canaries, keep_account_parks, recover_run
from segue.errors import AgentError, UserError
from segue.store.changes import stamp
from segue.store.rows import PhaseTaskRow, RunRow
from segue.work.phases import checkpoint_integrity, moves, outcomes, task_end, task_failure
from segue.work.phases.attempt import Attempt
from segue.work.phases.supervisor import Supervisor

LATELY = timedelta(days=1)
KIND = "recovered"
SAVED_AT_ONCE_MAX = 10
REST = 200  # how much longer than one was saved nothing is
# Those that are stopped and whose last step is in no checkpoint; of what is over, lately.
UNSAVED = (
    "SELECT a.id FROM agents a JOIN tasks t ON t.id = a.id JOIN phase_tasks p ON p.task = a.id"
    " WHERE p.workspace IS NOT NULL AND a.state != 'running'"
    " AND (t.state IN ('in_progress', 'review') OR a.updated_at > ?)"
    " AND (a.saved_at IS NULL OR a.saved_at < a.updated_at)"
)


def everything(supervisor: Supervisor) -> None:
    for id in supervisor.records.at_work():
        try:
            checkpoint_integrity.look_at(supervisor, id)
        except Exception as error:  # noqa: BLE001 - it fails its own task
            task_failure.about(supervisor, id, error)
    known = {run.id for run in supervisor.records.open_runs()}
    for claim in supervisor.jobs.claims():
        if claim not in known:
            supervisor.engine.end_unknown(claim)
    for run in supervisor.records.open_runs():
        try:
            _run(supervisor, run)
        except Exception as error:  # noqa: BLE001 - it fails its own task
            task_failure.about(supervisor, run.task, error)
    adopt_canaries(supervisor.canaries, supervisor.attempts.values())
    keep_account_parks(
        supervisor.accounts, supervisor.records.waiting_parks(), supervisor.clock.now()
    )
    supervisor.engine.sweep()
    for id in supervisor.records.at_work():
        try:
            task = supervisor.records.task(id)
            if task is not None and not supervisor.records.open_runs(id):
                outcomes.cut_off(supervisor, task, None)
        except Exception as error:  # noqa: BLE001 - it fails its own task
            task_failure.about(supervisor, id, error)
        supervisor.reconcile(id)
    since = stamp(supervisor.clock.now() - LATELY)
    unsaved = [row["id"] for row in supervisor.records.store.all(UNSAVED, since)]
    for id in unsaved[:SAVED_AT_ONCE_MAX]:
        supervisor.saving.save(id, KIND)
    supervisor.unsaved = dict.fromkeys(unsaved[SAVED_AT_ONCE_MAX:])


async def save_rest(supervisor: Supervisor) -> None:
    """The others one after the other, slowly: a server at rest computes next to nothing, and
    a caller that needs one of them (`save_now`) gets it first."""
    while supervisor.unsaved:
        id = next(iter(supervisor.unsaved))
        began_s = time.monotonic()
        await save_now(supervisor, id)
        await asyncio.sleep((time.monotonic() - began_s) * REST)


async def save_now(supervisor: Supervisor, id: str) -> None:
    """Whoever asks for the checkpoints of a task finds the one that a death had kept from it."""
    if id in supervisor.unsaved:
        del supervisor.unsaved[id]
        if supervisor.records.store.one(f"{UNSAVED} AND a.id = ?", "", id) is not None:
            supervisor.saving.save(id, KIND)
    await supervisor.saving.saved(id)


def _run(supervisor: Supervisor, run: RunRow) -> None:
    task, agent = supervisor.records.task(run.task), supervisor.records.agent(run.task)
    if task is not None and agent is not None and task.id not in supervisor.quarantined:
        _take_up(supervisor, task, agent.state, run)


def _take_up(supervisor: Supervisor, task: PhaseTaskRow, state: AgentState, run: RunRow) -> None:
    try:
        attempt, job = supervisor.jobs.make(task, run, is_adopted=True)
    except (UserError, AgentError, OSError) as error:
        if outage.is_trouble(error):
            raise
        outcomes.could_not_begin(supervisor, task, run, str(error))
        return
    stays = state is not AgentState.RUNNING or run.prompt is not None
    is_known = run.state is RunState.RUNNING
    recover_run(
        supervisor.engine,
        supervisor.jobs.files,
        attempt,
        job,
        Rules(supervisor, task, stays=stays),
        stays_paused=is_known,
    )


@dataclass(frozen=True, slots=True)
class Rules:
    """What becomes of a run of a task with phases. `stays`: its process is stopped until it is
    sent a text, or until its turn."""

    supervisor: Supervisor
    task: PhaseTaskRow
    stays: bool

    def adopted(self, attempt: Attempt, job: str, *, is_alive: bool) -> None:
        is_known = is_alive and attempt.run.state is RunState.RUNNING
        stands_still = is_known and (self.stays or _stands_still(self.supervisor, attempt.run))
        attempt.is_paused = stands_still
        self.supervisor.attempts[job] = attempt

    def never_started(self, attempt: Attempt) -> None:
        outcomes.never_started(self.supervisor, self.task, attempt.run)

    def cut_off(self, attempt: Attempt, conversation: str | None) -> None:
        if conversation is not None:
            self.supervisor.commit(*moves.note_conversation(attempt.run, conversation))
        used = task_end.used_by(self.supervisor, attempt)
        outcomes.cut_off(self.supervisor, self.task, attempt.run, **used)


def _stands_still(supervisor: Supervisor, run: RunRow) -> bool:
    """It was about to continue, or has no slot yet: it continues when it is its turn."""
    seen = supervisor.engine.look(run.id)
    return seen is not None and seen.stopped > 0
