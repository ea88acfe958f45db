"""`segue hooks`: Claude Code's hooks of a project, installed, looked at, removed."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from segue.cli import console, output
from segue.cli.task import Verbs
from segue.cli.words import local_time
from segue.i18n import _
from segue.store.changes import stamp
from segue.work.hooks.installing import Installed, Settings, program_here
from segue.work.project import Project

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


def _settings(path: Path | None) -> Settings:
    """Of the folder that is named; else of the project around here."""
    return Settings(path if path is not None else Project.containing(Path.cwd()).root)


@click.command(
    "install",
    help=_("Add Segue's hooks to .claude/settings.json in PATH (default: this project)."),
    epilog=output.example("segue hooks install"),
)
@click.argument("path", type=FOLDER, required=False)
@output.json_option()
@output.common_options()
@click.pass_context
def install(ctx: click.Context, path: Path | None, as_json: bool) -> int:
    settings = _settings(path)
    environ = ctx.obj["environ"]
    changed = settings.install(program_here(environ, sys.argv[0]))
    found = settings.look(environ)
    if as_json:
        output.print_json({**_as_json(settings, found), "changed": changed})
        return 0
    if not changed:
        console.echo(_("The hooks are already installed: {path}").format(path=settings.path))
        return 0
    console.echo(_("Installed the hooks in {path}:").format(path=settings.path))
    for one in found:
        console.echo(f"  {one.event}  {one.command}")
    console.echo(_("Restart any running Claude Code to load them."))
    return 0


@click.command(
    "status",
    help=_("Show which hooks are installed, whether they work, and when each last ran."),
    epilog=output.example("segue hooks status --json"),
)
@click.argument("path", type=FOLDER, required=False)
@output.json_option()
@output.common_options()
@click.pass_context
def status(ctx: click.Context, path: Path | None, as_json: bool) -> int:
    settings = _settings(path)
    found = settings.look(ctx.obj["environ"])
    is_well = all(one.command is not None and one.is_found for one in found)
    if as_json:
        output.print_json(_as_json(settings, found))
        return 0 if is_well else 1
    for one in found:
        console.echo(_in_words(one))
    if not is_well:
        console.echo(_("To fix it: segue hooks install"))
    return 0 if is_well else 1


@click.command(
    "remove",
    help=_("Remove Segue's hooks. Nothing else in the file changes."),
    epilog=output.example("segue hooks remove"),
)
@click.argument("path", type=FOLDER, required=False)
@output.json_option()
@output.common_options()
def remove(path: Path | None, as_json: bool) -> int:
    settings = _settings(path)
    removed = settings.remove()
    if as_json:
        output.print_json({"path": str(settings.path), "removed": removed})
    elif removed:
        console.echo(_("Removed the hooks from {path}.").format(path=settings.path))
    else:
        console.echo(_("{path} contains no Segue hooks.").format(path=settings.path))
    return 0


def _in_words(one: Installed) -> str:
    sign, what = "✔", one.command or ""
    if one.command is None:
        sign, what = "✘", _("not installed")
    elif not one.is_found:
        sign, what = "✘", _("its program is missing: {command}").format(command=one.command)
    fired = _("never ran")
    if one.last_fired is not None:
        fired = _("last {time}").format(time=local_time(one.last_fired.isoformat()))
    return f"{sign} {one.event:<12}  {fired}  {what}"


def _as_json(settings: Settings, found: list[Installed]) -> dict[str, object]:
    return {
        "path": str(settings.path),
        "installed": all(one.command is not None for one in found),
        "hooks": [
            {
                "event": one.event,
                "matcher": one.matcher,
                "installed": one.command is not None,
                "command": one.command,
                "found": one.is_found,
                "last_fired": stamp(one.last_fired) if one.last_fired else None,
            }
            for one in found
        ],
    }


command = Verbs(
    "hooks",
    help=_(
        "Hooks for Claude Code in this project. After a compaction they tell the agent "
        "where it is. When it stops early, they list what is left. At a limit, they "
        "park the account."
    ),
    epilog=output.example("segue hooks install"),
)
for verb in (install, status, remove):
    command.add_command(verb)
