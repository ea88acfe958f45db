"""What tests of the work layer share: a plan under way whose engine and clock are in our hands.

Everything is real but the processes: settings, agents, plan file, tables, locks of
conversations. Nothing happens by itself; a test tells what happened and looks at what follows.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from segue.core.leash import Leash
from segue.core.plan import TaskState
from segue.dialects.events import Event
from segue.engine.port import (
    Ended,
    Gone,
    Happening,
    Heard,
    Job,
    Look,
    Recovered,
    Started,
    StopWanted,
)
from segue.errors import AgentError
from segue.store.conversations import Conversations
from segue.store.sqlite import Store
from segue.work import agents, config, recovery
from segue.work.accounts import Accounts
from segue.work.attempts import Attempt, Workshop
from segue.work.ledger import Ledger
from segue.work.plan_run import Options, PlanRun
from segue.work.planfile import PlanFile
from segue.work.project import Project
from segue.work.questions import Questions
from segue.work.rows import RunRow
from segue.work.runner import Cast

CLAUDE = 'agent = "claude"\n[agents.claude]\nkind = "claude"\ncommand = ["./claude"]\nmcp = false\n'


class HandClock:
    """Time passes when a test says so."""

    def __init__(self) -> None:
        self._now = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self._now

    def pass_s(self, seconds: float) -> datetime:
        self._now += timedelta(seconds=seconds)
        return self._now


class HandEngine:
    """Notes what it is asked for."""

    def __init__(self) -> None:
        self.jobs: dict[str, Job] = {}
        self.begun: list[str] = []
        self.to_end: list[str] = []
        self.input_ended: list[str] = []
        self.sent: list[tuple[str, bytes]] = []
        self.inbox: list[Happening] = []
        self.wakes_at: datetime | None = None
        self.forgotten: list[str] = []
        self.paused: list[str] = []
        self.became: dict[str, Recovered] = {}  # what recovery finds; else it is gone
        self.seen: Look | None = Look(("claude", "sh"), 0, 1)
        self.is_deaf = False

    def begin(self, job: Job) -> None:
        self.jobs[job.id] = job
        self.begun.append(job.id)

    def recover(self, job: Job) -> Recovered:
        self.jobs[job.id] = job
        return self.became.get(job.id, Gone())

    def end_soon(self, job: str, *, now: bool = False) -> None:
        self.to_end.append(job)

    def send(self, job: str, data: bytes) -> None:
        if self.is_deaf:
            raise AgentError("the agent does not listen any more")
        self.sent.append((job, data))

    def end_input(self, job: str) -> None:
        self.input_ended.append(job)

    def pause(self, job: str) -> None:
        self.paused.append(job)

    def go_on(self, job: str) -> None:
        self.paused.remove(job)

    def look(self, job: str) -> Look | None:
        return self.seen

    def end_unknown(self, job: str) -> None:
        self.to_end.append(job)

    def forget(self, job: str) -> None:
        self.forgotten.append(job)

    def soon(self, action: Callable[[], None]) -> None:
        action()

    def sweep(self) -> None:
        pass

    def tell(self, happening: Happening) -> None:
        self.inbox.append(happening)

    def wake_at(self, at: datetime | None) -> None:
        self.wakes_at = at

    async def next(self, timeout_s: float | None = None) -> list[Happening]:
        raise AssertionError("the tests make the turns themselves")

    async def close(self) -> None:
        pass


class Bench:
    """One plan and its project; `start` begins a run of it, `start` again one after a death."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "project"
        self.root.mkdir()
        self.home = folder / "home"
        self.home.mkdir()
        program = self.root / "claude"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        self.clock = HandClock()
        self.live_claims: set[str] = set()  # of runs elsewhere
        self.events: list[tuple[str, dict[str, Any]]] = []
        self._stores: list[Store] = []
        self.settings(CLAUDE)
        self.options: dict[str, Any] = {}

    def settings(self, text: str) -> None:
        (self.root / "segue.toml").write_text(text)

    def close(self) -> None:
        for store in self._stores:
            store.close()

    # Starting

    def start(self, plan: str | None = None, **options: Any) -> PlanRun:
        """A run of the plan with what an earlier one left; its first turn is made."""
        path = self.root / "PLAN.md"
        if plan is not None:
            path.write_text(plan, "utf-8")
        self.close()  # the one before has died
        self._stores.clear()
        environ = {"HOME": str(self.home), "PATH": "/bin"}
        project = Project(self.root)
        project.prepare()
        settings = config.load(self.root, None)
        cast = Cast(settings, self.root, environ, None)
        file = PlanFile(path, "PLAN.md", cast.check)
        file.read_first()
        assert not file.problems, file.problems
        store = Store.open(project.database)
        self._stores.append(store)
        self.engine = HandEngine()
        self.events = []
        self.held = Conversations(
            self.folder / "conversations", lambda claim: str(claim) in self.live_claims
        )
        self.run = PlanRun(
            file=file,
            ledger=Ledger(store, self.clock, path, "tasklist"),
            accounts=Accounts(store, self.clock),
            engine=self.engine,
            clock=self.clock,
            workshop=Workshop(
                project, environ, agents.passed_on(environ), None, settings.recovery.resume_words
            ),
            options=Options(
                jobs=settings.jobs,
                silence_after_s=settings.recovery.silence_after_s,
                silence_max_s=settings.recovery.silence_max_s,
                **options,
            ),
            leash=Leash(),
            profile_for=cast.profile_for,
            profile_named=cast.profile_named,
            questions=Questions(None, self.engine.tell),
            held_conversations=self.held,
            has_fallbacks=any(agent.fallback for agent in settings.agents.values()),
            emit=self._emit,
        )
        return self.run

    def begin(self, plan: str, **options: Any) -> PlanRun:
        """A run of a new plan, up to its first jobs."""
        run = self.start(plan, **options)
        self.recover()
        return run

    def recover(self) -> None:
        recovery.recover(self.run)
        self.turn()

    def _emit(self, event: str, **facts: Any) -> None:
        self.events.append((event, facts))

    # Turns

    def turn(self) -> None:
        """One turn of the loop, without the wait at its end."""
        self.run.take_in_edits()
        self.run.decide()
        self.run.commit()

    def happens(self, *happenings: Happening) -> None:
        """These things happen, and what the engine told itself; then the loop turns once."""
        told, self.engine.inbox = self.engine.inbox, []
        for happening in (*told, *happenings):
            self.run.handle(happening)
        self.turn()

    def stop(self) -> None:
        self.happens(StopWanted(False))

    def pass_s(self, seconds: float) -> None:
        self.clock.pass_s(seconds)
        self.happens()

    # One task

    @property
    def job(self) -> str:
        """The job that was begun last."""
        return self.engine.begun[-1]

    @property
    def attempt(self) -> Attempt:
        return self.run.jobs[self.job]

    def starts(self, job: str | None = None) -> None:
        self.happens(Started(job or self.job, 100, 1))

    def says(self, *events: Event, job: str | None = None) -> None:
        self.happens(*(Heard(job or self.job, event) for event in events))

    def ends(self, code: int | None = 0, *, job: str | None = None, **more: Any) -> None:
        self.happens(Ended(job or self.job, code, **more))

    def prompt(self, job: str | None = None) -> str:
        """What the agent of a job reads first."""
        return (self.engine.jobs[job or self.job].stdin or b"").decode()

    def told(self, event: str) -> list[dict[str, Any]]:
        return [facts for name, facts in self.events if name == event]

    def names(self) -> list[str]:
        return [name for name, _facts in self.events]

    def state(self, task: str = "T-1") -> TaskState:
        return self.run.ledger.tasks[task].state

    def row(self, run: str) -> RunRow:
        """A run as the tables have it."""
        self.run.ledger.commit()
        found = self.run.ledger.run_row(run)
        assert found is not None
        return found

    def mark(self, task: str = "T-1") -> str:
        """The mark of a task in the file."""
        text = (self.root / "PLAN.md").read_text("utf-8")
        return text[text.index(f"] {task}") - 1]
