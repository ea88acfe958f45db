"""`segue` alone: what can be done in this folder."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from segue.cli import console
from segue.cli.status import in_words
from segue.engine.standing import Standing
from segue.i18n import _, ngettext
from segue.work.overview import look

SHOWN_MAX = 5
EXAMPLE = """\
- [ ] **T-001**: Say hello
  - run: echo hello
- [ ] **T-002**: Check it
  - blocked by: T-001
  - run: date
"""


def show(environ: Mapping[str, str]) -> None:
    standings = look(Path())
    begun = [standing for standing in standings if standing.state != "pending"]
    fresh = [standing for standing in standings if standing.state == "pending"]
    if begun:
        console.echo(in_words(begun))
    if fresh:
        console.echo(("\n" if begun else "") + _("Plans in this folder:"))
        for standing in fresh[:SHOWN_MAX]:
            n = standing.counts["pending"]
            count = ngettext("{n} task to do", "{n} tasks to do", n)
            if standing.kind == "book":
                count = ngettext("{n} chapter to write", "{n} chapters to write", n)
            console.echo(f"  {_command(standing)}   ({count.format(n=n)})")
        if (left := len(fresh) - SHOWN_MAX) > 0:
            console.echo("  " + _("… and {n} more").format(n=left))
    if not standings:
        _welcome()
    console.echo("\n" + _("All commands: segue --help"))


def _command(standing: Standing) -> str:
    """What begins a plan of its kind."""
    shown = shlex.quote(str(standing.path.relative_to(Path.cwd())))
    match standing.kind:
        case "book" if standing.path == Path.cwd():
            return "segue write-all"
        case "book":
            return f"segue write-all {shown}"
        case "server":  # its path is Segue's own memory
            return "segue serve"
        case _:
            return f"segue run {shown}"


def _welcome() -> None:
    console.echo(_("There is no plan in this folder yet. A plan is a Markdown file, PLAN.md:"))
    console.echo()
    for line in EXAMPLE.splitlines():
        console.echo(f"  {line}")
    console.echo()
    console.echo(_("Preview it:  segue plan PLAN.md"))
    console.echo(_("Run it:      segue run PLAN.md"))
    console.echo(_("Check your agents: segue doctor"))
