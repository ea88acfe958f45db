"""`segue logs TASK`: what an agent said and did, readable; with -f as it happens."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import click

from segue.cli import console, conversation_words, output, streams
from segue.errors import UserError
from segue.i18n import _
from segue.store.rows import PANES
from segue.store.sqlite import Store
from segue.work.act_targets import Target, find_task
from segue.work.conversation import Conversation, Entry, raw
from segue.work.project import Project
from segue.work.settings import config

RUN_IDS = "SELECT id FROM runs WHERE task = ? AND role != 'check' ORDER BY created_at, rowid"


@click.command(
    "logs",
    help=_("Show what the agents of a task said and did, for any kind of work. Find "
           "the TASK with segue status."),
    epilog=output.example("segue logs T-003 -f"),
)  # fmt: skip
@click.argument("task", metavar="TASK")
@click.option("--follow", "-f", is_flag=True, help=_("keep following until the task ends"))
@click.option("--raw", "as_raw", is_flag=True, help=_("show the program's raw output"))
@click.option(
    "--full", is_flag=True, help=_("show complete tool results, not only their first lines")
)
@click.option("--plan", type=click.Path(exists=True, path_type=Path), help=_("plan of the task"))
@output.json_option()
@output.common_options()
@click.pass_context
def command(
    ctx: click.Context,
    task: str,
    follow: bool,
    as_raw: bool,
    full: bool,
    plan: Path | None,
    as_json: bool,
) -> int:
    if as_raw and as_json:
        raise UserError("usage", _("--raw and --json cannot be used together"))
    project = Project.containing(plan.resolve() if plan else Path.cwd())
    store = Store.open_readonly(project.database)
    if store is None:
        raise _unknown(task)
    try:
        target = find_task(store, project, task, plan)
        if target is None:
            raise _unknown(task)
        if target.work.id == PANES:
            hint = _("look at the pane itself; segue watch shows what Segue did in it")
            raise UserError("no_log", _("panes have no log"), hint=hint)
        source = _Raw(store, target, project) if as_raw else _Readable(
            Conversation(store, target.task, project.logs, project.evidence,
                         _kinds(project, ctx.obj["environ"])),
            as_json=as_json, follow=follow, full=full,
        )  # fmt: skip
        if follow:
            asyncio.run(_follow(source, project))
        else:
            source.print_new()
            source.end()
        return 0
    finally:
        store.close()


def _unknown(task: str) -> UserError:
    hint = _("segue status lists the tasks; for another plan: --plan PATH")
    return UserError("unknown_task", _("no task {task} here").format(task=task), hint=hint)


def _kinds(project: Project, environ: dict[str, str]) -> dict[str, str]:
    """The kind of each agent; unreadable settings must not prevent reading a log."""
    try:
        agents = config.load(project.root, config.user_file(environ)).agents
    except UserError:
        return {}
    return {name: agent.kind for name, agent in agents.items()}


class _Readable:
    def __init__(
        self, conversation: Conversation, *, as_json: bool, follow: bool, full: bool
    ) -> None:
        self._conversation = conversation
        self._as_json, self._follow = as_json, follow
        self._words = conversation_words.Words(full=full)
        self._items: dict[str, dict[str, object]] = {}

    @property
    def is_over(self) -> bool:
        return self._conversation.is_over

    def print_new(self) -> None:
        self._print(self._conversation.read())
        if self._follow:
            self._print(self._conversation.flush())

    def _print(self, entries: Iterator[Entry]) -> None:
        for entry in entries:
            if self._as_json and self._follow:
                output.print_line(entry.to_json())
            elif self._as_json:
                found = entry.to_json()  # a result replaces its call
                self._items[str(found["id"])] = found
            else:
                for line in self._words.lines(entry):
                    console.echo(*line)

    def end(self) -> None:
        if self._as_json:
            output.print_json({"items": list(self._items.values())})
        elif not self._words.has_printed:
            console.echo(_("The agent has not printed anything yet."))


class _Raw:
    def __init__(self, store: Store, target: Target, project: Project) -> None:
        self._store, self._task, self._logs = store, target.task, project.logs
        self._offsets: dict[str, int] = {}
        self._conversation = Conversation(store, target.task, self._logs, self._logs, {})

    @property
    def is_over(self) -> bool:
        return self._conversation.is_over

    def print_new(self) -> None:
        runs = [row["id"] for row in self._store.all(RUN_IDS, self._task)]
        for piece in raw(self._logs, runs, self._offsets):
            console.write_bytes(piece)

    def end(self) -> None:
        """Raw output ends as it ended."""


async def _follow(source: _Readable | _Raw, project: Project) -> None:
    """Print what comes until the task is over: logs and the database tell when they change."""
    from segue.drivers.inotify import FolderWatch  # noqa: PLC0415 - only who follows needs it

    changed = asyncio.Event()
    watch = FolderWatch()
    for folder in {project.logs, project.evidence, project.database.parent}:
        watch.watch(folder, lambda name: changed.set())
    try:
        while True:
            changed.clear()
            is_over = source.is_over  # before what is read: nothing is missed in between
            source.print_new()
            if is_over or not streams.is_read():
                return
            await changed.wait()
    finally:
        watch.close()
