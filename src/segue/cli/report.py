"""`segue report`: what happened while you were away."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from segue.cli import console, output
from segue.core.durations import parse_duration
from segue.errors import UserError
from segue.i18n import _
from segue.store import files
from segue.work.project import Project

DAY = timedelta(hours=24)
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")


@click.command(
    "report",
    help=_("Report what happened here since a given time: what is done and how it was "
           "verified, what failed and why, what waits for you, limits and the time "
           "they cost, usage, commits."),
    epilog=output.example("segue report --since 18:00 --html report.html"),
)  # fmt: skip
@click.argument("path", type=click.Path(exists=True, path_type=Path), default=Path())
@click.option(
    "--since",
    metavar="WHEN",
    default="24h",
    show_default=True,
    help=_("8h, 2d, 18:00 (most recent), or 2026-11-17 18:00"),
)
@click.option(
    "--markdown",
    "markdown_file",
    metavar="FILE",
    is_flag=False,
    flag_value="-",
    help=_("write Markdown to a file, or to standard output without one"),
)
@click.option(
    "--html", "html_file", type=click.Path(path_type=Path), help=_("write a single HTML file")
)
@output.json_option()
@output.common_options()
def command(
    path: Path, since: str, markdown_file: str | None, html_file: Path | None, as_json: bool
) -> int:
    from segue.work.report import facts, html, markdown  # noqa: PLC0415 - --help needs none of it

    now = datetime.now(UTC)
    report = facts.gather(Project.containing(path.resolve()), moment(since, now), now)
    if html_file is not None:
        _write(html_file, html.page(report))
    if markdown_file is not None and markdown_file != "-":
        _write(Path(markdown_file), markdown.markdown(report))
    if as_json:
        output.print_json(report.to_json())
    elif markdown_file == "-":
        console.echo(markdown.markdown(report))
    elif html_file is None and markdown_file is None:
        nothing = _("Nothing has happened here since then.")
        is_empty = not report.works and not report.commits
        console.echo(nothing if is_empty else markdown.terminal(report))
    return 0


def _write(path: Path, text: str) -> None:
    try:
        files.replace(path, text.encode(), mode=0o644)
    except OSError as error:
        raise files.in_words(error, path) from error
    console.echo(_("written: {path}").format(path=path), err=True)


def moment(text: str, now: datetime) -> datetime:
    """A time that a person names: how long ago, the last time a clock showed it, or a date."""
    if clock := _CLOCK.fullmatch(text.strip()):
        here = now.astimezone()
        at = here.replace(hour=int(clock[1]), minute=int(clock[2]), second=0, microsecond=0)
        return (at if at <= here else at - DAY).astimezone(UTC)
    if (ago_s := parse_duration(text)) is not None:
        return now - timedelta(seconds=ago_s)
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError:
        raise UserError(
            "usage",
            _("`{text}` is not a time").format(text=text),
            hint=_("write 8h, 2d, 18:00 or 2026-11-17 18:00"),
        ) from None
    return at.astimezone(UTC)
