"""Drives the run of a plan by the one loop: `engine/loop.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from segue.core.decide import AccountView, Candidate, Snapshot
from segue.core.machines import RunState
from segue.dialects.events import StepDone
from segue.engine import scheduler
from segue.engine.agent_events import AgentEvents
from segue.engine.attempt import ParkedByHand
from segue.engine.budget import Budget, grants
from segue.engine.executors import (
    ActsAdded,
    Answered,
    Ended,
    Happening,
    Heard,
    Look,
    PlanTouched,
    Started,
    StopWanted,
)
from segue.engine.ledger import LATER
from segue.engine.limit_reader import WordReaders
from segue.engine.limits import Policy
from segue.engine.loop import Rest
from segue.engine.parking import Parking
from segue.engine.plan import (
    agent_events,
    answers,
    beginning,
    context_files,
    deferred,
    edits,
    outcomes,
    parking,
    plan_acts,
)
from segue.engine.plan.attempts import Attempt
from segue.engine.plan.budget import PaidPlan
from segue.engine.plan.plan_run import PlanRun
from segue.engine.scheduler import Turn, nearest, park_view
from segue.engine.silence import LongSilence, SilenceWatch
from segue.engine.terminal_user import at_terminal
from segue.store.actors import SEGUE, Actor, acting, agent
from segue.store.rows import ParkRow


@dataclass(frozen=True, slots=True)
class PlanDriver:
    run: PlanRun

    def __post_init__(self) -> None:
        run = self.run
        run.on_edited, run.on_begun = (
            self.taken_in,
            lambda attempt: context_files.keep(run, attempt),
        )
        run.parking = Parking(
            run.ledger.store,
            run.clock,
            run.canaries,
            Policy(run.options.waits, run.leash.max_windows),
            run.profile_named,
        )
        granted = grants(run.ledger.store, run.ledger.work)
        run.budget = Budget(run.options.budget_usd, PaidPlan(run), granted)
        run.silence = SilenceWatch(
            run.options.silence,
            run.engine,
            self._speaking,
            self._tell_silence,
            lambda attempt: run.engine.end_soon(attempt.run.id),
        )
        shop = run.job_factory
        run.events = AgentEvents(
            run.clock,
            run.engine,
            run.canaries,
            WordReaders(
                shop.files, shop.environ, run.clock, run.leash.tz, run.options.limit_patterns
            ),
            end=run.engine.end_soon,
            opened=self._account_opened,
        )

    def _account_opened(self, account: str) -> None:
        if self.run.has_fallbacks:  # the agent itself does its tasks again
            self.run.queue()

    # A turn of the loop

    def take_in(self) -> None:
        if self.run.file.read():
            self.taken_in()
        if not self.run.file.is_broken:  # else what they changed has not been seen yet
            at_work = self.run.jobs.values()
            self.run.agents_could_edit = any(attempt.can_edit_plan for attempt in at_work)
        self._has_followed()  # an answer may have brought other tasks

    def rest(self) -> Rest:
        if self._has_followed():
            return Rest.AGAIN
        if self.is_over():
            # What a person wants may come at the last moment.
            return Rest.AGAIN if plan_acts.take_in(self.run) else Rest.OVER
        # What was found at rest may have changed something.
        return Rest.AGAIN if self._has_followed() else Rest.WAIT

    async def hear(self, happened: Sequence[Happening]) -> None:
        if told := self.run.keep_memory():
            self.run.publish("notice", text=told)
        for happening in happened:
            self.handle(happening)

    async def outlast(self, error: Exception) -> None:
        raise error  # the caller that opened the plan closes it first (`storage_outage.py`)

    @property
    def wait_s(self) -> float | None:
        """There may be something to write."""
        later_s = LATER.total_seconds() if self.run.ledger.has_later else None
        marks_s = self.run.marks_wait_s() if self.run.file.may_lag else None
        return min((s for s in (later_s, marks_s) if s is not None), default=None)

    def _has_followed(self) -> bool:
        """Whether the plan has other tasks than before; then they are taken in."""
        if not self.run.file.has_moved_on():
            return False
        edits.follow(self.run)
        self.run.file.followed(self.run)
        return True

    def decide(self) -> datetime | None:
        answers.take_defaults(self.run)
        now = self.run.clock.now()
        snapshot = self.snapshot(self._accounts())
        self.run.decisions = scheduler.carry_out(
            snapshot, now, self.run.canaries, wake=self._wake, start=self._start
        )
        deferred.look(self.run)
        self.run.silence.look(now)
        wake = self.run.decisions.next_at if self.run.options.wait else None
        remind = self.run.notices.remind(self.run) if self.run.notices is not None else None
        silent_at, deadline = self.run.silence.next_at(), answers.next_deadline(self.run)
        return nearest(wake, silent_at, deadline, remind)

    def _wake(self, id: str) -> Turn:
        park = self.run.ledger.parks[id]
        task = self.run.ledger.task_id(park.task)
        return Turn(task, park.account, lambda: parking.wake(self.run, park))

    def _start(self, task: str) -> Turn:
        account = self.run.agent_for(self.run.graph.task(task)).account
        return Turn(self.run.ledger.task_id(task), account, lambda: beginning.start(self.run, task))

    def _accounts(self) -> Mapping[str, AccountView]:
        """For a decision. Who would end instead of waiting starts all at once."""
        accounts = self.run.accounts.view()
        if self.run.options.wait:
            return accounts
        return {name: replace(view, follows_at=None) for name, view in accounts.items()}

    def snapshot(self, accounts: Mapping[str, AccountView]) -> Snapshot:
        # A check or a next try that is about to begin has its slot and its files as well.
        under_way = (*self.run.jobs.values(), *(attempt for attempt, _make in self.run.to_begin))
        running = {a.task.id: self._candidate(a) for a in under_way}
        return Snapshot(
            ready=self.run.frontier.ready,
            running=running,
            parks=[park_view(park) for park in self._parks()],
            accounts=accounts,
            slots=self.run.options.jobs,
            leash=self.run.leash,
            windows_used=self.run.ledger.windows,
            held=self.held(),
            claims=self._files_claimed(),
        )

    def _parks(self) -> list[ParkRow]:
        now = self.run.clock.now()
        parks = self.run.ledger.parks.that_matter(now)
        return [park for park in parks if self.run.options.wait or park.wakes_at <= now]

    def _files_claimed(self) -> dict[str, tuple[str, ...]]:
        """The files of tasks that wait half done."""
        if not self.run.with_files:
            return {}
        waiting = {park.task for park in self.run.ledger.parks.values()}
        waiting |= {gate.task for gate in self.run.ledger.gates.values() if gate.task}
        return {task: self.run.with_files[task] for task in waiting & self.run.with_files.keys()}

    def _candidate(self, attempt: Attempt) -> Candidate:
        return Candidate(attempt.task.id, attempt.run.account, attempt.task.files)

    def held(self) -> str | None:
        """Why nothing new may start, whatever the rules say."""
        if self.run.stopping:
            return "stopping"
        if self.run.file.is_broken:
            return "broken"
        if self.run.budget.holds():
            return "budget"
        if self.run.options.on_failed == "stop" and (self.run.failed_here or self.run.unanswered):
            return "failed"
        return None

    def is_over(self) -> bool:
        if self.run.jobs or self.run.to_begin:
            return False
        if self.run.stopping:
            return True
        if self.run.file.is_broken:
            return False
        # What is parked may be so for hours: ask now whatever can be asked meanwhile.
        has_changed = self.run.questions.ask_about_failed_here(self.run) or self.run.file.at_rest(
            self.run
        )
        self.run.budget.holds()  # it asks no longer if nothing is left that could cost more
        if has_changed or self.run.questions.is_asking:
            return False
        if self.run.is_background and self.run.ledger.gates:
            return False  # an answer comes from another terminal
        return self.run.decisions.next_at is None or not self.run.options.wait

    def act(self) -> None:
        self.run.act()

    def taken_in(self) -> None:
        """A person changed the file: what does it say now?"""
        self.run.show_marks()
        edits.take_in(self.run)

    # What happens

    def handle(self, happening: Happening) -> None:
        with acting(self._actor(happening)):
            self._handle(happening)

    def _actor(self, happening: Happening) -> Actor:
        """In whose name follows what happened: the agent's, but for Segue's own checks; a person's
        who answers here, or had it parked."""
        match happening:
            case Heard(job=job) | Ended(job=job) if job in self.run.jobs:
                attempt = self.run.jobs[job]
                if isinstance(attempt.ended_for, ParkedByHand):
                    return attempt.ended_for.by
                return SEGUE if job == attempt.run.verify_job else agent(job)
            case Answered() | StopWanted():
                return at_terminal()
        return SEGUE

    def _handle(self, happening: Happening) -> None:
        match happening:
            case Started(job, handle, is_adopted):
                self._started(job, handle, is_adopted)
            case Heard(job, event):
                if job in self.run.jobs:
                    agent_events.heard(self.run, self.run.jobs[job], event)
                    if isinstance(event, StepDone):
                        context_files.keep(self.run, self.run.jobs[job])
            case Ended(job):
                context_files.ended(self.run, job)
                outcomes.ended(self.run, happening)
                if self.run.has_acts_left:
                    plan_acts.take_in(self.run)
            case StopWanted():
                self.run.stop(happening)
            case Answered():
                self.run.questions.answered(self.run, happening)
            case ActsAdded():
                plan_acts.take_in(self.run)
            case PlanTouched():
                pass  # the loop looks at the file anyway
            case _:
                pass  # Due: the loop decides again

    def _started(self, job: str, handle: Mapping[str, int], is_adopted: bool) -> None:
        attempt = self.run.jobs.get(job)
        if attempt is None or job != attempt.run.id:
            return
        if attempt.run.state is RunState.INTENDED:
            self.run.ledger.run_started(attempt.run, handle)
        attempt.heard_at = self.run.clock.now()
        beginning.tell_started(self.run, attempt)
        if is_adopted:
            context_files.keep(self.run, attempt)

    def pause(self) -> None:
        """Stop every agent with all that it has started; the file is up to date."""
        if self.run.file.may_lag:
            self.run.ledger.commit()
            self.run.write_marks()
        for job in self.run.jobs:
            self.run.engine.pause(job)

    def go_on(self) -> None:
        for job, attempt in self.run.jobs.items():
            attempt.heard_at = self.run.clock.now()
            self.run.engine.go_on(job)

    def _speaking(self) -> list[Attempt]:
        """The agents at work; not Segue's own checks of what they did."""
        return [attempt for job, attempt in self.run.jobs.items() if job == attempt.run.id]

    def _tell_silence(self, attempt: Attempt, silence: LongSilence) -> None:
        seen = silence.seen or Look()
        self.run.publish(
            "task_silent",
            task=attempt.task.id,
            run=attempt.run.id,
            seconds=round(silence.lasted_s, 3),
            is_alive=silence.seen is not None,
            processes=list(seen.processes),
            stopped=seen.stopped,
            connections=seen.connections,
        )
