"""`segue audit`: does the journal hold, is the evidence as it was, and who decided what."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from segue.cli import console, output
from segue.i18n import _
from segue.store.chain import Break
from segue.store.sqlite import Store
from segue.work import audit
from segue.work.project import Project

HEAD_CHARS = 16


@click.command(
    "audit",
    help=_("Verify the journal and its evidence under PATH, and show who decided what."),
    epilog=output.example("segue audit"),
)
@click.argument("path", type=click.Path(exists=True, path_type=Path), default=Path())
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help=_("folder of the server's records (default: .segue)"),
)
@output.json_option()
@output.common_options()
def command(path: Path, data: Path | None, as_json: bool) -> int:
    project = Project.with_data(Project.containing(path.resolve()).root, data)
    store = Store.open_readonly(project.database)
    if store is None:
        found = audit.Audit()
    else:
        try:
            found = audit.audit(store, project.evidence)
        finally:
            store.close()
    if as_json:
        output.print_json(_to_json(found))
    else:
        _show(found)
    return 0 if found.holds else 1


def _to_json(found: audit.Audit) -> dict[str, Any]:
    return {
        "holds": found.holds,
        "rows": found.rows,
        "head": found.head,
        "breaks": [
            {"row": one.seq, "last_row": one.last, "why": one.why, "text": in_words(one)}
            for one in found.breaks
        ],
        "faults": [{**asdict(one), "text": fault_in_words(one)} for one in found.faults],
        "decisions": found.decisions,
        "evidence": found.checks,
    }


def in_words(one: Break) -> str:
    if one.last > one.seq:
        text = _("rows {first} to {last} are missing")
        return text.format(first=one.seq, last=one.last)
    match one.why:
        case "missing":
            text = _("row {n} is missing")
        case "unlinked":
            text = _("row {n} does not follow the previous row")
        case _:
            text = _("row {n} was changed after it was written")
    return text.format(n=one.seq)


def fault_in_words(fault: audit.Fault) -> str:
    if fault.why == "missing":
        text = _("{file} is missing: evidence of {task} (row {n})")
    else:
        text = _("{file} was changed: evidence of {task} (row {n})")
    return text.format(file=fault.file, task=fault.task, n=fault.row)


def _show(found: audit.Audit) -> None:
    checks = {check["output"]: check for check in found.checks}
    for decision in found.decisions:
        console.echo(_line(decision))
        check = checks.get(decision["evidence"])
        if check is not None:
            console.echo(f"    {_check(check)}")
    if found.decisions:
        console.echo("")
    for text in [*map(in_words, found.breaks), *map(fault_in_words, found.faults)]:
        console.echo(console.Styled("✘ ", "red", bold=True), text)
    if found.holds:
        text = _(
            "The journal's hash chain is intact: {rows} rows, {checks} checks; "
            "hash of the last row: {head}"
        )
        shown = text.format(rows=found.rows, checks=len(found.checks), head=found.head[:HEAD_CHARS])
        console.echo(console.Styled("✔ ", "green", bold=True), shown)
    else:
        text = _("The journal's hash chain is broken ({rows} rows)")
        console.echo(console.Styled(text.format(rows=found.rows), "red", bold=True))


def _line(decision: dict[str, Any]) -> str:
    try:
        at = f"{datetime.fromisoformat(decision['at']).astimezone():%Y-%m-%d %H:%M:%S}"
    except ValueError:  # of a row that was changed by hand
        at = decision["at"]
    who = f"{decision['actor'] or '?'} ({decision['via'] or '?'})"
    about = decision["task"] or decision["id"]
    answer = f": {decision['answer']}" if decision["answer"] else ""
    named = f" [{decision['id']}]" if decision["kind"] in ("gate", "act") else ""
    return f"{decision['row']:>6}  {at}  {who}  {decision['decided']} {about}{named}{answer}"


def _check(check: dict[str, Any]) -> str:
    text = _("evidence: `{command}`, exit code {code}, commit {commit}, {file}")
    return text.format(
        command=" ".join(str(check.get("command")).split()),
        code=check.get("exit_code"),
        commit=str(check.get("commit") or "–")[:12],
        file=check["output"],
    )
