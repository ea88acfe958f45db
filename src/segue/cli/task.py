"""`segue task …`: the tasks of the server, from the command line. One verb, one function."""

from __future__ import annotations

import click

from segue.cli import console, output, task_acts, task_gates, task_looks
from segue.i18n import _


class Verbs(click.Group):
    """Finds what was meant; alone, shows its verbs in the order in which they are used."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            console.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known, name = tuple(self.commands), args[0]
        if name not in known and not name.startswith("-"):
            raise output.unknown_command(
                f"{self.name} {name}", tuple(f"{self.name} {each}" for each in known)
            )
        return super().resolve_command(ctx, args)


command = Verbs(
    "task",
    help=_(
        "Tasks of the server. You may abbreviate ids, and name a question or a review "
        "by the id of its task."
    ),
    epilog=output.example(
        'segue task add "Shop" --type create_app -d "A small web shop" --submit\n'
        "segue task list --waiting"
    ),
)
for verb in (
    task_acts.add,
    task_acts.submit,
    task_looks.list_,
    task_looks.show,
    task_gates.approve,
    task_gates.changes,
    task_gates.answer,
    task_gates.provide,
    task_gates.reject,
    task_acts.pause,
    task_acts.resume,
    task_acts.cancel,
    task_acts.retry,
    task_acts.go_without,
    task_acts.fail,
    task_acts.fork,
    task_acts.rewind,
    task_looks.log,
    task_looks.events,
):
    command.add_command(verb)
