"""`segue stop`: end a work in order, in the background or on another terminal."""

from __future__ import annotations

import os
import select
import signal
from pathlib import Path

import click

from segue.cli import console, output, person
from segue.errors import UserError
from segue.i18n import _
from segue.work import background
from segue.work.project import Project

WITHIN_S = 60.0


@click.command(
    "stop",
    help=_("Stop running work in an orderly way: Segue ends its agents and saves its "
           "progress. WORK is its path (default: the only one that runs here)."),
    epilog=output.example("segue stop PLAN.md"),
)  # fmt: skip
@click.argument("work", required=False, type=click.Path(path_type=Path))
@output.json_option()
@output.common_options()
@click.pass_context
def command(ctx: click.Context, work: Path | None, as_json: bool) -> int:
    person.check(ctx.obj["environ"])
    project = Project.containing(work.resolve() if work else Path.cwd())
    owners = {each.id: (each, owner) for each, owner in background.owned(project)}
    works = [each for each, _owner in owners.values()]
    found = background.chosen(works, work, project, _("nothing is running here"))
    pid = owners[found.id][1].pid
    _end(pid)
    background.forget(project, found)
    if as_json:
        output.print_json({"work": str(found.path), "pid": pid, "stopped": True})
    else:
        text = _("Stopped {name}, progress saved. To continue: segue resume --continue")
        console.echo(text.format(name=project.relative(found.path)))
    return 0


def _end(pid: int) -> None:
    """SIGTERM to the owner, then wait until it is gone. The lock named its process a moment ago;
    a descriptor of the process makes sure that no other process gets the signal."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        signal.pidfd_send_signal(process, signal.SIGTERM)
        is_over, _writable, _failed = select.select([process], [], [], WITHIN_S)
    except ProcessLookupError:
        return
    finally:
        os.close(process)
    if not is_over:
        raise UserError(
            "still_running",
            _("process {pid} is still running after {seconds} s").format(pid=pid, seconds=WITHIN_S),
            hint=_("its agents may need more time; check with: segue status"),
        )
