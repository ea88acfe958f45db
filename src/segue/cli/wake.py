"""`segue wake NAME`: wake parked work now."""

from __future__ import annotations

from pathlib import Path

import click

from segue.cli import output
from segue.cli.park import give
from segue.engine.acts import Verb
from segue.i18n import _


@click.command(
    "wake",
    help=_("Wake a parked task or account now, before its time."),
    epilog=output.example("segue wake T-003"),
)
@click.argument("name", metavar="TASK|ACCOUNT")
@click.option("--plan", type=click.Path(exists=True, path_type=Path), help=_("plan of the task"))
@output.json_option()
@output.common_options()
@click.pass_context
def command(ctx: click.Context, name: str, plan: Path | None, as_json: bool) -> int:
    return give(ctx, Verb.WAKE, name, None, plan, as_json=as_json)
