"""`segue doctor`: what is here, what is missing, what each agent can do."""

from __future__ import annotations

import platform
import shutil
import sqlite3
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import click

from segue import __version__
from segue.cli import console, output
from segue.errors import Problem, UserError
from segue.i18n import N_, _
from segue.work.agents import brands, confinement
from segue.work.agents import profiles as agents
from segue.work.agents.brands import Login
from segue.work.agents.sandbox_trial import Trial, trial
from segue.work.project import Project
from segue.work.settings import config
from segue.work.settings.config import AgentSettings

VERSION_TIMEOUT_S = 15
ABILITIES = {
    "shell": (N_("runs the task's own command"),),
    "script": (N_("plays a scenario"), N_("limits"), N_("questions"), N_("resumes")),
    "command": (N_("prompt on standard input"), N_("markers"), N_("questions"), N_("resumes")),
}


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    found: str | None
    version: str | None = None
    needed_for: str | None = None
    install: str | None = None
    can: tuple[str, ...] = ()
    login: Login | None = None
    sandbox: Trial | None = None

    def to_json(self) -> dict[str, object]:
        return {
            "name": self.name,
            "found": self.found,
            "version": self.version,
            "needed_for": self.needed_for,
            "install": self.install,
            "can": list(self.can),
            "logged_in": self.login.is_in if self.login else None,
            "login": self.login.how or None if self.login else None,
            **({"sandbox": self.sandbox.to_json()} if self.sandbox else {}),
        }


@click.command(
    "doctor",
    help=_("Show what is installed, what is missing and what each agent can do."),
    epilog=output.example("segue doctor --json"),
)
@output.json_option()
@output.common_options()
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> int:
    environ = ctx.obj["environ"]
    project = Project.containing(Path.cwd())
    settings, problems = _settings(project, environ)
    tools = _tools()
    roster = [
        _tried(_agent(agent, project.root, environ), agent, project, environ)
        for agent in settings.agents.values()
    ]
    if as_json:
        output.print_json(
            {
                "segue": __version__,
                "python": platform.python_version(),
                "sqlite": sqlite3.sqlite_version,
                "project": str(project.root),
                "state": str(project.state),
                "tools": [tool.to_json() for tool in tools],
                "agents": [agent.to_json() for agent in roster],
                "default_agent": settings.agent,
                "problems": [problem.to_json() for problem in problems],
            }
        )
        return 0
    console.echo(
        f"segue {__version__}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    )
    console.echo(_("Project: {path}").format(path=project.root))
    console.echo(_("Records: {path}").format(path=project.state))
    if problems:
        console.echo("\n" + _("Invalid settings (Segue uses its defaults, shown below)"))
    for problem in problems:
        console.echo(f"  ✘ {problem.where}: {problem.message}")
        if problem.hint:
            console.echo(f"    {problem.hint}")
    console.echo("\n" + _("Programs"))
    for tool in tools:
        _show(tool)
    console.echo("\n" + _("Agents (the default is {name})").format(name=settings.agent))
    for agent in roster:
        _show(agent)
    return 0


def _settings(project: Project, environ: Mapping[str, str]) -> tuple[config.Config, list[Problem]]:
    """The settings, or the problems in them: `doctor` is where users look for faults."""
    try:
        return config.load(project.root, config.user_file(environ)), []
    except UserError as error:
        return config.built_in(), error.problems


def _tools() -> list[Finding]:
    wanted = {
        "git": (_("--isolate worktree"), "apt install git"),
        "sh": (_("the shell agent and verify"), None),
        "bwrap": (_("the sandbox of agents and checks"), confinement.INSTALL),
        "tmux": (_("segue watch, for agents in its panes"), "apt install tmux"),
        "wezterm": (_("segue watch, for agents in its panes"), "https://wezterm.org/install"),
    }
    return [
        Finding(name, path := shutil.which(name), _version(path), what, install)
        for name, (what, install) in wanted.items()
    ]


def _agent(settings: AgentSettings, root: Path, environ: Mapping[str, str]) -> Finding:
    if settings.kind in ("shell", "script"):
        return Finding(settings.name, _("built in"), can=ABILITIES[settings.kind])
    known = {**environ, **agents.own_variables(settings, environ)}
    if settings.kind == "command":
        path = agents.find_program(settings.command[0], root, known.get("PATH"))
        return Finding(settings.name, path, can=ABILITIES["command"])
    brand = brands.brand(settings.kind)
    program = (settings.command or (brand.name,))[0]
    path = agents.find_program(program, root, known.get("PATH"))
    login = None
    if path is not None:
        login = brand.login(Path(known.get("HOME") or "/"), known)
    return Finding(
        settings.name,
        path,
        _version(brand.resolve(path) if path else None),
        install=brand.install,
        can=brand.can,
        login=login,
    )


def _tried(
    finding: Finding, agent: AgentSettings, project: Project, environ: Mapping[str, str]
) -> Finding:
    """With what its sandbox keeps; of a program that is not here nothing can be said."""
    return replace(finding, sandbox=trial(agent, project, environ)) if finding.found else finding


def _version(path: str | None) -> str | None:
    """The first line of `--version`; None where it says nothing."""
    if path is None or path.endswith("/sh"):
        return None
    flag = "-V" if path.endswith("/tmux") else "--version"
    try:
        told = subprocess.run(
            [path, flag],
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
    console.echo(f"  {sign} {finding.name:<10} {where}{version}")
    if finding.needed_for:
        console.echo("      " + _("for {what}").format(what=finding.needed_for))
    if not finding.found and finding.install:
        console.echo("      " + _("install it: {command}").format(command=finding.install))
    if finding.login:
        console.echo("      " + _login_in_words(finding.login))
    if finding.found and finding.can:
        console.echo("      " + ", ".join(_(ability) for ability in finding.can))
    if finding.sandbox:
        for line in _sandbox_in_words(finding.sandbox):
            console.echo("      " + line)


PROMISES = {
    "secrets": (N_("keys and Segue's state are hidden"), N_("keys and Segue's state are readable")),
    "writes": (N_("writes stay in the workspace"), N_("writes go anywhere")),
    "processes": (N_("other processes are hidden"), N_("other processes are visible")),
    "network": (N_("only allowed hosts are reachable"), N_("any host is reachable")),
}


def _sandbox_in_words(tried: Trial) -> list[str]:
    """What holds and what does not, as it was just tried."""
    if tried.is_active:
        network = tried.network if isinstance(tried.network, str) else ", ".join(tried.network)
        first = _("sandbox: on ({mode}), network: {network}").format(
            mode=tried.mode, network=network or "-"
        )
    elif tried.why:
        first = _("sandbox: off ({mode}): {why}").format(mode=tried.mode, why=tried.why)
    else:
        first = _("sandbox: off ({mode})").format(mode=tried.mode)
    lines = [first]
    for name, is_kept in tried.holds.items():
        if is_kept is not None:
            lines.append(f"  {'✔' if is_kept else '✘'} {_(PROMISES[name][0 if is_kept else 1])}")
    return lines


def _login_in_words(login: Login) -> str:
    """Never the key itself: only where it comes from."""
    if login.is_in is None:
        return _("login: unknown (only the program itself can tell)")
    if login.is_in:
        return _("logged in by {how}").format(how=login.how)
    return _("not logged in")
