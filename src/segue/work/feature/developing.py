"""`segue develop`: from a request, or from where it stopped, to a merged feature."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from segue.core.develop import (
    Checkpoint,
    Feature,
    Phase,
    Progress,
    Status,
    Strategy,
    strategy_for,
)
from segue.core.plan import TaskState
from segue.dialects.text import Text
from segue.engine.agent import Start
from segue.engine.plan.environment import Environment, RunPolicy
from segue.engine.plan.finish import (
    ALL_DONE,
    INTERRUPTED,
    PARKED,
    SOMETHING_FAILED,
    WAITS,
    Result,
    end,
)
from segue.engine.plan.plan_run import PlanRun
from segue.engine.worktree import Worktrees
from segue.errors import UserError
from segue.i18n import _
from segue.plans import checkpoints as document
from segue.plans import develop_state
from segue.plans.checkpoints import CheckpointsError
from segue.plans.develop_state import BrokenError
from segue.store.changes import Note, instant
from segue.store.rows import GateRow
from segue.store.sqlite import Store
from segue.work import runner
from segue.work.agents.profiles import Profile
from segue.work.feature.feature_work import FeatureOptions
from segue.work.feature.folder import FeatureFolder
from segue.work.feature.gates import STOP
from segue.work.feature.steps import FeatureSteps
from segue.work.feature.tasks import BY_COMMAND, DESIGN, MERGE, REVIEW
from segue.work.project import Project, check_writable
from segue.work.roster import AgentRoster
from segue.work.settings import config
from segue.work.settings.config import AgentSettings, Config
from segue.work.storage_outage import outlast


@dataclass(frozen=True, slots=True)
class CommandOptions:
    """What the command line says. `feature` is None where the unfinished one is meant."""

    folder: Path
    feature: str | None = None
    is_fresh: bool = False
    agent: str | None = None
    jobs: int | None = None
    strategy: Strategy | None = None
    has_gates: bool = False
    is_approved: bool = False
    on_escalated: str = "ask"
    merge_command: str | None = None
    wait: bool = True


class FeatureRoster(AgentRoster):
    """The agent; and the plan's own commands, which need none."""

    def profile(self, name: str) -> Profile:
        if name != BY_COMMAND:
            return super().profile(name)
        return Profile(
            AgentSettings(BY_COMMAND, "shell"),
            lambda wanted: Start(("/bin/sh", "-c", wanted.task.run or ":"), None),
            Text,
        )


def found(folder: FeatureFolder) -> tuple[bytes, Feature] | None:
    """The state that is there; a broken one is an error that names the place, never none."""
    try:
        return folder.load()
    except BrokenError as error:
        why = str(error)
        if error.column is not None:
            why = _("column {n}: {why}").format(n=error.column, why=error)
        raise UserError(
            "broken_state",
            _("the state of the feature is damaged: {why}").format(why=why),
            file=str(folder.state_file),
            line=error.line,
            hint=_("fix it, or rebuild it from Segue's journal: segue develop --repair"),
        ) from error
    except OSError as error:
        raise UserError(
            "broken_state",
            _("cannot read the state of the feature: {why}").format(why=error.strerror),
            file=str(folder.state_file),
            hint=_("make it readable: chmod u+r"),
        ) from error


async def develop(options: CommandOptions, environment: Environment) -> Result:
    """Begin a feature, or continue the one that is there."""
    continued = replace(options, feature=None, is_fresh=False)
    return await outlast(
        lambda is_again: _develop(continued if is_again else options, environment), environment
    )


async def _develop(options: CommandOptions, environment: Environment) -> Result:
    folder = FeatureFolder(options.folder.resolve())
    project = Project.containing(folder.root)
    known = config.load(project.root, config.user_file(environment.environ))
    roster = FeatureRoster(known, project.root, environment.environ, options.agent)
    steps = FeatureSteps(folder, _feature_options(options, known, roster, environment.environ))
    check_writable(folder.root, project)
    if not options.is_fresh:
        found(folder)

    def begin(run: PlanRun) -> None:
        there = None if options.is_fresh else found(folder)
        if there is not None:
            steps.begin(run, there[1], there[0])
            return
        folder.put_aside(project.memory / "backups", environment.clock.now())
        steps.begin(run, new_feature(options.feature or "", environment.clock.now()), None)

    policy = RunPolicy(
        runner.run_options(
            known, jobs=options.jobs or known.jobs, on_failed="gate", wait=options.wait
        ),
        restart=options.is_fresh,
        worktrees=_worktrees(folder, project),
        isolates=steps.is_isolated,
        place=folder.root,
        finish=lambda run: finish(run, steps),
    )
    return await runner.run_work(steps, project, roster, known, environment, policy, begin)


def _feature_options(
    options: CommandOptions, known: Config, roster: FeatureRoster, environ: Mapping[str, str]
) -> FeatureOptions:
    name = options.agent or known.agent
    profile = roster.profile(name)
    if profile.needs_command:
        raise UserError(
            "no_command",
            _("the shell agent cannot develop a feature"),
            hint=_('choose an agent: --agent claude, or agent = "claude" in segue.toml'),
        )
    user = config.user_file(environ)
    return FeatureOptions(
        agent=name,
        agent_kind=profile.settings.kind,
        strategy=options.strategy,
        has_gates=options.has_gates,
        is_approved=options.is_approved,
        on_escalated=options.on_escalated,
        merge_command=options.merge_command,
        user_folder=user.parent if user else None,
        repeated=_repeated(options),
    )


def _repeated(options: CommandOptions) -> str:
    given = (("--agent", options.agent), ("--merge-command", options.merge_command))
    return "".join(f" {name} {shlex.quote(value)}" for name, value in given if value)


def _worktrees(folder: FeatureFolder, project: Project) -> Worktrees | None:
    """Where there is a repository with a commit, on a branch; nothing is demanded."""
    worktrees = Worktrees(folder.root, project.worktrees, folder.state_file)
    try:
        worktrees.check()
    except UserError:
        return None
    return worktrees


def new_feature(feature: str, now: datetime) -> Feature:
    at = f"{now.astimezone():%Y-%m-%dT%H:%M:%S}"
    return Feature(feature, started_at=at, updated_at=at)


def repaired(folder: FeatureFolder) -> Feature | None:
    """What the journal knows of the feature, in the place of a broken file; None: nothing."""
    project = Project.containing(folder.root)
    store = Store.open_readonly(project.database)
    if store is None:
        return None
    try:
        sql = (
            "SELECT tasks.* FROM tasks JOIN works ON tasks.work = works.id"
            " WHERE works.path = ? ORDER BY tasks.rowid"
        )
        rows = {row["key"]: dict(row) for row in store.all(sql, str(folder.state_file))}
        began = _began(store, rows)
    finally:
        store.close()
    if DESIGN not in rows:
        return None
    feature = new_feature(rows[DESIGN]["title"], began)
    settled = _settled_checkpoints(folder, feature.feature)
    checkpoints = {
        one.id: _progress(TaskState(row["state"]), row["retries_used"], row["mark"])
        for one in settled
        if (row := rows.get(one.id)) is not None
    }
    phase = _phase(rows, checkpoints)
    is_settled = phase in (Phase.IMPLEMENT, Phase.MERGE, Phase.DONE)
    return replace(
        feature,
        phase=phase,
        strategy=strategy_for(settled) if is_settled else None,
        checkpoints=checkpoints if is_settled else {},
    )


def _began(store: Store, rows: Mapping[str, Mapping[str, object]]) -> datetime:
    """When the first run of the design began."""
    sql = (
        "SELECT created_at FROM runs WHERE task = ? AND attempt = 1 AND resumes IS NULL"
        " ORDER BY created_at DESC LIMIT 1"
    )
    run = store.one(sql, str(rows[DESIGN]["id"])) if DESIGN in rows else None
    return instant(run["created_at"]) if run else datetime.now().astimezone()


def _settled_checkpoints(folder: FeatureFolder, feature: str) -> list[Checkpoint]:
    """Those of the design document: the journal has earlier features' as well."""
    try:
        return document.read(folder.design(feature).read_text("utf-8", "replace"))
    except (OSError, CheckpointsError):
        return []


def _phase(rows: Mapping[str, Mapping[str, object]], checkpoints: Mapping[str, Progress]) -> Phase:
    def is_done(key: str) -> bool:
        return key in rows and rows[key]["state"] == TaskState.COMPLETED

    if not is_done(DESIGN):
        return Phase.DESIGN
    if not is_done(REVIEW):
        return Phase.REVIEW
    if any(one.status is not Status.PASSED for one in checkpoints.values()) or not checkpoints:
        return Phase.IMPLEMENT
    return Phase.MERGE  # also of a finished one: nothing is DONE before the validations ran


def _progress(state: TaskState, used: int, mark: str | None) -> Progress:
    match state:
        case TaskState.COMPLETED:
            return Progress(Status.PASSED, min(3, used + 1))
        case TaskState.IN_PROGRESS:
            return Progress(Status.IN_PROGRESS, min(3, used + 1))
        case TaskState.FAILED:
            return Progress(Status.ESCALATED, min(3, used + 1))
        case TaskState.SKIPPED if mark == TaskState.FAILED:  # by a person
            return Progress(Status.ESCALATED, min(3, used + 1))
        case TaskState.PENDING if used:  # cut off, or sent back by the merge
            return Progress(Status.IN_PROGRESS, min(3, used + 1))
        case _:
            return Progress()


def repair(folder: FeatureFolder, now: datetime) -> Feature:
    """Write the file again from the journal; the broken one is kept, a sound one untouched."""
    with suppress(BrokenError):
        there = folder.load()
        if there is not None:
            return there[1]
    feature = repaired(folder)
    if feature is None:
        raise UserError(
            "no_journal",
            _("Segue's journal has no entries for this feature"),
            file=str(folder.state_file),
            hint=_("fix the file, or start over: segue develop --fresh"),
        )
    folder.put_aside(Project.containing(folder.root).memory / "backups", now)
    folder.save(develop_state.render(feature))
    if feature.phase is Phase.MERGE:
        _not_shown(Project.containing(folder.root), folder, now)
    return feature


def _not_shown(project: Project, folder: FeatureFolder, now: datetime) -> None:
    """The file does not show the merge that the journal knows of: it is validated, not repeated."""
    store = Store.open(project.database)
    try:
        sql = (
            "SELECT tasks.id FROM tasks JOIN works ON tasks.work = works.id"
            " WHERE works.path = ? AND tasks.key = ?"
        )
        row = store.one(sql, str(folder.state_file), MERGE)
        if row is not None:
            store.move(Note("task", row["id"], {"mark": TaskState.PENDING}), at=now)
    finally:
        store.close()


def finish(run: PlanRun, steps: FeatureSteps) -> Result:
    """Judge the whole, write it down, tell it."""
    state = steps.state
    parked = run.parked
    waiting = [str(g.about.get("checkpoint") or g.task or g.category) for g in _gates(run)]
    passed = [id for id, one in state.checkpoints.items() if one.status is Status.PASSED]
    failed = [id for id, one in state.checkpoints.items() if one.status is Status.ESCALATED]
    skipped = [id for id in failed if id in run.skipped_here]
    failed = [id for id in failed if id not in skipped]
    code = _exit_code(run, steps, failed)
    end(
        run,
        code,
        completed=len(passed),
        failed=len(failed),
        skipped=len(skipped),
        parked=len(parked),
    )
    if code in (ALL_DONE, SOMETHING_FAILED):
        run.engine.sweep()
    run.emit(
        "finished",
        feature=state.feature,
        phase=state.phase,
        strategy=state.strategy,
        completed=passed,
        failed=failed,
        skipped=skipped,
        parked=parked,
        waiting=waiting,
        usage=run.ledger.usage(),
        exit=code,
    )
    return Result(passed, failed, skipped, parked, waiting, code)


def _gates(run: PlanRun) -> list[GateRow]:
    return list(run.ledger.gates.values())


def _exit_code(run: PlanRun, steps: FeatureSteps, failed: list[str]) -> int:
    if run.stopping:
        return INTERRUPTED
    if steps.state.phase is Phase.DONE:
        return SOMETHING_FAILED if run.skipped_here else ALL_DONE
    if failed and steps.options.on_escalated == STOP:
        return SOMETHING_FAILED
    if run.ledger.gates or failed:
        return WAITS
    if run.ledger.parks or run.frontier.counts[TaskState.PENDING]:
        return PARKED
    return SOMETHING_FAILED
