"""`segue task add, submit, pause, …`: tasks are made and moved along."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from segue.cli import console, output, task_words
from segue.cli.task_link import find_checkpoint, find_task, linked, text_of
from segue.client import Client, Json
from segue.errors import UserError
from segue.i18n import _


def told(task: Json, as_json: bool) -> int:
    """The task as it is now."""
    if as_json:
        output.print_json(task)
    else:
        console.echo(task_words.short(task))
    return 0


@click.command(
    "add",
    help=_("Create a task: a draft, or with --submit one that starts as soon as a slot is free."),
    epilog=output.example('segue task add "Shop" --type create_app -d "A small shop" --submit'),
)
@click.argument("title")
@click.option("--description", "-d", metavar="TEXT", help=_("what to do; - reads standard input"))
@click.option(
    "--file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help=_("read the description from a file"),
)
@click.option("--type", "type_", default="custom", show_default=True, help=_("its type"))
@click.option("--agent", default="", metavar="NAME", help=_("agent for the task"))
@click.option(
    "--after", multiple=True, metavar="ID", help=_("start only after this task is completed")
)
@click.option(
    "--priority", default=0, show_default=True, help=_("tasks with a higher number start first")
)
@click.option("--submit", is_flag=True, help=_("submit it right away"))
@linked
def add(
    client: Client,
    title: str,
    description: str | None,
    file: Path | None,
    type_: str,
    agent: str,
    after: tuple[str, ...],
    priority: int,
    submit: bool,
    as_json: bool,
) -> int:
    task = client.create_task(
        title,
        _description(description, file),
        type=type_,
        agent=agent,
        depends_on=[find_task(client, id) for id in after],
        priority=priority,
        submit=submit,
    )
    return told(task, as_json)


def _description(given: str | None, file: Path | None) -> str:
    if file is not None and given is not None:
        raise UserError("usage", _("use either --description or --file"))
    if file is None:
        return text_of(given, "--description") if given else ""
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        text = _("cannot read this as text: {why}").format(why=error)
        raise UserError("usage", text, file=str(file)) from error


def _simple(name: str, help: str, act: Callable[[Client, str], Json]) -> click.Command:
    """A verb that needs a task and nothing else."""

    @click.command(name, help=help, epilog=output.example(f"segue task {name} 3f9a"))
    @click.argument("id")
    @linked
    def command(client: Client, id: str, as_json: bool) -> int:
        return told(act(client, find_task(client, id)), as_json)

    return command


submit = _simple("submit", _("Queue a draft."), Client.submit)
pause = _simple("pause", _("Pause a task. It stays paused, even after a restart."), Client.pause)
resume = _simple("resume", _("Resume a paused task."), Client.resume)


go_without = _simple(
    "go-without",
    _("Start a task without waiting any longer for a failed or deleted one."),
    Client.go_without,
)
fail = _simple(
    "fail", _("Mark a task as failed when it waits for a failed or deleted one."), Client.fail
)


@click.command(
    "cancel",
    help=_("Cancel a task: remove it from the queue, or end it if it has started."),
    epilog=output.example('segue task cancel 3f9a --reason "not needed any more"'),
)
@click.argument("id")
@click.option("--reason", metavar="TEXT", help=_("why"))
@linked
def cancel(client: Client, id: str, reason: str | None, as_json: bool) -> int:
    return told(client.cancel(find_task(client, id), reason), as_json)


@click.command(
    "retry",
    help=_(
        "Retry a failed task as a new task with the same content. Tasks that wait for "
        "the old one then wait for the new one. If TASK itself waits for a failed "
        "task, Segue retries that one."
    ),
    epilog=output.example("segue task retry 3f9a --submit"),
)
@click.argument("id")
@click.option("--submit", is_flag=True, help=_("submit it right away"))
@linked
def retry(client: Client, id: str, submit: bool, as_json: bool) -> int:
    return told(client.retry(find_task(client, id), submit=submit), as_json)


@click.command(
    "fork",
    help=_("Fork a task: create a new one that continues from a checkpoint of this one."),
    epilog=output.example("segue task fork 3f9a --checkpoint cp_07c1"),
)
@click.argument("id")
@click.option(
    "--checkpoint", metavar="ID", help=_("checkpoint to continue from (default: the newest)")
)
@linked
def fork(client: Client, id: str, checkpoint: str | None, as_json: bool) -> int:
    task = find_task(client, id)
    found = find_checkpoint(client, task, checkpoint) if checkpoint else None
    return told(client.fork(task, found), as_json)


@click.command(
    "rewind",
    help=_("Rewind a task to one of its checkpoints. Segue moves newer files aside."),
    epilog=output.example("segue task rewind 3f9a cp_07c1"),
)
@click.argument("id")
@click.argument("checkpoint")
@linked
def rewind(client: Client, id: str, checkpoint: str, as_json: bool) -> int:
    task = find_task(client, id)
    return told(client.rewind(task, find_checkpoint(client, task, checkpoint)), as_json)
