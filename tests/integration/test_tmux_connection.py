"""Clients come to a real tmux and go, and whatever happens meanwhile, the server lives on."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kit.tmux import Seen, Tmux, a_server, play
from kit.waiting import until
from segue.drivers.panes import PaneError
from segue.drivers.processes import is_alive, start_time
from segue.drivers.tmux.connection import connection_to
from segue.drivers.tmux.host import TmuxPanes

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

COMINGS = 100
DEATHS = 15
# Comes to the server and goes again, until it is killed.
VISITOR = """
import asyncio, os, sys
from pathlib import Path
from segue.drivers.processes import is_alive, start_time
from segue.drivers.tmux.host import TmuxPanes
from segue.drivers.tmux.connection import connection_to

async def visit():
    while True:
        async with TmuxPanes(Path(sys.argv[1]), environ=os.environ):
            print("here", flush=True)

asyncio.run(visit())
"""


@pytest.fixture
def tmux() -> Iterator[Tmux]:
    with a_server() as server:
        yield server


@contextmanager
def churning(tmux: Tmux) -> Iterator[None]:
    """Sessions are made and end all the time; the server is the same one afterwards."""
    tmux.room("stays", "sleep", "1000")
    before = tmux("display-message", "-p", "#{pid}")
    mine = f"tmux -f /dev/null -S {tmux.socket}"
    make = f"{mine} new-session -d -s a 'sleep 99' \\; new-session -d -s b 'sleep 99'"
    end = f"{mine} kill-session -t a \\; kill-session -t b"
    churn = subprocess.Popen(
        ["sh", "-c", f"while {make} && {end}; do :; done"],
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
        assert churn.poll() is None, "the server crashed"
    finally:
        os.killpg(churn.pid, signal.SIGKILL)
        churn.wait()
    assert tmux("display-message", "-p", "#{pid}", check=False) == before


def test_sessions_are_made_and_end_while_clients_come(tmux: Tmux) -> None:
    async def come() -> None:
        async with TmuxPanes(tmux.socket, environ=os.environ) as panes:
            assert "%0" in [pane.id for pane in await panes.list()]

    with churning(tmux):
        for _number in range(COMINGS):
            asyncio.run(come())


def test_the_watcher_is_killed_while_its_clients_come(tmux: Tmux) -> None:
    with churning(tmux):
        for number in range(DEATHS):
            visitor = subprocess.Popen(
                [sys.executable, "-c", VISITOR, str(tmux.socket)], stdout=subprocess.PIPE
            )
            assert visitor.stdout
            for _visit in range(1 + number % 5):
                visitor.stdout.readline()
            visitor.kill()
            visitor.wait()
            visitor.stdout.close()
    until(lambda: "control-mode" not in tmux("list-clients", "-F", "#{client_flags}"))


def test_a_session_keeps_the_environment_of_its_user(tmux: Tmux) -> None:
    """`attach` would take the watcher's: the next window would speak with another ssh agent."""
    tmux.room("one", "cat")
    tmux("set-environment", "-t", "one", "SSH_AUTH_SOCK", "of the user")

    async def scene(_seen: Seen) -> None:
        assert tmux("show-environment", "-t", "one", "SSH_AUTH_SOCK").endswith("=of the user")

    play(tmux, scene)


def test_a_client_that_is_sent_away_comes_back(tmux: Tmux) -> None:
    pane = tmux.room("one", "cat")

    def clients() -> set[str]:
        return set(tmux("list-clients", "-F", "#{client_name}").split())

    async def scene(seen: Seen) -> None:
        for _time in range(3):
            before = clients()
            assert before
            for client in before:
                tmux("detach-client", "-t", client)
            await seen.until(lambda: len(clients() - before) == 2)  # noqa: B023 - awaited here
        tmux("send-keys", "-t", pane, "-l", "still heard")
        await seen.until_shown(pane, "still heard")

    play(tmux, scene)


def test_a_server_ends_while_it_is_watched(tmux: Tmux) -> None:
    """It waits for its clients to go: ours do."""
    tmux.room("one", "cat")

    async def scene(seen: Seen) -> None:
        server = int(tmux("display-message", "-p", "#{pid}"))
        started = start_time(server)
        assert started is not None
        tmux("kill-server")
        await seen.until(lambda: not is_alive(server, started))
        with pytest.raises(PaneError):
            await seen.panes.list()

    play(tmux, scene)


@pytest.mark.parametrize("version", ["3.7", "next-3.6"])
def test_newer_servers_are_entered_by_their_own_program(
    tmux: Tmux, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its clients are processes which the keys of our terminal do not reach."""
    monkeypatch.setattr(
        "segue.drivers.tmux.clients.connection_to",
        lambda path, _version, program, env: connection_to(path, version, program, env),
    )
    pane = tmux.room("one", "cat")

    async def scene(seen: Seen) -> None:
        clients = [int(pid) for pid in tmux("list-clients", "-F", "#{client_pid}").split()]
        assert len(clients) == 2
        assert os.getpid() not in clients
        assert all(os.getsid(client) != os.getsid(0) for client in clients)
        tmux("send-keys", "-t", pane, "-l", "heard")
        await seen.until_shown(pane, "heard")

    play(tmux, scene)
