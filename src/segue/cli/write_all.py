"""`segue write-all`"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import click

from segue.cli import console, detach, output
from segue.cli.choosing import choose
from segue.cli.resume_book import damaged, restored
from segue.cli.run import not_begun, run_work, send_late_notices
from segue.core.book import BookState
from segue.engine.locks import lock_path
from segue.engine.plan.finish import WAITS
from segue.errors import UserError
from segue.i18n import _
from segue.work.book import settings
from segue.work.book.resuming import Look, look, nothing_begun, nothing_to_resume
from segue.work.book.steps import CHOICES
from segue.work.book.writing import (
    CommandOptions,
    How,
    anew,
    book_of,
    chapters_that_differ,
    complete,
    fitted,
    they_differ,
    write_book,
)
from segue.work.project import Project


@click.command(
    "write-all",
    help=_("Write the book in PATH (default: this folder), or continue it."),
    epilog=output.example("segue write-all --resume"),
)
@click.argument(
    "path", type=click.Path(exists=True, file_okay=False, path_type=Path), default=Path()
)
@click.option("--resume", is_flag=True, help=_("continue only; start nothing new"))
@click.option(
    "--restart", is_flag=True, help=_("start over from the first chapter (keeps all texts)")
)
@click.option(
    "--on-tripped",
    type=click.Choice(CHOICES),
    help=_("what to do about a chapter that the circuit breaker stopped"),
)
@output.chapters_option()
@click.option("--no-wait", is_flag=True, help=_("exit with code 4 instead of waiting at a limit"))
@detach.option()
@output.json_option()
@output.common_options()
@click.pass_context
def command(
    ctx: click.Context,
    path: Path,
    resume: bool,
    restart: bool,
    on_tripped: str | None,
    chapters: int | None,
    no_wait: bool,
    is_detached: bool,
    as_json: bool,
) -> int:
    if is_detached:
        root = path.resolve()
        project = Project.containing(root)
        held = lock_path(project, root)
        return detach.run(project, root, held, ctx.obj["environ"], as_json=as_json)
    if resume and restart:
        raise UserError("usage", _("--resume and --restart cannot be used together"))
    options = CommandOptions(
        path,
        wait=not no_wait,
        on_tripped=on_tripped,
        asks_if_tripped=not resume,
        chapters=chapters,
    )
    if restart:
        return go(replace(options, how=How.RESTART), ctx.obj["environ"], as_json=as_json)
    seen = look(path)
    state = seen.state
    if seen.damage is not None:
        if seen.backup is None and not seen.chapters and not resume:
            return _begin_anew(seen, options, ctx.obj["environ"], as_json=as_json)
        if not resume:
            return nothing_written(WAITS, damaged(seen), seen, as_json=as_json)
        state = restored(seen, as_json=as_json)
        options = replace(options, state=state)
    book = book_of(seen.folder, state, chapters)
    said = None if seen.lost else _nothing_to_do(state, book, only_resume=resume)
    if said is not None:
        send_late_notices(Project.containing(seen.folder.root), ctx.obj["environ"])
        return nothing_written(0, said, seen, as_json=as_json)
    return go(options, ctx.obj["environ"], as_json=as_json)


def _nothing_to_do(
    state: BookState | None, book: settings.Book, *, only_resume: bool
) -> str | None:
    if state is None:
        return nothing_begun() if only_resume else None
    if not state.is_begun:
        return nothing_to_resume() if only_resume else None
    if state.completed_at is None and state.total_chapters > len(book.chapters):
        return None  # whether it is complete is the question
    now = fitted(state, book)
    return f"{complete()}\n{anew()}" if now.is_over and not now.failed_chapters else None


def nothing_written(code: int, why: str, seen: Look, *, as_json: bool) -> int:
    """The end of a command that has nothing to write, as a run's would be."""
    root, state = seen.folder.root, seen.state or BookState("", 0)
    scores = {str(n): score for n, score in sorted(state.quality_scores.items())}
    return not_begun(
        code,
        why,
        root,
        Project.containing(root),
        as_json=as_json,
        completed=list(state.completed_chapters),
        failed=list(state.failed_chapters),
        waiting=[str(root)] if code == WAITS else [],
        scores=scores,
        pause_reason=state.pause_reason,
    )


def _begin_anew(
    seen: Look, options: CommandOptions, environ: dict[str, str], *, as_json: bool
) -> int:
    """Nothing was written yet that could be counted: what is damaged is kept, and that is all."""
    text = _("the state of the book is damaged: {why}").format(why=seen.damage)
    console.echo(f"{seen.folder.state_file}: {text}", err=as_json)
    text = _("Found no backup and no chapter: the book starts over. The damaged file is kept.")
    console.echo(text, err=as_json)
    return go(replace(options, how=How.RESTART), environ, as_json=as_json)


def go(options: CommandOptions, environ: dict[str, str], *, as_json: bool) -> int:
    """Write, showing what happens; the exit code."""
    differ = chapters_that_differ(options)
    if differ is not None:
        chapters = _which(differ, as_json=as_json)
        if chapters is None:
            lines = [they_differ(*differ), *(f"  --chapters {n}" for n in differ)]
            return nothing_written(WAITS, "\n".join(lines), look(options.folder), as_json=as_json)
        options = replace(options, chapters=chapters)
    return run_work(lambda environment: write_book(options, environment), environ, as_json=as_json)


def _which(differ: tuple[int, int], *, as_json: bool) -> int | None:
    """How many chapters the book has, as a person says; None where no person can be asked."""
    if as_json or not sys.stdin.isatty():
        return None
    here, there = differ
    console.echo(they_differ(here, there))
    console.echo("  1. " + _("{n} chapters, as in book.toml").format(n=here))
    console.echo("  2. " + _("{n} chapters, as in the state").format(n=there))
    return differ[choose(_("Which one?"), 2) - 1]
