"""What the sandbox of an agent really keeps, found out by trying: for `segue doctor`.

A small program of Segue's own runs in the agent's place and does what a hostile one would: it
reads a file beside Segue's keys, writes one into the home folder, looks for the process that
started it and connects to a port of this machine. What it could do is compared with what it saw.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from segue.drivers.egress import may_reach, split_host
from segue.drivers.sandbox import FULL, Network
from segue.engine.agent import Access
from segue.engine.confine import confine, state_folders
from segue.engine.run_files import RunFiles
from segue.errors import UserError
from segue.work.agents import brands, confinement
from segue.work.agents.profiles import own_variables, passed_on
from segue.work.project import Project
from segue.work.settings.config import AgentSettings

TRIAL_S = 20.0
# Read, write, look, connect: each answer is what it really got.
PROBE = """
import json, os, socket, sys
secret, outside, pid, line, port, allowed = sys.argv[1:]
def tried(act):
    try:
        return act()
    except OSError:
        return False
def read(path):
    with open(path) as file:
        return file.read()
def write():
    with open(outside, "w") as file:
        file.write(secret)
    return True
def see():
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read().hex() == line
def connect():
    with socket.create_connection(("127.0.0.1", int(port)), 5) as server:
        return server.recv(99).decode()
def by_proxy():
    if not allowed:
        return False
    with socket.create_connection(("127.0.0.1", 3128), 5) as proxy:
        proxy.sendall(f"CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\n\\r\\n".encode())
        return b" 200 " in proxy.recv(999)
print(json.dumps({"read": tried(lambda: read(secret)), "wrote": tried(write), "saw": tried(see),
                  "reached": tried(connect), "proxied": tried(by_proxy)}))
"""


@dataclass(frozen=True, slots=True)
class Trial:
    """`holds`: each promise, and whether it was kept; None: it was not made."""

    mode: str
    is_active: bool
    why: str = ""
    network: Network = FULL
    holds: Mapping[str, bool | None] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        named = self.network if isinstance(self.network, str) else list(self.network)
        return {
            "mode": self.mode,
            "active": self.is_active,
            "why": self.why or None,
            "network": named,
            "holds": dict(self.holds),
        }


def trial(settings: AgentSettings, project: Project, environ: Mapping[str, str]) -> Trial:
    """How an agent of these settings would run here."""
    own = own_variables(settings, environ)
    brand = brands.brand(settings.kind) if settings.kind in brands.BRANDS else None
    mode = why = ""
    access: Access | None = None
    try:
        mode = confinement.mode_of(settings, environ)
        access = confinement.access(settings, brand, project.root, environ, own)
        if access is None and mode != "none":
            why = confinement.why_not(project.root, environ)
    except UserError as error:
        mode, why = mode or "auto", str(error)
    holds = _tried(access, settings.network, project, environ, {**passed_on(environ), **own})
    return Trial(mode, access is not None, why, settings.network, holds)


def _tried(
    access: Access | None,
    network: Network,
    project: Project,
    environ: Mapping[str, str],
    env: Mapping[str, str],
) -> dict[str, bool | None]:
    token = secrets.token_hex(8)
    state = state_folders(environ)[0]
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    secret = state / f"doctor-{token}"
    outside = state.parent / f"segue-doctor-{token}"
    files = RunFiles.of(project)
    own_line = Path("/proc/self/cmdline").read_bytes().hex()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        allowed = "" if isinstance(network, str) else "x"
        words = (str(secret), str(outside), str(os.getpid()), own_line, str(port), allowed)
        argv = (sys.executable, "-I", "-S", "-c", PROBE, *words)
        made = confine(
            argv, env, access, folder=project.root, files=files, run=f"doctor-{token}",
            environ=environ, channel={},
        )  # fmt: skip
        secret.write_text(token)
        try:
            got = _run(made.argv, made.env, project.root, server, token)
            has_written = outside.exists()
        finally:
            for path in (secret, outside, files.network_log(f"doctor-{token}")):
                with suppress(FileNotFoundError):
                    path.unlink()
    if got is None:
        return dict.fromkeys(("secrets", "writes", "processes", "network"), False)
    is_named = not isinstance(network, str) and may_reach(
        "127.0.0.1", port, [found for host in network if (found := split_host(host))]
    )
    reached = got["reached"] == token or (bool(got["proxied"]) and not is_named)
    return {
        "secrets": got["read"] != token,
        "writes": not has_written,
        "processes": not got["saw"],
        "network": None if network == FULL else not reached,
    }


def _run(
    argv: tuple[str, ...], env: Mapping[str, str], root: Path, server: socket.socket, token: str
) -> dict[str, object] | None:
    """What the probe says; None: it did not run."""
    import threading  # noqa: PLC0415 - only here

    def answer() -> None:
        with suppress(OSError):  # closed at the end
            while True:
                with server.accept()[0] as client:
                    client.sendall(token.encode())

    threading.Thread(target=answer, daemon=True).start()
    try:
        done = subprocess.run(
            argv, env=env, cwd=root, stdin=subprocess.DEVNULL, capture_output=True,
            timeout=TRIAL_S, check=False,
        )  # fmt: skip
        found = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return found if isinstance(found, dict) else None
