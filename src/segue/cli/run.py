"""`segue run PLAN.md`"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from segue.cli import console, detach, output
from segue.i18n import _
from segue.work.settings.config import JOBS_MAX

if TYPE_CHECKING:  # imported where they are used, so that --help starts fast
    from segue.cli.reporters import Reporter
    from segue.engine.plan.environment import Environment
    from segue.engine.plan.finish import Result
    from segue.work.project import Project
    from segue.work.tasklist.running import CommandOptions


@click.command(
    "run",
    help=_("Run or continue a task list (PLAN.md in this folder by default)."),
    epilog=output.example("segue run PLAN.md --agent shell --jobs 4"),
    short_help=_("run a task list, or continue it"),
)
@click.argument(
    "plan", type=click.Path(path_type=Path), metavar="[PLAN.md]", default=Path("PLAN.md")
)
@click.option("--agent", metavar="NAME", help=_("the agent for tasks that name none"))
@click.option(
    "--jobs",
    "-j",
    type=output.BoundedInt(1, JOBS_MAX),
    help=_("number of tasks to run in parallel"),
)
@click.option(
    "--on-failed",
    type=click.Choice(["ask", "retry", "skip", "stop"]),
    default="ask",
    show_default=True,
    help=_("what to do with tasks that failed before"),
)
@click.option("--no-wait", is_flag=True, help=_("exit with code 4 instead of waiting at a limit"))
@click.option(
    "--isolate",
    type=click.Choice(["none", "worktree"]),
    default="none",
    show_default=True,
    help=_("run each task in its own git worktree and merge it when it is done"),
)
@click.option("--trust", "is_trusted", is_flag=True, help=_("trust this folder permanently"))
@detach.option()
@output.json_option()
@output.common_options()
@click.pass_context
def command(
    ctx: click.Context,
    plan: Path,
    agent: str | None,
    jobs: int | None,
    on_failed: str,
    no_wait: bool,
    isolate: str,
    is_trusted: bool,
    is_detached: bool,
    as_json: bool,
) -> int:
    if is_trusted:
        _trust(plan, ctx.obj["environ"])
    if is_detached:
        return _detached(plan, ctx.obj["environ"], as_json=as_json)
    from segue.work.tasklist.running import CommandOptions  # noqa: PLC0415 - see above

    options = CommandOptions(
        plan,
        agent=agent,
        jobs=jobs,
        on_failed=on_failed,
        wait=not no_wait,
        isolate=isolate == "worktree",
    )
    return go(options, ctx.obj["environ"], as_json=as_json)


def _trust(plan: Path, environ: dict[str, str]) -> None:
    from segue.cli import person  # noqa: PLC0415 - see above
    from segue.work import trust  # noqa: PLC0415 - see above
    from segue.work.project import Project, find_plan  # noqa: PLC0415 - see above

    person.check(environ)
    path = find_plan(plan)
    root = Project.containing(path).root
    parts = [*trust.parts_of_file(root / trust.SETTINGS, root), *trust.parts_of_file(path, root)]
    trust.trust(root, parts, environ)


def _detached(plan: Path, environ: dict[str, str], *, as_json: bool) -> int:
    from segue.engine.locks import lock_path  # noqa: PLC0415 - see above
    from segue.work.project import Project, find_plan  # noqa: PLC0415 - see above

    path = find_plan(plan)
    project = Project.containing(path)
    return detach.run(project, path, lock_path(project, path), environ, as_json=as_json)


def go(options: CommandOptions, environ: dict[str, str], *, as_json: bool) -> int:
    """Run, showing what happens; the exit code."""
    from segue.work.tasklist.running import run_plan  # noqa: PLC0415 - see above

    return run_work(lambda environment: run_plan(options, environment), environ, as_json=as_json)


def run_work(
    work: Callable[[Environment], Awaitable[Result]], environ: dict[str, str], *, as_json: bool
) -> int:
    """Do work of any kind here, on this terminal or in this pipe; the exit code."""
    import asyncio  # noqa: PLC0415 - see above

    from segue.cli import trust as asking  # noqa: PLC0415 - see above
    from segue.cli.reporters import choose_reporter  # noqa: PLC0415 - see above
    from segue.work.trust import Untrusted  # noqa: PLC0415 - see above

    try:
        return asyncio.run(_conduct(work, environ, choose_reporter(as_json=as_json)))
    except Untrusted as error:
        if not asking.asked(error, environ, as_json=as_json):
            raise
    return run_work(work, environ, as_json=as_json)


def not_begun(
    code: int, why: str, plan: Path, project: Project, *, as_json: bool, **facts: object
) -> int:
    """The end of a command that ran nothing: in words, and for programs as a run's last line."""
    console.echo(why, err=as_json)
    if as_json:
        from segue.cli.reporters import JsonReporter  # noqa: PLC0415
        from segue.engine.standing import Known  # noqa: PLC0415

        known = Known.of(project)
        used = known.usage(plan)
        known.close()
        lists: dict[str, object] = {
            name: [] for name in ("completed", "failed", "skipped", "parked", "waiting")
        }
        JsonReporter().emit("finished", **{**lists, **facts}, usage=used, why=why, exit=code)
    return code


def send_late_notices(project: Project, environ: Mapping[str, str]) -> None:
    """Nothing is left to do, but the run that did it may have been killed before it sent all."""
    import asyncio  # noqa: PLC0415 - see above

    from segue.engine.clock import SystemClock  # noqa: PLC0415 - see above
    from segue.work import late_notices  # noqa: PLC0415 - see above

    tz = datetime.now().astimezone().tzinfo
    assert tz is not None
    asyncio.run(
        late_notices.send(project, environ, SystemClock(), tz, partial(console.echo, err=True))
    )


async def _conduct(
    work: Callable[[Environment], Awaitable[Result]], environ: dict[str, str], reporter: Reporter
) -> int:
    from segue.engine.clock import SystemClock  # noqa: PLC0415 - see above
    from segue.engine.plan.environment import Environment  # noqa: PLC0415 - see above
    from segue.work import background  # noqa: PLC0415 - see above

    is_there = sys.stdin.isatty() and sys.stderr.isatty() and console.is_foreground()
    asker = reporter.asker() if is_there else None
    tz = datetime.now().astimezone().tzinfo
    assert tz is not None
    environment = Environment(
        environ=environ,
        clock=SystemClock(),
        tz=tz,
        command=["segue", *sys.argv[1:]],
        emit=reporter.emit,
        asker=asker,
        show=reporter.show,
        pause=reporter.pause,
        go_on=reporter.go_on,
        background=background.command_here(environ),
    )
    try:
        return (await work(environment)).exit
    finally:
        reporter.close()
