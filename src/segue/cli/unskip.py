"""`segue unskip TASK`: what was skipped is to be done after all."""

from __future__ import annotations

from pathlib import Path

import click

from segue.cli import console, output, person
from segue.engine.terminal_user import at_terminal
from segue.i18n import _
from segue.store.actors import acting


@click.command(
    "unskip",
    help=_(
        "Reopen a skipped task and set its mark to [ ]. TASK is the id of a task, a "
        "checkpoint of a feature (cp-1) or a chapter of a book (3)."
    ),
    epilog=output.example("segue unskip T-003"),
)
@click.argument("task", metavar="TASK")
@click.option("--plan", type=click.Path(exists=True, path_type=Path), help=_("plan of the task"))
@output.json_option()
@output.common_options()
@click.pass_context
def command(ctx: click.Context, task: str, plan: Path | None, as_json: bool) -> int:
    person.check(ctx.obj["environ"])
    from segue.work.unskip import unskip  # noqa: PLC0415 - all kinds of work; --help needs none

    with acting(at_terminal()):
        done = unskip(task, plan or Path.cwd(), is_plan=plan is not None)
    if as_json:
        output.print_json(
            {"task": done.task, "path": str(done.path), "kind": done.kind, "held_by": done.holds}
        )
        return 0
    text = _("{task} reopened").format(task=done.task)
    if done.is_running:
        text += " — " + _("the running plan picks it up")
    else:
        text += " — " + _("to do it: {command}").format(command=done.go_on)
    console.echo(text)
    if done.holds:
        held = _("It depends on {tasks}: finish those first, or Segue skips it again")
        console.echo(held.format(tasks=", ".join(done.holds)))
    return 0
