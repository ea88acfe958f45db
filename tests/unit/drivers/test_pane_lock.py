"""Who may type into a pane."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from segue.drivers.pane_lock import LockHolder, PaneLock, holder, lock_name
from segue.drivers.panes import (
    Pane,
)


def pane(number: int, host: str = "tmux", socket: str = "/run/s") -> Pane:
    pane_id = f"%{number}" if host == "tmux" else f"wezterm:{number}"
    return Pane(pane_id, host, socket, rows=24, columns=80)


HOLD = """
import sys
from segue.drivers.pane_lock import PaneLock
from segue.drivers.panes import Pane
lock = PaneLock(Pane(sys.argv[1], "tmux", sys.argv[2], 24, 80))
assert lock.take() is None
import subprocess
child = subprocess.Popen(["sleep", "1000"], close_fds=False, stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
sys.stdin.readline()
lock.release()
print("released", flush=True)
sys.stdin.readline()
"""


class Other:
    """Another watcher, which holds a pane and has a child."""

    def __init__(self, of: Pane) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLD, of.id, of.socket],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.child = int(self.process.stdout.readline())

    def __enter__(self) -> Other:
        return self

    def __exit__(self, *_error: object) -> None:
        os.kill(self.child, signal.SIGKILL)
        self.process.kill()
        self.process.communicate()

    def release(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "released\n"


@pytest.fixture
def mine() -> Pane:
    """A pane that no other test means."""
    return pane(3, socket=f"/run/{os.getpid()}/{time.monotonic_ns()}")


def test_one_watcher_holds_a_pane(mine: Pane) -> None:
    """The other learns who has it; after a release it is free."""
    lock = PaneLock(mine)
    with Other(mine) as other:
        theirs = LockHolder(other.process.pid, os.geteuid())
        assert lock.take() == theirs
        assert holder(lock_name(mine)) == theirs
        other.release()
        assert holder(lock_name(mine)) is None
        assert lock.take() is None
    assert PaneLock(mine).take() == LockHolder(os.getpid(), os.geteuid()), "not even twice by one"
    lock.release()
    assert holder(lock_name(mine)) is None
    assert lock.take() is None
    lock.release()
    lock.release()


def test_a_lock_dies_with_its_holder(mine: Pane) -> None:
    """Whatever kills it, and although it has a child that lives on."""
    lock = PaneLock(mine)
    with Other(mine) as other:
        assert lock.take() is not None
        other.process.kill()
        other.process.wait()
        assert lock.take() is None
        lock.release()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_lock_holds_among_users(mine: Pane) -> None:
    """Another user finds it held, and by whom; and root finds the other's."""

    def as_nobody(act: Callable[[], bool]) -> int:
        pid = os.fork()
        if pid == 0:  # pragma: no cover - another process
            os.setuid(65534)
            os._exit(0 if act() else 1)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    own = PaneLock(mine)
    assert own.take() is None
    ours = LockHolder(os.getpid(), 0)
    # The child has a copy of the held lock, so it asks by another object.
    assert as_nobody(lambda: PaneLock(mine).take() == ours) == 0
    own.release()
    assert as_nobody(lambda: PaneLock(mine).take() is None) == 0


def test_locks_of_other_panes_are_others() -> None:
    """The same number on another server, another number, another host."""
    names = {
        lock_name(pane(1)),
        lock_name(pane(11)),
        lock_name(pane(1, socket="/run/t")),
        lock_name(pane(1, host="wezterm")),
    }
    assert len(names) == 4
    assert lock_name(pane(1)) == lock_name(pane(1))


def test_a_name_that_begins_alike_is_not_taken_for_it(mine: Pane) -> None:
    """Pane 3 is free while somebody holds pane 31."""
    longer = PaneLock(pane(31, socket=mine.socket))
    assert longer.take() is None
    assert holder(lock_name(mine)) is None
    longer.release()
