"""The supervisor of the server: it makes processes and tables agree, driven by the one loop.

Whatever changes a task (a person's command, an event of its agent, a timer) commits it with what
must follow: a run to start, a text to deliver. `reconcile` then looks at the rows of the
task and does what they say. The same function makes good after a death: nothing else is needed.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

from segue.core.decide import Leash
from segue.core.limits import Waits
from segue.core.machines import RunState, Trigger
from segue.core.plan import TaskState
from segue.core.serving import AgentState
from segue.dialects.events import (
    Asked,
    BlockUnclosed,
    DependencyAsked,
    ErrorReported,
    Event,
    Garbled,
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
from segue.engine import outage
from segue.engine.accounts import Accounts
from segue.engine.agent_events import AgentEvents
from segue.engine.budget import Budget, grants
from segue.engine.canary import Canaries
from segue.engine.clock import Clock
from segue.engine.executors import ActsAdded, Broke, Due, Ended, Executor, Happening, Heard, Started
from segue.engine.gates import Reminders, Steps
from segue.engine.limit_reader import WordReaders
from segue.engine.limits import Policy
from segue.engine.loop import Rest, drive
from segue.engine.outcome import Circumstances
from segue.engine.parking import Parking
from segue.engine.scheduler import nearest
from segue.engine.silence import LongSilence, SilenceBounds, SilenceWatch
from segue.errors import AgentError, UserError
from segue.i18n import _
from segue.store.actors import SEGUE, Actor, acting, agent
from segue.store.changes import Change, Note
from segue.store.rows import SERVER, AgentRow, PhaseTaskRow, RunRow
from segue.work.agents.profiles import Profile
from segue.work.phases import (
    checking,
    checkpoint_integrity,
    moves,
    outcomes,
    parking,
    permissions,
    progress,
    protocol_faults,
    recovery,
    storage_outage,
    task_failure,
    timers,
    turns,
)
from segue.work.phases.attempt import Attempt
from segue.work.phases.budget import PaidTasks
from segue.work.phases.continuation import Continuation
from segue.work.phases.jobs import Jobs
from segue.work.phases.records import Records
from segue.work.phases.redaction import OPENS, revealed
from segue.work.phases.saving import Saving

if TYPE_CHECKING:
    from segue.dialects.limits import Extra

BUSY = timedelta(seconds=5)  # until somebody else may have left its conversation

logger = logging.getLogger("segue.work.phases")


@dataclass(slots=True)
class Supervisor:
    records: Records
    engine: Executor
    clock: Clock
    jobs: Jobs
    continuation: Continuation
    saving: Saving
    accounts: Accounts
    waits: Waits
    resume_text: str
    tz: tzinfo
    slots: Callable[[], int]
    limit_patterns: tuple[Extra, ...] = ()  # the user's own
    reminder_steps: Steps = ()  # when people are reminded of what waits for them
    silence: SilenceBounds = field(default_factory=SilenceBounds)
    leash: Leash = field(default_factory=Leash)
    budget_usd: float | None = None
    tell_output: Callable[[str, str], None] = lambda task, text: None
    keep_memory: Callable[[], str | None] = lambda: None  # what had to be put back, in words
    take_in_acts: Callable[[], None] = lambda: None  # what people want from other terminals
    attempts: dict[str, Attempt] = field(default_factory=dict)
    canaries: Canaries = field(init=False)
    silences: SilenceWatch[Attempt] = field(init=False)
    events: AgentEvents = field(init=False)
    parking: Parking[Profile] = field(init=False)
    reminders: Reminders = field(init=False)
    look_at: datetime | None = None  # when deciding again could change something
    granted: set[str] = field(default_factory=set)  # tasks whose turn it is, while it is given
    ended: str | None = None  # the task whose run has just ended: it keeps its slot
    not_before: dict[str, datetime] = field(default_factory=dict)  # whose conversation is in use
    held: str | None = None  # why nothing new may start
    budget: Budget = field(init=False)
    quarantined: set[str] = field(default_factory=set)  # tasks that could not even be failed
    unsaved: dict[str, None] = field(default_factory=dict)  # whose last step is in no checkpoint
    troubles: dict[str, int] = field(default_factory=dict)  # of files of one task
    keeper_deaths: Counter[str] = field(default_factory=Counter)  # of each task
    looked_through: dict[str, list[str]] = field(default_factory=dict)  # what is wanting, by task
    deferred_timers: dict[str, datetime] = field(default_factory=dict)  # timers that could not fire
    is_stopping: bool = False
    is_away: bool = False  # nothing can be kept: nothing is done until it can
    trouble: Exception | None = None  # that the loop has to see to
    recent_errors: list[datetime] = field(default_factory=list)  # errors about no task
    _may_start: bool = True
    _is_patient: bool = True
    _committed: list[Callable[[], None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.canaries = Canaries(self.accounts)
        self.parking = Parking(
            self.records.store,
            self.clock,
            self.canaries,
            Policy(self.waits, self.leash.max_windows),
            self.continuation.named,
        )
        granted = grants(self.records.store, SERVER)
        self.budget = Budget(self.budget_usd, PaidTasks(self), granted)
        self.reminders = timers.reminders(self)
        self.silences = SilenceWatch(
            self.silence, self.engine, self._speaking, self._tell_silence, self.end
        )
        jobs = self.jobs
        self.events = AgentEvents(
            self.clock,
            self.engine,
            self.canaries,
            WordReaders(jobs.files, jobs.environ, self.clock, self.tz, self.limit_patterns),
            end=lambda run: self.end(self.attempts[run]),
            opened=lambda account: parking.opened(self, account),
        )

    # Committing

    def commit(
        self,
        *changes: Change,
        then: Callable[[], Iterable[Change]] = tuple,
        may_start: bool = True,
    ) -> bool:
        """All of it or nothing; whoever listens is told. Somebody who holds the database is
        waited for once, and not by each of those who come meanwhile. `may_start`: whether
        something may begin or continue now because of it."""
        store = self.records.store
        try:
            if not store.move(*changes, at=self.clock.now(), then=then):
                return False
        except UserError as error:
            if outage.is_trouble(error):
                self.be_patient(False)
            raise
        if not self._is_patient:
            self.be_patient(True)
        if may_start and not self._may_start:
            self.kick()  # whoever committed this: a slot may be free now
        for listener in self._committed:
            listener()
        return True

    def be_patient(self, is_patient: bool) -> None:
        self._is_patient = is_patient
        wait_s = outage.PATIENT_S if is_patient else outage.IMPATIENT_S
        self.records.store.wait_at_most(wait_s)

    def on_commit(self, listener: Callable[[], None]) -> None:
        self._committed.append(listener)

    # A turn of the loop

    async def run(self) -> None:
        """Until it is stopped."""
        looking = asyncio.create_task(self._look_at_rest())
        try:
            await drive(self, self.engine)
        finally:
            looking.cancel()

    async def _look_at_rest(self) -> None:
        await checkpoint_integrity.look_at_rest(self)
        await recovery.save_rest(self)

    def take_in(self) -> None:
        if self.trouble is not None:
            raise self.trouble
        if not self.is_stopping:
            timers.fire(self)

    def decide(self) -> datetime | None:
        is_due = self.look_at is not None and self.look_at <= self.clock.now()
        if self._may_start or is_due:
            self._may_start = False
            turns.give(self)
        self.silences.look(self.clock.now())
        return nearest(timers.next_at(self), self.look_at, self.silences.next_at())

    def act(self) -> None:
        """Each turn was committed when it was given, and its process followed."""

    def rest(self) -> Rest:
        return Rest.OVER if self.is_stopping else Rest.WAIT

    @property
    def wait_s(self) -> float | None:
        return None

    async def hear(self, happened: Sequence[Happening]) -> None:
        if told := self.keep_memory():
            logger.warning("%s", told)
        for happening in happened:
            if isinstance(happening, Ended):
                await self._look_through(self.attempts.get(happening.job))
            self.handle(happening)
        for attempt in [one for one in self.attempts.values() if one.reports or one.is_further]:
            await self._look_through(attempt)
            self._act_on_told(attempt)

    async def outlast(self, error: Exception) -> None:
        await storage_outage.until_over(self, error)

    def can_write(self) -> bool:
        """Whether the disk and the database take something now."""
        return outage.can_write(self.records.store, self.saving.data, self.clock.now())

    def stop(self) -> None:
        """No new runs; agents are left for the next start."""
        self.is_stopping = True
        self.kick()

    def kick(self) -> None:
        """Let the loop look again: something may start now."""
        self._may_start = True
        self.engine.notify(Due())

    # Processes follow the tables

    def reconcile(self, id: str) -> None:
        """Make the processes of a task do what its rows say. Whoever committed those rows has
        nothing to do with what goes wrong here."""
        if self.is_stopping or self.is_away or id in self.quarantined:
            return
        try:
            try:
                self._reconcile(id)
            except Exception as error:  # noqa: BLE001 - it fails its own task
                task_failure.about(self, id, error)
        except Exception as error:  # noqa: BLE001 - for the loop
            self.trouble = error
            self.kick()

    def _reconcile(self, id: str) -> None:
        task, agent = self.records.task(id), self.records.agent(id)
        if task is None or agent is None:
            return
        is_ending = self._end_unwanted(task)
        for run in self.records.open_runs(id):
            attempt = self.attempts.get(run.id)
            if run.state is RunState.INTENDED and attempt is None:
                is_at_work = agent.state is AgentState.RUNNING and not is_ending
                if is_at_work and turns.is_its(self, run):
                    self._begin(task, run)
                elif is_at_work:
                    self.kick()
            elif attempt is not None and not attempt.is_ending:
                attempt.run = run
                self._keep_in_step(attempt, agent.state)

    def _end_unwanted(self, task: PhaseTaskRow) -> bool:
        """End the processes of runs that are over; whether any process of the task still ends. The
        next run begins after that: never two agents for one task."""
        is_over = task.state in (TaskState.COMPLETED, TaskState.FAILED)
        attempts = [a for a in self.attempts.values() if a.run.task == task.id]
        for attempt in attempts:
            wanted = self.records.run(attempt.run.id)
            is_open = wanted is not None and wanted.state in (RunState.INTENDED, RunState.RUNNING)
            if is_over or not is_open:
                self.end(attempt)
        return any(attempt.is_ending for attempt in attempts)

    def _keep_in_step(self, attempt: Attempt, state: AgentState) -> None:
        """A process goes on when its agent runs, and stands still when it waits."""
        job = attempt.run.id
        if state is not AgentState.RUNNING:
            if not attempt.is_paused:
                attempt.is_paused = True
                self.engine.pause(job)
                self.events.ended(attempt)
            return
        if attempt.is_paused and not self._may_go_on(attempt):
            self.kick()
            return
        is_there = attempt.run.state is RunState.RUNNING
        if is_there and attempt.run.prompt is not None and attempt.profile.takes_lines:
            self._deliver(attempt, attempt.run.prompt)
        if attempt.is_paused:
            attempt.is_paused = False
            attempt.heard_at = self.clock.now()  # while it stood still it could not speak
            self.engine.go_on(job)
        if attempt.reports and attempt.profile.takes_lines:
            outcomes.told(self, attempt)  # it had told this before it stood still

    def _may_go_on(self, attempt: Attempt) -> bool:
        is_checked = attempt.run.role == "work" and self.is_being_checked(attempt)
        return not is_checked and turns.is_its(self, attempt.run)

    def is_being_checked(self, attempt: Attempt) -> bool:
        runs = self.records.open_runs(attempt.run.task)
        return any(run.role != "work" for run in runs)

    def _deliver(self, attempt: Attempt, line: str) -> None:
        """Sent while it stands still, so that a death in between is seen: it is there, unread."""
        job, queued = attempt.run.id, attempt.run.queued
        unread = self.engine.unread(job)
        if queued is None or unread <= queued:
            self.commit(Note("run", job, {"queued": unread}))
            try:
                self.engine.send(job, self._revealed(attempt, line).encode())
            except AgentError:  # it has just ended: that is told, and judged
                return
        self.commit(Note("run", job, {"prompt": None, "queued": None}))

    def _revealed(self, attempt: Attempt, line: str) -> str:
        if OPENS not in line:
            return line
        return revealed(line, self.saving.given(attempt.run.task), is_json=True)

    def _begin(self, task: PhaseTaskRow, run: RunRow) -> None:
        try:
            attempt, job = self.jobs.make(task, run)
            if self.jobs.is_conversation_taken(attempt):
                self.not_before[run.id] = self.clock.now() + BUSY
                self.kick()
                return
        except (UserError, AgentError, OSError) as error:
            if outage.is_trouble(error):
                raise
            outcomes.could_not_begin(self, task, run, str(error))
            return
        self.attempts[run.id] = attempt
        self.not_before.pop(run.id, None)
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
                    with acting(self._actor(happening)):
                        self._handle(happening)
                except Exception as error:
                    run = self.records.run(job)
                    if run is None:
                        raise
                    task_failure.about(self, run.task, error)
            case ActsAdded():
                self.take_in_acts()
            case _:
                pass  # Due: the loop looks

    def _actor(self, happening: Started | Heard | Ended | Broke) -> Actor:
        """In whose name follows what happened: the agent's, but for Segue's own checks."""
        attempt = self.attempts.get(happening.job)
        is_agent = attempt is not None and attempt.run.role != "check"
        return agent(happening.job) if is_agent and isinstance(happening, Heard | Ended) else SEGUE

    def _handle(self, happening: Started | Heard | Ended | Broke) -> None:
        match happening:
            case Broke(error=error):
                raise error
            case Started(job, handle, is_adopted):
                self._started(job, handle, is_adopted)
            case Heard(job, event):
                if (attempt := self.attempts.get(job)) is not None:
                    self._heard(attempt, event)
            case Ended():
                self._ended(happening)

    def _started(self, job: str, handle: Mapping[str, int], is_adopted: bool) -> None:
        attempt = self.attempts.get(job)
        run = self.records.run(job)
        if attempt is None or run is None:
            return
        attempt.heard_at = self.clock.now()
        if not is_adopted:
            attempt.is_paused = False  # what was wanted before it was there had no effect
        if run.state is RunState.INTENDED:
            self.commit(
                moves.end_run(run, RunState.RUNNING, Trigger.STARTED, prompt=None, **handle)
            )
            attempt.run = self.records.run(job) or run
        self.reconcile(run.task)

    def _heard(self, attempt: Attempt, event: Event) -> None:
        self.events.hear(attempt, event)
        match event:
            case Said(text):
                self.tell_output(attempt.run.task, text)
            case ToolUsed(tool, what):
                self.tell_output(attempt.run.task, f"⚙ {tool} {what}".rstrip())
            case Opened(conversation):
                self._opened(attempt, conversation)
            case Used() if self.budget_usd is not None:
                self.kick()
            case PermissionAsked():
                permissions.asked(self, attempt, event)
            case PhaseDone() | TaskDone() | ErrorReported() | DependencyAsked() | Asked():
                self._report_heard(attempt, event)
            case StepDone() | TodosListed():
                progress.heard(attempt, event)
            case Unsigned() | BlockUnclosed() | Garbled():
                protocol_faults.noticed(self, attempt, event)
            case _:
                pass  # in the log

    def rows(self, id: str) -> tuple[PhaseTaskRow, AgentRow]:
        task, agent = self.records.task(id), self.records.agent(id)
        if task is None or agent is None:
            raise AgentError(f"the task {id} is gone")
        return task, agent

    def _report_heard(
        self,
        attempt: Attempt,
        event: PhaseDone | TaskDone | ErrorReported | DependencyAsked | Asked,
    ) -> None:
        """Something that counts. What a living process told before its supervisor died was acted
        on already, and is heard again from its log."""
        attempt.heard += 1
        if isinstance(event, PhaseDone):
            attempt.progress, attempt.is_further = None, False  # the next phase begins afresh
        if attempt.run.role != "work" or attempt.heard <= attempt.run.heard:
            return
        if not self._is_meant(attempt, event):
            protocol_faults.noticed(self, attempt, event)
            return
        self.events.report(attempt, event)
        if attempt.profile.brand is None and not attempt.profile.takes_lines:
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
            task_failure.about(self, attempt.run.task, error)

    def _act_on_told(self, attempt: Attempt) -> None:
        """After all of one read: what counts most in it comes first, whatever stands before it."""
        try:
            with acting(agent(attempt.run.id)):
                if attempt.is_further:
                    progress.keep(self, attempt)
                if attempt.reports and attempt.profile.takes_lines:
                    outcomes.told(self, attempt)
        except Exception as error:  # noqa: BLE001 - it fails its own task
            task_failure.about(self, attempt.run.task, error)

    def _is_meant(self, attempt: Attempt, event: Event) -> bool:
        task = self.records.task(attempt.run.task)
        match event:
            case ErrorReported() if not (event.is_fatal or event.is_pause):
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
        self.commit(*moves.note_conversation(attempt.run, conversation))
        attempt.run = self.records.run(attempt.run.id) or attempt.run

    def _ended(self, ended: Ended) -> None:
        if ended.job not in self.attempts:
            return
        if (ended.code != 0 or ended.lost_bytes) and not self.can_write():
            text = _("an agent ended while Segue could not write")
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
            if ended.keeper_died:
                self.keeper_deaths[run.task] += 1
            if ended.lost_bytes:
                text = _("could not store {n} bytes of the agent's output")
                said = text.format(n=ended.lost_bytes)
                logger.error("task %s: %s", run.task, said, extra={"task": run.task})
                self.commit(moves.notice(run.task, "trouble", said, self.clock.now()))
            self._follow_up(attempt, ended)
        else:
            self.events.ended(attempt)
        self.reconcile(attempt.run.task)  # the next run may have waited for this end
        self.engine.forget(ended.job)
        self.kick()  # a slot may be free

    def _follow_up(self, attempt: Attempt, ended: Ended) -> None:
        """What follows from the end of a run begins at once: its task keeps the slot."""
        self.ended = attempt.run.task
        try:
            outcomes.ended(self, attempt, ended)
            self.reconcile(attempt.run.task)
        finally:
            self.ended = None

    def circumstances(self, attempt: Attempt) -> Circumstances:
        run = attempt.run
        return Circumstances(
            is_continued=run.resume_id is not None, keeper_deaths=self.keeper_deaths[run.task]
        )

    def _speaking(self) -> list[Attempt]:
        """The agents that could say something: one that stands still cannot."""
        return [a for a in self.attempts.values() if not a.is_paused and not a.is_ending]

    def _tell_silence(self, attempt: Attempt, silence: LongSilence) -> None:
        task = attempt.run.task
        text = silence.in_words(task)
        logger.warning("run %s: %s", attempt.run.id, text, extra={"task": task})
        self.tell_output(task, text)

    def recover(self) -> None:
        """Take up what an earlier supervisor left, or this one had to leave alone."""
        recovery.everything(self)
