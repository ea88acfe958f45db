"""Who is at the other end of a connection within this machine."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from segue.drivers import peer, processes
from segue.drivers.peer import Caller, find_caller

RUN = "T-1-1-abcd"
CONNECT = """
import ctypes, os, socket, sys
if "hidden" in sys.argv:
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
link = socket.create_connection((sys.argv[1], int(sys.argv[2])))
if "gone" in sys.argv:
    link.sendall(b"x")
    os._exit(0)
link.recv(1)
"""
KEEPER = """
import os, subprocess, sys
from segue.drivers.processes import become_subreaper
become_subreaper()
subprocess.run(["/bin/sh", "-c", sys.argv[1]], env={**os.environ, "SEGUE_RUN": sys.argv[2]})
while True:  # until all that detached itself has ended
    try:
        os.wait()
    except ChildProcessError:
        break
"""


class Stage:
    """A listener, and programs that connect to it."""

    def __init__(self, tmp: Path, address: str = "127.0.0.1") -> None:
        self.tmp, self.address = tmp, address
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.listener = socket.create_server((address, 0), family=family)
        self.listener.settimeout(60)
        self.link: socket.socket | None = None
        self.started: list[subprocess.Popen[bytes]] = []
        (tmp / "connect.py").write_text(CONNECT)
        self.keeper = tmp / "segue" / "drivers" / "nursery.py"
        self.keeper.parent.mkdir(parents=True)
        self.keeper.write_text(KEEPER)

    def connect(
        self, command: str = "{connect}", *more: str, in_run: bool = True, to: str = ""
    ) -> None:
        """Start a program that connects, below a keeper or not; accept it."""
        port = str(self.listener.getsockname()[1])
        words = [sys.executable, f"{self.tmp}/connect.py", to or self.address, port, *more]
        shell = command.format(connect=" ".join(words))
        argv = ["/bin/sh", "-c", shell]
        if in_run:
            argv = [sys.executable, str(self.keeper), shell, RUN]
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self.started.append(subprocess.Popen(argv, env=env))
        self.link, _address = self.listener.accept()

    def find(self, *, is_connected: bool = True) -> Caller:
        assert self.link is not None
        there, here = self.link.getpeername()[:2], self.link.getsockname()[:2]
        return find_caller(there, here, lambda: is_connected)

    def close(self) -> None:
        if self.link is not None:
            self.link.close()
        self.listener.close()
        for process in self.started:
            for pid in processes.descendants(process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.wait(60)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize(
    "command",
    [
        "{connect}; true",
        "env -u SEGUE_RUN {connect}; true",
        "env -u SEGUE_RUN setsid --fork {connect}",
        "(env -i PATH=$PATH setsid {connect} &) ; sleep 1000 & wait $!",
    ],
)
def test_a_connection_of_an_agent_names_its_run(stage: Stage, command: str) -> None:
    """From a child, without the variable, detached, and without any environment."""
    stage.connect(command)
    run = stage.find().run
    assert run is not None
    is_named = "setsid --fork" not in command  # its agent has ended, and nobody else tells
    assert run["SEGUE_RUN"] == RUN if is_named else run["SEGUE_RUN"] in (RUN, "?")


def test_a_connection_of_a_person_is_one(stage: Stage) -> None:
    """A program that nothing of Segue has started; ours is one as well."""
    stage.connect(in_run=False)
    assert stage.find() == Caller()
    assert stage.link is not None
    stage.link.close()
    with socket.create_connection(stage.listener.getsockname()) as own:
        stage.link, _address = stage.listener.accept()
        assert stage.find() == Caller()
        own.close()


@pytest.mark.parametrize("in_run", [True, False])
def test_a_process_that_hides_its_files_is_known_by_that(stage: Stage, in_run: bool) -> None:
    """Undumpable: an agent is refused for it, a person (ssh, gpg) is not."""
    if os.geteuid() == 0:
        pytest.skip("nothing is hidden from root")
    stage.connect("{connect}; true", "hidden", in_run=in_run)
    run = stage.find().run
    assert (run is not None) is in_run


def test_a_hidden_process_is_looked_for_among_those_that_hide(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the tests are root's: as if the holder's files could not be listed."""
    stage.connect("{connect}; true")
    below = set(processes.descendants(stage.started[0].pid))
    holds = peer._holds
    monkeypatch.setattr(peer, "_holds", lambda pid, inode: pid not in below and holds(pid, inode))
    assert stage.find() == Caller(), "nobody hides: it is out of sight, as in another container"
    monkeypatch.setattr(peer, "_hides", lambda pid: pid in below)
    run = stage.find().run
    assert run is not None and run["SEGUE_RUN"] == RUN


def test_a_caller_that_has_hung_up_is_nobody(stage: Stage) -> None:
    """It sent its request and ended: whose it was cannot be known, and it waits for no answer."""
    stage.connect("{connect}", "gone")
    stage.started[0].wait(60)
    assert stage.find(is_connected=False) == Caller(has_hung_up=True)
