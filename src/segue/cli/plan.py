"""`segue plan [PLAN.md]`: what would happen, without touching anything."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from segue.cli import console, output
from segue.core.graph import Graph, conflicts
from segue.core.plan import TaskState
from segue.errors import UserError
from segue.i18n import _, ngettext
from segue.plans.check import check
from segue.plans.misspelt import Note
from segue.plans.tasklist import Document
from segue.work.project import find_plan

MARKS = {
    TaskState.PENDING: "○",
    TaskState.IN_PROGRESS: "●",
    TaskState.COMPLETED: "✔",
    TaskState.FAILED: "✘",
    TaskState.SKIPPED: "⊘",
}

NOTES_MAX = 20


@click.command(
    "plan",
    help=_("Dry run: show waves, critical path, dependencies and file conflicts. Changes nothing."),
    epilog=output.example("segue plan PLAN.md"),
)
@click.argument(
    "plan", type=click.Path(path_type=Path), metavar="[PLAN.md]", default=Path("PLAN.md")
)
@output.json_option()
@output.common_options()
def command(plan: Path, as_json: bool) -> int:
    document = read(plan)
    graph = Graph(document.tasks)
    if as_json:
        output.print_json(to_json(plan, graph, document.notes))
    else:
        show(plan, graph)
        show_notes(document.notes)
    return 0


def read(plan: Path) -> Document:
    """A plan that can be run; else all that is wrong with it."""
    path = find_plan(plan)
    document = Document.parse(path.read_bytes(), file=str(plan))
    problems = check(document)
    if problems:
        raise UserError.of(problems)
    return document


def to_json(plan: Path, graph: Graph, notes: Sequence[Note]) -> dict[str, Any]:
    return {
        "path": str(plan),
        "tasks": [
            {
                "id": task.id,
                "title": task.title,
                "state": task.state,
                "line": task.line,
                "wave": graph.wave_of(task.id),
                "blocked_by": list(task.blocked_by),
                "priority": task.priority.name.lower(),
                "agent": task.agent,
                "files": list(task.files),
                "verify": task.verify,
                "retries": task.retries,
                "timeout_s": task.timeout_s,
            }
            for task in graph.tasks
        ],
        "waves": graph.waves(),
        "critical_path": graph.critical_path(),
        "conflicts": [
            {"tasks": [one, other], "files": files} for one, other, files in conflicts(graph.tasks)
        ],
        "notes": [note._asdict() for note in notes],
    }


def show(plan: Path, graph: Graph) -> None:
    done = sum(task.state is TaskState.COMPLETED for task in graph.tasks)
    total = len(graph)
    head = ngettext("{n} task, {done} done", "{n} tasks, {done} done", total)
    console.echo(f"{plan}: {head.format(n=total, done=done)}")
    critical = graph.critical_path()
    on_path = set(critical)
    for wave in graph.waves():
        console.echo("\n" + _("Wave {n}").format(n=graph.wave_of(wave[0])))
        for id in wave:
            task = graph.task(id)
            waits = f"  ← {', '.join(task.blocked_by)}" if task.blocked_by else ""
            star = "*" if id in on_path else " "
            console.echo(f" {star}{MARKS[task.state]} {id}  {task.title}{waits}")
    console.echo("\n" + _("* critical path: {path}").format(path=" → ".join(critical)))
    for one, other, files in conflicts(graph.tasks):
        text = _("! {one} and {other} change the same files and will not run in parallel: {files}")
        console.echo(text.format(one=one, other=other, files=", ".join(files)))


def show_notes(notes: Sequence[Note]) -> None:
    if not notes:
        return
    console.echo("\n" + _("These lines are not fields; the agent receives them as text:"))
    for note in notes[:NOTES_MAX]:
        console.echo("  " + _("line {line}: {word}:").format(line=note.line, word=note.word))
    more = len(notes) - NOTES_MAX
    if more > 0:
        console.echo("  " + _("… and {n} more").format(n=more))
