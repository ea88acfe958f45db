"""`segue develop "FEATURE"`"""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click

from segue.cli import console, detach, output, person
from segue.cli.choosing import choose
from segue.cli.run import not_begun, run_work, send_late_notices
from segue.core.cells import visible
from segue.core.develop import Feature, Phase, Status, Strategy, report
from segue.engine.locks import lock_path
from segue.engine.plan.finish import ALL_DONE, SOMETHING_FAILED, WAITS
from segue.errors import UserError
from segue.i18n import _
from segue.work.feature.developing import CommandOptions, develop, found, repair
from segue.work.feature.folder import FOLDER, FeatureFolder
from segue.work.project import Project
from segue.work.settings.config import JOBS_MAX


@click.command(
    "develop",
    help=_("Develop one feature from design to merge, or continue the one in progress."),
    epilog=output.example('segue develop "real-time chat" --agent claude'),
)
@click.argument("feature", required=False)
@click.option("--resume", is_flag=True, help=_("continue existing work without asking"))
@click.option("--fresh", is_flag=True, help=_("start over without asking"))
@click.option("--gates", is_flag=True, help=_("wait for a person to approve the design"))
@click.option("--approve", is_flag=True, help=_("approve the design that waits for approval"))
@click.option(
    "--strategy",
    type=click.Choice([str(one) for one in Strategy]),
    help=_("how to run the checkpoints (default: Segue decides from their dependencies)"),
)
@click.option(
    "--on-escalated",
    type=click.Choice(["ask", "retry", "edit", "skip", "stop"]),
    default="ask",
    show_default=True,
    help=_("what to do with checkpoints that failed"),
)
@click.option("--agent", metavar="NAME", help=_("the agent to use"))
@click.option(
    "--jobs",
    "-j",
    type=output.BoundedInt(1, JOBS_MAX),
    help=_("number of checkpoints to work on in parallel"),
)
@click.option(
    "--merge-command",
    metavar="CMD",
    help=_("command that merges, for example by a pull request (default: the agent merges)"),
)
@click.option(
    "--repair", "is_repair", is_flag=True, help=_("rebuild a damaged state file from the journal")
)
@click.option("--no-wait", is_flag=True, help=_("exit with code 4 instead of waiting at a limit"))
@detach.option()
@output.json_option()
@output.common_options()
@click.pass_context
def command(
    ctx: click.Context,
    feature: str | None,
    resume: bool,
    fresh: bool,
    gates: bool,
    approve: bool,
    strategy: str | None,
    on_escalated: str,
    agent: str | None,
    jobs: int | None,
    merge_command: str | None,
    is_repair: bool,
    no_wait: bool,
    is_detached: bool,
    as_json: bool,
) -> int:
    if resume and fresh:
        raise UserError("usage", _("--resume and --fresh cannot be used together"))
    if approve:
        person.check(ctx.obj["environ"])
    project = Project.containing(Path.cwd())
    folder = FeatureFolder(project.root)
    if is_detached:
        state = folder.state_file
        held = lock_path(project, state)
        return detach.run(project, state, held, ctx.obj["environ"], as_json=as_json)
    if is_repair:
        _repair(folder, as_json=as_json)
    there = None if fresh and feature else found(folder)
    resume = resume or approve  # there is nothing left to ask
    if (resume or is_repair) and not fresh and feature is None and _is_done(there):
        assert there is not None
        send_late_notices(Project(folder.root), ctx.obj["environ"])
        return _already_done(folder, there[1], as_json=as_json)
    options = CommandOptions(
        folder.root,
        feature,
        agent=agent,
        jobs=jobs,
        strategy=Strategy(strategy) if strategy else None,
        has_gates=gates,
        is_approved=approve,
        on_escalated=on_escalated,
        merge_command=merge_command,
        wait=not no_wait,
    )
    settled = settle(there[1] if there else None, options, resume, fresh, as_json=as_json)
    if settled is None:
        assert there is not None
        why = _("Choose: --resume (continue it) or --fresh (start over)")
        return _nothing_done(WAITS, why, folder, there[1], as_json=as_json)
    ignore(folder, as_json=as_json)
    return go(settled, ctx.obj["environ"], as_json=as_json)


def _is_done(there: tuple[bytes, Feature] | None) -> bool:
    return there is not None and there[1].resumes_in is Phase.DONE


def _already_done(folder: FeatureFolder, there: Feature, *, as_json: bool) -> int:
    """The end of a run that did not get to say it: as it would have ended."""
    if not as_json:
        tell(there)
    is_short = any(one.status is Status.ESCALATED for one in there.checkpoints.values())
    why = _("The last feature is complete.")
    return _nothing_done(
        SOMETHING_FAILED if is_short else ALL_DONE, why, folder, there, as_json=as_json
    )


def go(options: CommandOptions, environ: dict[str, str], *, as_json: bool) -> int:
    """Develop, showing what happens; the exit code."""
    return run_work(lambda environment: develop(options, environment), environ, as_json=as_json)


def _nothing_done(
    code: int, why: str, folder: FeatureFolder, there: Feature, *, as_json: bool
) -> int:
    """The end of a command that leaves the feature as it is, as a run's would be."""
    marks = there.checkpoints.items()
    return not_begun(
        code,
        why,
        folder.state_file,
        Project(folder.root),
        as_json=as_json,
        feature=there.feature,
        phase=there.phase,
        strategy=there.strategy,
        completed=[id for id, one in marks if one.status is Status.PASSED],
        failed=[id for id, one in marks if one.status is Status.ESCALATED],
        waiting=[str(folder.state_file)] if code == WAITS else [],
    )


def settle(
    there: Feature | None, options: CommandOptions, resume: bool, fresh: bool, *, as_json: bool
) -> CommandOptions | None:
    """What is to be done about the work that is there; None: a person must say."""
    if there is None:
        return _new(options, resume)
    if fresh:
        return _new(replace(options, feature=options.feature or there.feature), resume=False)
    is_done = there.resumes_in is Phase.DONE
    if is_done or (there.phase is Phase.DONE and options.feature is not None):
        if not (options.feature or "").strip():
            raise UserError(
                "usage",
                _("the last feature is complete; nothing is left to continue"),
                hint=_('describe the feature: segue develop "FEATURE"'),
            )
        console.echo(_("The last feature is complete. Starting a new one."), err=as_json)
        return _new(options, resume=False)
    is_other = options.feature is not None and options.feature != there.feature
    if not as_json:
        tell(there)
    if is_other:
        text = _("'{there}' is not finished, but you asked for '{wanted}'.")
        console.echo(text.format(there=there.feature, wanted=options.feature), err=as_json)
    elif resume:
        return replace(options, feature=there.feature)
    return _ask(there, options, is_other=is_other, as_json=as_json)


def _new(options: CommandOptions, resume: bool) -> CommandOptions:
    if not (options.feature or "").strip():
        raise UserError(
            "nothing_to_resume" if resume else "usage",
            _("nothing is left to continue") if resume else _("What should Segue develop?"),
            hint=_('describe the feature: segue develop "FEATURE"'),
        )
    return replace(options, is_fresh=True)


def tell(there: Feature) -> None:
    """Where the earlier work stands."""
    console.echo(
        _("Earlier work: '{feature}', phase {phase}").format(
            feature=" ".join(visible(there.feature).split()), phase=there.phase
        )
    )
    if there.checkpoints:
        console.echo(f"Checkpoints: {report(there)}")


def _ask(
    there: Feature, options: CommandOptions, *, is_other: bool, as_json: bool
) -> CommandOptions | None:
    if as_json or not sys.stdin.isatty():
        return None
    go_on = (
        _("continue '{feature}'").format(feature=there.feature)
        if is_other
        else _("continue the work")
    )
    console.echo(f"  1. {go_on}\n  2. " + _("from the start"))
    if choose(_("How should it continue?"), 2) == 1:
        return replace(options, feature=there.feature)
    return _new(replace(options, feature=options.feature or there.feature), resume=False)


def _repair(folder: FeatureFolder, *, as_json: bool) -> Feature:
    data = folder.state_file.read_bytes() if folder.state_file.exists() else b""
    feature = repair(folder, datetime.now(UTC))
    if folder.state_file.read_bytes() == data:
        console.echo(_("The state is intact: nothing to repair."), err=as_json)
    else:
        console.echo(_("Rebuilt the state from the journal."), err=as_json)
    return feature


def ignore(folder: FeatureFolder, *, as_json: bool) -> None:
    """The state is of this machine alone: git should not see it."""
    if not folder.is_repository() or folder.is_ignored():
        return
    text = _("add {folder}/ to .gitignore").format(folder=FOLDER)
    is_asked = sys.stdin.isatty() and sys.stdout.isatty() and not as_json
    if is_asked and not console.confirm(f"{text}?", default=True):
        return
    folder.ignore()
    if not is_asked:
        console.echo(text, err=as_json)
