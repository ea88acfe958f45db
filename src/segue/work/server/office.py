"""Opening the server's work: everything it needs, from the settings and the folder."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta, tzinfo
from pathlib import Path

from segue.core.limits import Waits
from segue.drivers.launcher import Launcher
from segue.drivers.processes import become_subreaper
from segue.drivers.runs import is_under_way
from segue.engine.clock import Clock
from segue.engine.local import LocalEngine
from segue.store.changes import stamp
from segue.store.conversations import Conversations
from segue.store.conversations import folder as conversations_folder
from segue.store.lock import Lock
from segue.store.secrets import Secrets
from segue.store.sqlite import Store
from segue.work import agents, config
from segue.work.accounts import Accounts
from segue.work.locks import check_held
from segue.work.project import Project
from segue.work.runner import Cast
from segue.work.server import storage
from segue.work.server.desk import Desk
from segue.work.server.going_on import GoingOn
from segue.work.server.jobs import Jobs
from segue.work.server.records import Records
from segue.work.server.saving import Saving, Waiting
from segue.work.server.supervisor import Supervisor
from segue.work.server.types import Types


@dataclass(frozen=True, slots=True)
class Office:
    """The server's work, open: what people ask for, and who does it."""

    desk: Desk
    supervisor: Supervisor
    data: Path


@asynccontextmanager
async def open_office(
    project: Project,
    settings: config.Config,
    *,
    environ: Mapping[str, str],
    clock: Clock,
    tz: tzinfo,
    slots: int,
    command: Sequence[str],
) -> AsyncIterator[Office]:
    """One server for each folder; whoever is second is told who has it."""
    project.prepare()
    launcher = Launcher()
    await launcher.prepare()
    lock = Lock(project.locks / "server.lock")
    store: Store | None = None
    engine: LocalEngine | None = None
    try:
        held = lock.take(since=stamp(clock.now()), command=shlex.join(command))
        check_held(held, str(project.memory))
        store = Store.open(project.database)
        store.wait_at_most(storage.PATIENT_S)
        become_subreaper()
        engine = LocalEngine(project.runs, clock, launcher, tells_errors=True)
        yield _office(project, settings, environ, clock, tz, slots, store, engine)
    finally:
        if engine is not None:
            await engine.close()
        await launcher.close()
        if store is not None:
            store.close()
        lock.release()


def _office(
    project: Project,
    settings: config.Config,
    environ: Mapping[str, str],
    clock: Clock,
    tz: tzinfo,
    slots: int,
    store: Store,
    engine: LocalEngine,
) -> Office:
    cast = Cast(settings, project.root, environ, None)
    records = Records(store)
    data = project.memory / "server"
    data.mkdir(mode=0o700, exist_ok=True)
    saving = Saving(records, clock, data, Secrets(data, environ), waiting(settings))
    held = Conversations(
        conversations_folder(environ, project.memory / "conversations"), is_under_way
    )
    base = agents.passed_on(environ)
    jobs = Jobs(project, environ, base, cast.profile, saving.given, held, saving.go_back)
    recovery = settings.recovery
    supervisor = Supervisor(
        records=records,
        engine=engine,
        clock=clock,
        jobs=jobs,
        going_on=GoingOn(records, cast.profile),
        saving=saving,
        accounts=Accounts(store, clock),
        waits=Waits(
            weekly_s=recovery.weekly_limit_default,
            rate_s=recovery.default_wait_time,
            context_s=recovery.context_limit_wait,
            margin_s=recovery.wake_margin_s,
        ),
        resume_text=recovery.resume_words,
        tz=tz,
        slots=lambda: records.settings().get("slots", slots),
    )
    desk = Desk(
        supervisor,
        Types(settings.types),
        settings.agent,
        lambda: sorted(settings.agents),
        lambda name: _check(settings, name),
        saving.secrets.seal,
    )
    return Office(desk, supervisor, data)


def _check(settings: config.Config, name: str) -> None:
    config.choose_agent(settings, name, file=None, line=None)


def waiting(settings: config.Config) -> Waiting:
    told = settings.reviews
    return Waiting(
        timedelta(seconds=told.remind_after),
        timedelta(seconds=told.urgent_after),
        timedelta(seconds=told.escalate_after),
    )
