"""What the commands that act for a person print: what came of it, or when it takes effect."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from segue.cli import console, output, person
from segue.engine.acts import Verb
from segue.engine.clock import SystemClock
from segue.engine.terminal_user import at_terminal
from segue.i18n import _
from segue.work import add_act
from segue.work.add_act import Done
from segue.work.project import Project


def here(ctx: click.Context, plan: Path | None = None) -> add_act.Person:
    """Who acts, in the project of this folder or of a plan. An agent is refused."""
    person.check(ctx.obj["environ"])
    project = Project.containing(plan.resolve() if plan else Path.cwd())
    return add_act.Person(project, at_terminal(), SystemClock())


def later(done: Done) -> str:
    """When an act takes effect that has none yet; nothing where it has."""
    if done.is_waiting and done.by_run:
        return _("queued; the running Segue has not processed it yet")
    if done.by_run:
        return ""
    return _("the work is not running now; to apply this, run: {command}").format(
        command=_start(done)
    )


def _start(done: Done) -> str:
    here = Path.cwd()
    path = done.path.relative_to(here) if done.path.is_relative_to(here) else done.path
    match done.kind:
        case "server":
            return "segue serve"
        case "panes":
            return "segue watch"
        case "develop":
            return "segue develop --resume"
        case "book":
            return f"segue write-all {shlex.quote(str(path))}"
        case _:
            return f"segue run {shlex.quote(str(path))}"


def report(done: Done, text: str, *, as_json: bool) -> int:
    if as_json:
        output.print_json(
            {
                done.what: done.name,
                "work": {"kind": done.kind, "path": str(done.path)},
                "answer": done.answer,
                "waiting": done.is_waiting,
                "by_run": done.by_run,
            }
        )
        return 0
    console.echo(" — ".join(filter(None, (text, later(done)))))
    return 0


def about_task(
    ctx: click.Context, verb: Verb, task: str, plan: Path | None, text: str, *, as_json: bool
) -> int:
    done = add_act.about_task(here(ctx, plan), verb, task, plan)
    return report(done, text.format(task=task), as_json=as_json)
