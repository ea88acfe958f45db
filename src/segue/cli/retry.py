"""`segue retry TASK`: a failed task gets another try."""

from __future__ import annotations

from pathlib import Path

import click

from segue.cli import act_words, output
from segue.engine.acts import Verb
from segue.i18n import _


@click.command(
    "retry",
    help=_(
        "Retry a failed task and reset its retry count. Find the TASK with segue "
        "status. On the server, the retry is a new task."
    ),
    epilog=output.example("segue retry T-003"),
)
@click.argument("task", metavar="TASK")
@click.option("--plan", type=click.Path(exists=True, path_type=Path), help=_("plan of the task"))
@output.json_option()
@output.common_options()
@click.pass_context
def command(ctx: click.Context, task: str, plan: Path | None, as_json: bool) -> int:
    text = _("{task} will be retried")
    return act_words.about_task(ctx, Verb.RETRY, task, plan, text, as_json=as_json)
