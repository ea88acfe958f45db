"""Drives the server's tasks by the one loop: `engine/loop.py`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from segue.core.machines import RunState, Trigger
from segue.dialects.events import (
    ActRefused,
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
from segue.engine import refusals
from segue.engine.agent_events import AgentEvents
from segue.engine.budget import Budget, grants
from segue.engine.executors import ActsAdded, Broke, Ended, Happening, Heard, Started
from segue.engine.limit_reader import WordReaders
from segue.engine.limits import Policy
from segue.engine.loop import Rest, drive
from segue.engine.parking import Parking
from segue.engine.scheduler import nearest
from segue.engine.silence import LongSilence, SilenceWatch
from segue.errors import UserError
from segue.i18n import _
from segue.store.actors import SEGUE, Actor, acting, agent
from segue.store.changes import Change
from segue.store.rows import SERVER
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
from segue.work.phases.processes import Processes
from segue.work.phases.supervisor import Supervisor

logger = logging.getLogger("segue.work.phases")


@dataclass(frozen=True, slots=True)
class PhaseDriver:
    supervisor: Supervisor

    def __post_init__(self) -> None:
        supervisor = self.supervisor
        supervisor.reconcile = Processes(supervisor).reconcile
        supervisor.recover = lambda: recovery.everything(supervisor)
        supervisor.parking = Parking(
            supervisor.records.store,
            supervisor.clock,
            supervisor.canaries,
            Policy(supervisor.waits, supervisor.leash.max_windows),
            supervisor.continuation.named,
        )
        granted = grants(supervisor.records.store, SERVER)
        supervisor.budget = Budget(supervisor.budget_usd, PaidTasks(supervisor), granted)
        supervisor.reminders = timers.reminders(supervisor)
        supervisor.silences = SilenceWatch(
            supervisor.silence,
            supervisor.engine,
            self._speaking,
            self._tell_silence,
            supervisor.end,
        )
        jobs = supervisor.jobs
        supervisor.events = AgentEvents(
            supervisor.clock,
            supervisor.engine,
            supervisor.canaries,
            WordReaders(
                jobs.files, jobs.environ, supervisor.clock, supervisor.tz, supervisor.limit_patterns
            ),
            end=lambda run: supervisor.end(supervisor.attempts[run]),
            opened=lambda account: parking.opened(supervisor, account),
        )

    # A turn of the loop

    async def run(self) -> None:
        """Until it is stopped."""
        looking = asyncio.create_task(self._look_at_rest())
        try:
            await drive(self, self.supervisor.engine)
        finally:
            looking.cancel()

    async def _look_at_rest(self) -> None:
        await checkpoint_integrity.look_at_rest(self.supervisor)
        await recovery.save_rest(self.supervisor)

    def take_in(self) -> None:
        if self.supervisor.trouble is not None:
            raise self.supervisor.trouble
        if not self.supervisor.is_stopping:
            timers.fire(self.supervisor)

    def decide(self) -> datetime | None:
        is_due = (
            self.supervisor.look_at is not None
            and self.supervisor.look_at <= self.supervisor.clock.now()
        )
        if self.supervisor.may_start or is_due:
            self.supervisor.may_start = False
            turns.give(self.supervisor)
        self.supervisor.silences.look(self.supervisor.clock.now())
        return nearest(
            timers.next_at(self.supervisor),
            self.supervisor.look_at,
            self.supervisor.silences.next_at(),
        )

    def act(self) -> None:
        """Each turn was committed when it was given, and its process followed."""

    def rest(self) -> Rest:
        return Rest.OVER if self.supervisor.is_stopping else Rest.WAIT

    @property
    def wait_s(self) -> float | None:
        return None

    async def hear(self, happened: Sequence[Happening]) -> None:
        if told := self.supervisor.keep_memory():
            logger.warning("%s", told)
        for happening in happened:
            if isinstance(happening, Ended):
                await self._look_through(self.supervisor.attempts.get(happening.job))
            self.handle(happening)
        for attempt in [
            one for one in self.supervisor.attempts.values() if one.reports or one.is_further
        ]:
            await self._look_through(attempt)
            self._act_on_told(attempt)

    async def outlast(self, error: Exception) -> None:
        await storage_outage.until_over(self.supervisor, error)

    # What happens

    def handle(self, happening: Happening) -> None:
        match happening:
            case Started(job=job) | Heard(job=job) | Ended(job=job) | Broke(job=job):
                try:
                    with acting(self._actor(happening)):
                        self._handle(happening)
                except Exception as error:
                    run = self.supervisor.records.run(job)
                    if run is None:
                        raise
                    task_failure.about(self.supervisor, run.task, error)
            case ActsAdded():
                self.supervisor.take_in_acts()
            case _:
                pass  # Due: the loop looks

    def _actor(self, happening: Started | Heard | Ended | Broke) -> Actor:
        """In whose name follows what happened: the agent's, but for Segue's own checks."""
        attempt = self.supervisor.attempts.get(happening.job)
        is_agent = attempt is not None and attempt.run.role != "check"
        return agent(happening.job) if is_agent and isinstance(happening, Heard | Ended) else SEGUE

    def _handle(self, happening: Started | Heard | Ended | Broke) -> None:
        match happening:
            case Broke(error=error):
                raise error
            case Started(job, handle, is_adopted):
                self._started(job, handle, is_adopted)
            case Heard(job, event):
                if (attempt := self.supervisor.attempts.get(job)) is not None:
                    self._heard(attempt, event)
            case Ended():
                self._ended(happening)

    def _started(self, job: str, handle: Mapping[str, int], is_adopted: bool) -> None:
        attempt = self.supervisor.attempts.get(job)
        run = self.supervisor.records.run(job)
        if attempt is None or run is None:
            return
        attempt.heard_at = self.supervisor.clock.now()
        if not is_adopted:
            attempt.is_paused = False  # what was wanted before it was there had no effect
        if run.state is RunState.INTENDED:
            self.supervisor.commit(
                moves.end_run(run, RunState.RUNNING, Trigger.STARTED, prompt=None, **handle)
            )
            attempt.run = self.supervisor.records.run(job) or run
        self.supervisor.reconcile(run.task)

    def _heard(self, attempt: Attempt, event: Event) -> None:
        self.supervisor.events.hear(attempt, event)
        match event:
            case Said(text):
                self.supervisor.tell_output(attempt.run.task, text)
            case ToolUsed(tool, what):
                self.supervisor.tell_output(attempt.run.task, f"⚙ {tool} {what}".rstrip())
            case Opened(conversation):
                self._opened(attempt, conversation)
            case Used() if self.supervisor.budget_usd is not None:
                self.supervisor.kick()
            case PermissionAsked():
                permissions.asked(self.supervisor, attempt, event)
            case PhaseDone() | TaskDone() | ErrorReported() | DependencyAsked() | Asked():
                self._report_heard(attempt, event)
            case StepDone() | TodosListed():
                progress.heard(attempt, event)
            case ActRefused():
                self._act_refused(attempt, event)
            case Unsigned() | BlockUnclosed() | Garbled():
                protocol_faults.noticed(self.supervisor, attempt, event)
            case _:
                pass  # in the log

    def _act_refused(self, attempt: Attempt, event: ActRefused) -> None:
        run, now = attempt.run, self.supervisor.clock.now()

        def changes() -> list[Change]:
            return refusals.told(self.supervisor.records.store, run.id, run.task, event, now)

        if changes():
            self.supervisor.commit(then=changes)

    def _report_heard(
        self,
        attempt: Attempt,
        event: PhaseDone | TaskDone | ErrorReported | DependencyAsked | Asked,
    ) -> None:
        """Something that counts. What a living process said before its supervisor died was acted
        on already, and is heard again from its log."""
        attempt.heard += 1
        if isinstance(event, PhaseDone):
            attempt.progress, attempt.is_further = None, False  # the next phase begins afresh
        if attempt.run.role != "work" or attempt.heard <= attempt.run.heard:
            return
        if not self._is_meant(attempt, event):
            protocol_faults.noticed(self.supervisor, attempt, event)
            return
        self.supervisor.events.report(attempt, event)
        if attempt.profile.brand is None and not attempt.profile.takes_lines:
            self.supervisor.end(attempt)

    async def _look_through(self, attempt: Attempt | None) -> None:
        """What an agent says to be complete is looked through beside the event loop, so that
        people are answered meanwhile; `checking` finds what came of it."""
        self.supervisor.looked_through.clear()
        if attempt is None:
            return
        try:
            await checking.look_through(self.supervisor, attempt)
        except Exception as error:  # noqa: BLE001 - it fails its own task
            task_failure.about(self.supervisor, attempt.run.task, error)

    def _act_on_told(self, attempt: Attempt) -> None:
        """After all of one read: what counts most in it comes first, whatever stands before it."""
        try:
            with acting(agent(attempt.run.id)):
                if attempt.is_further:
                    progress.keep(self.supervisor, attempt)
                if attempt.reports and attempt.profile.takes_lines:
                    outcomes.told(self.supervisor, attempt)
        except Exception as error:  # noqa: BLE001 - it fails its own task
            task_failure.about(self.supervisor, attempt.run.task, error)

    def _is_meant(self, attempt: Attempt, event: Event) -> bool:
        task = self.supervisor.records.task(attempt.run.task)
        match event:
            case ErrorReported() if not (event.is_fatal or event.is_pause):
                now = self.supervisor.clock.now()  # people are notified, and it continues
                self.supervisor.commit(
                    moves.notice(attempt.run.task, "trouble", event.message, now)
                )
                return False
            case PhaseDone(phase):
                return task is not None and bool(task.phases) and phase in (None, task.phase)
            case TaskDone():
                return task is not None and not task.phases
        return True

    def _opened(self, attempt: Attempt, conversation: str) -> None:
        if attempt.run.resume_id == conversation or attempt.busy is not None:
            return
        if not self.supervisor.jobs.hold_conversation(attempt, conversation):
            self.supervisor.end(attempt)  # another run is at work in it
            return
        self.supervisor.commit(*moves.note_conversation(attempt.run, conversation))
        attempt.run = self.supervisor.records.run(attempt.run.id) or attempt.run

    def _ended(self, ended: Ended) -> None:
        if ended.job not in self.supervisor.attempts:
            return
        if (ended.code != 0 or ended.lost_bytes) and not self.supervisor.can_write():
            text = _("an agent ended while Segue could not write to disk")
            raise UserError("disk_full", text, file=str(self.supervisor.records.store.path))
        attempt = self.supervisor.attempts.pop(ended.job)
        self.supervisor.jobs.leave_conversation(attempt)
        run = self.supervisor.records.run(ended.job)
        if run is not None and run.state in (RunState.INTENDED, RunState.RUNNING):
            if run.state is RunState.INTENDED:  # it ended before it was seen to start
                self.supervisor.commit(
                    moves.end_run(run, RunState.RUNNING, Trigger.STARTED, prompt=None)
                )
                run = self.supervisor.records.run(ended.job)
            assert run is not None
            attempt.run = run
            if ended.keeper_died:
                self.supervisor.keeper_deaths[run.task] += 1
            if ended.lost_bytes:
                text = _("could not store {n} bytes of the agent's output")
                said = text.format(n=ended.lost_bytes)
                logger.error("task %s: %s", run.task, said, extra={"task": run.task})
                self.supervisor.commit(
                    moves.notice(run.task, "trouble", said, self.supervisor.clock.now())
                )
            self._follow_up(attempt, ended)
        else:
            self.supervisor.events.ended(attempt)
        self.supervisor.reconcile(attempt.run.task)  # the next run may have waited for this end
        self.supervisor.engine.forget(ended.job)
        self.supervisor.kick()  # a slot may be free

    def _follow_up(self, attempt: Attempt, ended: Ended) -> None:
        """What follows from the end of a run begins at once: its task keeps the slot."""
        self.supervisor.ended = attempt.run.task
        try:
            outcomes.ended(self.supervisor, attempt, ended)
            self.supervisor.reconcile(attempt.run.task)
        finally:
            self.supervisor.ended = None

    def _speaking(self) -> list[Attempt]:
        """The agents that could say something: a stopped one cannot."""
        return [a for a in self.supervisor.attempts.values() if not a.is_paused and not a.is_ending]

    def _tell_silence(self, attempt: Attempt, silence: LongSilence) -> None:
        task = attempt.run.task
        text = silence.in_words(task)
        logger.warning("run %s: %s", attempt.run.id, text, extra={"task": task})
        self.supervisor.tell_output(task, text)
