"""`segue run`: from a path to a finished plan. Nothing is written before all was checked."""

from __future__ import annotations

import gc
import os
import shlex
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta, tzinfo
from functools import partial
from pathlib import Path

from segue.core.leash import Leash, next_instant, parse_quiet
from segue.core.plan import Task, TaskState
from segue.drivers.launcher import Launcher
from segue.drivers.notify import Notifier
from segue.drivers.processes import become_subreaper
from segue.drivers.runs import is_under_way
from segue.engine import gates, signals
from segue.engine.accounts import Accounts
from segue.engine.clock import Clock
from segue.engine.executors.process import ProcessExecutor
from segue.engine.loop import drive
from segue.engine.notices import WorkNotices
from segue.engine.outage import is_passing
from segue.engine.outbox import LAST_S, NoticeSender, Outbox, SaidFaults
from segue.engine.silence import SilenceBounds
from segue.engine.worktree import Worktrees
from segue.errors import Problem, UserError
from segue.i18n import _
from segue.plans.tasklist import Document
from segue.store import files
from segue.store.changes import stamp
from segue.store.conversations import Conversations
from segue.store.conversations import folder as conversations_folder
from segue.store.lock import Lock, Turn
from segue.store.sqlite import Store
from segue.work import background, trust
from segue.work.agents import profiles as agents
from segue.work.agents.profiles import Profile
from segue.work.agents.zone import zone_here
from segue.work.locks import check_held, lock_path, notices_lock
from segue.work.plans import recovery, run_log
from segue.work.plans.attempts import JobFactory
from segue.work.plans.driver import PlanDriver
from segue.work.plans.environment import Environment, RunPolicy
from segue.work.plans.finish import INTERRUPTED, Result
from segue.work.plans.ledger import Ledger
from segue.work.plans.memory import in_words
from segue.work.plans.notices import NoticeWriter
from segue.work.plans.plan_run import Options, PlanRun
from segue.work.plans.questions import Questions
from segue.work.plans.source import Source
from segue.work.plans.storage_outage import Outage, outlast
from segue.work.project import Project, check_writable, find_plan
from segue.work.project_memory import memory_of_runs
from segue.work.settings import channels, config
from segue.work.tasklist.planfile import PlanFile

Emit = Callable[..., None]
FIRST_WAIT_OF_PLANS = timedelta(seconds=1)  # a run may be over soon


@dataclass(frozen=True, slots=True)
class CommandOptions:
    """What the command line says; None: as the settings say."""

    plan: Path
    agent: str | None = None
    jobs: int | None = None
    on_failed: str = "ask"
    wait: bool = True
    isolate: bool = False
    restart: bool = False


class AgentRoster:
    """The agents of a plan: who does which task."""

    def __init__(
        self, settings: config.Config, root: Path, environ: Mapping[str, str], default: str | None
    ) -> None:
        self._settings = settings
        self._root = root
        self._environ = environ
        self._default = default
        self._profiles: dict[str, Profile] = {}

    def name_for(self, task: Task) -> str:
        return task.agent or self._default or self._settings.agent

    def profile_for(self, task: Task) -> Profile:
        return self.profile(self.name_for(task))

    def profile(self, name: str) -> Profile:
        if name not in self._profiles:
            chosen = config.choose_agent(self._settings, name, file=None, line=None)
            agents.check_environment(chosen, self._environ)
            self._profiles[name] = agents.profile(chosen, self._root, self._environ)
        return self._profiles[name]

    def profile_named(self, name: str) -> Profile | None:
        """The agent of an earlier run, if it can still be had."""
        try:
            return self.profile(name)
        except UserError:
            return None

    def _placed(self, problem: Problem) -> Problem:
        """Where an agent that no task names is named, if nothing says where it stands."""
        named = self._settings.agent_place
        if problem.file is not None or self._default is not None or named is None:
            return problem
        return Problem(problem.code, problem.message, *named, problem.hint)

    def check(self, document: Document) -> list[Problem]:
        """Every task that is to run needs an agent that is there, and its command."""
        problems = []
        for task in document.tasks:
            if task.state in (TaskState.COMPLETED, TaskState.SKIPPED):
                continue
            try:
                profile = self.profile_for(task)
            except UserError as error:
                problem = error.problem
                if task.agent is None:  # not this line's fault
                    return [self._placed(problem)]
                line = document.field_line(task.id, "agent")
                problems.append(
                    Problem(problem.code, problem.message, document.file, line, problem.hint)
                )
                continue
            if profile.needs_command and task.run is None:
                problems.append(_no_command(task, document.file))
        return problems


def _no_command(task: Task, file: str) -> Problem:
    return Problem(
        "no_command",
        _("{task} has no command for the shell agent").format(task=task.id),
        file,
        task.line,
        _("add `- run: COMMAND` or a fenced sh block below it, or choose an agent: --agent NAME"),
    )


def open_plan(
    options: CommandOptions, environ: Mapping[str, str]
) -> tuple[Project, PlanFile, AgentRoster, config.Config]:
    """Read and check everything there is to check, touching nothing."""
    path = find_plan(options.plan)
    project = Project.containing(path)
    settings = config.load(project.root, config.user_file(environ))
    roster = AgentRoster(settings, project.root, environ, options.agent)
    if options.agent is not None:
        roster.profile(options.agent)
    file = PlanFile(path, str(options.plan), roster.check)
    file.read_first()
    if file.problems:
        raise UserError.of(file.problems)
    return project, file, roster, settings


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


async def run_plan(options: CommandOptions, environment: Environment) -> Result:
    """Run a task list, or go on with it."""
    continued = replace(options, restart=False)
    return await outlast(
        lambda is_again: _run_plan(continued if is_again else options, environment), environment
    )


async def _run_plan(options: CommandOptions, environment: Environment) -> Result:
    project, file, roster, settings = open_plan(options, environment.environ)
    worktrees = Worktrees(project.root, project.worktrees, file.path)
    if options.isolate:
        worktrees.check()
    check_writable(file.path, project)
    begun: set[str] = set()  # tasks whose work already lies in a worktree

    def is_ours(run: PlanRun) -> None:
        files.remove_leftovers(file.path)
        file.spare = lock_path(project, file.path).with_suffix(".plan")
        if not options.restart:
            rows = run.ledger.tasks.values()
            under_way = [row.key for row in rows if row.state is TaskState.IN_PROGRESS]
            begun.update(key for key in under_way if worktrees.is_there(key))

    jobs = options.jobs or settings.jobs
    policy = RunPolicy(
        run_options(settings, jobs=jobs, on_failed=options.on_failed, wait=options.wait),
        restart=options.restart,
        worktrees=worktrees,
        isolates=lambda task: options.isolate or task in begun,
    )
    try:
        return await run_work(file, project, roster, settings, environment, policy, is_ours)
    finally:
        if file.spare is not None:
            file.spare.unlink(missing_ok=True)


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
    notifiers, missing = channels.read_notifiers(settings.notify, environ, clock, project.server)
    launcher = Launcher()
    await launcher.prepare()  # it starts while the memory is opened
    store: Store | None = None
    lock: Lock | None = None
    try:
        project.prepare()
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
        run.ledger.note_options(background.options_of(environment.background))
        begin(run)
        return await _run(
            run, engine, environment, policy, post(run, store, notifiers, settings, tz)
        )
    finally:
        await launcher.close()
        if store is not None:
            store.close()
        if lock is not None:
            lock.release()


async def _run(
    run: PlanRun,
    engine: ProcessExecutor,
    environment: Environment,
    policy: RunPolicy,
    sender: NoticeSender | None,
) -> Result:
    driver = PlanDriver(run)
    with signals.handled(_actions(run, engine, environment)):
        try:
            engine.watch_plan(run.file.path)
            engine.watch_bell(run.job_factory.project.bell)
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
                raise Outage(error, run.job_factory.project, run.file.path) from error
            await engine.end_all()
            shown = in_words(error, run.job_factory.project) if isinstance(error, OSError) else None
            if shown is not None:
                raise shown from error
            raise
        finally:
            if sender is not None:
                await sender.close(0)
            await engine.close()
            if run.has_begun:
                trust.note_changes(run.job_factory.project.root, environment.environ)


def _actions(
    run: PlanRun, engine: ProcessExecutor, environment: Environment
) -> dict[signal.Signals, Callable[[], object]]:
    is_gone = False

    def stop() -> None:
        engine.want_stop(now=False)

    def go_on() -> None:
        run.go_on()
        environment.go_on()

    def hang_up() -> None:
        """The terminal was closed. It may be told twice, and nobody is there to be impatient."""
        nonlocal is_gone
        if not is_gone:
            is_gone = True
            engine.want_stop(now=False)

    return {
        signal.SIGINT: stop,
        signal.SIGTERM: stop,
        signal.SIGHUP: hang_up,
        signal.SIGTSTP: partial(_stand_still, run, environment),
        signal.SIGCONT: go_on,
    }


def post(
    run: PlanRun, store: Store, notifiers: Sequence[Notifier], settings: config.Config, tz: tzinfo
) -> NoticeSender | None:
    """Who brings people outside what they are told; None where no way is set."""
    if not notifiers:
        return None
    faults = SaidFaults(lambda text: run.emit("notice", text=text, is_log=True))
    quiet, turn = channels.quiet(settings.notify), Turn(notices_lock(run.job_factory.project))
    pending = WorkNotices(store)
    sender = NoticeSender(
        Outbox(pending, run.clock, notifiers, quiet, tz, FIRST_WAIT_OF_PLANS, faults, turn=turn)
    )
    run.notices = NoticeWriter(store, sender.wake)
    return sender


def _stand_still(run: PlanRun, environment: Environment) -> None:
    """Ctrl-Z: the agents, in terminals and groups of their own, would go on without us."""
    run.pause()
    environment.pause()
    os.kill(os.getpid(), signal.SIGSTOP)


def leash(settings: config.LeashSettings, clock: Clock, tz: tzinfo) -> Leash:
    return Leash(
        max_windows=settings.max_windows,
        until=next_instant(settings.until, clock.now(), tz) if settings.until else None,
        quiet=parse_quiet(settings.quiet_hours) if settings.quiet_hours else None,
        tz=tz,
        drain_at=settings.drain_at,
    )
