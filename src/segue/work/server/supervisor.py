"""The supervisor of the server: one loop that makes processes and tables agree.

Whatever changes a task (a person by the desk, an agent by what it told, a timer) commits it with
what must follow: a run to start, a text to deliver. `reconcile` then looks at the rows of the
task and does what they say. The same function makes good after a death: nothing else is needed.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo

from segue.core.limits import Waits
from segue.core.machines import RunState, Trigger
from segue.core.serving import AgentState, Stage
from segue.dialects.events import (
    Asked,
    BlockUnclosed,
    ConversationLost,
    DependencyAsked,
    ErrorTold,
    Event,
    Finished,
    Garbled,
    LimitHit,
    Opened,
    PermissionAsked,
    PhaseDone,
    Said,
    StepDone,
    TaskDone,
    TodosListed,
    ToolUsed,
    Unsigned,
    Used,
)
from segue.engine.clock import Clock
from segue.engine.port import Broke, Due, Ended, Engine, Happening, Heard, Started
from segue.errors import AgentError, UserError
from segue.i18n import _
from segue.store.changes import Change, Note
from segue.work.accounts import Accounts
from segue.work.server import (
    checking,
    faults,
    mishaps,
    moves,
    outcomes,
    permissions,
    progress,
    seen,
    sitting_out,
    storage,
    taking_up,
    timers,
    turns,
    whole,
)
from segue.work.server.attempt import Attempt
from segue.work.server.going_on import GoingOn, takes_lines
from segue.work.server.jobs import Jobs
from segue.work.server.records import Records
from segue.work.server.rows import RunRow, TaskRow
from segue.work.server.saving import Saving
from segue.work.server.veil import OPENS, revealed

BUSY = timedelta(seconds=5)  # until somebody else may have left its conversation

logger = logging.getLogger("segue.work.server")


@dataclass(slots=True)
class Supervisor:
    records: Records
    engine: Engine
    clock: Clock
    jobs: Jobs
    going_on: GoingOn
    saving: Saving
    accounts: Accounts
    waits: Waits
    resume_text: str
    tz: tzinfo
    slots: Callable[[], int]
    tell_output: Callable[[str, str], None] = lambda task, text: None
    attempts: dict[str, Attempt] = field(default_factory=dict)
    probing: set[str] = field(default_factory=set)  # accounts that a canary was sent to
    resumed: set[str] = field(default_factory=set)  # tasks, by a person, before their limit's end
    # Tasks that may not go on yet: until when their account is parked; None: a slot is missing.
    waiting: dict[str, datetime | None] = field(default_factory=dict)
    look_at: datetime | None = None  # when the first account of those that wait is free again
    set_aside: set[str] = field(default_factory=set)  # tasks that could not even be failed
    unsaved: list[str] = field(default_factory=list)  # whose last step is in no checkpoint
    troubles: dict[str, int] = field(default_factory=dict)  # of files of one task
    keeper_deaths: Counter[str] = field(default_factory=Counter)  # of each task
    looked_through: dict[str, list[str]] = field(default_factory=dict)  # what is wanting, by task
    put_off: dict[str, datetime] = field(default_factory=dict)  # timers that could not fire
    is_stopping: bool = False
    is_away: bool = False  # nothing can be kept: nothing is done until it can
    trouble: Exception | None = None  # that the loop has to see to
    stumbles: list[datetime] = field(default_factory=list)  # errors about no task
    _may_start: bool = True
    _is_patient: bool = True
    _committed: list[Callable[[], None]] = field(default_factory=list)

    # Committing

    def commit(self, *changes: Change, then: Callable[[], Iterable[Change]] = tuple) -> bool:
        """All of it or nothing; whoever listens is told. Somebody who holds the database is
        waited for once, and not by each of those who come meanwhile."""
        store = self.records.store
        try:
            if not store.move(*changes, at=self.clock.now(), then=then):
                return False
        except UserError as error:
            if storage.is_trouble(error):
                self.be_patient(False)
            raise
        if not self._is_patient:
            self.be_patient(True)
        if not self._may_start:
            self.kick()  # whoever committed this: a slot may be free now
        for listener in self._committed:
            listener()
        return True

    def be_patient(self, is_patient: bool) -> None:
        self._is_patient = is_patient
        wait_s = storage.PATIENT_S if is_patient else storage.IMPATIENT_S
        self.records.store.wait_at_most(wait_s)

    def on_commit(self, listener: Callable[[], None]) -> None:
        self._committed.append(listener)

    # The loop

    async def _look_at_rest(self) -> None:
        await taking_up.save_rest(self)
        await whole.look_at_rest(self)

    async def loop(self) -> None:
        looking = asyncio.create_task(self._look_at_rest())
        try:
            while not self.is_stopping:
                try:
                    await self._turn()
                except Exception as error:  # noqa: BLE001 - it is logged, or raised in the end
                    await sitting_out.until_over(self, error)
        finally:
            looking.cancel()

    async def _turn(self) -> None:
        timers.fire(self)
        is_due = self.look_at is not None and self.look_at <= self.clock.now()
        if self._may_start or is_due:
            self._may_start = False
            turns.give(self)
        instants = [at for at in (timers.next_at(self), self.look_at) if at is not None]
        self.engine.wake_at(min(instants, default=None))
        for happening in await self.engine.next():
            if isinstance(happening, Ended):
                await self._look_through(self.attempts.get(happening.job))
            self.handle(happening)
        for attempt in [one for one in self.attempts.values() if one.told or one.is_further]:
            await self._look_through(attempt)
            self._act_on_told(attempt)
        if self.trouble is not None:
            raise self.trouble

    def can_write(self) -> bool:
        """Whether the disk and the database take something now."""
        return storage.can_write(self.records.store, self.saving.data, self.clock.now())

    def stop(self) -> None:
        """No new runs; agents are left for the next start."""
        self.is_stopping = True
        self.kick()

    def kick(self) -> None:
        """Let the loop look again: something may start now."""
        self._may_start = True
        self.engine.tell(Due())

    # Processes follow the tables

    def reconcile(self, id: str) -> None:
        """Make the processes of a task do what its rows say. Whoever committed those rows has
        nothing to do with what goes wrong here."""
        if self.is_stopping or self.is_away or id in self.set_aside:
            return
        try:
            try:
                self._reconcile(id)
            except Exception as error:  # noqa: BLE001 - it fails its own task
                mishaps.about(self, id, error)
        except Exception as error:  # noqa: BLE001 - for the loop
            self.trouble = error
            self.kick()

    def _reconcile(self, id: str) -> None:
        task, agent = self.records.task(id), self.records.agent(id)
        if task is None or agent is None:
            return
        for run in self.records.open_runs(id):
            attempt = self.attempts.get(run.id)
            if run.state is RunState.INTENDED and attempt is None:
                if agent.state is AgentState.RUNNING and turns.is_its(self, run):
                    self._begin(task, run)
            elif attempt is not None and not attempt.is_ending:
                attempt.run = run
                self._keep_in_step(attempt, agent.state)
        is_over = task.state in (Stage.COMPLETED, Stage.FAILED)
        for attempt in [a for a in self.attempts.values() if a.run.task == id]:
            wanted = self.records.run(attempt.run.id)
            is_open = wanted is not None and wanted.state in (RunState.INTENDED, RunState.RUNNING)
            if is_over or not is_open:
                self.end(attempt)

    def _keep_in_step(self, attempt: Attempt, state: AgentState) -> None:
        """A process goes on when its agent runs, and stands still when it waits."""
        job = attempt.run.id
        if state is not AgentState.RUNNING:
            if not attempt.is_paused:
                attempt.is_paused = True
                self.engine.pause(job)
            return
        if attempt.is_paused and not self._may_go_on(attempt):
            return
        is_there = attempt.run.state is RunState.RUNNING
        if is_there and attempt.run.prompt is not None and takes_lines(attempt.profile):
            self._deliver(attempt, attempt.run.prompt)
        if attempt.is_paused:
            attempt.is_paused = False
            turns.begins(self, attempt.run)
            self.engine.go_on(job)
        if attempt.told and takes_lines(attempt.profile):
            outcomes.told(self, attempt)  # it had told this before it stood still

    def _may_go_on(self, attempt: Attempt) -> bool:
        is_checked = attempt.run.purpose == "work" and self.is_being_checked(attempt)
        return not is_checked and turns.is_its(self, attempt.run)

    def is_being_checked(self, attempt: Attempt) -> bool:
        runs = self.records.open_runs(attempt.run.task)
        return any(run.purpose != "work" for run in runs)

    def _deliver(self, attempt: Attempt, line: str) -> None:
        """Sent while it stands still, so that a death in between is seen: it is there, unread."""
        job, queued = attempt.run.id, attempt.run.queued
        unread = self.engine.unread(job)
        if queued is None or unread <= queued:
            self.commit(Note("server_run", job, {"queued": unread}))
            try:
                self.engine.send(job, self._revealed(attempt, line).encode())
            except AgentError:  # it has just ended: that is told, and judged
                return
        self.commit(Note("server_run", job, {"prompt": None, "queued": None}))

    def _revealed(self, attempt: Attempt, line: str) -> str:
        if OPENS not in line:
            return line
        return revealed(line, self.saving.given(attempt.run.task), is_json=True)

    def _begin(self, task: TaskRow, run: RunRow) -> None:
        try:
            attempt, job = self.jobs.make(task, run)
            if self.jobs.is_conversation_taken(attempt):
                at = self.clock.now() + BUSY
                self.commit(moves.timer("look", task.id, at))
                return
        except (UserError, AgentError, OSError) as error:
            if storage.is_trouble(error):
                raise
            outcomes.could_not_begin(self, task, run, str(error))
            return
        self.attempts[run.id] = attempt
        turns.begins(self, run)
        self.engine.begin(job)

    def end(self, attempt: Attempt) -> None:
        if not attempt.is_ending:
            attempt.is_ending = True
            self.engine.end_soon(attempt.run.id)

    # What happens

    def handle(self, happening: Happening) -> None:
        match happening:
            case Started(job=job) | Heard(job=job) | Ended(job=job) | Broke(job=job):
                try:
                    self._handle(happening)
                except Exception as error:
                    run = self.records.run(job)
                    if run is None:
                        raise
                    mishaps.about(self, run.task, error)
            case _:
                pass  # Due: the loop looks

    def _handle(self, happening: Started | Heard | Ended | Broke) -> None:
        match happening:
            case Broke(error=error):
                raise error
            case Started(job, pid, pid_started, is_adopted):
                self._started(job, pid, pid_started, is_adopted)
            case Heard(job, event):
                if (attempt := self.attempts.get(job)) is not None:
                    self._heard(attempt, event)
            case Ended():
                self._ended(happening)

    def _started(self, job: str, pid: int, pid_started: int, is_adopted: bool) -> None:
        attempt = self.attempts.get(job)
        run = self.records.run(job)
        if attempt is None or run is None:
            return
        if not is_adopted:
            attempt.is_paused = False  # what was wanted before it was there had no effect
        if run.state is RunState.INTENDED:
            keeper = {"keeper": pid, "keeper_started": pid_started}
            self.commit(
                moves.end_run(run, RunState.RUNNING, Trigger.STARTED, prompt=None, **keeper)
            )
            attempt.run = self.records.run(job) or run
        self.reconcile(run.task)

    def _heard(self, attempt: Attempt, event: Event) -> None:
        match event:
            case Said(text):
                attempt.lines.append(text)
                seen.at_work(self, attempt, text)
                self.tell_output(attempt.run.task, text)
            case ToolUsed(tool, what):
                seen.at_work(self, attempt)
                self.tell_output(attempt.run.task, f"⚙ {tool} {what}".rstrip())
            case Opened(conversation):
                self._opened(attempt, conversation)
            case Used():
                attempt.used = event
            case LimitHit():
                attempt.limit = event
            case Finished():
                attempt.finished = event
                self.engine.end_input(attempt.run.id)
            case ConversationLost():
                attempt.lost = event
            case PermissionAsked():
                permissions.asked(self, attempt, event)
            case PhaseDone() | TaskDone() | ErrorTold() | DependencyAsked() | Asked():
                self._told(attempt, event)
            case StepDone() | TodosListed():
                progress.heard(attempt, event)
            case Unsigned() | BlockUnclosed() | Garbled():
                faults.noticed(self, attempt, event)
            case _:
                pass  # in the log

    def _told(
        self, attempt: Attempt, event: PhaseDone | TaskDone | ErrorTold | DependencyAsked | Asked
    ) -> None:
        """Something that counts. What a living process told before its supervisor died was acted
        on already, and is heard again from its log."""
        attempt.heard += 1
        if isinstance(event, PhaseDone):
            attempt.progress, attempt.is_further = None, False  # the next phase begins afresh
        if attempt.run.purpose != "work" or attempt.heard <= attempt.run.heard:
            return
        if not self._is_meant(attempt, event):
            faults.noticed(self, attempt, event)
            return
        attempt.told.append(event)
        if attempt.profile.brand is None and not takes_lines(attempt.profile):
            self.end(attempt)

    async def _look_through(self, attempt: Attempt | None) -> None:
        """What an agent says to be complete is looked through beside the event loop, so that
        people are answered meanwhile; `checking` finds what came of it."""
        self.looked_through.clear()
        if attempt is None:
            return
        try:
            await checking.look_through(self, attempt)
        except Exception as error:  # noqa: BLE001 - it fails its own task
            mishaps.about(self, attempt.run.task, error)

    def _act_on_told(self, attempt: Attempt) -> None:
        """After all of one read: what counts most in it comes first, whatever stands before it."""
        try:
            if attempt.is_further:
                progress.keep(self, attempt)
            if attempt.told and takes_lines(attempt.profile):
                outcomes.told(self, attempt)
        except Exception as error:  # noqa: BLE001 - it fails its own task
            mishaps.about(self, attempt.run.task, error)

    def _is_meant(self, attempt: Attempt, event: Event) -> bool:
        task = self.records.task(attempt.run.task)
        match event:
            case ErrorTold() if not (event.is_fatal or event.is_pause):
                now = self.clock.now()  # people are told, and it goes on
                self.commit(moves.notice(attempt.run.task, "trouble", event.message, now))
                return False
            case PhaseDone(phase):
                return task is not None and bool(task.phases) and phase in (None, task.phase)
            case TaskDone():
                return task is not None and not task.phases
        return True

    def _opened(self, attempt: Attempt, conversation: str) -> None:
        if attempt.run.resume_id == conversation:
            return
        if self.jobs.is_conversation_taken(attempt, conversation):
            self.end(attempt)  # somebody else is at work in it
            return
        changes: list[Change] = [Note("server_run", attempt.run.id, {"resume_id": conversation})]
        if attempt.run.purpose == "work":
            changes.append(Note("server_agent", attempt.run.task, {"resume_id": conversation}))
        self.commit(*changes)
        attempt.run = self.records.run(attempt.run.id) or attempt.run

    def _ended(self, ended: Ended) -> None:
        if ended.job not in self.attempts:
            return
        if (ended.code != 0 or ended.lost_bytes) and not self.can_write():
            text = _("an agent ended while nothing could be written")
            raise UserError("disk_full", text, file=str(self.records.store.path))
        attempt = self.attempts.pop(ended.job)
        self.jobs.leave_conversation(attempt)
        run = self.records.run(ended.job)
        if run is not None and run.state in (RunState.INTENDED, RunState.RUNNING):
            if run.state is RunState.INTENDED:  # it ended before it was seen to start
                self.commit(moves.end_run(run, RunState.RUNNING, Trigger.STARTED, prompt=None))
                run = self.records.run(ended.job)
            assert run is not None
            attempt.run = run
            if ended.lost_bytes:
                text = _("{n} bytes of the agent's output could not be kept")
                said = text.format(n=ended.lost_bytes)
                logger.error("task %s: %s", run.task, said, extra={"task": run.task})
                self.commit(moves.notice(run.task, "trouble", said, self.clock.now()))
            outcomes.ended(self, attempt, ended)
            self.reconcile(run.task)
        seen.ended(self, attempt)
        self.engine.forget(ended.job)

    def recover(self) -> None:
        """Take up what an earlier supervisor left, or this one had to leave alone."""
        taking_up.everything(self)
