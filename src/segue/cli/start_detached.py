"""`segue start-detached`: what a service calls after a reboot. Not for people."""

from __future__ import annotations

from pathlib import Path

import click

from segue.cli import console
from segue.i18n import _
from segue.work import background
from segue.work.project import Project


@click.command("start-detached")
@click.pass_context
def command(ctx: click.Context) -> int:
    """Start again every work of this folder that ran in the background and is not finished."""
    project = Project.containing(Path.cwd())
    code = 0
    for detached in list(background.works(project)):
        if not detached.is_left:
            continue
        name = project.relative(detached.work.path)
        pid = background.start_again(project, detached, ctx.obj["environ"])
        if pid is None:
            code = 1
            text = _("cannot start {name}: its folder no longer exists").format(name=name)
            console.echo(text, err=True)
        else:
            text = _("{name} runs in the background (process {pid}).").format(name=name, pid=pid)
            console.echo(text)
    return code
