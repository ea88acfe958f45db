"""`segue message TASK TEXT`: send a message to the agent of a task."""

from __future__ import annotations

from pathlib import Path

import click

from segue.cli import act_words, output
from segue.i18n import _
from segue.work import add_act


@click.command(
    "message",
    help=_(
        "Send a message to the agent of a task. An agent that takes messages while it works reads "
        "it at once, any other with its next turn. Find the TASK with segue status."
    ),
    epilog=output.example('segue message T-003 "use the staging database"'),
)
@click.argument("task", metavar="TASK")
@click.argument("text", metavar="TEXT")
@click.option("--plan", type=click.Path(exists=True, path_type=Path), help=_("plan of the task"))
@output.json_option()
@output.common_options()
@click.pass_context
def command(ctx: click.Context, task: str, text: str, plan: Path | None, as_json: bool) -> int:
    done = add_act.send_message(act_words.here(ctx, plan), task, text, plan)
    shown = _("message to the agent of {task} sent").format(task=task)
    return act_words.report(done, shown, as_json=as_json)
