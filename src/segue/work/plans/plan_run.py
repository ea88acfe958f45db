"""The run of a plan: a task list, a book, a feature.

Driven by the one loop (`engine/loop.py`). What it does beside is to write the marks: after the
tables, before the processes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from segue.core.decide import AccountView, Candidate, Decisions, Leash, Snapshot
from segue.core.frontier import Frontier
from segue.core.graph import Graph
from segue.core.limits import Waits
from segue.core.machines import RunState, Trigger
from segue.core.pace import Pace
from segue.core.plan import Task, TaskState
from segue.core.rules import Reopen, cascade, judge_skipped
from segue.dialects.events import StepDone
from segue.engine import scheduler
from segue.engine.accounts import Accounts
from segue.engine.agent_events import AgentEvents
from segue.engine.attempt import ParkedByHand
from segue.engine.budget import Budget
from segue.engine.canary import Canaries
from segue.engine.clock import Clock
from segue.engine.executors import (
    ActsAdded,
    Answered,
    Ended,
    Executor,
    Happening,
    Heard,
    Job,
    Look,
    PlanTouched,
    Started,
    StopWanted,
)
from segue.engine.gates import Steps, as_told
from segue.engine.limit_reader import WordReaders
from segue.engine.limits import Policy
from segue.engine.loop import Rest
from segue.engine.outcome import Need
from segue.engine.parking import Parking
from segue.engine.question_texts import BUDGET
from segue.engine.scheduler import Turn, nearest, park_view
from segue.engine.silence import LongSilence, SilenceBounds, SilenceWatch
from segue.engine.terminal_user import at_terminal
from segue.errors import AgentError
from segue.plans.task_edit import TaskEdit
from segue.store.actors import SEGUE, Actor, acting, agent
from segue.store.conversations import Conversations
from segue.store.rows import GateRow, ParkRow, RunRow
from segue.work.agents.profiles import Profile
from segue.work.plans import (
    agent_events,
    answers,
    beginning,
    context_note,
    deferred,
    edits,
    outcomes,
    parking,
    plan_acts,
)
from segue.work.plans.attempts import Attempt, JobFactory
from segue.work.plans.budget import PaidPlan
from segue.work.plans.deferred import Deferred
from segue.work.plans.finish import OUTCOME
from segue.work.plans.ledger import LATER, Ledger
from segue.work.plans.notices import NoticeWriter
from segue.work.plans.questions import Questions
from segue.work.plans.source import Source

if TYPE_CHECKING:
    from segue.dialects.limits import Extra


@dataclass(frozen=True, slots=True)
class Options:
    jobs: int
    on_failed: str = "ask"
    wait: bool = True
    waits: Waits = field(default_factory=Waits)
    silence: SilenceBounds = field(default_factory=SilenceBounds)
    budget_usd: float | None = None
    limit_patterns: tuple[Extra, ...] = ()  # the user's own
    place: str | None = None  # the file in which agents without hooks find their place
    reminders: Steps = ()  # of what waits for a person for long
    marks_every_s: float = 0.25  # how far they may lag behind while jobs run


@dataclass(slots=True)
class PlanRun:
    """Everything that the run of one plan holds in memory."""

    file: Source
    ledger: Ledger
    accounts: Accounts
    engine: Executor
    clock: Clock
    job_factory: JobFactory
    options: Options
    leash: Leash
    profile_for: Callable[[Task], Profile]
    profile_named: Callable[[str], Profile | None]
    questions: Questions
    held_conversations: Conversations
    emit: Callable[..., None]
    has_fallbacks: bool = False
    is_background: bool = False  # it has no terminal, and stays while a person is needed
    keep_memory: Callable[[], str | None] = lambda: None  # what had to be put back, in words
    notices: NoticeWriter | None = None  # what people outside are told; nothing where no way is set

    graph: Graph = field(init=False)
    frontier: Frontier = field(init=False)
    _with_files: dict[str, tuple[str, ...]] = field(default_factory=dict)
    jobs: dict[str, Attempt] = field(default_factory=dict)
    decisions: Decisions = field(default_factory=Decisions)
    stopping: StopWanted | None = None
    has_begun: bool = False  # an agent was started, or found at work
    has_moved: bool = False  # some task went on since the start
    failed_here: list[str] = field(default_factory=list)
    skipped_here: set[str] = field(default_factory=set)  # by a person's decision
    unanswered: list[str] = field(default_factory=list)  # found failed, and nobody to ask
    budget: Budget = field(init=False)
    keeper_deaths: Counter[str] = field(default_factory=Counter)  # of each task
    cut_off: dict[str, RunRow | None] = field(default_factory=dict)  # those that begin again
    unheard: set[str] = field(default_factory=set)  # runs whose output was lost with the memory
    canaries: Canaries = field(init=False)
    silence: SilenceWatch[Attempt] = field(init=False)
    events: AgentEvents = field(init=False)
    parking: Parking[Profile] = field(init=False)
    deferred: dict[str, Deferred] = field(default_factory=dict)  # they wait without a run
    deferred_published: dict[str, str | None] = field(default_factory=dict)
    has_acts_left: bool = False  # a person wants something that waits for an agent's end
    _begin: list[tuple[Attempt, Callable[[], Job]]] = field(default_factory=list)
    _settled: list[str] = field(default_factory=list)
    _events: list[tuple[str, dict[str, object]]] = field(default_factory=list)
    _marked: dict[str, TaskState] = field(default_factory=dict)
    _pace: Pace = field(init=False)  # of the marks
    _shows_now: bool = False  # somebody looks at the file: it must show all

    def __post_init__(self) -> None:
        self._pace = Pace(self.options.marks_every_s)
        self.canaries = Canaries(self.accounts)
        self.parking = Parking(
            self.ledger.store,
            self.clock,
            self.canaries,
            Policy(self.options.waits, self.leash.max_windows),
            self.profile_named,
        )
        granted = self.ledger.budgets_granted()
        self.budget = Budget(self.options.budget_usd, PaidPlan(self), granted)
        self.silence = SilenceWatch(
            self.options.silence,
            self.engine,
            self._speaking,
            self._tell_silence,
            lambda attempt: self.engine.end_soon(attempt.run.id),
        )
        shop = self.job_factory
        self.events = AgentEvents(
            self.clock,
            self.engine,
            self.canaries,
            WordReaders(
                shop.files, shop.environ, self.clock, self.leash.tz, self.options.limit_patterns
            ),
            end=self.engine.end_soon,
            opened=self._account_opened,
        )

    def _account_opened(self, account: str) -> None:
        if self.has_fallbacks:  # the agent itself does its tasks again
            self.queue()

    # A turn of the loop

    def take_in(self) -> None:
        if self.file.read():
            self.taken_in()
        self._has_followed()  # an answer may have brought other tasks

    def rest(self) -> Rest:
        if self._has_followed():
            return Rest.AGAIN
        if self.is_over():
            # What a person wants may come at the last moment.
            return Rest.AGAIN if plan_acts.take_in(self) else Rest.OVER
        # What was found at rest may have changed something.
        return Rest.AGAIN if self._has_followed() else Rest.WAIT

    async def hear(self, happened: Sequence[Happening]) -> None:
        if told := self.keep_memory():
            self.publish("notice", text=told)
        for happening in happened:
            self.handle(happening)

    async def outlast(self, error: Exception) -> None:
        raise error  # whoever opened the plan closes it first (`storage_outage.py`)

    @property
    def wait_s(self) -> float | None:
        """There may be something to write."""
        later_s = LATER.total_seconds() if self.ledger.has_later else None
        marks_s = self._marks_wait_s() if self.file.may_lag else None
        return min((s for s in (later_s, marks_s) if s is not None), default=None)

    def _has_followed(self) -> bool:
        """Whether the plan has other tasks than before; then they are taken in."""
        if not self.file.has_moved_on():
            return False
        edits.follow(self)
        self.file.followed(self)
        return True

    def decide(self) -> datetime | None:
        answers.take_defaults(self)
        now = self.clock.now()
        snapshot = self.snapshot(self._accounts())
        self.decisions = scheduler.carry_out(
            snapshot, now, self.canaries, wake=self._wake, start=self._start
        )
        deferred.look(self)
        self.silence.look(now)
        wake = self.decisions.next_at if self.options.wait else None
        remind = self.notices.remind(self) if self.notices is not None else None
        silent_at, deadline = self.silence.next_at(), answers.next_deadline(self)
        return nearest(wake, silent_at, deadline, remind)

    def _wake(self, id: str) -> Turn:
        park = self.ledger.parks[id]
        task = self.ledger.task_id(park.task)
        return Turn(task, park.account, lambda: parking.wake(self, park))

    def _start(self, task: str) -> Turn:
        account = self.agent_for(self.graph.task(task)).account
        return Turn(self.ledger.task_id(task), account, lambda: beginning.start(self, task))

    def _accounts(self) -> Mapping[str, AccountView]:
        """For a decision. Who would end instead of waiting starts all at once."""
        accounts = self.accounts.view()
        if self.options.wait:
            return accounts
        return {name: replace(view, follows_at=None) for name, view in accounts.items()}

    def snapshot(self, accounts: Mapping[str, AccountView]) -> Snapshot:
        # A check or a next try that is about to begin has its slot and its files as well.
        under_way = (*self.jobs.values(), *(attempt for attempt, _make in self._begin))
        running = {a.task.id: self._candidate(a) for a in under_way}
        return Snapshot(
            ready=self.frontier.ready,
            running=running,
            parks=[park_view(park) for park in self._parks()],
            accounts=accounts,
            slots=self.options.jobs,
            leash=self.leash,
            windows_used=self.ledger.windows,
            held=self.held(),
            claims=self._files_claimed(),
        )

    def _parks(self) -> list[ParkRow]:
        now = self.clock.now()
        parks = self.ledger.parks.that_matter(now)
        return [park for park in parks if self.options.wait or park.wakes_at <= now]

    def _files_claimed(self) -> dict[str, tuple[str, ...]]:
        """The files of tasks that wait half done."""
        if not self._with_files:
            return {}
        waiting = {park.task for park in self.ledger.parks.values()}
        waiting |= {gate.task for gate in self.ledger.gates.values() if gate.task}
        return {task: self._with_files[task] for task in waiting & self._with_files.keys()}

    def _candidate(self, attempt: Attempt) -> Candidate:
        return Candidate(attempt.task.id, attempt.run.account, attempt.task.files)

    def held(self) -> str | None:
        """Why nothing new may start, whatever the rules say."""
        if self.stopping:
            return "stopping"
        if self.file.is_broken:
            return "broken"
        if self.budget.holds():
            return "budget"
        if self.options.on_failed == "stop" and (self.failed_here or self.unanswered):
            return "failed"
        return None

    def is_over(self) -> bool:
        if self.jobs or self._begin:
            return False
        if self.stopping:
            return True
        if self.file.is_broken:
            return False
        # What is parked may be so for hours: whoever can be asked meanwhile is asked now.
        has_changed = self.questions.ask_about_failed_here(self) or self.file.at_rest(self)
        self.budget.holds()  # it asks no longer if nothing is left that could cost more
        if has_changed or self.questions.is_asking:
            return False
        if self.is_background and self.ledger.gates:
            return False  # an answer comes from another terminal
        return self.decisions.next_at is None or not self.options.wait

    def act(self) -> None:
        """Tables first, then marks that must be seen, then processes, then the word about it."""
        self.ledger.commit()
        if not self.file.may_lag or self._must_show:
            self.write_marks()
        begin, self._begin = self._begin, []
        for attempt, make_job in begin:
            if not self.stopping:  # else the next start finds that it never began
                self._begin_one(attempt, make_job)
        if self.file.may_lag and self._marks_wait_s() == 0.0:
            self.write_marks()  # work that can begin does not wait for them
        self.engine.soon(self.file.sync)
        settled, self._settled = self._settled, []
        for job in settled:
            self.engine.forget(job)
        events, self._events = self._events, []
        for name, facts in events:
            self.emit(name, **facts)

    def _begin_one(self, attempt: Attempt, make_job: Callable[[], Job]) -> None:
        try:
            job = make_job()
        except AgentError as error:  # no worktree, or somebody else is in its conversation
            self.jobs[attempt.run.id] = attempt
            self.engine.notify(Ended(attempt.run.id, None, error=str(error)))
            return
        self.jobs[job.id] = attempt
        self.has_begun = True
        if job.id == attempt.run.id:  # not a check
            context_note.keep(self, attempt)
        self.engine.begin(job)

    def begin_after_commit(self, attempt: Attempt, make_job: Callable[[], Job]) -> None:
        self._begin.append((attempt, make_job))

    def forget_after_commit(self, job: str) -> None:
        """What the job left for a next supervisor goes only when its end is in the tables."""
        self._settled.append(job)

    @property
    def parked(self) -> list[str]:
        """Who waits for an instant, with a run that hit a limit or without one."""
        return [*(park.task for park in self.ledger.parks.values()), *self.deferred]

    @property
    def about_to_begin(self) -> set[str]:
        return {attempt.task.id for attempt, _make in self._begin}

    def publish(self, event: str, **facts: object) -> None:
        """An event for whoever watches; it is told once what it says is committed."""
        self._events.append((event, facts))
        self._shows_now |= event == "gate_opened"
        if self.notices is not None:
            self.notices.event(self, event, facts)

    def end(self, code: int, **counts: int) -> None:
        """The work is over, for now: written down, and told to people outside."""
        self.ledger.move_plan(*OUTCOME[code])
        if self.notices is not None:
            self.notices.end(self, code, counts)
        self.act()

    # Marks and edits

    def mark(self, task: str, state: TaskState) -> None:
        self.file.mark(task, state)
        self._marked[task] = state

    def edit(self, task: str, edit: TaskEdit) -> None:
        """Sub-steps and comments: in the tables with what they are about, then in the file."""
        if (unwritten := self.file.edit(task, edit)) is not None:
            self.ledger.note_unwritten(task, unwritten.to_text())

    def forget_edits(self, task: str) -> None:
        """A person decided about the task: nothing of Segue's is written over it."""
        self.file.forget(task)
        self._marked.pop(task, None)
        self.ledger.drop_unwritten(task)

    def show_marks(self) -> None:
        """The next write of marks does not wait: somebody is about to look."""
        self._shows_now = True

    def _marks_wait_s(self) -> float | None:
        """How long marks may wait until they are written; None: none can be written now.

        While jobs run they are written now and then, all together: the tables have them. Whoever
        is asked or has just saved the file, the agent of a next try, and whoever looks when
        nothing runs, sees all.
        """
        if self.file.is_broken or not (self._marked or self.ledger.has_unwritten):
            return None
        return 0.0 if self._must_show else self._pace.left_s(self.clock.now())

    @property
    def _must_show(self) -> bool:
        is_at_work = bool(self.jobs or self._begin) and not self.stopping
        return self._shows_now or not is_at_work or not self._pace.was_done

    def write_marks(self) -> None:
        began = self.clock.now()
        if not self.file.write(self.taken_in):
            return
        self._pace.done(began, self.clock.now())
        self._shows_now = False
        for task, state in self._marked.items():
            self.ledger.note_mark(task, state)
        self._marked.clear()
        self.ledger.note_written()

    def taken_in(self) -> None:
        """A person changed the file: what does it say now?"""
        self.show_marks()
        edits.take_in(self)

    def rebuild(self) -> None:
        """The graph and the queue, from what the file says and the states that are known."""
        self.graph = Graph(self.file.tasks(), self.ledger.lasted(), slots=self.options.jobs)
        self._with_files = {task.id: task.files for task in self.graph.tasks if task.files}
        self.queue()

    def queue(self) -> None:
        """The queue alone: who does a task, and so whose account it needs, may have changed. The
        tasks are taken in elsewhere: those of a book change with their rows, in mid-turn."""
        states = {task.id: self.ledger.tasks[task.id].state for task in self.graph.tasks}
        self.frontier = Frontier(
            self.graph,
            states,
            at=self.clock.now().timestamp(),
            previous=getattr(self, "frontier", None),
            account_of=lambda task: self.agent_for(task).account,
        )

    def agent_for(self, task: Task) -> Profile:
        """Who does a task that begins now."""
        return parking.profile_or_fallback(self, self.profile_for(task))

    def move_task(self, task: str, to: TaskState, cause: Trigger, **sets: str | int | None) -> None:
        self.ledger.move_task(task, to, cause, **sets)
        self.has_moved = True
        if task in self.graph:
            self.frontier.move(task, to, self.clock.now().timestamp())

    # Beginning

    def tell_started(self, attempt: Attempt) -> None:
        """A task has begun: its agent runs."""
        if attempt.is_new:
            attempt.is_new = False
            self.emit(
                "task_started",
                task=attempt.task.id,
                title=attempt.task.title,
                run=attempt.run.id,
                attempt=attempt.run.attempt,
                agent=attempt.run.agent,
            )

    def new_attempt(
        self,
        task: Task,
        *,
        attempt: int,
        resumes: RunRow | None = None,
        answer: str | None = None,
        before: str = "",
        purpose: str = "",
        profile: Profile | None = None,
        conversation: str | None = None,
    ) -> Attempt:
        """A run of a task: a new one, or (`resumes`) one that goes on with the conversation of an
        earlier one; with `before`, one that cannot and is told what was done in it.
        `conversation`: as it is called, where the agent keeps none itself."""
        if profile is None and resumes is not None:
            profile = self.profile_named(resumes.agent)
        profile = profile or self.agent_for(task)
        run = self.ledger.add_run(
            task.id,
            attempt=attempt,
            agent=profile.name,
            account=profile.account,
            resumes=resumes,
            keeps_conversation=not before and resumes is not None and resumes.agent == profile.name,
            purpose=purpose,
            answer=answer,
            conversation=conversation,
        )
        new = Attempt(run=run, task=task, profile=profile, answer=answer, before=before)
        self.begin_after_commit(new, lambda: beginning.first_job(self, new))
        return new

    # What happens

    def handle(self, happening: Happening) -> None:
        with acting(self._actor(happening)):
            self._handle(happening)

    def _actor(self, happening: Happening) -> Actor:
        """In whose name follows what happened: the agent's, but for Segue's own checks; a person's
        who answers here, or had it parked."""
        match happening:
            case Heard(job=job) | Ended(job=job) if job in self.jobs:
                attempt = self.jobs[job]
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
                if job in self.jobs:
                    agent_events.heard(self, self.jobs[job], event)
                    if isinstance(event, StepDone):
                        context_note.keep(self, self.jobs[job])
            case Ended(job):
                context_note.ended(self, job)
                outcomes.ended(self, happening)
                if self.has_acts_left:
                    plan_acts.take_in(self)
            case StopWanted():
                self.stop(happening)
            case Answered():
                self.questions.answered(self, happening)
            case ActsAdded():
                plan_acts.take_in(self)
            case PlanTouched():
                pass  # the loop looks at the file anyway
            case _:
                pass  # Due: the loop decides again

    def _started(self, job: str, handle: Mapping[str, int], is_adopted: bool) -> None:
        attempt = self.jobs.get(job)
        if attempt is None or job != attempt.run.id:
            return
        if attempt.run.state is RunState.INTENDED:
            self.ledger.run_started(attempt.run, handle)
        attempt.heard_at = self.clock.now()
        self.tell_started(attempt)
        if is_adopted:
            context_note.keep(self, attempt)

    def stop_to_ask(self, attempt: Attempt, need: Need) -> None:
        """The first question counts: the agent ends, and goes on with the answer."""
        if not attempt.has_asked:
            self.events.report(attempt, need)
            self.engine.end_soon(attempt.run.id)

    def _speaking(self) -> list[Attempt]:
        """The agents at work; not Segue's own checks of what they did."""
        return [attempt for job, attempt in self.jobs.items() if job == attempt.run.id]

    def _tell_silence(self, attempt: Attempt, silence: LongSilence) -> None:
        seen = silence.seen or Look()
        self.publish(
            "task_silent",
            task=attempt.task.id,
            run=attempt.run.id,
            seconds=round(silence.lasted_s, 3),
            is_alive=silence.seen is not None,
            processes=list(seen.processes),
            stopped=seen.stopped,
            connections=seen.connections,
        )

    def pause(self) -> None:
        """Every agent stands still, with all that it has started; the file shows all."""
        if self.file.may_lag:
            self.ledger.commit()
            self.write_marks()
        for job in self.jobs:
            self.engine.pause(job)

    def go_on(self) -> None:
        for job, attempt in self.jobs.items():
            attempt.heard_at = self.clock.now()
            self.engine.go_on(job)

    def stop(self, wanted: StopWanted) -> None:
        """Ctrl-C: the agents end with their trees, the marks stay. Twice: at once."""
        is_second = self.stopping is not None
        self.stopping = wanted
        if not is_second:
            self.publish("stopping", running=[a.task.id for a in self.jobs.values()])
        for job in self.jobs:
            self.engine.end_soon(job, now=is_second or wanted.now)

    # Consequences

    def clear_steps(self, task: str) -> None:
        self.edit(task, TaskEdit(all_steps=False))

    def skip_dependants(self, roots: list[str]) -> None:
        for skip in cascade(self.graph, self.frontier.states, roots):
            self.move_task(skip.task, TaskState.SKIPPED, Trigger.SKIP)
            self.mark(skip.task, TaskState.SKIPPED)
            self.publish("task_skipped", task=skip.task, because=skip.because)

    def reopen_skipped(self) -> None:
        """Skipped tasks are judged again: what held them may be gone."""
        states, kept = self.frontier.states, self.skipped_here
        for verdict in judge_skipped(self.graph, self.graph.tasks, states, kept):
            if isinstance(verdict, Reopen):
                self.move_task(verdict.task, TaskState.PENDING, Trigger.REOPEN)
                self.mark(verdict.task, TaskState.PENDING)
                self.publish("task_reopened", task=verdict.task, waits_for=list(verdict.waits_for))

    def open_gate(self, gate: GateRow) -> None:
        if gate.category == BUDGET:
            self.budget.renew(gate)
            gate = self.ledger.gates[gate.id]
        self.publish(
            "gate_opened",
            task=gate.task or gate.about.get("checkpoint"),
            gate=gate.id,
            kind=gate.kind,
            category=gate.category,
            text=gate.text,
            options=list(gate.options),
        )
        self.questions.ask_gate(gate)

    def go_on_with(self, gate: GateRow, answer: str) -> None:
        """A person answered: on, in the same conversation."""
        if gate.category == BUDGET:
            self.ledger.close_gate(gate, answer)
            self.budget.answered(answer)
            return
        if self.file.answered(self, gate, answer):
            return
        said = as_told(gate, answer)
        before = self.ledger.run_row(gate.run) if gate.run else None
        self.ledger.close_gate(gate, answer)
        if before is None or before.task not in self.graph:
            return
        self.move_task(before.task, TaskState.IN_PROGRESS, Trigger.ANSWER)
        attempt = self.new_attempt(
            self.graph.task(before.task), attempt=before.attempt, resumes=before, answer=said
        )
        attempt.question = gate.id
        self.publish("task_resumed", task=before.task, run=attempt.run.id, after="answer")
