"""A lock that dies with its holder and says who that is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from segue.store import migrate
from segue.store.lock import Holder, Lock, holder

HOLD = """
import subprocess, sys
from pathlib import Path
from segue.store.lock import Lock
lock = Lock(Path(sys.argv[1]))
assert lock.take(since="2025-03-01T00:00:00Z", command="segue run PLAN.md") is None
child = subprocess.Popen(["sleep", "1000"], close_fds=False, stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
sys.stdin.readline()
lock.release()
print("released", flush=True)
sys.stdin.readline()
"""

ASK = """
import sys
from pathlib import Path
from segue.store.lock import Lock, holder
found = holder(Path(sys.argv[1]))
print(found.pid if found else None)
"""


class Other:
    """Another process that holds the lock, and has a child."""

    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.child = int(self.line())

    def __enter__(self) -> Other:
        return self

    def __exit__(self, *_error: object) -> None:
        os.kill(self.child, signal.SIGKILL)
        self.process.kill()
        self.process.communicate()

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def go_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()


def take(path: Path) -> Holder | None:
    lock = Lock(path)
    try:
        return lock.take(since="now", command="test")
    finally:
        lock.release()


def ask_elsewhere(path: Path) -> str:
    command = [sys.executable, "-c", ASK, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def holding(other: Other) -> Holder:
    since, command = "2025-03-01T00:00:00Z", "segue run PLAN.md"
    return Holder(other.process.pid, since, command, migrate.newest())


def test_who_comes_second_is_told_who_holds_it(tmp_path: Path) -> None:
    """The holder's process, since when and by which command; after its release it is free."""
    path = tmp_path / "plan.lock"
    with Other(path) as other:
        expected = holding(other)
        assert take(path) == expected
        assert holder(path) == expected
        other.go_on()
        assert other.line() == "released"
        assert holder(path) is None
        assert take(path) is None


def test_asking_takes_nothing(tmp_path: Path) -> None:
    """Who asks neither makes a file nor holds the lock, even where nobody holds it."""
    path = tmp_path / "plan.lock"
    assert holder(path) is None
    assert not path.exists()
    assert take(path) is None
    assert holder(path) is None
    with Other(path) as other:
        assert holder(path) is not None
        assert ask_elsewhere(path) == str(other.process.pid)


def test_it_dies_with_its_holder_and_is_not_inherited(tmp_path: Path) -> None:
    """Killed by SIGKILL, the holder leaves no lock behind, though its child lives on."""
    path = tmp_path / "plan.lock"
    with Other(path) as other:
        other.process.kill()
        other.process.wait()
        os.kill(other.child, 0)
        assert holder(path) is None
        assert take(path) is None


def test_what_an_earlier_holder_wrote_is_not_told_of_a_later_one(tmp_path: Path) -> None:
    """A short command after a long one is told whole, with nothing of the long one."""
    path = tmp_path / "plan.lock"
    lock = Lock(path)
    assert lock.take(since="then", command="x" * 1000) is None
    lock.release()
    with Other(path) as other:
        assert take(path) == holding(other)


def test_a_long_command_is_told(tmp_path: Path) -> None:
    """However long the command line was, the holder is still named with since when it holds."""
    path = tmp_path / "plan.lock"
    lock = Lock(path)
    assert lock.take(since="2025-03-01T00:00:00Z", command="segue " + "x" * 10_000) is None
    code = (
        "import sys; from pathlib import Path; from segue.store.lock import holder;"
        "print(holder(Path(sys.argv[1])).since)"
    )
    command = [sys.executable, "-c", code, str(path)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    lock.release()
    assert told == "2025-03-01T00:00:00Z"


def test_the_holder_may_ask_about_its_own_lock(tmp_path: Path) -> None:
    """Asking in the holder's own process does not let the lock go."""
    path = tmp_path / "plan.lock"
    lock = Lock(path)
    assert lock.take(since="now", command="test") is None
    holder(path)
    assert ask_elsewhere(path) == str(os.getpid())
    lock.release()
    assert ask_elsewhere(path) == "None"


def test_it_can_be_taken_again_after_its_release(tmp_path: Path) -> None:
    """Releasing twice is no harm, and what was released can be taken."""
    path = tmp_path / "plan.lock"
    lock = Lock(path)
    for _round in range(2):
        assert lock.take(since="now", command="test") is None
        assert ask_elsewhere(path) == str(os.getpid())
        lock.release()
        lock.release()
    assert ask_elsewhere(path) == "None"


def test_a_lock_whose_file_was_removed_is_taken_again(tmp_path: Path) -> None:
    """Others who ask at the path learn of the holder again; one who was quicker has it."""
    path = tmp_path / "plan.lock"
    lock = Lock(path)
    assert lock.take(since="now", command="test") is None
    assert lock.is_in_place
    path.unlink()
    assert not lock.is_in_place
    assert lock.take_again() is None
    assert (lock.is_in_place, ask_elsewhere(path)) == (True, str(os.getpid()))
    lock.release()


def test_where_no_folder_can_be_nobody_holds_anything(tmp_path: Path) -> None:
    """A file stands where the folder of the locks should be."""
    (tmp_path / "file").touch()
    assert holder(tmp_path / "file" / "plan.lock") is None


def test_a_shared_lock_is_taken_again_as_one(tmp_path: Path) -> None:
    """Its file was removed: several may hold it afterwards as before."""
    path = tmp_path / "panes.lock"
    lock = Lock(path)
    assert lock.take(since="now", command="segue watch", is_shared=True) is None
    path.unlink()
    assert lock.take_again() is None
    script = (
        "import sys; from pathlib import Path; from segue.store.lock import Lock;"
        "held = Lock(Path(sys.argv[1])).take(since='', command='', is_shared=True);"
        "sys.exit(held is not None)"
    )
    subprocess.run([sys.executable, "-c", script, str(path)], check=True)
    lock.release()
