"""`segue trust`: see what a folder would run, and allow it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from segue.cli import console, output, person
from segue.i18n import _
from segue.work import trust
from segue.work.folders import markdown_below
from segue.work.project import Project
from segue.work.trust import Part, Untrusted

SHOWN_MAX = 60


@click.command(
    "trust",
    help=_("Show what the settings, the book and the plans of PATH (default: this folder) would run"
           " or allow, and trust them as they are now."),
    epilog=output.example("segue trust"),
)  # fmt: skip
@click.argument(
    "path", type=click.Path(exists=True, file_okay=False, path_type=Path), default=Path()
)
@click.option("--yes", is_flag=True, help=_("trust it without asking"))
@output.json_option()
@output.common_options()
@click.pass_context
def command(ctx: click.Context, path: Path, yes: bool, as_json: bool) -> int:
    environ = ctx.obj["environ"]
    person.check(environ)
    root = Project.containing(path.resolve()).root
    parts = [part for each in _files(root) for part in trust.parts_of_file(each, root)]
    if not as_json:
        show(root, parts)
    if not yes and not as_json and sys.stdin.isatty() and parts and not _ask():
        return trust.WAITS
    trust.trust(root, parts, environ)
    if as_json:
        output.print_json({"path": str(root), "parts": [part.to_json() for part in parts]})
    else:
        console.echo(_("You now trust {path}.").format(path=root))
    return 0


def _files(root: Path) -> list[Path]:
    """The settings, the books and the plans below a folder."""
    plans = markdown_below(root)
    books = [folder / trust.BOOK for folder in dict.fromkeys(plan.parent for plan in plans)]
    return list(dict.fromkeys([root / trust.SETTINGS, root / trust.BOOK, *books, *plans]))


def show(root: Path, parts: Sequence[Part]) -> None:
    if not parts:
        console.echo(_("{path} runs no commands of its own.").format(path=root))
        return
    console.echo(_("{path} would use:").format(path=root))
    for part in parts[:SHOWN_MAX]:
        console.echo(f"  {part}")
    if len(parts) > SHOWN_MAX:
        console.echo("  " + _("… and {n} more").format(n=len(parts) - SHOWN_MAX))


def _ask() -> bool:
    return console.confirm(_("Trust it?"))


def asked(error: Untrusted, environ: Mapping[str, str], *, as_json: bool) -> bool:
    """Whether a person at this terminal trusts the folder now."""
    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    console.echo(error.problem.message)
    show(error.root, error.parts)
    if not _ask():
        return False
    trust.trust(error.root, error.parts, environ)
    return True
