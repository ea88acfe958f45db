"""Runs a plan of any kind, from its lock to its end."""

from __future__ import annotations

import gc
import os
import shlex
import signal
from collections.abc import Callable, Sequence
from datetime import timedelta, tzinfo
from functools import partial

from segue.drivers.launcher import Launcher
from segue.drivers.notify import Notifier
from segue.drivers.processes import become_subreaper
from segue.drivers.runs import is_under_way
from segue.engine import gates, run_log, signals
from segue.engine.accounts import Accounts
from segue.engine.executors.process import ProcessExecutor
from segue.engine.ledger import Ledger
from segue.engine.locks import check_held, lock_path, notices_lock
from segue.engine.loop import drive
from segue.engine.notices import WorkNotices
from segue.engine.outage import is_passing
from segue.engine.outbox import LAST_S, NoticeSender, Outbox, SaidFaults
from segue.engine.plan import recovery
from segue.engine.plan.attempts import JobFactory
from segue.engine.plan.driver import PlanDriver
from segue.engine.plan.environment import Environment, RunPolicy
from segue.engine.plan.finish import INTERRUPTED, Result
from segue.engine.plan.memory import in_words
from segue.engine.plan.notices import NoticeWriter
from segue.engine.plan.plan_run import Options, PlanRun
from segue.engine.plan.questions import Questions
from segue.engine.plan.source import Source
from segue.engine.silence import SilenceBounds
from segue.store.changes import stamp
from segue.store.conversations import Conversations
from segue.store.conversations import folder as conversations_folder
from segue.store.lock import Lock, Turn
from segue.store.sqlite import Store
from segue.work import background, trust
from segue.work.agents import profiles as agents
from segue.work.agents.zone import zone_here
from segue.work.project import Project
from segue.work.project_memory import memory_of_runs
from segue.work.roster import AgentRoster
from segue.work.settings import channels, config
from segue.work.settings.leash import leash
from segue.work.storage_outage import Outage

FIRST_WAIT_OF_PLANS = timedelta(seconds=1)  # a run may be over soon


def run_options(settings: config.Config, *, jobs: int, on_failed: str, wait: bool) -> Options:
    recovery = settings.recovery
    return Options(
        jobs=jobs,
        on_failed=on_failed,
        wait=wait,
        waits=recovery.waits,
        silence=SilenceBounds(recovery.silence_after_s, recovery.silence_max_s),
        budget_usd=settings.leash.budget_usd,
        limit_patterns=settings.limit_patterns,
        place=settings.place,
        reminders=gates.steps(settings.reviews),
    )


async def run_work(
    source: Source[PlanRun],
    project: Project,
    roster: AgentRoster,
    settings: config.Config,
    environment: Environment,
    policy: RunPolicy,
    begin: Callable[[PlanRun], None],
) -> Result:
    """Run a plan of any kind, under its lock. `begin` is called as soon as it is ours alone."""
    clock, environ = environment.clock, environment.environ
    theirs = [project.root / trust.SETTINGS, *source.trusted_files]
    trust.check(project.root, theirs, environ, project.database)
    tz = zone_here(environ, environment.tz, clock.now())
    notifiers, missing = channels.read_notifiers(settings.notify, environ, clock, project.keys)
    launcher = Launcher()
    await launcher.prepare()  # it starts while the memory is opened
    store: Store | None = None
    lock: Lock | None = None
    try:
        told: list[str] = []
        project.prepare(told.append)
        lock = Lock(lock_path(project, source.path))
        command = shlex.join(environment.command)
        check_held(lock.take(since=stamp(clock.now()), command=command), source.shown)
        store = Store.open(project.database)
        become_subreaper()
        engine = ProcessExecutor(project.runs, clock, launcher)
        run = PlanRun(
            file=source,
            ledger=Ledger(store, clock, source.path, source.kind),
            accounts=Accounts(store, clock),
            engine=engine,
            clock=clock,
            job_factory=JobFactory(
                project,
                environ,
                agents.passed_on(environ),
                policy.worktrees,
                settings.recovery.resume_words,
                policy.place,
                policy.isolates,
                source.path,
            ),
            options=policy.options,
            leash=leash(settings.leash, clock, tz),
            profile_for=roster.profile_for,
            profile_named=roster.profile_named,
            questions=Questions(environment.asker, engine.notify),
            held_conversations=Conversations(
                conversations_folder(environ, project.memory / "conversations"), is_under_way
            ),
            has_fallbacks=any(agent.fallback for agent in settings.agents.values()),
            emit=run_log.logged(project.logs, clock, environment.emit),
            keep_memory=memory_of_runs(project, store, lock, source.shown, engine).keep,
            is_background=environment.background is not None,
        )
        for text in (*settings.recovery.clamped, *map(channels.left_out, missing)):
            run.publish("notice", text=text, is_log=True)
        for text in told:
            run.publish("notice", text=text)
        run.ledger.note_options(background.options_of(environment.background))
        begin(run)
        sender = post(run, project, store, notifiers, settings, tz)
        return await _run(run, project, engine, environment, policy, sender)
    finally:
        await launcher.close()
        if store is not None:
            store.close()
        if lock is not None:
            lock.release()


async def _run(
    run: PlanRun,
    project: Project,
    engine: ProcessExecutor,
    environment: Environment,
    policy: RunPolicy,
    sender: NoticeSender | None,
) -> Result:
    driver, root = PlanDriver(run), project.root
    before, plan = trust.settings_now(root), str(run.file.path)
    trust.note_start(root, plan, before, environment.environ)
    with signals.handled(_actions(driver, engine, environment)):
        try:
            engine.watch_plan(run.file.path)
            engine.watch_bell(project.bell)
            run.emit("started", path=str(run.file.path))
            await recovery.recover(run, restart=policy.restart)
            environment.show(run)
            gc.freeze()  # the plan and the program stay: no need to look through them again
            await drive(driver, engine)
            result = policy.finish(run)
            run.ledger.flush()
            if sender is not None:
                await sender.close(0 if result.exit == INTERRUPTED else LAST_S)
            return result
        except BaseException as error:
            if run.has_begun and is_passing(error):
                raise Outage(error, project, run.file.path) from error
            await engine.end_all()
            shown = in_words(error, project) if isinstance(error, OSError) else None
            if shown is not None:
                raise shown from error
            raise
        finally:
            if sender is not None:
                await sender.close(0)
            await engine.close()
            trust.note_end(root, plan, before, environment.environ, has_begun=run.has_begun)


def _actions(
    driver: PlanDriver, engine: ProcessExecutor, environment: Environment
) -> dict[signal.Signals, Callable[[], object]]:
    is_gone = False

    def stop() -> None:
        engine.want_stop(now=False)

    def go_on() -> None:
        driver.go_on()
        environment.go_on()

    def hang_up() -> None:
        """The terminal was closed. It may come twice, and no person is there to be impatient."""
        nonlocal is_gone
        if not is_gone:
            is_gone = True
            engine.want_stop(now=False)

    return {
        signal.SIGINT: stop,
        signal.SIGTERM: stop,
        signal.SIGHUP: hang_up,
        signal.SIGTSTP: partial(_stand_still, driver, environment),
        signal.SIGCONT: go_on,
    }


def post(
    run: PlanRun,
    project: Project,
    store: Store,
    notifiers: Sequence[Notifier],
    settings: config.Config,
    tz: tzinfo,
) -> NoticeSender | None:
    """The sender of notices; None where no channel is set."""
    if not notifiers:
        return None
    faults = SaidFaults(lambda text: run.emit("notice", text=text, is_log=True))
    quiet, turn = channels.quiet(settings.notify), Turn(notices_lock(project))
    pending = WorkNotices(store)
    sender = NoticeSender(
        Outbox(pending, run.clock, notifiers, quiet, tz, FIRST_WAIT_OF_PLANS, faults, turn=turn)
    )
    run.notices = NoticeWriter(store, sender.wake)
    return sender


def _stand_still(driver: PlanDriver, environment: Environment) -> None:
    """Ctrl-Z: the agents, in terminals and groups of their own, would continue without us."""
    driver.pause()
    environment.pause()
    os.kill(os.getpid(), signal.SIGSTOP)
