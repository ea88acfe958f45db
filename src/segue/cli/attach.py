"""`segue attach`: follow a work that runs in the background."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from segue.cli import console, output, streams
from segue.cli.words import headline, in_words
from segue.i18n import _
from segue.store import lock
from segue.store.rows import PANES
from segue.work import background
from segue.work.project import Project

Show = Callable[..., int | None]
GONE = 1  # its owner was killed: how it would have ended is unknown


@click.command(
    "attach",
    help=_("Follow work that runs in the background until it ends, and exit with its "
           "exit code. Ctrl-C leaves it running. WORK is its path (default: the only "
           "one here)."),
    epilog=output.example("segue attach PLAN.md"),
)  # fmt: skip
@click.argument("work", required=False, type=click.Path(path_type=Path))
@output.json_option()
@output.common_options()
def command(work: Path | None, as_json: bool) -> int:
    project = Project.containing(work.resolve() if work else Path.cwd())
    known = [each.work for each in background.works(project)]
    alive = [each.work for each in background.works(project) if each.owner is not None]
    found = background.chosen(
        alive if work is None and alive else known,
        work,
        project,
        _("nothing is running in the background here"),
    )
    events = background.events_file(project, found.path)
    show = _show
    if found.id == PANES and not as_json:  # what it does there is in its log
        events, show = background.error_file(events), _show_line
    return asyncio.run(_follow(events, found.lock(project), show, as_json=as_json))


async def _follow(events: Path, held: Path, show: Show, *, as_json: bool) -> int:
    """Show each event once, until the last one, or until the owner is gone."""
    from segue.drivers.inotify import FolderWatch  # noqa: PLC0415 - only who follows needs it

    changed = asyncio.Event()
    watch = FolderWatch()
    for folder in {events.parent, held.parent}:
        watch.watch(folder, lambda name: changed.set())
    offset = 0
    try:
        while True:
            changed.clear()
            is_owned = lock.holder(held) is not None  # before what is read
            for line, end in _read(events, offset):
                offset, code = end, show(line, as_json=as_json)
                if code is not None:
                    return code
            if not streams.is_read():
                return 0
            if not is_owned:
                if show is _show and not as_json:
                    console.echo(_("Its process ended unexpectedly. To continue: segue resume"))
                return GONE
            try:
                await asyncio.wait_for(changed.wait(), 1.0)  # a kill writes nothing
            except TimeoutError:
                continue
    finally:
        watch.close()


def _read(path: Path, offset: int) -> Iterator[tuple[bytes, int]]:
    """The whole lines behind an offset, each with where it ends."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                offset += len(line)
                yield line, offset
    except FileNotFoundError:
        return


def _show_line(line: bytes, *, as_json: bool) -> int | None:
    console.echo(line.decode("utf-8", "replace").rstrip("\n"))
    return None


def _show(line: bytes, *, as_json: bool) -> int | None:
    """Print an event; the exit code if it is the last one."""
    try:
        event = json.loads(line)
        name = str(event["event"])
        at = datetime.fromisoformat(event["at"]).astimezone()
    except (ValueError, KeyError, TypeError):
        return None
    if as_json:
        output.print_line(event)
    else:
        words = _last(event) if name == "finished" else in_words(name, event)
        if words is not None and not event.get("is_log"):
            console.echo(f"{at:%H:%M:%S} {words}")
    return int(event["exit"]) if name == "finished" else None


def _last(event: dict[str, Any]) -> str:
    said = headline(event["exit"], done=_("✔ All done."), failed=_("✘ Some tasks failed."))
    lines = [said]
    for sign, key in (("✔", "completed"), ("✘", "failed"), ("⊘", "skipped"), ("❓", "waiting")):
        if event.get(key):
            lines.append(f"  {sign} {', '.join(map(str, event[key]))}")
    return "\n".join(lines)


def show_all(events: Path, *, as_json: bool) -> int:
    """What a work said that has ended, and its exit code."""
    code = None
    for line, _offset in _read(events, 0):
        code = _show(line, as_json=as_json)
    return GONE if code is None else code
