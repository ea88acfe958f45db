"""`segue status`: where everything stands."""

from __future__ import annotations

import shlex
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from segue.cli import console, output, streams
from segue.cli.words import limit_name, local_time, state_name, usage_in_words
from segue.engine.standing import Standing
from segue.i18n import _
from segue.work import overview
from segue.work.project import Project

WATCH_S = 1.0
SAID_CHARS_MAX = 100
SIGNS = {
    "pending": "○",
    "running": "▶",
    "parked": "⏳",
    "waiting": "❓",
    "interrupted": "⏸",
    "failed": "✘",
    "finished": "✔",
}


@click.command(
    "status",
    help=_("Show the state of everything under PATH (default: this folder)."),
    epilog=output.example("segue status --watch"),
)
@click.argument("path", type=click.Path(exists=True, path_type=Path), default=Path())
@click.option("--watch", is_flag=True, help=_("keep updating until Ctrl-C"))
@output.json_option()
@output.common_options()
def command(path: Path, watch: bool, as_json: bool) -> int:
    if watch and not as_json and console.is_live():
        _keep_live(path)
        return 0
    while True:
        if as_json:
            output.print_json(overview.to_json(path))
        else:
            console.echo(_everything(path))
        if not watch or not streams.is_read():
            return 0
        time.sleep(WATCH_S)


def _keep_live(path: Path) -> None:
    """Drawn again and again in its place; the last look stays."""
    from segue.cli import display  # noqa: PLC0415 - rich is heavy, and few keep looking

    shown = _everything(path)
    live = display.make_live(display.make_console())
    live.start()
    try:
        while streams.is_read():
            live.update(display.text(shown), refresh=True)
            time.sleep(WATCH_S)
            shown = _everything(path)
    finally:
        live.update(display.text(""))
        live.stop()
        console.echo(shown)


def _everything(path: Path) -> str:
    accounts = accounts_in_words(overview.accounts(path))
    lost = overview.damage(path)
    damage = [f"✋ {lost['message']}\n"] if lost else []
    return "\n".join([*damage, in_words(overview.look(path)), *accounts])


def in_words(standings: list[Standing]) -> str:
    if not standings:
        return _("Nothing has run here yet. Start with: segue run PLAN.md")
    return "\n\n".join(one(standing) for standing in standings)


def one(standing: Standing) -> str:
    shown = _shown(standing.path)
    counts = standing.counts
    total = sum(counts.values())
    line = f"{SIGNS[standing.state]} {shown}  {state_name(standing.state)}"
    lines = [f"{line}  {counts['completed']}/{total}"]
    rest = [f"{n} {state_name(name)}" for name, n in counts.items() if n and name != "completed"]
    if rest:
        lines.append("  " + ", ".join(rest))
    if standing.holder:
        since = standing.holder.since and local_time(standing.holder.since)
        text = _("process {pid}, since {since}")
        lines.append("  " + text.format(pid=standing.holder.pid, since=since))
    lines += [f"  {_running(run)}" for run in standing.runs]
    named = {run["task"] for run in standing.runs}
    lines += [f"  ▶ {task}" for task in standing.running if task not in named]
    lines += [f"  {_park(park)}" for park in standing.parks]
    for gate in standing.gates:
        who = f"{gate['task']}: " if gate["task"] else ""
        lines.append(f"  ❓ {who}{gate['text']}".replace("\n", "\n     "))
    for failed in standing.failed:
        line = f"  ✘ {failed['task']} {failed['title']}: {failed['error'] or ''}".rstrip(": ")
        lines.append(line.replace("\n", "\n     "))
    if standing.usage.get("input_tokens"):
        lines.append("  ¤ " + usage_in_words(standing.usage))
    if standing.problem:
        lines.append(f"  ✋ {standing.problem}")
    if standing.is_interrupted:
        lines.append("  " + _("to continue: {command}").format(command=_go_on(standing, shown)))
    return "\n".join(lines)


def _go_on(standing: Standing, shown: str) -> str:
    """The command that continues it from here; a book and a feature have one of their own where
    they are at home."""
    here = Path.cwd()
    match standing.kind:
        case "book":
            is_at_home = here == standing.path
        case "develop":
            is_at_home = Project.containing(here).root == standing.path.parent.parent
        case "tasklist":
            return f"segue run {shlex.quote(shown)}"
        case _:
            is_at_home = True
    return standing.go_on if is_at_home else f"segue resume {shlex.quote(shown)} --continue"


def _running(run: dict[str, Any]) -> str:
    """Who is at work, for how long, and with which last words."""
    age = datetime.now().astimezone() - datetime.fromisoformat(run["since"])
    line = f"▶ {run['task']} ({run['agent']}, {_span(age.total_seconds())})"
    return f"{line}: {run['said'][:SAID_CHARS_MAX]}" if run["said"] else line


def _park(park: dict[str, Any]) -> str:
    if park["wakes_at"] is None:
        return f"⏳ {park['task']}: {limit_name(park['kind'])}"
    left = datetime.fromisoformat(park["wakes_at"]) - datetime.now().astimezone()
    return _("⏳ {task}: {kind}, resumes at {time} (in {left})").format(
        task=park["task"],
        kind=limit_name(park["kind"]),
        time=local_time(park["wakes_at"]),
        left=_span(left.total_seconds()),
    )


def accounts_in_words(found: list[dict[str, Any]]) -> list[str]:
    """One line for each account, where there are several to tell apart, or one is parked."""
    used = [account for account in found if account["usage"]["input_tokens"]]
    lines = [
        _("account {name}: {usage}").format(
            name=account["account"], usage=usage_in_words(account["usage"])
        )
        for account in (used if len(used) > 1 else [])
    ]
    lines += [line for account in found if (line := _parked_account(account))]
    return ["", *lines] if lines else []


def _parked_account(account: dict[str, Any]) -> str:
    """Until when nothing of an account starts; nothing for one whose time has come."""
    if account["state"] != "parked" or not account["parked_until"]:
        return ""
    left = datetime.fromisoformat(account["parked_until"]) - datetime.now().astimezone()
    if left.total_seconds() <= 0:
        return ""
    return _("⏳ account {name}: parked until {time} (in {left})").format(
        name=account["account"],
        time=local_time(account["parked_until"]),
        left=_span(left.total_seconds()),
    )


def _shown(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _span(seconds: float) -> str:
    from segue.core.durations import format_duration  # noqa: PLC0415

    return format_duration(max(0, round(seconds)))
