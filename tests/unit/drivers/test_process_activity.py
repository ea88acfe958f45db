"""A look at the processes of an agent that has said nothing for long."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from kit.waiting import until
from segue.drivers import process_activity, processes
from segue.drivers.process_activity import activity_below

CLIENT = """
import os, socket, sys, time
held = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
if sys.argv[2] == "twice":
    again = held.dup()
print("connected", flush=True)
if os.fork() == 0:
    os.setsid()
time.sleep(1000)
"""


class Family:
    """Processes below a shell of ours, ended one by one afterwards."""

    def __init__(self) -> None:
        self.roots: list[subprocess.Popen[str]] = []

    def start(self, *argv: str) -> subprocess.Popen[str]:
        root = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        self.roots.append(root)
        return root

    def shell(self, script: str) -> subprocess.Popen[str]:
        return self.start("/bin/sh", "-c", script)

    def close(self) -> None:
        for root in self.roots:
            for pid, _started in reversed(processes.tree(root.pid)):
                with suppress(ProcessLookupError):  # its child's end was its own
                    os.kill(pid, signal.SIGKILL)
            root.communicate()


@pytest.fixture
def family() -> Iterator[Family]:
    made = Family()
    yield made
    made.close()


def test_the_programs_below_are_told_by_name(family: Family) -> None:
    """All generations, in sessions of their own, too; the process itself is not among them."""
    root = family.shell("sleep 1000 & setsid sh -c 'tail -f /dev/null & wait' & wait")
    until(lambda: sorted(activity_below(root.pid).names) == ["sh", "sleep", "tail"])
    seen = activity_below(root.pid)
    assert (seen.stopped, seen.connections) == (0, 0)


def test_a_name_that_would_spoil_a_terminal_is_made_harmless(family: Family) -> None:
    """A process can give itself any name of fifteen bytes."""
    code = (
        "import pathlib, time\n"
        "pathlib.Path('/proc/self/comm').write_bytes(b'\\x1b[2J\\nx')\n"
        "print('named', flush=True); time.sleep(1000)"
    )
    root = family.start("/bin/sh", "-c", 'exec 3>&1; "$0" -c "$1" >&3 & wait', sys.executable, code)
    assert root.stdout is not None
    assert root.stdout.readline() == "named\n"
    (name,) = activity_below(root.pid).names
    assert name.isprintable()


def test_one_with_nobody_below_it_is_empty(family: Family) -> None:
    """Nor does a process that is gone have anybody."""
    root = family.start("sleep", "1000")
    assert activity_below(root.pid) == process_activity.Activity((), 0, 0)
    root.kill()
    root.wait()
    assert activity_below(root.pid) == process_activity.Activity((), 0, 0)


def test_those_that_stand_still_are_counted(family: Family) -> None:
    """Stopped by somebody: that is why they say nothing."""
    root = family.shell("sleep 1000 & sleep 2000 & wait")
    until(lambda: activity_below(root.pid).names == ("sleep", "sleep"))
    first, second = processes.descendants(root.pid)
    os.kill(first, signal.SIGSTOP)
    until(lambda: activity_below(root.pid).stopped == 1)
    os.kill(second, signal.SIGSTOP)
    until(lambda: activity_below(root.pid).stopped == 2)
    os.kill(first, signal.SIGCONT)
    until(lambda: activity_below(root.pid).stopped == 1)


def test_zombies_are_not_at_work(family: Family) -> None:
    """A child that has ended and that nobody has waited for does nothing."""
    code = "import os, time\nif os.fork() == 0: os._exit(0)\nprint('forked', flush=True)\ntime.sleep(1000)"
    root = family.start(sys.executable, "-c", code)
    assert root.stdout is not None
    assert root.stdout.readline() == "forked\n"
    until(lambda: activity_below(root.pid).names == ())


@pytest.mark.parametrize("how", ["once", "twice"])
def test_open_connections_are_counted_once_each(family: Family, how: str) -> None:
    """A connection that parent and child both hold is one; a server that listens has none."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        script = f'"{sys.executable}" -c "$CODE" {port} {how}'
        os.environ["CODE"] = CLIENT
        try:
            root = family.shell(f"{script} & wait")
        finally:
            del os.environ["CODE"]
        accepted, _address = server.accept()
        with accepted:
            assert root.stdout is not None
            assert root.stdout.readline() == "connected\n"
            until(lambda: len(activity_below(root.pid).names) == 2)
            assert activity_below(root.pid).connections == 1
        until(lambda: activity_below(root.pid).connections == 0)


def test_a_socket_that_only_listens_or_is_no_network_is_no_connection(family: Family) -> None:
    """What waits for others has no connection yet."""
    code = (
        "import socket, time\n"
        "s = socket.create_server(('127.0.0.1', 0)); a, b = socket.socketpair()\n"
        "print('here', flush=True); time.sleep(1000)"
    )
    root = family.shell(f'{sys.executable} -c "{code}" & wait')
    assert root.stdout is not None
    assert root.stdout.readline() == "here\n"
    assert activity_below(root.pid).connections == 0
    assert len(activity_below(root.pid).names) == 1


def test_a_machine_that_hides_its_connections_shows_none(
    family: Family, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tables may be closed to us: nothing falls, and nothing is claimed."""
    root = family.shell("sleep 1000 & wait")
    until(lambda: activity_below(root.pid).names == ("sleep",))
    monkeypatch.setattr(
        process_activity, "Path", lambda name: Path("/no/such") / str(name).lstrip("/")
    )
    assert activity_below(root.pid) == process_activity.Activity((), 0, 0)
