"""A task list, run from top to bottom of this file.

One loop: take in what a person changed, decide, commit, write the marks, begin what was
committed, wait for what happens. Whatever dies in between, the tables say what was meant
and the next start goes on from there (`recovery.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from segue.core.decide import Candidate, Decisions, Leash, ParkView, Snapshot, decide
from segue.core.graph import Graph
from segue.core.frontier import Frontier
from segue.core.limits import needs_person, wakes_at
from segue.core.machines import ParkState, RunState, Trigger
from segue.core.plan import Task, TaskState
from segue.core.rules import Reopen, cascade, judge_skipped
from segue.dialects.events import Asked, Event, LimitHit, Said, StepDone, Used
from segue.engine.clock import Clock
from segue.engine.local import LocalEngine
from segue.engine.port import (
    Answered,
    Ended,
    Happening,
    Heard,
    Job,
    PlanTouched,
    Started,
    StopWanted,
)
from segue.errors import AgentError
from segue.i18n import _, language
from segue.work import edits, prompts
from segue.work.accounts import Accounts
from segue.work.agents import Profile
from segue.work.attempts import VERIFY, Attempt, Workshop, in_full, one_line, why
from segue.work.ledger import GateRow, Ledger, ParkRow, RunRow
from segue.work.planfile import PlanFile
from segue.work.questions import Questions
from segue.work.worktree import Conflict

LATER_S = 0.05  # facts that may be lost wait this long for a commit to go along with


@dataclass(frozen=True, slots=True)
class Options:
    jobs: int
    on_failed: str = "ask"
    wait: bool = True
    wake_margin_s: float = 5.0


@dataclass(slots=True)
class TaskListRun:
    """Everything one `segue run` holds in memory."""

    file: PlanFile
    ledger: Ledger
    accounts: Accounts
    engine: LocalEngine
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
    unanswered: list[str] = field(default_factory=list)  # found failed, and nobody to ask
    probing: set[str] = field(default_factory=set)  # accounts that a canary was sent to
    _begin: list[tuple[Attempt, Callable[[], Job]]] = field(default_factory=list)
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
            timeout_s = LATER_S if self.ledger.has_later else None
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
            parks=[_park_view(park) for park in self.ledger.parks.values()]
            if self.options.wait
            else [],
            accounts=self.accounts.view(),
            slots=self.options.jobs,
            leash=self.leash,
            windows_used=self.ledger.windows,
            held=self.held(),
            claims={id: self.graph.task(id).files for id in waiting if id in self.graph},
        )

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
            self._begin_one(attempt, make_job)
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
        self.tell(
            "task_started",
            task=task_id,
            title=task.title,
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
        self._begin.append((new, lambda: self._first_job(new)))
        return new

    def _first_job(self, attempt: Attempt) -> Job:
        shop = self.workshop
        if attempt.run.resumes is not None:
            return shop.agent_job(attempt, shop.resume_prompt(attempt.answer))
        if shop.worktrees and attempt.run.attempt == 1:
            shop.worktrees.make(attempt.task.id)
        elif shop.worktrees and not shop.folder(attempt.task.id).exists():
            shop.worktrees.make(attempt.task.id)
        row = self.ledger.tasks[attempt.task.id]
        return shop.agent_job(attempt, shop.first_prompt(attempt, self._produced(attempt), row.error))

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
        attempt = self.new_attempt(
            task, attempt=before.attempt if before else 1, resumes=before
        )
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
                self.ended(happening)
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
        if attempt is None or job.endswith(VERIFY):
            return
        if attempt.run.state is RunState.INTENDED:
            self.ledger.run_started(attempt.run, pid, pid_started)
        attempt.was_adopted = is_adopted

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

    # Ending

    def ended(self, ended: Ended) -> None:
        attempt = self.jobs.pop(ended.job, None)
        if attempt is None:
            return
        if ended.job.endswith(VERIFY):
            self.verified(attempt, ended)
        else:
            self.agent_ended(attempt, ended)
        self.engine.forget(ended.job)

    def agent_ended(self, attempt: Attempt, ended: Ended) -> None:
        if attempt.used is not None:
            self._note_usage(attempt, attempt.used)
        if attempt.run.state is RunState.INTENDED:  # it ended before it was seen to start
            self.ledger.run_started(attempt.run, 0, 0)
        if attempt.is_dropped:
            self.ledger.move_run(attempt.run, RunState.CUT_OFF, Trigger.CUT_OFF)
        elif attempt.asked is not None:
            self.ask(attempt, attempt.asked)
        elif self.stopping and ended.is_ours:
            self.cut_off(attempt)
        elif ended.code == 0 and not ended.timed_out:
            self.agent_ended_well(attempt)
        elif attempt.limit is not None and not ended.timed_out:
            self.park(attempt, attempt.limit)
        else:
            self.attempt_failed(attempt, why(ended, attempt.task.timeout_s), ended)
        self.seen_at_work(attempt.run.account)

    def agent_ended_well(self, attempt: Attempt) -> None:
        attempt.summary = prompts.summarise(attempt.lines)
        if attempt.task.verify:
            attempt.lines.clear()
            self.verify(attempt)
        else:
            self.merge_or_complete(attempt)

    def verify(self, attempt: Attempt) -> None:
        if attempt.run.state is not RunState.VERIFYING:
            self.ledger.move_run(attempt.run, RunState.VERIFYING, Trigger.VERIFY)
        if self.stopping:
            return  # the next start verifies it
        self.tell("task_verifying", task=attempt.task.id, command=attempt.task.verify)
        self._begin.append((attempt, lambda: self.workshop.verify_job(attempt)))

    def verified(self, attempt: Attempt, ended: Ended) -> None:
        if self.stopping and ended.is_ours:
            return  # the next start verifies it again
        self.workshop.keep_evidence(attempt, ended, self.clock.now().isoformat())
        if ended.code == 0:
            self.merge_or_complete(attempt)
        else:
            reason = _("verify failed ({why})").format(why=why(ended, None))
            self.attempt_failed(attempt, reason, ended)

    def merge_or_complete(self, attempt: Attempt) -> None:
        worktrees = self.workshop.worktrees
        if worktrees is None:
            self.complete(attempt)
            return
        if attempt.run.state is not RunState.MERGING:
            self.ledger.move_run(attempt.run, RunState.MERGING, Trigger.MERGE)
        self.ledger.commit()  # from here on a next start finishes the merge
        task = attempt.task
        try:
            if worktrees.path(task.id).exists():
                worktrees.commit(task.id, f"{task.id}: {task.title}")
            worktrees.merge(task.id, f"{task.id}: {task.title}")
        except Conflict as conflict:
            files = ", ".join(conflict.files) or str(conflict)
            self._close_worktree(task.id)
            reason = _("merge conflict in {files}; the work is on branch {branch}").format(
                files=files, branch=worktrees.branch(task.id)
            )
            self.fail(attempt, reason, reason)
        except AgentError as error:
            self.fail(attempt, str(error), str(error))
        else:
            self.complete(attempt)

    def _close_worktree(self, task: str) -> None:
        if self.workshop.worktrees:
            self.workshop.worktrees.close(task)

    def complete(self, attempt: Attempt) -> None:
        task = attempt.task
        self.ledger.move_run(attempt.run, RunState.COMPLETED, Trigger.COMPLETE, exit_code=0)
        self.move_task(task.id, TaskState.COMPLETED, Trigger.COMPLETE, summary=attempt.summary)
        self.mark(task.id, TaskState.COMPLETED)
        if task.steps:
            self.file.edit(lambda document: document.set_all_steps(task.id, True), task.id)
        self.tell(
            "task_completed",
            task=task.id,
            title=task.title,
            attempt=attempt.run.attempt,
            seconds=self._seconds(attempt),
            usage=_usage(attempt.used),
        )

    def attempt_failed(self, attempt: Attempt, reason: str, ended: Ended) -> None:
        """One try failed: another one while the plan allows it, else the task has failed."""
        task = attempt.task
        row = self.ledger.tasks[task.id]
        short, full = one_line(reason, attempt.lines), in_full(reason, attempt.lines)
        if row.retries_used >= task.retries:
            self.fail(attempt, short, full, ended)
            return
        if self.stopping:
            self.cut_off(attempt)
            return
        used = row.retries_used + 1
        self.ledger.move_run(
            attempt.run, RunState.FAILED, Trigger.FAIL, exit_code=ended.code, error=short
        )
        self.move_task(
            task.id, TaskState.IN_PROGRESS, Trigger.TRY_AGAIN, retries_used=used, error=full
        )
        self._comment(task, short, used)
        if task.steps:
            self.file.edit(lambda document: document.set_all_steps(task.id, False), task.id)
        again = self.new_attempt(task, attempt=used + 1)
        self.tell(
            "task_retrying",
            task=task.id,
            error=short,
            retry=used,
            retries=task.retries,
            run=again.run.id,
        )

    def fail(
        self, attempt: Attempt, short: str, full: str, ended: Ended | None = None
    ) -> None:
        task = attempt.task
        code = ended.code if ended else None
        self.ledger.move_run(
            attempt.run, RunState.FAILED, Trigger.FAIL, exit_code=code, error=short
        )
        self.move_task(task.id, TaskState.FAILED, Trigger.FAIL, error=full)
        self.mark(task.id, TaskState.FAILED)
        self._comment(task, short, self.ledger.tasks[task.id].retries_used)
        self.failed_here.append(task.id)
        self.tell(
            "task_failed",
            task=task.id,
            title=task.title,
            error=short,
            attempts=attempt.run.attempt,
            exit_code=code,
            log=str(self.workshop.log(attempt.run)),
        )
        if task.id in self.graph:
            self.skip_dependants([task.id])

    def skip_dependants(self, roots: list[str]) -> None:
        for skip in cascade(self.graph, self.frontier.states, roots):
            self.move_task(skip.task, TaskState.SKIPPED, Trigger.SKIP)
            self.mark(skip.task, TaskState.SKIPPED)
            self.tell("task_skipped", task=skip.task, because=skip.because)

    def reopen_skipped(self) -> None:
        """Skipped tasks are judged again: what held them may be gone."""
        for verdict in judge_skipped(self.graph, self.graph.tasks, self.frontier.states):
            if isinstance(verdict, Reopen):
                self.move_task(verdict.task, TaskState.PENDING, Trigger.REOPEN)
                self.mark(verdict.task, TaskState.PENDING)
                self.tell("task_reopened", task=verdict.task, waits_for=list(verdict.waits_for))

    def _comment(self, task: Task, error: str, used: int) -> None:
        lang = language()
        self.file.edit(lambda document: document.set_error(task.id, error, lang), task.id)
        self.file.edit(
            lambda document: document.set_retries(task.id, used, task.retries, lang), task.id
        )

    def cut_off(self, attempt: Attempt) -> None:
        """Segue stops: the mark stays, and the task begins again at the next start."""
        self.ledger.move_run(attempt.run, RunState.CUT_OFF, Trigger.CUT_OFF)

    def park(self, attempt: Attempt, limit: LimitHit) -> None:
        if needs_person(limit.kind):
            self.ask(attempt, Asked(limit.text or limit.kind, category=limit.kind))
            return
        most = self.leash.max_windows
        if most is not None and self.ledger.windows >= most:
            text = _("this plan has waited through {n} limit windows, as many as it may; go on?")
            self.ask(attempt, Asked(text.format(n=most), category="confirmation"))
            return
        resets_at, at = wakes_at(
            limit.kind,
            self.clock.now(),
            resets_at=limit.resets_at,
            wait_s=limit.wait_s,
            margin_s=self.options.wake_margin_s,
        )
        self.ledger.move_run(attempt.run, RunState.PARKED, Trigger.PARK)
        self.move_task(attempt.task.id, TaskState.IN_PROGRESS, Trigger.PARK)
        self.ledger.add_park(attempt.run, limit.kind, resets_at, at)
        self.ledger.count_window()
        self.ledger.commit()
        self.accounts.park(attempt.run.account, limit.kind, at)
        self.probing.discard(attempt.run.account)
        self.tell(
            "task_parked",
            task=attempt.task.id,
            kind=limit.kind,
            account=attempt.run.account,
            resets_at=_text(resets_at),
            wakes_at=_text(at),
        )

    def ask(self, attempt: Attempt, asked: Asked) -> None:
        """The agent waits for a person; nothing sits in memory for it."""
        self.ledger.move_run(attempt.run, RunState.ASKED, Trigger.ASK)
        self.move_task(attempt.task.id, TaskState.IN_PROGRESS, Trigger.ASK)
        gate = self.ledger.add_gate(
            attempt.run, "question", asked.question, asked.options, asked.preset
        )
        self.open_gate(gate)

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

    def _note_usage(self, attempt: Attempt, used: Used) -> None:
        self.ledger.note_usage(
            attempt.run, used.input_tokens, used.output_tokens, used.cost_usd
        )

    def _seconds(self, attempt: Attempt) -> float:
        return round((self.clock.now() - attempt.run.created_at).total_seconds(), 3)


def _park_view(park: ParkRow) -> ParkView:
    return ParkView(park.id, park.task, park.account, park.wakes_at)


def _text(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat().replace("+00:00", "Z")


def _usage(used: Used | None) -> Mapping[str, object]:
    return {
        "input_tokens": (used.input_tokens if used else None) or 0,
        "output_tokens": (used.output_tokens if used else None) or 0,
        "cost_usd": used.cost_usd if used else None,
    }
