"""`segue resume`: find interrupted work of any kind, and go on with it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from segue.cli import output
from segue.cli.status import in_words
from segue.i18n import _
from segue.work import reset
from segue.work.overview import look
from segue.work.resume import Found, find

WAITS = 3  # the exit code: a person must choose


@click.command(
    "resume",
    help=_("Find interrupted work under PATH and offer what to do about it."),
    epilog=output.example("segue resume --continue"),
)
@click.argument("path", type=click.Path(exists=True, path_type=Path), default=Path())
@click.option("--continue", "choice", flag_value="continue", help=_("go on where it stopped"))
@click.option(
    "--restart", "choice", flag_value="restart", help=_("begin the tasks in progress again")
)
@click.option("--status", "choice", flag_value="status", help=_("show the state and end"))
@click.option(
    "--reset", "choice", flag_value="reset", help=_("begin the plan anew (a backup is kept)")
)
@click.option("--explain", is_flag=True, help=_("why here, what is redone, what was lost"))
@output.json_option()
@output.lang_option()
@click.pass_context
def command(
    ctx: click.Context, path: Path, choice: str | None, explain: bool, as_json: bool
) -> int:
    found = find(path)
    resumable = [one for one in found if one.resumable]
    if as_json and choice in (None, "status"):
        output.print_json({"found": [_json(one, choice) for one in found]})
        return 0
    if choice == "status":
        click.echo(in_words(look(path)))
        return 0
    if not resumable:
        click.echo(nothing(found))
        return 0
    if not as_json:
        for number, one in enumerate(resumable, 1):
            click.echo(describe(one, number, explain=explain))
    if explain and choice is None:
        return 0
    if choice is None:
        if not sys.stdin.isatty():
            click.echo(_("Choose: --continue, --restart, --status or --reset"))
            return WAITS
        resumable, choice = _choose(resumable)
    return max(_do(one, choice, ctx.obj["environ"], as_json=as_json) for one in resumable)


def _json(one: Found, choice: str | None) -> dict[str, object]:
    return {**one.to_json(), "state": one.state} if choice == "status" else one.to_json()


def nothing(found: list[Found]) -> str:
    busy = [one for one in found if one.state["state"] == "running"]
    if busy:
        return f"{busy[0].path}: {busy[0].why}"
    broken = [one for one in found if one.state["problem"]]
    if broken:
        return f"{broken[0].path}: {broken[0].why}"
    return _("There is no interrupted work here. Begin: segue run PLAN.md")


def describe(one: Found, number: int, *, explain: bool) -> str:
    lines = [
        f"[{number}] {one.path}",
        "    " + _("stopped: {why}").format(why=one.why),
        "    " + _("next: {next}").format(next=one.next),
    ]
    if explain:
        lines += [
            "    " + _("redone: {what}").format(what=one.redone),
            "    " + _("lost: {what}").format(what=one.lost),
            "    " + _("cost: {what}").format(what=one.cost),
        ]
    return "\n".join(lines)


def _choose(resumable: list[Found]) -> tuple[list[Found], str]:
    if len(resumable) > 1:
        kind = click.IntRange(1, len(resumable))
        number = click.prompt(_("Which one?"), type=kind, default=1)
        resumable = [resumable[number - 1]]
    choices = ("continue", "restart", "status", "reset")
    texts = (_("go on"), _("begin the tasks in progress again"), _("show the state"), _("reset"))
    for number, text in enumerate(texts, 1):
        click.echo(f"  {number}. {text}")
    picked = click.prompt(_("What shall be done?"), type=click.IntRange(1, 4), default=1)
    return resumable, choices[picked - 1]


def _do(one: Found, choice: str, environ: dict[str, str], *, as_json: bool) -> int:
    from segue.cli.run import go  # noqa: PLC0415 - only those who go on need the engine
    from segue.work.runner import Wishes  # noqa: PLC0415

    match choice:
        case "status":
            click.echo(in_words(look(one.path)))
            return 0
        case "reset":
            backup = reset.reset_plan(one.path)
            click.echo(_("The plan begins anew. The old one is kept: {path}").format(path=backup))
            return 0
        case _:
            wishes = Wishes(one.path, restart=choice == "restart")
            return go(wishes, environ, as_json=as_json)
