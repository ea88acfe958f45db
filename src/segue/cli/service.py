"""`segue service`: the server of this folder as a service of the user, back after a reboot."""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import click

from segue.cli import console, output
from segue.cli.task import Verbs
from segue.client import Client, ClientError
from segue.errors import UserError
from segue.i18n import _
from segue.store import files
from segue.work.project import Project

WITHIN_S = 60.0
SHOWN = ("LoadState", "ActiveState", "SubState", "UnitFileState", "MainPID")
UNIT = """\
[Unit]
Description=Segue: the server of {shown}

[Service]
Type=exec
WorkingDirectory={folder}
ExecStart={command}
Environment={path}
EnvironmentFile=-{environment}
# What the server and its agents write is the user's alone, and never the system's.
NoNewPrivileges=yes
ProtectSystem=full
UMask=0077
# Agents outlive the server and are taken up by the next one; 2: the settings are wrong.
KillMode=process
Restart=on-failure
RestartSec=5
RestartPreventExitStatus=2
TimeoutStopSec=60

[Install]
WantedBy=default.target
"""

WORKS_UNIT = """\
[Unit]
Description=Segue: the work in the background of {shown}

[Service]
Type=oneshot
RemainAfterExit=yes
WorkingDirectory={folder}
ExecStart={command}
Environment={path}
EnvironmentFile=-{environment}
# What the server and its agents write is the user's alone, and never the system's.
NoNewPrivileges=yes
ProtectSystem=full
UMask=0077
# What it starts stays: it ends by itself, or by segue stop.
KillMode=process

[Install]
WantedBy=default.target
"""


@dataclass(frozen=True, slots=True)
class Service:
    """Two units for each folder, named after it: its server, and its work in the background."""

    folder: Path
    environ: Mapping[str, str]

    @property
    def unit(self) -> str:
        name = re.sub(r"[^A-Za-z0-9]+", "-", self.folder.name).strip("-").lower() or "folder"
        mark = sha256(os.fsencode(self.folder)).hexdigest()[:8]
        return f"segue-{name[:40]}-{mark}.service"

    @property
    def path(self) -> Path:
        home = self.environ.get("XDG_CONFIG_HOME") or f"{self.environ.get('HOME', '')}/.config"
        return Path(home) / "systemd" / "user" / self.unit

    @property
    def environment(self) -> Path:
        """Keys for the server: in the user's own settings, where no agent works."""
        home = self.environ.get("XDG_CONFIG_HOME") or f"{self.environ.get('HOME', '')}/.config"
        return Path(home) / "segue" / self.unit.replace(".service", ".env")

    @property
    def works_unit(self) -> str:
        return self.unit.replace("segue-", "segue-works-", 1)

    def path_of(self, unit: str) -> Path:
        return self.path.with_name(unit)

    def text(self, options: tuple[str, ...]) -> str:
        """The unit of the server."""
        return self._text(UNIT, ("serve", *options))

    def works_text(self) -> str:
        """The unit that starts every work again that ran in the background."""
        return self._text(WORKS_UNIT, ("start-detached",))

    def _text(self, unit: str, words: tuple[str, ...]) -> str:
        shown = str(self.folder)
        if not shown.isprintable():
            raise UserError(
                "bad_folder",
                _("the name of this folder cannot be used in a systemd unit"),
                file=repr(shown),
            )
        # -P: the unit works in the project, whose click.py or segue.py is not ours.
        argv = (sys.executable, "-P", "-m", "segue", *words)
        return unit.format(
            shown=_percent(shown),
            folder=_percent(shown),
            command=" ".join(_quoted(part).replace("$", "$$") for part in argv),
            path=_quoted(f"PATH={self.environ.get('PATH', os.defpath)}"),
            environment=_percent(glob.escape(str(self.environment))),
        )

    def systemctl(self, *args: str) -> subprocess.CompletedProcess[str]:
        return _run(self.environ, "systemctl", "--user", *args)

    def change(self, *args: str) -> None:
        done = self.systemctl(*args)
        if done.returncode:
            raise UserError(
                "systemd_failed",
                _("systemd refused: {why}").format(why=done.stderr.strip() or done.returncode),
                hint=_("see: journalctl --user -u {unit}").format(unit=self.unit),
            )

    def check_systemd(self) -> None:
        """Before anything is written: is there a systemd that this user can talk to?"""
        why = _("systemctl is not installed")
        if shutil.which("systemctl", path=self.environ.get("PATH")):
            done = self.systemctl("show-environment")
            if not done.returncode:
                return
            why = done.stderr.strip() or _("no response")
        raise UserError(
            "no_systemd",
            _("cannot reach the systemd user manager: {why}").format(why=why),
            hint=_(
                "run the server yourself: segue serve; to see the systemd unit: "
                "segue service install --print"
            ),
        )

    def facts(self) -> dict[str, str]:
        done = self.systemctl("show", self.unit, f"--property={','.join(SHOWN)}")
        pairs = (each.partition("=") for each in done.stdout.splitlines())
        return {name: value for name, _equals, value in pairs}

    def is_lingering(self) -> bool:
        """Whether the user's services run without a login, and so return after a reboot."""
        user = self.environ.get("USER") or str(os.getuid())
        done = _run(self.environ, "loginctl", "show-user", user, "--property=Linger")
        return done.stdout.strip() == "Linger=yes"


def _run(environ: Mapping[str, str], *argv: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            argv,
            env=dict(environ),
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=WITHIN_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(argv, 1, "", str(error))


def _percent(text: str) -> str:
    return text.replace("%", "%%")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{_percent(escaped)}"'


def _here(ctx: click.Context) -> Service:
    return Service(Project.containing(Path.cwd()).root.resolve(), ctx.obj["environ"])


@click.command(
    "install",
    help=_("Start the server of this folder now, and after every reboot."),
    epilog=output.example("segue service install --port 8765"),
)
@click.option("--host", metavar="HOST", help=_("for segue serve"))
@click.option("--port", type=output.BoundedInt(0, 65535), help=_("for segue serve"))
@click.option("--slots", type=output.BoundedInt(1), help=_("for segue serve"))
@click.option("--data", type=click.Path(path_type=Path), help=_("for segue serve"))
@click.option("--insecure", is_flag=True, help=_("for segue serve"))
@click.option("--print", "is_shown", is_flag=True, help=_("show the unit and change nothing"))
@output.json_option()
@output.common_options()
@click.pass_context
def install(
    ctx: click.Context,
    host: str | None,
    port: int | None,
    slots: int | None,
    data: Path | None,
    insecure: bool,
    is_shown: bool,
    as_json: bool,
) -> int:
    service = _here(ctx)
    data = data and data.resolve()
    known = {"--host": host, "--port": port, "--slots": slots, "--data": data}
    options = [f"{name}={value}" for name, value in known.items() if value is not None]
    text = service.text((*options, *(["--insecure"] if insecure else [])))
    units = {service.unit: text, service.works_unit: service.works_text()}
    if is_shown:
        console.echo(f"{text}\n# {service.works_unit}\n{service.works_text()}", nl=False)
        return 0
    service.check_systemd()
    _check_alone(service)
    try:
        service.path.parent.mkdir(parents=True, exist_ok=True)
        for name, each in units.items():
            files.replace(service.path_of(name), each.encode())
    except OSError as error:
        raise files.in_words(error, service.path) from error
    service.change("daemon-reload")
    for name in units:
        service.change("enable", name)
        service.change("restart", name)
    return _installed(service, as_json)


def _installed(service: Service, as_json: bool) -> int:
    is_lingering = service.is_lingering()
    if as_json:
        told = {"unit": service.unit, "path": str(service.path), "lingers": is_lingering}
        output.print_json(told)
        return 0
    console.echo(_("Started {unit}. It starts again after every reboot.").format(unit=service.unit))
    if not is_lingering:
        text = _("To keep it running before you log in and after you log out: {command}")
        console.echo(text.format(command="loginctl enable-linger"))
    console.echo(_("Its log: {command}").format(command=f"journalctl --user -u {service.unit}"))
    return 0


def _check_alone(service: Service) -> None:
    """A server that was started by hand holds the folder: the service could not start."""
    if service.facts().get("ActiveState") == "active":
        return
    try:
        client = Client.local(service.folder, environ={"SEGUE_TOKEN": "-"})
        client.health()
    except ClientError:
        return
    raise UserError(
        "server_running",
        _("a server is already running for this folder: {url}").format(url=client.url),
        hint=_("stop it first (Ctrl-C or SIGTERM); the service adopts its agents"),
    )


@click.command(
    "remove",
    help=_("Stop and remove the service of this folder. Tasks and agents keep their progress."),
    epilog=output.example("segue service remove"),
)
@output.json_option()
@output.common_options()
@click.pass_context
def remove(ctx: click.Context, as_json: bool) -> int:
    service = _here(ctx)
    was_there = service.path.exists()
    if was_there:
        service.check_systemd()
        for name in (service.unit, service.works_unit):
            if service.path_of(name).exists():
                service.change("disable", "--now", name)
                service.path_of(name).unlink()
        service.change("daemon-reload")
    if as_json:
        output.print_json({"unit": service.unit, "removed": was_there})
    elif was_there:
        console.echo(_("Removed {unit}.").format(unit=service.unit))
    else:
        console.echo(_("No service is installed for this folder."))
    return 0


@click.command(
    "status",
    help=_("Show whether the service of this folder is installed and running."),
    epilog=output.example("segue service status --json"),
)
@output.json_option()
@output.common_options()
@click.pass_context
def status(ctx: click.Context, as_json: bool) -> int:
    service = _here(ctx)
    service.check_systemd()
    facts = service.facts()
    is_there = service.path.exists()
    state = facts.get("ActiveState", "unknown") if is_there else "not_installed"
    pid = int(facts.get("MainPID") or 0) or None
    told = {
        "unit": service.unit,
        "path": str(service.path) if is_there else None,
        "state": state,
        "detail": facts.get("SubState") or None,
        "enabled": facts.get("UnitFileState") == "enabled",
        "pid": pid,
    }
    if as_json:
        output.print_json(told)
    elif not is_there:
        console.echo(
            _("No service is installed for this folder. Install it: segue service install")
        )
    else:
        text = _("{unit}: {state}, process {pid}") if pid else _("{unit}: {state}")
        console.echo(text.format(unit=service.unit, state=state, pid=pid))
        if not told["enabled"]:
            console.echo(
                _("It does not start automatically. To change that: segue service install")
            )
    return 0 if state == "active" else 1


command = Verbs(
    "service",
    help=_(
        "Run the server of this folder as a systemd user service that starts again after a reboot."
    ),
    epilog=output.example("segue service install"),
)
for verb in (install, remove, status):
    command.add_command(verb)
