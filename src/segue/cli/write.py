"""`segue write N`"""

from __future__ import annotations

from pathlib import Path

import click

from segue.cli import output
from segue.cli.write_all import go
from segue.i18n import _
from segue.work.book.writing import CommandOptions, How


@click.command(
    "write",
    help=_(
        "Write chapter N of the book in PATH and judge it. Segue keeps a copy of an "
        "existing text beside it."
    ),
    epilog=output.example("segue write 3"),
)
@click.argument("chapter", type=output.BoundedInt(1), metavar="N")
@click.argument(
    "path", type=click.Path(exists=True, file_okay=False, path_type=Path), default=Path()
)
@output.chapters_option()
@click.option("--no-wait", is_flag=True, help=_("exit with code 4 instead of waiting at a limit"))
@output.json_option()
@output.common_options()
@click.pass_context
def command(
    ctx: click.Context,
    chapter: int,
    path: Path,
    chapters: int | None,
    no_wait: bool,
    as_json: bool,
) -> int:
    options = CommandOptions(path, How.CHAPTER, chapter, wait=not no_wait, chapters=chapters)
    return go(options, ctx.obj["environ"], as_json=as_json)
