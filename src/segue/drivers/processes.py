"""Processes as the kernel sees them: who lives, who descends from whom; stop, continue, end.

A pid alone says nothing after a while: it may be given to another process. So a process is its
pid and its start time, and a signal goes through a pidfd that was compared with both.

Keepers use this file too, without the rest of Segue and in a hurry: standard library only, and
what is slow to import is imported where it is needed.
"""

from __future__ import annotations

import os
import signal
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # as in typing, which is slow to import; annotations are never evaluated
    from collections.abc import Callable

Process = tuple[int, int]  # pid, start time in clock ticks since the boot (field 22 of its stat)

KILL_S = 5.0
ROUND_S = 0.01
STOP_S = 0.2  # one that waits in a system call (for a disk) stops only after that
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


class Stat:
    """What /proc/PID/stat says, as far as it matters here."""

    __slots__ = ("parent", "started", "state", "threads")

    def __init__(self, text: bytes) -> None:
        fields = text[text.rindex(b")") + 2 :].split()  # the name before it may hold anything
        self.state = fields[0].decode()
        self.parent = int(fields[1])
        self.threads = int(fields[17])
        self.started = int(fields[19])

    @property
    def is_alive(self) -> bool:
        # A dead first thread looks like a zombie while the other threads work on.
        return self.state not in "ZX" or self.threads > 1


def read(name: str) -> bytes:
    """A file of /proc; empty where its process is gone, or another user's and closed to us."""
    try:
        fd = os.open(f"/proc/{name}", os.O_RDONLY)  # a file object costs several times as much
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return b""
    text = b""
    try:
        while chunk := os.read(fd, 65536):
            text += chunk
    except ProcessLookupError:
        return b""
    finally:
        os.close(fd)
    return text


def read_stat(pid: int) -> Stat | None:
    text = read(f"{pid}/stat")
    return Stat(text) if text else None


def boot_id() -> str:
    """This boot of this machine: start times of another boot mean nothing."""
    return read("sys/kernel/random/boot_id").decode().strip()


def start_time(pid: int) -> int | None:
    stat = read_stat(pid)
    return stat.started if stat else None


def is_alive(pid: int, started: int) -> bool:
    """Whether this very process still works; a zombie does not."""
    stat = read_stat(pid)
    return stat is not None and stat.started == started and stat.is_alive


def pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - no pathlib


def _children(pid: int) -> list[int]:
    try:
        tasks = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - keepers do without pathlib
    except (FileNotFoundError, ProcessLookupError):
        return []
    lists = [read(f"{pid}/task/{task}/children") for task in tasks]
    return [int(child) for child in b" ".join(lists).split()]


def _children_by_parent() -> dict[int, list[int]]:
    """The same for everybody by one look at all processes."""
    found: dict[int, list[int]] = {}
    for pid in pids():
        if stat := read_stat(pid):
            found.setdefault(stat.parent, []).append(pid)
    return found


def living_below(root: int, *, scan: bool = False) -> list[Process]:
    """Every living process below `root`, parents first.

    The kernel's list of children is an option of its configuration; `scan` does without it.
    """
    own = os.getpid()
    scan = scan or not os.access(f"/proc/{own}/task/{own}/children", os.R_OK)
    by_parent = _children_by_parent() if scan else {}
    found: dict[int, int] = {root: 0}
    todo = [root]
    for parent in todo:  # grows while it is walked
        for child in by_parent.get(parent, []) if scan else _children(parent):
            stat = read_stat(child)
            # Its parent is looked at again: the pid may be a stranger's by now.
            if stat and stat.is_alive and stat.parent in found and child not in found:
                found[child] = stat.started
                todo.append(child)
    del found[root]
    return list(found.items())


def descendants(pid: int) -> list[int]:
    """The pids of every living process below this one, parents first."""
    return [process[0] for process in living_below(pid)]


def tree(pid: int) -> list[Process]:
    """The process, if it lives, and every living one below it, parents first."""
    stat = read_stat(pid)
    root = [(pid, stat.started)] if stat and stat.is_alive else []
    return root + living_below(pid)


def send_signals(process: Process, *signals: int) -> bool:
    """Signal this very process, not a later one with its pid; False if that is not permitted."""
    pid, started = process
    if pid <= 1 or pid == os.getpid():
        return False
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        if start_time(pid) == started:
            for number in signals:
                signal.pidfd_send_signal(fd, number)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    finally:
        os.close(fd)
    return True


def find_by_environ(name: str, value: str) -> list[int]:
    """Our own processes that were started with this variable; closed ones are passed over."""
    wanted = os.fsencode(f"{name}={value}")
    own, user = os.getpid(), os.geteuid()
    found = []
    for pid in pids():
        try:
            is_ours = os.stat(f"/proc/{pid}").st_uid == user  # noqa: PTH116 - no pathlib here
        except (FileNotFoundError, ProcessLookupError):
            continue
        if is_ours and pid != own and wanted in read(f"{pid}/environ").split(b"\0"):
            found.append(pid)
    return found


def environ_of(pid: int, prefix: str) -> dict[str, str]:
    """The variables with this prefix that a process was started with; empty if it is gone."""
    found: dict[str, str] = {}
    for pair in read(f"{pid}/environ").split(b"\0"):
        name, _, value = os.fsdecode(pair).partition("=")
        if name.startswith(prefix):
            found[name] = value
    return found


def user_of(pid: int) -> int | None:
    """The user that a process runs as, also of one that is closed to us."""
    for line in read(f"{pid}/status").splitlines():
        if line.startswith(b"Uid:"):
            return int(line.split()[2])  # the effective one
    return None


def command_line(pid: int) -> list[bytes]:
    return read(f"{pid}/cmdline").split(b"\0")


def stop_tree(pid: int, *, root: bool = True) -> None:
    """Stop a process (`root=False`: not itself) and all below it; returns when all are stopped."""
    stopped: set[Process] = set()
    until = time.monotonic() + STOP_S
    while True:
        processes = tree(pid) if root else living_below(pid)
        fresh = [process for process in processes if process not in stopped]
        for process in fresh:
            send_signals(process, signal.SIGSTOP)
        stopped.update(fresh)
        if not fresh:
            # One that is not yet still may be in the middle of a fork.
            if all(_is_still(pid) for pid, _ in stopped):
                return
            if time.monotonic() > until:
                return
            time.sleep(0.001)


def _is_still(pid: int) -> bool:
    """Stopped or gone. One that waits for its vfork is not shown as stopped before its child,
    which was stopped before it became another program, continues."""
    stat = read_stat(pid)
    if stat is None or stat.state in "TtZX":
        return True
    children = [read_stat(child) for child in _children(pid)] if stat.state == "D" else []
    return any(child is not None and child.state in "Tt" for child in children)


def continue_tree(pid: int, *, root: bool = True) -> None:
    """Continue a stopped tree, children first, so that no parent finds them stopped."""
    for process in reversed(tree(pid) if root else living_below(pid)):
        send_signals(process, signal.SIGCONT)


def _still_alive(known: list[Process]) -> list[Process]:
    """Those of them that live, with what they have started meanwhile, in order."""
    alive = [process for process in known if is_alive(*process)]
    return list(dict.fromkeys(alive + [new for pid, _ in alive for new in living_below(pid)]))


def _kill_round(known: list[Process]) -> list[Process]:
    left = _still_alive(known)
    for process in left:
        send_signals(process, signal.SIGKILL)
    return left


def kill_tree(pid: int, *, timeout_s: float = KILL_S) -> list[int]:
    """SIGKILL a process and all below it; returns those that would not die in time."""
    stop_tree(pid)  # nothing forks, or sees its child die and continues
    left = tree(pid)
    until = time.monotonic() + timeout_s
    while (left := _kill_round(left)) and time.monotonic() < until:
        time.sleep(0.001)
    return [pid for pid, _ in left]


async def end_tree(pid: int, grace_s: float) -> list[int]:
    """SIGTERM a process that has no keeper and all below it, after the grace SIGKILL.

    Returns those that would not die.
    """
    import asyncio  # noqa: PLC0415 - keepers import this file and must start fast

    left = tree(pid)
    for process in left:
        send_signals(process, signal.SIGTERM, signal.SIGCONT)
    until = time.monotonic() + grace_s
    while (left := _still_alive(left)) and time.monotonic() < until:
        await asyncio.sleep(ROUND_S)
    for survivor, _ in left:
        stop_tree(survivor)
    until = time.monotonic() + KILL_S
    while (left := _kill_round(left)) and time.monotonic() < until:
        await asyncio.sleep(ROUND_S)
    return [pid for pid, _ in left]


def kill_by_environ(name: str, value: str) -> bool:
    """SIGKILL every process that has this variable and all below them; True: some were there."""
    found = find_by_environ(name, value)
    for process in [process for pid in found for process in tree(pid)]:
        send_signals(process, signal.SIGKILL)
    return bool(found)


def load_subreaper() -> Callable[[], None]:
    """The function that makes its caller the new parent of all orphans below it.

    Loaded apart from its use: a nursery loads it once for all the keepers it forks.
    """
    import ctypes  # noqa: PLC0415 - slow to import, and few processes need it

    prctl = ctypes.CDLL(None, use_errno=True).prctl

    def become() -> None:
        if prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    return become


def become_subreaper() -> None:
    """From now on, orphans among our descendants become our children."""
    load_subreaper()()


def dies_with_us() -> Callable[[], None]:
    """For `preexec_fn`: a child that must not outlive this process, whatever kills it."""
    import ctypes  # noqa: PLC0415 - slow to import, and few processes need it

    prctl, parent = ctypes.CDLL(None, use_errno=True).prctl, os.getpid()

    def tie() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it died just now
            os._exit(1)

    return tie
