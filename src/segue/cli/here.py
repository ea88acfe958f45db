"""`segue` alone: what can be done in this folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from segue.cli.status import in_words
from segue.i18n import _
from segue.plans.tasklist import Document
from segue.work.overview import PLAN_BYTES_MAX, Standing, look, markdown_below

SHOWN_MAX = 5
EXAMPLE = """\
- [ ] **T-001**: Say hello
  - run: echo hello
- [ ] **T-002**: Check it
  - blocked by: T-001
  - run: date
"""


def show(environ: Mapping[str, str]) -> None:
    here = Path()
    standings = look(here)
    if standings:
        click.echo(in_words(standings))
    fresh = _fresh_plans(here, standings)
    if fresh:
        click.echo(("\n" if standings else "") + _("Plans here:"))
        for path, n in fresh[:SHOWN_MAX]:
            click.echo(f"  segue run {path}   ({_count(n)})")
    if not standings and not fresh:
        _welcome()
    click.echo("\n" + _("All commands: segue --help"))


def _count(n: int) -> str:
    return _("{n} tasks to do").format(n=n)


def _fresh_plans(here: Path, standings: list[Standing]) -> list[tuple[Path, int]]:
    """Markdown files that hold tasks with an id and were never run."""
    known = {standing.path for standing in standings}
    found = []
    for path in markdown_below(here):
        if path.resolve() in known or path.stat().st_size > PLAN_BYTES_MAX:
            continue
        tasks = Document.parse(path.read_bytes(), file=str(path)).tasks
        pending = [task for task in tasks if task.state == "pending"]
        if pending:
            found.append((path, len(pending)))
    return found


def _welcome() -> None:
    click.echo(_("There is no plan in this folder yet. A plan is a Markdown file, PLAN.md:"))
    click.echo()
    for line in EXAMPLE.splitlines():
        click.echo(f"  {line}")
    click.echo()
    click.echo(_("Look at it:  segue plan PLAN.md"))
    click.echo(_("Run it:      segue run PLAN.md"))
    click.echo(_("Your agents: segue doctor"))
