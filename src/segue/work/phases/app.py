"""Opening the server's work: everything it needs, from the settings and the folder."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import tzinfo
from functools import partial
from pathlib import Path

from segue.drivers.launcher import Launcher
from segue.drivers.processes import become_subreaper
from segue.drivers.runs import is_under_way
from segue.engine import gates, outage
from segue.engine.accounts import Accounts
from segue.engine.clock import Clock
from segue.engine.executors import ActsAdded
from segue.engine.executors.process import ProcessExecutor
from segue.engine.fallback import agent_or_fallback
from segue.engine.locks import check_held
from segue.engine.silence import SilenceBounds
from segue.store import works
from segue.store.changes import stamp
from segue.store.conversations import Conversations
from segue.store.conversations import folder as conversations_folder
from segue.store.lock import Lock
from segue.store.rows import SERVER
from segue.store.secrets import Secrets
from segue.store.sqlite import Store
from segue.work.agents import profiles as agents
from segue.work.phases import act_intake
from segue.work.phases.commands import Commands
from segue.work.phases.continuation import Continuation
from segue.work.phases.driver import PhaseDriver
from segue.work.phases.jobs import Jobs
from segue.work.phases.output_feed import OutputFeed
from segue.work.phases.records import Records
from segue.work.phases.saving import Saving
from segue.work.phases.supervisor import Supervisor
from segue.work.project import Project
from segue.work.project_memory import memory_of_runs
from segue.work.roster import AgentRoster
from segue.work.settings import config
from segue.work.settings.leash import leash
from segue.work.settings.task_types import Types


@dataclass(frozen=True, slots=True)
class App:
    """The server's work, open: what people ask for, and who does it."""

    commands: Commands
    supervisor: Supervisor
    driver: PhaseDriver
    data: Path


@asynccontextmanager
async def open_app(
    project: Project,
    settings: config.Config,
    *,
    environ: Mapping[str, str],
    clock: Clock,
    tz: tzinfo,
    slots: int,
    command: Sequence[str],
) -> AsyncIterator[App]:
    """One server for each folder; a second one gets an error that names the first."""
    project.prepare()
    launcher = Launcher()
    await launcher.prepare()
    lock = Lock(project.locks / "server.lock")
    store: Store | None = None
    engine: ProcessExecutor | None = None
    app: App | None = None
    try:
        held = lock.take(since=stamp(clock.now()), command=shlex.join(command))
        check_held(held, str(project.memory))
        store = Store.open(project.database)
        store.wait_at_most(outage.PATIENT_S)
        become_subreaper()
        engine = ProcessExecutor(project.runs, clock, launcher, tells_errors=True)
        app = _build_app(project, settings, environ, clock, tz, slots, store, engine)
        shown = str(project.memory)
        memory = memory_of_runs(project, store, lock, shown, engine, app.data)
        app.supervisor.keep_memory = memory.keep
        yield app
    finally:
        if app is not None:
            await app.commands.feed.close()
        if engine is not None:
            await engine.close()
        await launcher.close()
        if store is not None:
            store.close()
        lock.release()


def _build_app(
    project: Project,
    settings: config.Config,
    environ: Mapping[str, str],
    clock: Clock,
    tz: tzinfo,
    slots: int,
    store: Store,
    engine: ProcessExecutor,
) -> App:
    roster = AgentRoster(settings, project.root, environ, None)
    records = Records(store)
    data = project.memory / "server"
    for folder in (data, project.keys):
        folder.mkdir(mode=0o700, exist_ok=True)
    works.enrol(store, SERVER, data, clock.now())
    saving = Saving(records, clock, data, Secrets(project.keys, environ))
    held = Conversations(
        conversations_folder(environ, project.memory / "conversations"), is_under_way
    )
    base = agents.passed_on(environ)
    jobs = Jobs(project, environ, base, roster.profile, saving.given, held, saving.go_back)
    recovery, accounts = settings.recovery, Accounts(store, clock)
    supervisor = Supervisor(
        records=records,
        engine=engine,
        clock=clock,
        jobs=jobs,
        continuation=Continuation(
            records,
            roster.profile,
            lambda agent: agent_or_fallback(agent, roster.profile_named, accounts, clock.now()),
        ),
        saving=saving,
        accounts=accounts,
        waits=recovery.waits,
        resume_text=recovery.resume_words,
        tz=tz,
        limit_patterns=settings.limit_patterns,
        leash=leash(settings.leash, clock, tz),
        budget_usd=settings.leash.budget_usd,
        reminder_steps=gates.steps(settings.reviews),
        silence=SilenceBounds(recovery.silence_after_s, recovery.silence_max_s),
        slots=lambda: records.settings().get("slots", slots),
    )
    kinds = {name: agent.kind for name, agent in settings.agents.items()}
    feed = OutputFeed(project, kinds, clock.now)
    supervisor.on_commit(feed.changed)
    commands = Commands(
        supervisor,
        Types(settings.types),
        settings.agent,
        lambda: sorted(settings.agents),
        feed,
        lambda name: _check(settings, name),
        saving.secrets.seal,
    )
    driver = PhaseDriver(supervisor)
    supervisor.take_in_acts = partial(act_intake.take_in, commands)
    engine.watch_bell(project.bell)
    engine.notify(ActsAdded())  # while no server ran
    return App(commands, supervisor, driver, data)


def _check(settings: config.Config, name: str) -> None:
    config.choose_agent(settings, name, file=None, line=None)
