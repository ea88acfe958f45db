"""A task list, run from top to bottom of this file.

One loop: take in what a person changed, decide, commit, write the marks, begin what was
committed, wait for what happens. Whatever dies in between, the tables say what was meant
and the next start goes on from there (`recovery.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from segue.core.decide import Candidate, Decisions, Leash, ParkView, Snapshot, decide
from segue.core.frontier import Frontier
from segue.core.graph import Graph
from segue.core.machines import ParkState, RunState, Trigger
from segue.core.plan import Task, TaskState
from segue.core.rules import Reopen, cascade, judge_skipped
from segue.dialects.events import Asked, Event, LimitHit, Said, StepDone, Used
from segue.engine.clock import Clock
from segue.engine.port import (
    Answered,
    Ended,
    Engine,
    Happening,
    Heard,
    Job,
    PlanTouched,
    Started,
    StopWanted,
)
from segue.errors import AgentError
from segue.work import budget, edits, outcomes
from segue.work.accounts import Accounts
from segue.work.agents import Profile
from segue.work.attempts import Attempt, Workshop
from segue.work.ledger import LATER, GateRow, Ledger, ParkRow, RunRow
from segue.work.planfile import PlanFile
from segue.work.questions import Questions


@dataclass(frozen=True, slots=True)
class Options:
    jobs: int
    on_failed: str = "ask"
    wait: bool = True
    wake_margin_s: float = 5.0
    budget_usd: float | None = None


@dataclass(slots=True)
class TaskListRun:
    """Everything one `segue run` holds in memory."""

    file: PlanFile
    ledger: Ledger
    accounts: Accounts
    engine: Engine
    clock: Clock
    workshop: Workshop
    options: Options
    leash: Leash
    profile_for: Callable[[Task], Profile]
    profile_named: Callable[[str], Profile | None]
    questions: Questions
    emit: Callable[..., None]

    graph: Graph = field(init=False)
    frontier: Frontier = field(init=False)
    jobs: dict[str, Attempt] = field(default_factory=dict)
    decisions: Decisions = field(default_factory=Decisions)
    stopping: StopWanted | None = None
    failed_here: list[str] = field(default_factory=list)
    skipped_here: set[str] = field(default_factory=set)  # by a person's decision
    unanswered: list[str] = field(default_factory=list)  # found failed, and nobody to ask
    budgets_granted: int = 0
    is_budget_refused: bool = False
    probing: set[str] = field(default_factory=set)  # accounts that a canary was sent to
    _begin: list[tuple[Attempt, Callable[[], Job]]] = field(default_factory=list)
    _settled: list[str] = field(default_factory=list)
    _events: list[tuple[str, dict[str, object]]] = field(default_factory=list)
    _marked: dict[str, TaskState] = field(default_factory=dict)

    # The loop

    async def loop(self) -> None:
        while True:
            self.take_in_edits()
            self.decide()
            self.commit()
            if self.is_over():
                break
            timeout_s = LATER.total_seconds() if self.ledger.has_later else None
            happened = await self.engine.next(timeout_s)
            for happening in happened:
                self.handle(happening)

    def decide(self) -> None:
        now = self.clock.now()
        self.decisions = decide(self.snapshot(), now)
        for account in self.decisions.probe:
            self.accounts.probe(account)
            self.probing.add(account)
        for park in self.decisions.wake:
            self.wake(self.ledger.parks[park])
        for task in self.decisions.start:
            self.start(task)
        self.engine.wake_at(self.decisions.next_at if self.options.wait else None)

    def snapshot(self) -> Snapshot:
        running = {a.task.id: self._candidate(a) for a in self.jobs.values()}
        waiting = [park.task for park in self.ledger.parks.values()]
        waiting += [gate.task for gate in self.ledger.gates.values() if gate.task]
        return Snapshot(
            ready=self.frontier.ready,
            running=running,
            parks=[_park_view(park) for park in self.ledger.parks.values() if self._may_wake(park)],
            accounts=self.accounts.view(),
            slots=self.options.jobs,
            leash=self.leash,
            windows_used=self.ledger.windows,
            held=self.held(),
            claims={id: self.graph.task(id).files for id in waiting if id in self.graph},
        )

    def _may_wake(self, park: ParkRow) -> bool:
        return self.options.wait or park.wakes_at <= self.clock.now()

    def _candidate(self, attempt: Attempt) -> Candidate:
        return Candidate(attempt.task.id, attempt.run.account, attempt.task.files)

    def held(self) -> str | None:
        """Why nothing new may start, whatever the rules say."""
        if self.stopping:
            return "stopping"
        if self.file.is_broken:
            return "broken"
        if self.questions.is_asking_first:
            return "asking"
        if budget.is_used_up(self):
            return "budget"
        if self.options.on_failed == "stop" and (self.failed_here or self.unanswered):
            return "failed"
        return None

    def is_over(self) -> bool:
        if self.jobs or self._begin:
            return False
        if self.stopping:
            return True
        if self.file.is_broken or self.questions.is_asking:
            return False
        if self.decisions.next_at is not None and self.options.wait:
            return False
        return not self.ask_about_failed_here()

    def commit(self) -> None:
        """Tables first, then marks, then processes, then the word about it."""
        self.ledger.commit()
        self.write_marks()
        begin, self._begin = self._begin, []
        for attempt, make_job in begin:
            if not self.stopping:  # else the next start finds that it never began
                self._begin_one(attempt, make_job)
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
        except AgentError as error:  # the worktree could not be made
            self.jobs[attempt.run.id] = attempt
            self.engine.tell(Ended(attempt.run.id, None, error=str(error)))
            return
        self.jobs[job.id] = attempt
        self.engine.begin(job)

    def begin_after_commit(self, attempt: Attempt, make_job: Callable[[], Job]) -> None:
        self._begin.append((attempt, make_job))

    def forget_after_commit(self, job: str) -> None:
        """What the job left for a next supervisor goes only when its end is in the tables."""
        self._settled.append(job)

    @property
    def about_to_begin(self) -> set[str]:
        return {attempt.task.id for attempt, _make in self._begin}

    def tell(self, event: str, **facts: object) -> None:
        """An event for whoever watches; it is told once what it says is committed."""
        self._events.append((event, facts))

    # Marks and edits

    def mark(self, task: str, state: TaskState) -> None:
        self.file.mark(task, state)
        self._marked[task] = state

    def write_marks(self) -> None:
        if self.file.write(self.taken_in):
            for task, state in self._marked.items():
                self.ledger.note_mark(task, state)
            self._marked.clear()

    def take_in_edits(self) -> None:
        if self.file.read():
            self.taken_in()

    def taken_in(self) -> None:
        """A person changed the file: what does it say now?"""
        edits.take_in(self)

    def rebuild(self) -> None:
        """The graph and the queue, from what the file says and the states that are known."""
        self.graph = Graph(self.file.tasks())
        states = {task.id: self.ledger.tasks[task.id].state for task in self.graph.tasks}
        self.frontier = Frontier(
            self.graph,
            states,
            at=self.clock.now().timestamp(),
            previous=getattr(self, "frontier", None),
            account_of=lambda task: self.profile_for(task).account,
        )

    def move_task(self, task: str, to: TaskState, cause: Trigger, **sets: str | int | None) -> None:
        self.ledger.move_task(task, to, cause, **sets)
        if task in self.graph:
            self.frontier.move(task, to, self.clock.now().timestamp())

    # Beginning

    def start(self, task_id: str) -> None:
        """A task begins from its beginning."""
        task = self.graph.task(task_id)
        row = self.ledger.tasks[task_id]
        self.move_task(task_id, TaskState.IN_PROGRESS, Trigger.START)
        self.mark(task_id, TaskState.IN_PROGRESS)
        attempt = self.new_attempt(task, attempt=row.retries_used + 1)
        attempt.is_new = True

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
        self, task: Task, *, attempt: int, resumes: RunRow | None = None, answer: str | None = None
    ) -> Attempt:
        profile = self.profile_for(task)
        run = self.ledger.add_run(
            task.id, attempt=attempt, agent=profile.name, account=profile.account, resumes=resumes
        )
        new = Attempt(run, task, profile, answer=answer)
        self.begin_after_commit(new, lambda: self._first_job(new))
        return new

    def _first_job(self, attempt: Attempt) -> Job:
        shop = self.workshop
        if attempt.run.resumes is not None:
            return shop.agent_job(attempt, shop.resume_prompt(attempt.answer))
        if (shop.worktrees and attempt.run.attempt == 1) or (
            shop.worktrees and not shop.folder(attempt.task.id).exists()
        ):
            shop.worktrees.make(attempt.task.id)
        row = self.ledger.tasks[attempt.task.id]
        return shop.agent_job(
            attempt, shop.first_prompt(attempt, self._produced(attempt), row.error)
        )

    def _produced(self, attempt: Attempt) -> list[tuple[str, str]]:
        found = []
        for blocker in attempt.task.blocked_by:
            row = self.ledger.tasks.get(blocker)
            if row is not None and row.summary:
                title = self.graph.task(blocker).title if blocker in self.graph else ""
                found.append((f"{blocker}: {title}", row.summary))
        return found

    def wake(self, park: ParkRow) -> None:
        """A park's instant has come: on, in the same conversation."""
        before = self.ledger.run_row(park.run)
        task = self.graph.task(park.task)
        self.ledger.end_park(park, ParkState.WOKEN, Trigger.WAKE)
        self.move_task(park.task, TaskState.IN_PROGRESS, Trigger.WAKE)
        attempt = self.new_attempt(task, attempt=before.attempt if before else 1, resumes=before)
        self.tell("task_resumed", task=park.task, run=attempt.run.id, after="park")

    # What happens

    def handle(self, happening: Happening) -> None:
        match happening:
            case Started(job, pid, pid_started, is_adopted):
                self._started(job, pid, pid_started, is_adopted)
            case Heard(job, event):
                if job in self.jobs:
                    self.heard(self.jobs[job], event)
            case Ended():
                outcomes.ended(self, happening)
            case StopWanted():
                self.stop(happening)
            case Answered():
                self.questions.answered(self, happening)
            case PlanTouched():
                pass  # the loop looks at the file anyway
            case _:
                pass  # Due: the loop decides again

    def _started(self, job: str, pid: int, pid_started: int, is_adopted: bool) -> None:
        attempt = self.jobs.get(job)
        if attempt is None or job != attempt.run.id:
            return
        if attempt.run.state is RunState.INTENDED:
            self.ledger.run_started(attempt.run, pid, pid_started)
        attempt.was_adopted = is_adopted
        self.tell_started(attempt)

    def heard(self, attempt: Attempt, event: Event) -> None:
        if attempt.run.state is RunState.VERIFYING and not isinstance(event, Said):
            return  # a check reports nothing but its exit code
        match event:
            case Said(text):
                attempt.lines.append(text)
                self.seen_at_work(attempt.run.account)
                self.emit("task_said", task=attempt.task.id, text=text)
            case StepDone(n):
                self._step_done(attempt, n)
            case LimitHit():
                attempt.limit = event
            case Asked():
                attempt.asked = event
                self.engine.end_soon(attempt.run.id)
            case Used():
                attempt.used = event
            case _:
                pass  # garbled text is in the log

    def seen_at_work(self, account: str) -> None:
        """The canary lives: the others of its account may follow."""
        if account in self.probing:
            self.probing.discard(account)
            self.accounts.open(account)

    def _step_done(self, attempt: Attempt, n: int) -> None:
        task = attempt.task
        if 1 <= n <= len(task.steps):
            self.file.edit(lambda document: document.set_step(task.id, n, True), task.id)
            self.tell("step_done", task=task.id, step=n, text=task.steps[n - 1].text)

    def stop(self, wanted: StopWanted) -> None:
        """Ctrl-C: the agents end with their trees, the marks stay. Twice: at once."""
        is_second = self.stopping is not None
        self.stopping = wanted
        if not is_second:
            self.tell("stopping", running=[a.task.id for a in self.jobs.values()])
        for job in self.jobs:
            self.engine.end_soon(job, now=is_second or wanted.now)

    # Consequences

    def clear_steps(self, task: str) -> None:
        self.file.edit(lambda document: document.set_all_steps(task, False), task)

    def skip_dependants(self, roots: list[str]) -> None:
        for skip in cascade(self.graph, self.frontier.states, roots):
            self.move_task(skip.task, TaskState.SKIPPED, Trigger.SKIP)
            self.mark(skip.task, TaskState.SKIPPED)
            self.tell("task_skipped", task=skip.task, because=skip.because)

    def reopen_skipped(self) -> None:
        """Skipped tasks are judged again: what held them may be gone."""
        states, kept = self.frontier.states, self.skipped_here
        for verdict in judge_skipped(self.graph, self.graph.tasks, states, kept):
            if isinstance(verdict, Reopen):
                self.move_task(verdict.task, TaskState.PENDING, Trigger.REOPEN)
                self.mark(verdict.task, TaskState.PENDING)
                self.tell("task_reopened", task=verdict.task, waits_for=list(verdict.waits_for))

    def open_gate(self, gate: GateRow) -> None:
        self.tell(
            "gate_opened",
            task=gate.task,
            gate=gate.id,
            kind=gate.kind,
            text=gate.text,
            options=list(gate.options),
        )
        self.questions.ask_gate(gate)

    def go_on_with(self, gate: GateRow, answer: str) -> None:
        """A person answered: on, in the same conversation."""
        if gate.category == budget.CATEGORY:
            budget.answered(self, gate, answer)
            return
        before = self.ledger.run_row(gate.run) if gate.run else None
        self.ledger.close_gate(gate, answer)
        if before is None or before.task not in self.graph:
            return
        self.move_task(before.task, TaskState.IN_PROGRESS, Trigger.ANSWER)
        attempt = self.new_attempt(
            self.graph.task(before.task), attempt=before.attempt, resumes=before, answer=answer
        )
        self.tell("task_resumed", task=before.task, run=attempt.run.id, after="answer")

    def ask_about_failed_here(self) -> bool:
        """At the very end, on a terminal: what failed in this run is asked about once."""
        asked = [task for task in self.failed_here if task in self.graph]
        self.failed_here, told = [], self.failed_here
        if self.options.on_failed == "ask" and self.questions.ask_failed(self, asked, first=False):
            return True
        self.failed_here = told
        return False


def _park_view(park: ParkRow) -> ParkView:
    return ParkView(park.id, park.task, park.account, park.wakes_at)
