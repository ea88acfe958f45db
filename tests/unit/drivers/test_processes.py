"""What the kernel says about processes, and signals that reach the right ones."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.waiting import WAIT_S, until
from segue.drivers import processes

CODE_OF_A_TREE = """
    sh -c 'echo $$ >> pids; setsid sh -c "echo \\$\\$ >> pids; exec sleep 1000" & wait' &
    echo $$ >> pids
    wait
"""


def state_of(pid: int) -> str:
    stat = processes.read_stat(pid)
    return stat.state if stat else "gone"


def is_running(pid: int) -> bool:
    return state_of(pid) not in ("gone", "Z", "X")


class Tree:
    """Three generations of processes, the last one in a session of its own."""

    def __init__(self, folder: Path, prefix: str = "") -> None:
        self.root = subprocess.Popen(["/bin/sh", "-c", prefix + CODE_OF_A_TREE], cwd=folder)
        pids = folder / "pids"
        until(lambda: pids.exists() and len(pids.read_text().split()) == 3)
        self.pids = {int(pid) for pid in pids.read_text().split()}
        sleeper = f"/proc/{max(self.pids - {self.root.pid}, key=self.depth)}/comm"
        until(lambda: Path(sleeper).read_text() == "sleep\n")

    def depth(self, pid: int) -> int:
        stat = processes.read_stat(pid)
        return 0 if stat is None or pid == self.root.pid else 1 + self.depth(stat.parent)

    def close(self) -> None:
        for pid in self.pids:
            if is_running(pid):
                os.kill(pid, signal.SIGKILL)
        self.root.wait()


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Tree]:
    tree = Tree(tmp_path)
    yield tree
    tree.close()


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "1000"], env={"SEGUE_TEST": f"x{os.getpid()}"})
    yield process
    process.kill()
    process.wait()


def test_start_time_with_a_strange_name(tmp_path: Path) -> None:
    """The start time is found behind a program name with blanks and parentheses."""
    program = tmp_path / "a ) b (c"
    program.symlink_to("/bin/sleep")
    process = subprocess.Popen([program, "1000"])
    try:
        until(lambda: b"a ) b" in Path(f"/proc/{process.pid}/stat").read_bytes())
        started = processes.start_time(process.pid)
        assert started is not None
        ticks = os.sysconf("SC_CLK_TCK")
        uptime_s = float(Path("/proc/uptime").read_text().split()[0])
        assert uptime_s - 60 < started / ticks <= uptime_s + 1
        assert processes.is_alive(process.pid, started)
        assert not processes.is_alive(process.pid, started + 1)
    finally:
        process.kill()
        process.wait()
    assert processes.start_time(process.pid) is None
    assert not processes.is_alive(process.pid, started)


def test_a_zombie_is_not_alive() -> None:
    """A process that ended and was not yet waited for counts as dead."""
    process = subprocess.Popen(["true"])
    until(lambda: state_of(process.pid) == "Z")
    started = processes.start_time(process.pid)
    assert started is not None
    assert not processes.is_alive(process.pid, started)
    process.wait()


def test_a_process_without_its_first_thread_is_alive() -> None:
    """A process whose first thread ended looks like a zombie and is none."""
    code = (
        "import ctypes, threading, time; threading.Thread(target=time.sleep, args=(1000,)).start();"
        "ctypes.CDLL(None).pthread_exit(None)"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        until(lambda: state_of(process.pid) == "Z")
        started = processes.start_time(process.pid)
        assert started is not None
        assert processes.is_alive(process.pid, started)
    finally:
        process.kill()
        process.wait()


def test_boot_id() -> None:
    """The boot has a name that stays."""
    assert len(processes.boot_id()) == 36
    assert processes.boot_id() == processes.boot_id()


@pytest.mark.parametrize("scan", [False, True])
def test_descendants(tree: Tree, scan: bool) -> None:
    """All generations are found, parents first, with and without the kernel's lists."""
    found = [pid for pid, _ in processes.living_below(tree.root.pid, scan=scan)]
    assert set(found) == tree.pids - {tree.root.pid}
    assert [tree.depth(pid) for pid in found] == [1, 2]
    assert processes.descendants(tree.root.pid) == found


def test_children_of_threads_are_found() -> None:
    """A child that was started by another thread than the first is found."""
    code = (
        "import subprocess, threading, time;"
        "threading.Thread(target=lambda: subprocess.call(['sleep', '1000'])).start()"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        until(lambda: len(processes.descendants(process.pid)) == 1)
    finally:
        assert processes.kill_tree(process.pid) == []
        process.wait()


def test_a_signal_is_for_one_process_only(sleeper: subprocess.Popen[bytes]) -> None:
    """A process with the same pid and another start time gets no signal; nor do we, nor init."""
    started = processes.start_time(sleeper.pid)
    assert started is not None
    processes.send_signals((sleeper.pid, started + 1), signal.SIGKILL)
    own, init = processes.start_time(os.getpid()), processes.start_time(1)
    assert own is not None
    assert init is not None
    for process in ((os.getpid(), own), (1, init), (0, 0), (-1, 0)):
        assert not processes.send_signals(process, signal.SIGKILL)
    assert processes.send_signals((sleeper.pid, started), signal.SIGTERM)
    assert sleeper.wait() == -signal.SIGTERM
    assert processes.send_signals((sleeper.pid, started), signal.SIGTERM)  # gone: nothing to do


def test_find_by_environ(sleeper: subprocess.Popen[bytes]) -> None:
    """Processes are found by a whole variable, not by a part of its value."""
    value = f"x{os.getpid()}"
    until(lambda: processes.find_by_environ("SEGUE_TEST", value) == [sleeper.pid])
    assert processes.find_by_environ("SEGUE_TEST", value[:-1]) == []
    assert processes.find_by_environ("TEST", value) == []


def test_kill_by_environ(sleeper: subprocess.Popen[bytes]) -> None:
    """Those that have the variable are killed, once there are none it says so."""
    value = f"x{os.getpid()}"
    until(lambda: processes.kill_by_environ("SEGUE_TEST", value))
    assert sleeper.wait() == -signal.SIGKILL
    assert not processes.kill_by_environ("SEGUE_TEST", value)


def test_stop_and_continue(tree: Tree) -> None:
    """A whole tree stands still, and goes on."""
    processes.stop_tree(tree.root.pid)
    assert {state_of(pid) for pid in tree.pids} == {"T"}
    processes.continue_tree(tree.root.pid)
    until(lambda: {state_of(pid) for pid in tree.pids} == {"S"})


def test_stop_without_the_root(tree: Tree) -> None:
    """A keeper can be left running while all below it is stopped."""
    processes.stop_tree(tree.root.pid, root=False)
    assert {state_of(pid) for pid in tree.pids - {tree.root.pid}} == {"T"}
    until(lambda: state_of(tree.root.pid) == "S")  # back asleep after the news of its child
    processes.continue_tree(tree.root.pid, root=False)
    until(lambda: {state_of(pid) for pid in tree.pids} == {"S"})


VFORKING = """
import os, sys
os.posix_spawn("/bin/true", ["true"], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, sys.argv[1], 0, 0)])
"""


def test_one_that_waits_for_its_vfork_stands_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its child opens a FIFO before it becomes `true`: the parent is not shown as stopped, but it
    does nothing before its child goes on, so nobody waits for that."""
    os.mkfifo(tmp_path / "fifo")
    parent = subprocess.Popen([sys.executable, "-c", VFORKING, tmp_path / "fifo"])
    until(lambda: processes.descendants(parent.pid))
    [child] = processes.descendants(parent.pid)
    until(lambda: (state_of(parent.pid), state_of(child)) == ("D", "S"))
    monkeypatch.setattr(processes, "STOP_S", WAIT_S)
    began = time.monotonic()
    processes.stop_tree(parent.pid)
    assert time.monotonic() - began < WAIT_S / 2
    assert (state_of(parent.pid), state_of(child)) == ("D", "T")
    assert processes.kill_tree(parent.pid) == []
    parent.wait()


def test_kill_tree(tree: Tree) -> None:
    """Nothing of a tree is left, the stopped and those in other sessions included."""
    processes.stop_tree(tree.root.pid)
    assert processes.kill_tree(tree.root.pid) == []
    assert not [pid for pid in tree.pids if is_running(pid)]
    assert tree.root.wait() == -signal.SIGKILL
    assert processes.kill_tree(tree.root.pid) == []


def test_end_tree_with_grace(tree: Tree) -> None:
    """A tree that obeys SIGTERM ends by it, at once."""
    began = time.monotonic()
    assert asyncio.run(processes.end_tree(tree.root.pid, 1000.0)) == []
    assert time.monotonic() - began < 500
    assert not [pid for pid in tree.pids if is_running(pid)]
    assert tree.root.wait() == -signal.SIGTERM


def test_end_tree_after_the_grace(tmp_path: Path) -> None:
    """A tree that ignores SIGTERM is killed when the grace is over, not before."""
    tree = Tree(tmp_path, "trap '' TERM;")
    try:
        began = time.monotonic()
        assert asyncio.run(processes.end_tree(tree.root.pid, 0.3)) == []
        assert time.monotonic() - began >= 0.3
        assert not [pid for pid in tree.pids if is_running(pid)]
        assert tree.root.wait() == -signal.SIGKILL
    finally:
        tree.close()


def test_become_subreaper() -> None:
    """The orphans of a subreaper's children become its own children."""
    code = (
        "import os, subprocess, sys; from segue.drivers import processes;"
        "processes.become_subreaper();"
        "subprocess.call(['sh', '-c', 'sleep 1000 &']);"
        "print(len(processes.descendants(os.getpid())));"
        "[os.kill(pid, 9) for pid in processes.descendants(os.getpid())]"
    )
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert result.stdout.strip() == b"1"
