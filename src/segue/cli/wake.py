"""`segue wake NAME`: what is parked goes on now."""

from __future__ import annotations

from pathlib import Path

import click

from segue.cli import output
from segue.cli.park import give
from segue.i18n import _
from segue.work import orders


@click.command(
    "wake",
    help=_("Let a parked task or account go on now, whatever its instant."),
    epilog=output.example("segue wake T-003"),
)
@click.argument("name", metavar="TASK|ACCOUNT")
@click.option("--plan", type=click.Path(exists=True, path_type=Path), help=_("the task's plan"))
@output.json_option()
@output.common_options()
@click.pass_context
def command(ctx: click.Context, name: str, plan: Path | None, as_json: bool) -> int:
    return give(ctx, orders.WAKE, name, None, plan, as_json=as_json)
