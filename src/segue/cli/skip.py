"""`segue skip TASK`: the work continues without a task."""

from __future__ import annotations

from pathlib import Path

import click

from segue.cli import act_words, output
from segue.engine.acts import Verb
from segue.i18n import _


@click.command(
    "skip",
    help=_(
        "Skip a task and everything that depends on it. Undo it with segue unskip. "
        "Find the TASK with segue status."
    ),
    epilog=output.example("segue skip T-003"),
)
@click.argument("task", metavar="TASK")
@click.option("--plan", type=click.Path(exists=True, path_type=Path), help=_("plan of the task"))
@output.json_option()
@output.common_options()
@click.pass_context
def command(ctx: click.Context, task: str, plan: Path | None, as_json: bool) -> int:
    text = _("{task} is skipped")
    return act_words.about_task(ctx, Verb.SKIP, task, plan, text, as_json=as_json)
