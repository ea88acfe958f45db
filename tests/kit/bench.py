"""What tests of the work layer share: a plan under way whose engine and clock are in our hands.

Everything is real but the processes: settings, agents, plan file, tables, locks of
conversations. Nothing happens by itself; a test tells what happened and looks at what follows.
"""

from __future__ import annotations

from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from kit.clock import HandClock
from kit.engine import HandEngine
from segue.core.leash import Leash
from segue.core.plan import TaskState
from segue.dialects.events import Event
from segue.engine import acts, loop
from segue.engine.accounts import Accounts
from segue.engine.acts import Verb, Wanted
from segue.engine.executors import (
    Ended,
    Finished,
    Happening,
    Heard,
    Recovered,
    Started,
    StopWanted,
)
from segue.engine.ledger import Ledger
from segue.engine.plan import recovery
from segue.engine.plan.attempts import Attempt, JobFactory
from segue.engine.plan.driver import PlanDriver
from segue.engine.plan.plan_run import Options, PlanRun
from segue.engine.plan.questions import Questions
from segue.engine.plan.source import Source
from segue.engine.silence import SilenceBounds
from segue.store.actors import Actor
from segue.store.conversations import Conversations
from segue.store.rows import ActRow, RunRow
from segue.store.sqlite import Store
from segue.work.agents import profiles as agents
from segue.work.project import Project
from segue.work.roster import AgentRoster
from segue.work.settings import config
from segue.work.tasklist.planfile import PlanFile

CLAUDE = 'agent = "claude"\n[agents.claude]\nkind = "claude"\ncommand = ["./claude"]\nmcp = false\n'


def at_once(work: Coroutine[Any, Any, None]) -> None:
    """Run what has nothing to wait for here, within an event loop or without one."""
    try:
        work.send(None)
    except StopIteration:
        return
    raise AssertionError("it waits for something")


class RunBench:
    """A project and a run in it, of whatever kind, turn by turn."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "project"
        self.root.mkdir()
        self.home = folder / "home"
        self.home.mkdir()
        self.program("claude")
        self.clock = HandClock()
        self.live_claims: set[str] = set()  # of runs elsewhere
        self.events: list[tuple[str, dict[str, Any]]] = []
        self._stores: list[Store] = []
        self.became: dict[str, Recovered] = {}  # what the next start finds of these jobs
        self.settings(CLAUDE)

    def settings(self, text: str) -> None:
        (self.root / "segue.toml").write_text(text)

    def close(self) -> None:
        for store in self._stores:
            store.close()

    @property
    def environ(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": "/bin", "SEGUE_SANDBOX": "none"}

    def program(self, name: str) -> None:
        """An agent's program, which is never started."""
        path = self.root / name
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)

    def new_engine(self) -> HandEngine:
        return HandEngine()

    def make_run(
        self,
        source: Source[PlanRun],
        project: Project,
        roster: AgentRoster,
        settings: config.Config,
        options: Options,
        place: Path | None = None,
    ) -> PlanRun:
        """A run with what an earlier one left in the tables; nothing is begun yet."""
        self.close()  # the one before has died
        self._stores.clear()
        project.prepare()
        store = Store.open(project.database)
        self._stores.append(store)
        self.engine = self.new_engine()
        self.engine.became = dict(self.became)
        self.events = []
        self.held = Conversations(
            self.folder / "conversations", lambda claim: str(claim) in self.live_claims
        )
        self.run = PlanRun(
            file=source,
            ledger=Ledger(store, self.clock, source.path, source.kind),
            accounts=Accounts(store, self.clock),
            engine=self.engine,
            clock=self.clock,
            job_factory=JobFactory(
                project,
                self.environ,
                agents.passed_on(self.environ),
                None,
                settings.recovery.resume_words,
                place,
            ),
            options=options,
            leash=Leash(),
            profile_for=roster.profile_for,
            profile_named=roster.profile_named,
            questions=Questions(None, self.engine.notify),
            held_conversations=self.held,
            has_fallbacks=any(agent.fallback for agent in settings.agents.values()),
            emit=self._emit,
        )
        self.driver = PlanDriver(self.run)
        return self.run

    def _emit(self, event: str, **facts: Any) -> None:
        self.events.append((event, facts))

    # Turns

    def turn(self) -> None:
        """One turn of the loop, without the wait at its end."""
        loop.turn(self.driver, self.engine)

    def happens(self, *happenings: Happening) -> None:
        """These things happen, and what the engine told itself; then the loop turns once."""
        told, self.engine.inbox = self.engine.inbox, []
        for happening in (*told, *happenings):
            self.driver.handle(happening)
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
        self.happens(Started(job or self.job))

    def says(self, *events: Event, job: str | None = None) -> None:
        self.happens(*(Heard(job or self.job, event) for event in events))

    def ends(self, code: int | None = 0, *, job: str | None = None, **more: Any) -> None:
        job = job or self.job
        is_unseen = isinstance(self.engine.became.get(job), Finished)
        self.happens(Ended(job, code, is_unseen=is_unseen, **more))

    def prompt(self, job: str | None = None) -> str:
        """What the agent of a job reads first."""
        return (self.engine.jobs[job or self.job].stdin or b"").decode()

    def told(self, event: str) -> list[dict[str, Any]]:
        return [facts for name, facts in self.events if name == event]

    def names(self) -> list[str]:
        return [name for name, _facts in self.events]

    def row(self, run: str) -> RunRow:
        """A run as the tables have it."""
        self.run.ledger.commit()
        found = self.run.ledger.run(run)
        assert found is not None
        return found

    def adds(
        self, verb: Verb, task: str = "", *, gate: str | None = None, work: str = "", **data: str
    ) -> str:
        """A person wants something, from another terminal."""
        self.run.ledger.commit()
        id = self.run.ledger.task_id(task) if task else None
        wanted = Wanted(
            verb, work or self.run.ledger.work, Actor("kim", "terminal"), id, gate, data
        )
        return acts.add(self._stores[-1], wanted, self.clock.now())

    def outcome(self, act: str) -> ActRow:
        return acts.outcome(self._stores[-1], act)


class Bench(RunBench):
    """One plan and its project; `start` begins a run of it, `start` again one after a death."""

    def start(self, plan: str | None = None, **options: Any) -> PlanRun:
        """A run of the plan with what an earlier one left; nothing is begun yet."""
        path = self.root / "PLAN.md"
        if plan is not None:
            path.write_text(plan, "utf-8")
        settings = config.load(self.root, None)
        roster = AgentRoster(settings, self.root, self.environ, None)
        file = PlanFile(path, "PLAN.md", roster.check)
        file.read_first()
        assert not file.problems, file.problems
        wanted = Options(
            jobs=settings.jobs,
            silence=SilenceBounds(
                settings.recovery.silence_after_s, settings.recovery.silence_max_s
            ),
            **{"marks_every_s": 0.0, **options},
        )
        run = self.make_run(file, Project(self.root), roster, settings, wanted)
        if plan is not None:  # a person's: nothing of it is held
            for row in run.ledger.tasks.values():
                row.pinned = None
        return run

    def begin(self, plan: str, **options: Any) -> PlanRun:
        """A run of a new plan, up to its first jobs."""
        run = self.start(plan, **options)
        self.recover()
        return run

    def recover(self) -> None:
        at_once(recovery.recover(self.run))
        self.turn()

    def state(self, task: str = "T-1") -> TaskState:
        return self.run.ledger.tasks[task].state

    def mark(self, task: str = "T-1") -> str:
        """The mark of a task in the file."""
        text = (self.root / "PLAN.md").read_text("utf-8")
        return text[text.index(f"] {task}") - 1]
