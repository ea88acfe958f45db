"""`segue run`: from a path to a finished plan. Nothing is written before all was checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from segue.core.plan import TaskState
from segue.engine.locks import lock_path
from segue.engine.plan.environment import Environment, RunPolicy
from segue.engine.plan.finish import Result
from segue.engine.plan.plan_run import PlanRun
from segue.engine.worktree import Worktrees
from segue.errors import UserError
from segue.store import files
from segue.work.project import Project, check_writable, find_plan
from segue.work.roster import AgentRoster
from segue.work.runner import run_options, run_work
from segue.work.settings import config
from segue.work.storage_outage import outlast
from segue.work.tasklist.planfile import PlanFile


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
    accepts_new = settings.plans.accepts_new_tasks
    file = PlanFile(path, str(options.plan), roster.check, accepts_new=accepts_new)
    file.read_first()
    if file.problems:
        raise UserError.of(file.problems)
    return project, file, roster, settings


async def run_plan(options: CommandOptions, environment: Environment) -> Result:
    """Run a task list, or continue it."""
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
