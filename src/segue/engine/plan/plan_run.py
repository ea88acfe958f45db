"""The run of a plan (a task list, a book, a feature): what it holds in memory, and how it changes.

Whatever is decided about its tasks changes the ledger; `act` commits that, writes the marks and
begins the processes, in this order. Who decides is the driver (`driver.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from segue.core.decide import Decisions, Leash
from segue.core.frontier import Frontier
from segue.core.graph import Graph
from segue.core.limits import Waits
from segue.core.machines import Trigger
from segue.core.pace import Pace
from segue.core.plan import Task, TaskState
from segue.core.rules import Reopen, cascade, judge_skipped
from segue.engine.accounts import Accounts
from segue.engine.agent import Agent
from segue.engine.agent_events import AgentEvents
from segue.engine.budget import Budget
from segue.engine.canary import Canaries
from segue.engine.clock import Clock
from segue.engine.executors import (
    Answered,
    Ended,
    Executor,
    Job,
    StopWanted,
)
from segue.engine.fallback import agent_or_fallback
from segue.engine.gates import Steps
from segue.engine.ledger import Ledger
from segue.engine.parking import Parking
from segue.engine.plan.attempts import Attempt, JobFactory
from segue.engine.plan.source import Source
from segue.engine.question_texts import BUDGET, asked_about
from segue.engine.silence import SilenceBounds, SilenceWatch
from segue.engine.waiting_parks import Deferred
from segue.errors import AgentError
from segue.plans.task_edit import TaskEdit
from segue.store.conversations import Conversations
from segue.store.rows import GateRow, RunRow

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


class Asking(Protocol):
    """Asks the person at the terminal, where there is one."""

    @property
    def is_asking(self) -> bool: ...

    def ask_gate(self, gate: GateRow) -> None: ...

    def withdraw(self, gate: str) -> None: ...

    def ask_failed(self, run: PlanRun, failed: list[str]) -> bool: ...

    def ask_about_failed_here(self, run: PlanRun) -> bool: ...

    def answered(self, run: PlanRun, answered: Answered) -> None: ...


class Notices(Protocol):
    """Records notices for people."""

    def event(self, run: PlanRun, event: str, facts: Mapping[str, object]) -> None: ...

    def end(self, run: PlanRun, code: int, counts: Mapping[str, int]) -> None: ...

    def remind(self, run: PlanRun) -> datetime | None: ...


@dataclass(slots=True)
class PlanRun:
    """Everything that the run of one plan holds in memory."""

    file: Source[PlanRun]
    ledger: Ledger
    accounts: Accounts
    engine: Executor
    clock: Clock
    job_factory: JobFactory
    options: Options
    leash: Leash
    profile_for: Callable[[Task], Agent]
    profile_named: Callable[[str], Agent | None]
    questions: Asking
    held_conversations: Conversations
    emit: Callable[..., None]
    has_fallbacks: bool = False
    is_background: bool = False  # it has no terminal, and stays while a person is needed
    keep_memory: Callable[[], str | None] = lambda: None  # what had to be put back, in words
    notices: Notices | None = None  # notices for people; None where no channel is set
    on_edited: Callable[[], None] = lambda: None  # a person changed the file
    on_begun: Callable[[Attempt], None] = lambda attempt: None  # an agent is about to start

    graph: Graph = field(init=False)
    frontier: Frontier = field(init=False)
    with_files: dict[str, tuple[str, ...]] = field(default_factory=dict)
    jobs: dict[str, Attempt] = field(default_factory=dict)
    undelivered: dict[str, str] = field(default_factory=dict)  # messages whose run never started
    decisions: Decisions = field(default_factory=Decisions)
    stopping: StopWanted | None = None
    has_begun: bool = False  # an agent was started, or found at work
    has_moved: bool = False  # some task went on since the start
    failed_here: list[str] = field(default_factory=list)
    skipped_here: set[str] = field(default_factory=set)  # by a person's decision
    unanswered: list[str] = field(default_factory=list)  # found failed, and no person to ask
    budget: Budget = field(init=False)
    keeper_deaths: Counter[str] = field(default_factory=Counter)  # of each task
    cut_off: dict[str, RunRow | None] = field(default_factory=dict)  # those that begin again
    unheard: set[str] = field(default_factory=set)  # runs whose output was lost with the memory
    canaries: Canaries = field(init=False)
    silence: SilenceWatch[Attempt] = field(init=False)
    events: AgentEvents = field(init=False)
    parking: Parking[Agent] = field(init=False)
    deferred: dict[str, Deferred] = field(default_factory=dict)  # they wait without a run
    deferred_published: dict[str, str | None] = field(default_factory=dict)
    agents_could_edit: bool = False  # since the plan was last compared
    has_acts_left: bool = False  # a person wants something that waits for an agent's end
    to_begin: list[tuple[Attempt, Callable[[], Job]]] = field(default_factory=list)
    _settled: list[str] = field(default_factory=list)
    _events: list[tuple[str, dict[str, object]]] = field(default_factory=list)
    _marked: dict[str, TaskState] = field(default_factory=dict)
    _pace: Pace = field(init=False)  # of the marks
    _shows_now: bool = False  # a person is about to read the file: it must be up to date

    def __post_init__(self) -> None:
        self._pace = Pace(self.options.marks_every_s)
        self.canaries = Canaries(self.accounts)

    def act(self) -> None:
        """Tables first, then marks that must be seen, then processes, then events."""
        self.ledger.commit()
        if not self.file.may_lag or self._must_show:
            self.write_marks()
        begin, self.to_begin = self.to_begin, []
        for attempt, make_job in begin:
            if not self.stopping:  # else the next start finds that it never began
                self._begin_one(attempt, make_job)
        if self.file.may_lag and self.marks_wait_s() == 0.0:
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
        except AgentError as error:  # no worktree, or another run is in its conversation
            self.jobs[attempt.run.id] = attempt
            self.engine.notify(Ended(attempt.run.id, None, error=str(error)))
            return
        self.jobs[job.id] = attempt
        self.has_begun = True
        attempt.can_edit_plan = self.job_factory.can_write(attempt, job.id, self.file.path)
        self.agents_could_edit |= attempt.can_edit_plan
        if job.id == attempt.run.id:  # not a check
            self.on_begun(attempt)
        self.engine.begin(job)

    def begin_after_commit(self, attempt: Attempt, make_job: Callable[[], Job]) -> None:
        self.to_begin.append((attempt, make_job))

    def forget_after_commit(self, job: str) -> None:
        """What the job left for a next supervisor goes only when its end is in the tables."""
        self._settled.append(job)

    @property
    def parked(self) -> list[str]:
        """Who waits for a time, with a run that hit a limit or without one."""
        return [*(park.task for park in self.ledger.parks.values()), *self.deferred]

    def publish(self, event: str, **facts: object) -> None:
        """An event for the display; published after what it reports is committed."""
        self._events.append((event, facts))
        self._shows_now |= event == "gate_opened"
        if self.notices is not None:
            self.notices.event(self, event, facts)

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
        """The next write of marks does not wait: a person is about to look."""
        self._shows_now = True

    def marks_wait_s(self) -> float | None:
        """How long marks may wait until they are written; None: none can be written now.

        While jobs run they are written now and then, all together: the tables have them. Whoever
        is asked or has just saved the file, the agent of a next try, and a person who looks when
        nothing runs, sees all.
        """
        if self.file.is_broken or not (self._marked or self.ledger.has_unwritten):
            return None
        return 0.0 if self._must_show else self._pace.left_s(self.clock.now())

    @property
    def _must_show(self) -> bool:
        is_at_work = bool(self.jobs or self.to_begin) and not self.stopping
        return self._shows_now or not is_at_work or not self._pace.was_done

    def write_marks(self) -> None:
        began = self.clock.now()
        if not self.file.write(self.on_edited):
            return
        self._pace.done(began, self.clock.now())
        self._shows_now = False
        for task, state in self._marked.items():
            self.ledger.note_mark(task, state)
        self._marked.clear()
        self.ledger.note_written()

    def rebuild(self) -> None:
        """The graph and the queue, from what the file says and the states that are known."""
        self.graph = Graph(self.file.tasks(), self.ledger.lasted(), slots=self.options.jobs)
        self.with_files = {task.id: task.files for task in self.graph.tasks if task.files}
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

    def agent_for(self, task: Task) -> Agent:
        """Who does a task that begins now."""
        profile = self.profile_for(task)
        return agent_or_fallback(profile, self.profile_named, self.accounts, self.clock.now())

    def move_task(self, task: str, to: TaskState, cause: Trigger, **sets: str | int | None) -> None:
        self.ledger.move_task(task, to, cause, **sets)
        self.has_moved = True
        if task in self.graph:
            self.frontier.move(task, to, self.clock.now().timestamp())

    # Beginning

    def stop(self, wanted: StopWanted) -> None:
        """Ctrl-C: the agents end with their trees, the marks stay. Twice: at once."""
        is_second = self.stopping is not None
        self.stopping = wanted
        if not is_second:
            self.publish("stopping", running=[a.task.id for a in self.jobs.values()])
        for job in self.jobs:
            self.engine.end_soon(job, now=is_second or wanted.now)

    # Consequences

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
            task=gate.task or asked_about(gate.about),
            gate=gate.id,
            kind=gate.kind,
            category=gate.category,
            text=gate.text,
            options=list(gate.options),
        )
        self.questions.ask_gate(gate)
