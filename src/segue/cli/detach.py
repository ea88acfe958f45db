"""`--detach`: the same command in the background, where it outlives the terminal."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from segue.cli import console, output
from segue.errors import UserError
from segue.i18n import _
from segue.store import lock
from segue.work import background, trust
from segue.work.project import Project

STARTS_WITHIN_S = 30.0
LOOK_S = 0.02

C = TypeVar("C", bound=Callable[..., Any])


def option() -> Callable[[C], C]:
    return click.option(
        background.OPTION,
        "is_detached",
        is_flag=True,
        help=_("run in the background: it outlives this terminal (segue attach, segue stop)"),
    )


def argv_here() -> list[str]:
    """The command of this process, without `--detach`."""
    return [word for word in sys.argv[1:] if word != background.OPTION]


def run(
    project: Project, path: Path, held: Path, environ: Mapping[str, str], *, as_json: bool
) -> int:
    """Start the work in the background. `path`: what names the work; `held`: the lock that its
    owner takes. A process that ends before that has an error to show."""
    if (owner := lock.holder(held)) is not None:
        raise UserError(
            "already_running",
            _("process {pid} is already running this work ({command})").format(
                pid=owner.pid, command=owner.command
            ),
            file=project.relative(path),
            hint=_("follow it: segue attach; stop it: segue stop"),
        )
    pid = background.start(project, path, argv_here(), environ)
    deadline = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < deadline:
        is_running = background.is_running(pid)  # before the lock: it may end in between
        owner = lock.holder(held)
        if owner is not None and owner.pid == pid:
            break
        if not is_running:
            return _ended(background.events_file(project, path), as_json=as_json)
        time.sleep(LOOK_S)
    return _started(project, path, pid, as_json=as_json)


def _started(project: Project, path: Path, pid: int, *, as_json: bool) -> int:
    if as_json:
        events = str(background.events_file(project, path))
        output.print_json({"event": "detached", "pid": pid, "work": str(path), "events": events})
        return 0
    name = shlex.quote(project.relative(path))
    console.echo(_("{name} runs in the background (process {pid}).").format(name=name, pid=pid))
    text = _("Follow it: {attach}   See what waits for you: {inbox}   Stop it: {stop}")
    console.echo(
        text.format(attach=f"segue attach {name}", inbox="segue inbox", stop=f"segue stop {name}")
    )
    return 0


def _ended(events: Path, *, as_json: bool) -> int:
    """It ended before it owned the work, or at once: what it said, and its exit code."""
    said = background.said_last(events)
    try:
        problem = json.loads(said)["error"]
        error = UserError(
            problem["code"],
            problem["message"],
            file=problem.get("file"),
            line=problem.get("line"),
            hint=problem.get("hint"),
        )
    except (ValueError, KeyError, TypeError):
        from segue.cli.attach import show_all  # noqa: PLC0415 - it follows what there is

        return show_all(events, as_json=as_json)
    code = output.error(error, as_json=as_json)
    return trust.WAITS if problem["code"] == trust.UNTRUSTED else code
