"""The run of a plan: a task list, a book, a feature.

One loop: take in what a person changed, decide, commit, write the marks, begin what was
committed, wait for what happens. Whatever dies in between, the tables say what was meant
and the next start goes on from there (`recovery.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from segue.core.decide import AccountView, Candidate, Decisions, Leash, ParkView, Snapshot, decide
from segue.core.frontier import Frontier
from segue.core.graph import Graph
from segue.core.limits import Waits
from segue.core.machines import RunState, Trigger
from segue.core.plan import Task, TaskState
from segue.core.rules import Reopen, cascade, judge_skipped
from segue.dialects.events import Asked, StepDone
from segue.engine.clock import Clock
from segue.engine.port import (
    Answered,
    Ended,
    Engine,
    Happening,
    Heard,
    Job,
    PlanTouched,
    Posted,
    Started,
    StopWanted,
)
from segue.errors import AgentError
from segue.store.conversations import Conversations
from segue.store.mailbox import Letter
from segue.work import (
    answers,
    beginning,
    budget,
    edits,
    following,
    hearing,
    held_back,
    outcomes,
    parking,
    place,
    silence,
)
from segue.work.accounts import Accounts
from segue.work.agents import Profile
from segue.work.attempts import Attempt, Workshop
from segue.work.finish import OUTCOME
from segue.work.following import Followers
from segue.work.held_back import HeldBack
from segue.work.ledger import LATER, Ledger
from segue.work.notices import Told
from segue.work.own_questions import BUDGET
from segue.work.questions import Questions
from segue.work.rows import GateRow, ParkRow, RunRow
from segue.work.source import Source

if TYPE_CHECKING:
    from segue.dialects.limits import Extra


@dataclass(frozen=True, slots=True)
class Options:
    jobs: int
    on_failed: str = "ask"
    wait: bool = True
    waits: Waits = field(default_factory=Waits)
    silence_after_s: float = 600.0
    silence_max_s: float | None = None
    budget_usd: float | None = None
    limit_patterns: tuple[Extra, ...] = ()  # the user's own
    place: str | None = None  # the file in which agents without hooks find their place


@dataclass(slots=True)
class PlanRun:
    """Everything that the run of one plan holds in memory."""

    file: Source
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
    held_conversations: Conversations
    emit: Callable[..., None]
    has_fallbacks: bool = False
    keep_memory: Callable[[], str | None] = lambda: None  # what had to be put back, in words
    told: Told | None = None  # what people outside are told; nothing where no way is set

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
    budgets_granted: int = 0
    is_budget_refused: bool = False
    keeper_deaths: Counter[str] = field(default_factory=Counter)  # of each task
    cut_off: dict[str, RunRow | None] = field(default_factory=dict)  # those that begin again
    unheard: set[str] = field(default_factory=set)  # runs whose output was lost with the memory
    probing: set[str] = field(default_factory=set)  # accounts that a canary was sent to
    followers: Followers = field(default_factory=Followers)
    held_back: dict[str, HeldBack] = field(default_factory=dict)  # they wait without a run
    held_told: dict[str, str | None] = field(default_factory=dict)
    _begin: list[tuple[Attempt, Callable[[], Job]]] = field(default_factory=list)
    _settled: list[str] = field(default_factory=list)
    _letters: list[Letter] = field(default_factory=list)  # answers that are about to be committed
    _events: list[tuple[str, dict[str, object]]] = field(default_factory=list)
    _marked: dict[str, TaskState] = field(default_factory=dict)

    # The loop

    async def loop(self) -> None:
        while True:
            self.take_in_edits()
            self.decide()
            self.commit()
            if self._has_followed():
                continue
            if self.is_over():
                break
            if self._has_followed():  # what was found at rest has changed something
                continue
            timeout_s = LATER.total_seconds() if self.ledger.has_later else None
            happened = await self.engine.next(timeout_s)
            if told := self.keep_memory():
                self.tell("notice", text=told)
            for happening in happened:
                self.handle(happening)

    def _has_followed(self) -> bool:
        """Whether the plan has other tasks than before; then they are taken in."""
        if not self.file.has_moved_on():
            return False
        edits.follow(self)
        self.file.followed(self)
        return True

    def decide(self) -> None:
        answers.take_defaults(self)
        accounts = following.look(self)
        self.decisions = decide(self.snapshot(accounts), self.clock.now())
        for account in self.decisions.probe:
            self.accounts.probe(account)
            self.probing.add(account)
        for park in self.decisions.wake:
            parking.wake(self, self.ledger.parks[park])
        for task in self.decisions.start:
            beginning.start(self, task)
        following.started(self)
        held_back.look(self)
        silence.look(self)
        wake = self.decisions.next_at if self.options.wait else None
        instants = (
            wake, silence.next_at(self), answers.next_deadline(self), following.next_at(self)
        )  # fmt: skip
        at = [at for at in instants if at is not None]
        self.engine.wake_at(min(at, default=None))

    def snapshot(self, accounts: Mapping[str, AccountView]) -> Snapshot:
        # A check or a next try that is about to begin has its slot and its files as well.
        under_way = (*self.jobs.values(), *(attempt for attempt, _make in self._begin))
        running = {a.task.id: self._candidate(a) for a in under_way}
        return Snapshot(
            ready=self.frontier.ready,
            running=running,
            parks=[_park_view(park) for park in self._parks()],
            accounts=accounts,
            slots=self.options.jobs,
            leash=self.leash,
            windows_used=self.ledger.windows,
            held=self.held(),
            claims=self._claims(),
        )

    def _parks(self) -> list[ParkRow]:
        now = self.clock.now()
        parks = parking.that_matter(self.ledger.parks.values(), now)
        return [park for park in parks if self.options.wait or park.wakes_at <= now]

    def _claims(self) -> dict[str, tuple[str, ...]]:
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
        if self.file.is_broken:
            return False
        # What is parked may be so for hours: whoever can be asked meanwhile is asked now.
        has_changed = self.questions.ask_about_failed_here(self) or self.file.at_rest(self)
        if has_changed or self.questions.is_asking:
            return False
        return self.decisions.next_at is None or not self.options.wait

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
        answers.committed(self)
        events, self._events = self._events, []
        for name, facts in events:
            self.emit(name, **facts)

    def _begin_one(self, attempt: Attempt, make_job: Callable[[], Job]) -> None:
        try:
            job = make_job()
        except AgentError as error:  # no worktree, or somebody else is in its conversation
            self.jobs[attempt.run.id] = attempt
            self.engine.tell(Ended(attempt.run.id, None, error=str(error)))
            return
        self.jobs[job.id] = attempt
        self.has_begun = True
        if job.id == attempt.run.id:  # not a check
            place.keep(self, attempt)
        self.engine.begin(job)

    def begin_after_commit(self, attempt: Attempt, make_job: Callable[[], Job]) -> None:
        self._begin.append((attempt, make_job))

    def forget_after_commit(self, job: str) -> None:
        """What the job left for a next supervisor goes only when its end is in the tables."""
        self._settled.append(job)

    @property
    def parked(self) -> list[str]:
        """Who waits for an instant, with a run that hit a limit or without one."""
        return [*(park.task for park in self.ledger.parks.values()), *self.held_back]

    @property
    def about_to_begin(self) -> set[str]:
        return {attempt.task.id for attempt, _make in self._begin}

    def tell(self, event: str, **facts: object) -> None:
        """An event for whoever watches; it is told once what it says is committed."""
        self._events.append((event, facts))
        if self.told is not None:
            self.told.event(self, event, facts)

    def end(self, code: int, **counts: int) -> None:
        """The work is over, for now: written down, and told to people outside."""
        self.ledger.move_plan(*OUTCOME[code])
        if self.told is not None:
            self.told.end(self, code, counts)
        self.commit()

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
        self._has_followed()  # an answer may have brought other tasks

    def taken_in(self) -> None:
        """A person changed the file: what does it say now?"""
        edits.take_in(self)

    def rebuild(self) -> None:
        """The graph and the queue, from what the file says and the states that are known."""
        self.graph = Graph(self.file.tasks(), self.ledger.lasted())
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
        return parking.stand_in(self, self.profile_for(task))

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
        new = Attempt(run, task, profile, answer=answer, before=before)
        self.begin_after_commit(new, lambda: beginning.first_job(self, new))
        return new

    # What happens

    def handle(self, happening: Happening) -> None:
        match happening:
            case Started(job, pid, pid_started, is_adopted):
                self._started(job, pid, pid_started, is_adopted)
            case Heard(job, event):
                if job in self.jobs:
                    hearing.heard(self, self.jobs[job], event)
                    if isinstance(event, StepDone):
                        place.keep(self, self.jobs[job])
            case Ended(job):
                place.ended(self, job)
                outcomes.ended(self, happening)
            case StopWanted():
                self.stop(happening)
            case Answered():
                self.questions.answered(self, happening)
            case Posted():
                answers.take_in(self)
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
        attempt.heard_at = self.clock.now()
        self.tell_started(attempt)
        if is_adopted:
            place.keep(self, attempt)

    def stop_to_ask(self, attempt: Attempt, asked: Asked) -> None:
        """The first question counts: the agent ends, and goes on with the answer."""
        if attempt.asked is None:
            attempt.asked = asked
            self.engine.end_soon(attempt.run.id)

    def seen_at_work(self, account: str) -> None:
        """The canary lives: the others of its account may follow."""
        if account in self.probing:
            self.probing.discard(account)
            self.accounts.open(account)
            if self.has_fallbacks:
                self.queue()

    def pause(self) -> None:
        """Every agent stands still, with all that it has started."""
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
        if gate.category == BUDGET:
            gate = budget.renewed(self, gate)
        self.tell(
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
            budget.answered(self, gate, answer)
            return
        if self.file.answered(self, gate, answer):
            return
        said = answers.as_told(gate, answer)
        before = self.ledger.run_row(gate.run) if gate.run else None
        self.ledger.close_gate(gate, answer)
        if before is None or before.task not in self.graph:
            return
        self.move_task(before.task, TaskState.IN_PROGRESS, Trigger.ANSWER)
        attempt = self.new_attempt(
            self.graph.task(before.task), attempt=before.attempt, resumes=before, answer=said
        )
        attempt.question = gate.id
        self.tell("task_resumed", task=before.task, run=attempt.run.id, after="answer")


def _park_view(park: ParkRow) -> ParkView:
    return ParkView(park.id, park.task, park.account, park.wakes_at)
