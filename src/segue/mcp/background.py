"""Plans that run on their own: started so that they outlive this server, and stopped."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from segue.drivers.processes import read_stat
from segue.engine.locks import lock_path
from segue.mcp.tools import Refused
from segue.store import lock
from segue.work.project import Project

STARTED_WITHIN_S = 20.0
STOPPED_WITHIN_S = 5.0
LOOK_S = 0.02
FIRST_LINE_BYTES_MAX = 256 * 1024

# A process between us and the run ends at once: the run has no parent here, in a process
# group and session of its own, so that whatever ends this server does not reach it.
DETACH = """
import os, sys
out = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
if pid := os.fork():
    print(pid, flush=True)
    os._exit(0)
os.dup2(out, 1)
os.dup2(out, 2)
os.execv(sys.argv[2], sys.argv[2:])
"""


def start(plan: Path, project: Project, options: Sequence[str], environ: Mapping[str, str]) -> str:
    """`segue run PLAN --json` in the background, as soon as it says that it runs."""
    project.prepare()
    out = project.logs / f"{lock_path(project, plan).stem}.run.jsonl"
    # -P: a folder called `segue` in the project is not us.
    run = [sys.executable, "-P", "-m", "segue", "run", str(plan), "--json", *options]
    detached = subprocess.run(
        [sys.executable, "-I", "-S", "-c", DETACH, str(out), *run],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=project.root,
        env=dict(environ),
        start_new_session=True,
        check=False,
    )
    if detached.returncode != 0:
        raise Refused(f"Could not start the run; is {project.logs} writable?")
    pid = int(detached.stdout)
    _check_started(_first_line(out, pid))
    return f"Started {project.relative(plan)}, process {pid}. Its events: {project.relative(out)}"


def check_free(plan: Path, project: Project) -> None:
    """One plan is run by one process."""
    holder = lock.holder(lock_path(project, plan))
    if holder is not None:
        raise Refused(
            f"Already running: process {holder.pid} has been running {project.relative(plan)}"
            f" since {holder.since}. Started nothing."
        )


def stop(plan: Path, project: Project) -> str:
    """Ask the process that runs a plan to stop: it ends its agents and saves its progress."""
    shown = project.relative(plan)
    path = lock_path(project, plan)
    holder = lock.holder(path)
    if holder is None:
        raise Refused(f"{shown} is not running.")
    try:
        fd = os.pidfd_open(holder.pid)
    except OSError as error:
        raise Refused(f"Cannot reach process {holder.pid}: {error.strerror}.") from error
    try:
        now = lock.holder(path)
        if now is None or now.pid != holder.pid:  # it ended, and its number may be another's
            raise Refused(f"The run of {shown} has just ended.")
        signal.pidfd_send_signal(fd, signal.SIGINT)
        ended, _write, _error = select.select([fd], [], [], STOPPED_WITHIN_S)
    except PermissionError as error:
        raise Refused(f"Process {holder.pid} belongs to another user.") from error
    finally:
        os.close(fd)
    if ended:
        return f"Stopped {shown}. Its progress is saved; run_plan resumes it."
    return f"{shown} is stopping and ends its agents. status shows when it is done."


def _first_line(out: Path, pid: int) -> str:
    """What the run says first; empty if it says nothing in time, or dies."""
    deadline = time.monotonic() + STARTED_WITHIN_S
    while time.monotonic() < deadline:
        stat = read_stat(pid)
        with out.open("rb") as file:
            line, end, _rest = file.read(FIRST_LINE_BYTES_MAX).partition(b"\n")
        if end or stat is None or not stat.is_alive:
            return line.decode("utf-8", "replace")
        time.sleep(LOOK_S)
    return ""


def _check_started(line: str) -> None:
    try:
        told: Any = json.loads(line)
    except ValueError:
        told = None
    match told:
        case {"event": _}:
            return
        case {"error": {"message": str(message), **more}}:
            hint = f" ({more['hint']})" if more.get("hint") else ""
            raise Refused(f"Not started: {message}{hint}")
        case _:
            raise Refused(f"Not started: {line[:500] or 'no output'}")
