"""`segue doctor`: what is here, what is missing, what each agent can do."""

from __future__ import annotations

import platform
import shutil
import sqlite3
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from segue import __version__
from segue.cli import output
from segue.i18n import N_, _
from segue.work import agents, config
from segue.work.config import AgentSettings
from segue.work.project import Project

VERSION_TIMEOUT_S = 15
ABILITIES = {
    "shell": (N_("runs the task's own command"),),
    "script": (N_("plays a scenario"), N_("limits"), N_("questions"), N_("resumes")),
    "command": (N_("prompt on standard input"), N_("markers"), N_("questions"), N_("resumes")),
}
TEXT_ABILITIES = (N_("prompt on standard input"), N_("markers"))


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    found: str | None
    version: str | None = None
    needed_for: str | None = None
    install: str | None = None
    can: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        return {
            "name": self.name,
            "found": self.found,
            "version": self.version,
            "needed_for": self.needed_for,
            "install": self.install,
            "can": list(self.can),
        }


@click.command(
    "doctor",
    help=_("What is installed, what is missing, what each agent can do."),
    epilog=output.example("segue doctor --json"),
)
@output.json_option()
@output.lang_option()
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> int:
    environ = ctx.obj["environ"]
    project = Project.around(Path.cwd())
    settings = config.load(project.root, config.user_file(environ))
    tools = _tools()
    cast = [_agent(agent, project.root, environ) for agent in settings.agents.values()]
    if as_json:
        output.print_json(
            {
                "segue": __version__,
                "python": platform.python_version(),
                "sqlite": sqlite3.sqlite_version,
                "project": str(project.root),
                "tools": [tool.to_json() for tool in tools],
                "agents": [agent.to_json() for agent in cast],
                "default_agent": settings.agent,
            }
        )
        return 0
    click.echo(
        f"segue {__version__}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    )
    click.echo(_("Project: {path}").format(path=project.root))
    click.echo("\n" + _("Programs"))
    for tool in tools:
        _show(tool)
    click.echo("\n" + _("Agents (the default is {name})").format(name=settings.agent))
    for agent in cast:
        _show(agent)
    return 0


def _tools() -> list[Finding]:
    wanted = {
        "git": (_("--isolate worktree"), "apt install git"),
        "sh": (_("the shell agent and verify"), None),
    }
    return [
        Finding(name, path := shutil.which(name), _version(path), what, install)
        for name, (what, install) in wanted.items()
    ]


def _agent(settings: AgentSettings, root: Path, environ: Mapping[str, str]) -> Finding:
    can = ABILITIES.get(settings.kind, TEXT_ABILITIES)
    if settings.kind in ("shell", "script"):
        return Finding(settings.name, _("built in"), can=can)
    program = (settings.command or agents.TEXT_MODE[settings.kind])[0]
    path = agents.find_program(program, root, environ.get("PATH"))
    install = agents.INSTALL.get(settings.kind)
    version = _version(path) if settings.kind in agents.INSTALL else None
    return Finding(settings.name, path, version, install=install, can=can)


def _version(path: str | None) -> str | None:
    """The first line of `--version`; None where it says nothing."""
    if path is None or path.endswith("/sh"):
        return None
    try:
        told = subprocess.run(
            [path, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=VERSION_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return next((line.strip() for line in told.stdout.splitlines() if line.strip()), None)


def _show(finding: Finding) -> None:
    sign = "✔" if finding.found else "✘"
    where = finding.found or _("not found")
    version = f"  {finding.version}" if finding.version else ""
    click.echo(f"  {sign} {finding.name:<10} {where}{version}")
    if finding.needed_for:
        click.echo("      " + _("for {what}").format(what=finding.needed_for))
    if not finding.found and finding.install:
        click.echo("      " + _("install it: {command}").format(command=finding.install))
    if finding.found and finding.can:
        click.echo("      " + ", ".join(_(ability) for ability in finding.can))
