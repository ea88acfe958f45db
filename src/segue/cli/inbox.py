"""`segue inbox`: everything that waits for a person, and the command that settles it."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from segue.cli import console, output
from segue.core.durations import format_duration
from segue.dialects.lines import plain_text
from segue.i18n import _
from segue.work import inbox

SIGNS = {"question": "❓", "review": "⚖", "dependency": "🔑", "failed": "✘", "pane": "⏸",
         "budget": "¤", "stuck": "⊘"}  # fmt: skip


@click.command(
    "inbox",
    help=_("List everything under PATH that waits for you, and the command that answers it."),
    epilog=output.example("segue inbox"),
)
@click.argument("path", type=click.Path(exists=True, path_type=Path), default=Path())
@output.json_option()
@output.common_options()
def command(path: Path, as_json: bool) -> int:
    found = inbox.items(path, datetime.now(UTC))
    if as_json:
        output.print_json({"items": found})
        return 0
    if not found:
        console.echo(_("Nothing waits for you."))
        return 0
    console.echo("\n\n".join(_shown(item) for item in found))
    return 0


def _shown(item: dict[str, Any]) -> str:
    age = f"  {format_duration(round(item['age_s']))}" if item["age_s"] is not None else ""
    title = "" if item["title"] in (item["id"], item["task"]) else f" {_line(item['title'])}"
    name = f"{_line(item['task'])}{title}" if item["task"] else _line(item["title"])
    lines = [f"{SIGNS.get(item['kind'], '•')} {item['id']}  {name}{age}"]
    lines += [f"  {line}" for line in plain_text(item["text"]).splitlines()]
    lines += [f"  - {_line(option)}" for option in item["options"]]
    return "\n".join([*lines, *(f"  $ {each}" for each in _commands(item))])


def _line(text: str) -> str:
    return " ".join(plain_text(text).split())


def _commands(item: dict[str, Any]) -> list[str]:
    """What to type, one line for each way."""
    id, task = shlex.quote(item["id"]), shlex.quote(item["task"] or item["id"])
    where = "" if item["work"]["kind"] in ("server", "panes") else _plan(item["work"]["path"])
    known = {
        "answer": f"segue answer {id} TEXT",
        "approve": f"segue approve {id}",
        "request_changes": f"segue task changes {id} FEEDBACK",
        "provide": f"segue task provide {id}",
        "reject": f"segue task reject {id} --reason TEXT",
        "retry": f"segue retry {task}{where}",
        "skip": f"segue skip {task}{where}",
        "unskip": f"segue unskip {task}{where}",
        "wake": f"segue wake {task}",
        "go_without": f"segue task go-without {task}",
        "fail": f"segue task fail {task}",
    }
    return [known[act] for act in item["acts"] if act in known]


def _plan(path: str) -> str:
    found, here = Path(path), Path.cwd()
    shown = found.relative_to(here) if found.is_relative_to(here) else found
    return f" --plan {shlex.quote(str(shown))}"
