"""`segue task list, show, log, events`: how things stand and what happens."""

from __future__ import annotations

import time
from itertools import islice

import click

from segue.cli import console, output, streams, task_words
from segue.cli.task_link import GATE_ID, find_task, linked
from segue.client import Client, Json
from segue.core.serving import STAGES
from segue.dialects.lines import plain
from segue.i18n import _

FOLLOW_S = 0.5
PIECE_BYTES = 1_000_000
LINE_BYTES_MAX = 1_000_000
OVER = {"completed": 0, "failed": 1}


@click.command(
    "list",
    help=_("List tasks, newest first; with --waiting, list what waits for a person."),
    epilog=output.example("segue task list --status in_progress"),
)
@click.option(
    "--status",
    type=click.Choice([str(stage) for stage in STAGES]),
    help=_("only tasks in this state"),
)
@click.option("--type", "type_", metavar="NAME", help=_("only tasks of this type"))
@click.option("--query", metavar="TEXT", help=_("only tasks with this text in the title"))
@click.option("--archived", is_flag=True, help=_("show archived tasks"))
@click.option("--waiting", is_flag=True, help=_("show what waits for a person, most urgent first"))
@click.option("--limit", default=50, show_default=True, help=_("show at most this many"))
@linked
def list_(
    client: Client,
    status: str | None,
    type_: str | None,
    query: str | None,
    archived: bool,
    waiting: bool,
    limit: int,
    as_json: bool,
) -> int:
    if waiting:
        found = list(islice(client.inbox(), limit))
        lines = [text for gate in found for text in task_words.waiting(gate)]
    else:
        every = client.tasks(status=status, type=type_, query=query, archived=archived)
        found = list(islice(every, limit))
        lines = [task_words.short(task) for task in found]
    if as_json:
        output.print_json({"items": found})
        return 0
    none = _("Nothing waits for you.") if waiting else _("No task matches.")
    console.echo("\n".join(lines) or none)
    return 0


@click.command(
    "show",
    help=_("Show all details of a task, or a review with the files to review."),
    epilog=output.example("segue task show 3f9a"),
)
@click.argument("id", metavar="TASK|REVIEW")
@linked
def show(client: Client, id: str, as_json: bool) -> int:
    if GATE_ID.fullmatch(id) and id.startswith("rev_"):
        found = client.review(id)
        lines = task_words.review(found)
    else:
        look = _look(client, find_task(client, id))
        found, lines = look.to_json(), task_words.long(look)
    if as_json:
        output.print_json(found)
    else:
        console.echo("\n".join(lines))
    return 0


def _look(client: Client, id: str) -> task_words.Look:
    return task_words.Look(
        client.task(id),
        client.agent(id),
        client.phases(id),
        list(client.inbox(task=id)),
        list(client.checkpoints(id)),
    )


@click.command(
    "log",
    help=_("Print the output of a task's agents."),
    epilog=output.example("segue task log 3f9a --follow"),
)
@click.argument("id")
@click.option("--follow", "-f", is_flag=True, help=_("keep following until the task ends"))
@click.option("--raw", is_flag=True, help=_("print the raw bytes, including escape sequences"))
@linked
def log(client: Client, id: str, follow: bool, raw: bool, as_json: bool) -> int:
    task = find_task(client, id)
    offset, rest = 0, b""
    while True:
        is_over = not follow or client.task(task)["status"] in OVER  # before what it reads
        while piece := client.log(task, offset=offset, limit=PIECE_BYTES):
            offset += len(piece)
            rest = _print_raw(piece) if raw else _print_lines(rest + piece, as_json)
        if is_over or not streams.is_read():
            if rest:
                _print_lines(rest + b"\n", as_json)
            return 0
        time.sleep(FOLLOW_S)


def _print_raw(piece: bytes) -> bytes:
    console.write_bytes(piece)
    return b""


def _print_lines(text: bytes, as_json: bool) -> bytes:
    """Whole lines, harmless; what is left of the last one. An endless line is cut."""
    *lines, rest = text.split(b"\n")
    if len(rest) > LINE_BYTES_MAX:
        lines, rest = [*lines, rest], b""
    for each in lines:
        shown = plain(each)
        if as_json:
            output.print_line({"line": shown})
        else:
            console.echo(shown)
    return rest


@click.command(
    "events",
    help=_("Follow events live: of all tasks, or of one task until it ends."),
    epilog=output.example("segue task events 3f9a --json"),
)
@click.argument("id", required=False)
@click.option(
    "--after", type=output.BoundedInt(0), metavar="N", help=_("start after this event number")
)
@linked
def events(client: Client, id: str | None, after: int | None, as_json: bool) -> int:
    task = find_task(client, id) if id else None
    if task is not None and after is None:
        after = client.newest_event()  # before the look: nothing is missed in between
        now = client.task(task)
        if now["status"] in OVER:
            return _over(now, as_json)
    for event in client.events(task, after=after):
        if as_json:
            output.print_line(event.data)
        else:
            console.echo(task_words.event(event.data))
        if not streams.is_read():
            return 0
        if task is not None and event.data["entity"] == "task" and event.data["to"] in OVER:
            return OVER[event.data["to"]]
    return 0


def _over(task: Json, as_json: bool) -> int:
    if not as_json:
        console.echo(task_words.short(task))
    return OVER[task["status"]]
