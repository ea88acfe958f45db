"""The keeper: the process that stands between Segue and one run of an agent.

Segue may be killed at any time; its agents continue, their output stays readable and
their exit code is not lost, because each run has a keeper of its own. Theory of operation:

    supervisor ──orders──▶ nursery ──fork──▶ keeper ──posix_spawn──▶ agent ──▶ its children

A *keeper* has one run at a time. It is the subreaper of all that its agent starts: whoever
loses its parent becomes the keeper's child, in whatever session, with whatever environment. So
"waitpid knows no child" means that nothing of the run is left. It goes through these steps:

1. claim: make a file that nobody else has made. Whoever is first wins: a supervisor that wants
   to know that a run never starts takes the same name (`runs.recover`).
2. answer: its pid and start time, to the supervisor if there still is one.
3. start the agent in a session of its own, copy its output to the log in bounded memory. What
   the disk does not take is drained and counted: a full disk must not block an agent. Its end is
   kept in mind, and goes into the end record: an agent reports at the end of its output. Secrets
   that the agent was given are masked on the way; they came with the order, by memory alone.
   An interactive run reads from a FIFO that never ends by itself: the bytes of `first` come
   first, then what supervisors send; a file beside it and SIGUSR1 make its end of file.
4. note in the claim how the agent's own process ended: should this keeper be killed while it
   cleans up, work that ended well is not done again.
5. end the tree when the agent's own process has ended, or on SIGTERM: SIGTERM and SIGCONT to
   all, a grace, SIGKILL until none is left. SIGQUIT, or a second SIGTERM: SIGKILL at once.
6. leave the end record, in the bytes and under a new name of the claim; tell; next order.

`nursery.py` has the process around it. Standard library only, imports as few as possible.
"""

from __future__ import annotations

import binascii
import errno
import fcntl
import os
import select
import signal
import time
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:  # as in typing, which is slow to import; annotations are never evaluated here
    from collections.abc import Callable
    from typing import Any

    from segue.drivers.masking import Masker

    Order = dict[str, Any]

if TYPE_CHECKING or __name__ != "keeper":
    from segue.drivers import processes, records, streams
else:  # imported by the nursery, without the package
    import processes
    import records
    import streams

FIFO_BYTES = 1 << 20
DRAIN_CHUNKS_MAX = 256  # what a pipe may hold at most (1 MiB without privileges), and then some
COPY_CHUNKS_MAX = 16  # of one output, before anything else gets its turn
LINGER_S = 0.1  # leftovers that are about to end by themselves (a `tee` at the end of its input)
LEFTOVER_GRACE_S = 1.0
KILL_ROUND_S = 0.02
OVER = ".over"  # beside a FIFO: nothing more will be sent
GIVE_UP_S = 1.0  # how long those are tried that we may not signal


class Keeper:
    """One run from its claim to its end record; then the next one."""

    def __init__(self, signals: set[signal.Signals]) -> None:
        self.signals = signals  # that the agent gets with their defaults
        self.wake, wake_in = os.pipe()
        os.set_blocking(self.wake, False)
        os.set_blocking(wake_in, False)
        signal.set_wakeup_fd(wake_in, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # the wake-up is what counts
        signal.signal(signal.SIGTERM, lambda *_: self.ask(1))
        signal.signal(signal.SIGQUIT, lambda *_: self.ask(2))
        signal.signal(signal.SIGUSR1, lambda *_: self.end_input())
        self.asked = 0
        self.fifo_end: int | None = None
        self.is_input_over = False

    def begin(self, order: Order, claim: dict[str, Any]) -> None:
        """Claim a run, with nothing left over from the one before."""
        self.asked = 0
        self.order = order
        self.claimed = claim
        self.claim = records.claim(order["claim"], claim, order["spare"])
        self.agent = 0
        self.status: int | None = None
        self.by = "itself"
        self.childless = True
        self.leftovers = self.survivors = 0
        self.error: dict[str, Any] | None = None
        self.outputs: list[streams.Output] = []
        self.feed: streams.Feed | None = None
        self.fifo: str | None = None
        self.fifo_end = None
        self.is_input_over = False
        self.actions: list[tuple[Any, ...]] = []
        self.handed: list[int] = []  # descriptors that are the agent's alone once it runs
        self.held: list[int] = []  # descriptors of this run that are ours
        self.poll = select.poll()
        self.poll.register(self.wake, select.POLLIN)

    def ask(self, weight: int) -> None:
        self.asked += weight  # 1: end the tree; 2 and more: at once

    def end_input(self) -> None:
        """The agent is to find an end of file, if it is this run that is meant."""
        self.is_input_over = self.fifo is not None and os.path.exists(self.fifo + OVER)

    def keep(self, answer: Callable[[], None]) -> None:
        """Everything between the claim and the end record."""
        try:
            try:
                self.prepare()
            finally:
                answer()
            if not self.asked:
                self.spawn()
            while self.status is None and not self.asked:
                self.turn()
        except Exception as error:  # noqa: BLE001 - noted in the record; the tree ends anyway
            self.error = records.describe(error)
        if self.status is not None:
            self.drain()
            records.note(self.claim, {**self.claimed, **self.record()})
        self.end_tree()
        self.drain()
        for output in self.outputs:
            output.finish()
        self.close_fifo()
        for fd in (*self.handed, *self.held):
            os.close(fd)
        self.leave_record()

    def drain(self) -> None:
        """Copy what the pipes hold now."""
        for output in self.outputs:
            for _ in range(DRAIN_CHUNKS_MAX):
                if not output.copy():
                    break

    # starting

    def prepare(self) -> None:
        """Open all that the agent's three descriptors need."""
        order = self.order
        stdin = self.open_stdin()
        if order["pty"]:
            import termios  # noqa: PLC0415 - few runs need it

            master, slave = os.openpty()
            self.held.append(slave)
            # The slave stays open here too, else the master would report a hang-up, again and
            # again, while no process has the terminal open.
            termios.tcsetwinsize(slave, tuple(order["pty"]))
            # Opened by the agent itself, as leader of a new session: its controlling terminal.
            self.actions = [
                (os.POSIX_SPAWN_OPEN, 0, os.ttyname(slave), os.O_RDWR, 0),
                (os.POSIX_SPAWN_DUP2, 0, 1),
                (os.POSIX_SPAWN_DUP2, 0, 2),
            ]
            self.add_output(master, order["log"])
            if order["stdin"] is not None:
                self.feed = streams.Feed(stdin, master)
                self.held.append(stdin)
        else:
            if stdin:
                self.actions = [(os.POSIX_SPAWN_DUP2, stdin, 0)]
                self.handed.append(stdin)
            self.add_pipe(order["log"], *([1] if order["err"] else [1, 2]))
        if order["err"]:
            self.add_pipe(order["err"], 2)

    def open_stdin(self) -> int:
        path = self.order["stdin"]
        if not self.order["interactive"]:
            return os.open(path, os.O_RDONLY) if path else 0  # the nursery's own: /dev/null
        os.mkfifo(path, 0o600)
        self.fifo = path
        # Read and write: it never ends, whichever processes open and close the other end.
        held = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        with suppress(PermissionError):  # of a user with many big pipes: the usual size will do
            fcntl.fcntl(held, fcntl.F_SETPIPE_SZ, FIFO_BYTES)
        if self.order["pty"]:
            return held
        self.fifo_end = held
        if self.order["first"]:
            first = os.open(self.order["first"], os.O_RDONLY)
            self.held.append(first)
            self.feed = streams.Feed(first, held)
        return os.open(path, os.O_RDONLY)

    def add_pipe(self, path: str, *numbers: int) -> None:
        source, target = os.pipe()
        self.actions += [(os.POSIX_SPAWN_DUP2, target, number) for number in numbers]
        self.handed.append(target)
        self.add_output(source, path)

    def add_output(self, source: int, path: str) -> None:
        self.held.append(source)
        masker = load_masker(self.order["masks"]) if self.order["masks"] else None
        output = streams.Output(source, path, self.order["log_bytes_max"], masker)
        self.held.append(output.log)
        self.outputs.append(output)
        self.poll.register(source, select.POLLIN)

    def spawn(self) -> None:
        order = self.order
        os.chdir(order["cwd"])
        self.agent = os.posix_spawn(
            find_program(order["argv"][0], order["env"]),
            order["argv"],
            order["env"],
            file_actions=self.actions,
            setsid=True,
            setsigmask=(),
            setsigdef=self.signals,
        )
        self.childless = False
        while self.handed:
            os.close(self.handed.pop())
        os.chdir("/")  # the agent's folder can be removed or unmounted without us

    # while it runs

    def turn(self, wait_s: float | None = None) -> None:
        """Wait for something to happen, and deal with it."""
        feed = self.feed
        if feed:  # ask for room in the pty or for bytes to type, whichever is lacking
            is_hungry = feed.open and not feed.pending
            self.poll.register(feed.source, select.POLLIN if is_hungry else 0)
            # A pty's master has output for us as well; the FIFO's bytes are the agent's.
            ours = 0 if feed.master == self.fifo_end else select.POLLIN
            self.poll.register(feed.master, ours | (select.POLLOUT if feed.pending else 0))
        ready = dict(self.poll.poll(None if wait_s is None else wait_s * 1000))
        for output in self.outputs:
            if ready.get(output.source, 0) & ~select.POLLOUT and self.copy(output) is None:
                self.poll.unregister(output.source)  # all its writers are gone
        if feed and (feed.source in ready or ready.get(feed.master, 0) & select.POLLOUT):
            feed.turn()
        if self.wake in ready:
            os.read(self.wake, streams.CHUNK_BYTES)
        if self.is_input_over and not (feed and (feed.open or feed.pending)):
            self.close_fifo()
        self.reap()

    def copy(self, output: streams.Output) -> bool | None:
        """A chunk; of an output that fills its pipe, several."""
        left = COPY_CHUNKS_MAX
        while (is_more := output.copy()) and output.is_big and left > 1:
            left -= 1
        return is_more

    def close_fifo(self) -> None:
        if self.fifo_end is not None:
            if self.feed:
                self.poll.unregister(self.feed.master)
                self.poll.unregister(self.feed.source)
                self.feed = None
            os.close(self.fifo_end)
            self.fifo_end = None

    def reap(self) -> None:
        agent_ended = False
        try:
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self.agent:
                    self.status = ended[1]
                    agent_ended = True
        except ChildProcessError:
            self.childless = True
        if agent_ended and not self.childless:
            self.leftovers = max(0, len(self.living()) - self.layers())

    # ending

    def living(self) -> list[processes.Process]:
        return processes.living_below(os.getpid())

    def layers(self) -> int:
        """How many of the living are the sandbox's own, first in their list. Behind the agent
        only the first process of its namespace is left, which waits for the others."""
        layers: int = self.order["layers"]
        return layers if self.status is None else min(1, layers)

    def end_tree(self) -> None:
        grace_s = self.order["grace_s"]
        if self.status is None and (self.agent or self.asked):
            self.by = "keeper"
        else:
            grace_s = min(grace_s, LEFTOVER_GRACE_S)
            self.wait(LINGER_S)
        if not self.childless and self.asked < 2:
            living = self.living()
            # A sandbox whose own processes end takes the agent with it, without any grace.
            for process in living[self.layers() :] or living:
                processes.send_signals(process, signal.SIGTERM, signal.SIGCONT)
            self.wait(grace_s)
        give_up_at = time.monotonic() + GIVE_UP_S
        while not self.childless:
            refused: set[processes.Process] = set()
            killed: set[processes.Process] = set()
            # Again until none is new: what is killed does not fork any more. Parents first, so
            # that none of them sees its child die and continues.
            while fresh := [p for p in self.living() if p not in killed | refused]:
                for process in fresh:
                    is_done = processes.send_signals(process, signal.SIGKILL)
                    (killed if is_done else refused).add(process)
            if killed:
                give_up_at = time.monotonic() + GIVE_UP_S
            elif time.monotonic() > give_up_at:  # another user's, by sudo: the record says so
                self.survivors = max(1, len(refused))
                return
            self.turn(KILL_ROUND_S)

    def wait(self, wait_s: float) -> None:
        """Until no child is left, or time is up, or it is wanted at once."""
        until = time.monotonic() + wait_s
        while not self.childless and self.asked < 2 and time.monotonic() < until:
            self.turn(max(0.0, until - time.monotonic()))

    def record(self) -> dict[str, Any]:
        """How the run ended, as far as it is known now."""
        code = signal_number = None
        if self.status is not None:
            if os.WIFSIGNALED(self.status):
                signal_number = os.WTERMSIG(self.status)
            else:
                code = os.WEXITSTATUS(self.status)
        record = {
            "code": code,
            "signal": signal_number,
            "ended_at": time.time(),
            "by": self.by,
            "leftovers": self.leftovers,
            "survivors": self.survivors,
            "log_bytes": self.outputs[0].kept_bytes if self.outputs else 0,
            "lost_bytes": sum(output.lost_bytes for output in self.outputs),
            "lost_tail": "",
            "tail_bytes": 0,
            "error": self.error,
        }
        if self.outputs and self.error is None:  # a long error leaves no room for it
            tail = self.outputs[0].lost_tail()
            record["lost_tail"] = binascii.b2a_base64(tail, newline=False).decode()
            whole = self.outputs[0].lost_tail(records.TAIL_BYTES_MAX)
            if len(whole) > len(tail):
                record["tail_bytes"] = records.keep_tail(self.claim, whole)
        return record

    def leave_record(self) -> None:
        records.leave(self.claim, self.order["claim"], self.order["end"], self.record())
        if self.fifo:
            for path in (self.fifo, self.fifo + OVER):
                with suppress(FileNotFoundError):
                    os.unlink(path)


def load_masker(values: list[str]) -> Masker:
    """Few runs have secrets: the others do not pay for the import."""
    if TYPE_CHECKING or __name__ != "keeper":
        from segue.drivers import masking  # noqa: PLC0415
    else:
        import masking  # noqa: PLC0415
    return masking.Masker(values)


def find_program(name: str, env: dict[str, str]) -> str:
    """Look a command up as the agent itself would: its PATH, its folder."""
    if "/" in name:
        return name
    number = errno.ENOENT
    for folder in env.get("PATH", os.defpath).split(":"):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            if os.access(path, os.X_OK):
                return path
            number = errno.EACCES
    raise OSError(number, os.strerror(number), name)
