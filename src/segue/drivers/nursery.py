"""The nursery: gives every run a keeper.

This file is run by path in a bare interpreter (`python -I -S nursery.py FD`; standard library
only, imports as few as possible: a fork copies them). It reads launch orders, one line each: a
keeper and JSON. The supervisor names a keeper whose last run it knows to be over, so that no
signal that was meant for that run reaches the next one; for 0 a keeper is forked. What keepers
tell is passed on. When the supervisor's end of the socket is closed the nursery exits; keepers
without a run exit with it, the others after their run.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import sys
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:  # as in typing, which is slow to import; annotations are never evaluated here
    from typing import Any

    from segue.drivers.keeper import Order

if TYPE_CHECKING or __name__ != "__main__":
    from segue.drivers import processes, records, streams
    from segue.drivers.keeper import Keeper
else:  # run by path, without the package: nothing of Segue but the files beside this one
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    import processes
    import records
    import streams
    from keeper import Keeper


class Nursery:
    """Gives every order to a keeper, until the supervisor is gone.

    What every keeper needs is made here, once: a fork hands it on for nothing.
    """

    def __init__(self, socket: int) -> None:
        self.socket = socket
        os.set_inheritable(socket, False)
        self.become_subreaper = processes.load_subreaper()
        self.boot = processes.boot_id()
        self.heard, self.tell = os.pipe()  # what keepers tell, a JSON line each
        self.orders: dict[int, int] = {}  # each keeper's pipe
        self.idle: set[int] = set()
        self.wake, wake_in = os.pipe()
        os.set_blocking(self.wake, False)
        os.set_blocking(wake_in, False)
        signal.set_wakeup_fd(wake_in, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # the wake-up is what counts
        # What is ignored stays so in the agent unless the request says otherwise; handlers do not.
        self.signals = {n for n in signal.valid_signals() if signal.getsignal(n) == signal.SIG_IGN}
        gc.freeze()  # else a collection in a keeper would touch, and so copy, every page

    def serve(self) -> None:
        ordered = told = b""
        poll = select.poll()
        for fd in (self.socket, self.heard, self.wake):
            poll.register(fd, select.POLLIN)
        while True:
            ready = {fd for fd, _event in poll.poll()}
            if self.heard in ready:
                *lines, told = (told + os.read(self.heard, streams.CHUNK_BYTES)).split(b"\n")
                self.pass_on(lines)
            if self.wake in ready:
                self.reap()
            if self.socket in ready:
                data = self.receive()
                if not data:
                    self.dismiss()
                    return
                *lines, ordered = (ordered + data).split(b"\n")
                for line in lines:
                    self.give(line)

    def receive(self) -> bytes:
        try:
            return os.read(self.socket, streams.CHUNK_BYTES)
        except ConnectionResetError:
            return b""

    def answer(self, content: dict[str, Any]) -> None:
        with suppress(BrokenPipeError):  # the supervisor is gone; the next one finds the claim
            os.write(self.socket, json.dumps(content).encode() + b"\n")

    def pass_on(self, lines: list[bytes]) -> None:
        """What keepers tell goes to the supervisor."""
        with suppress(BrokenPipeError):
            for line in lines:
                os.write(self.socket, line + b"\n")
        for line in lines:
            told = json.loads(line)
            if told["ended"]:
                self.idle.add(told["keeper"])

    def reap(self) -> None:
        """Keepers that died: the supervisor must know."""
        with suppress(BlockingIOError):
            os.read(self.wake, streams.CHUNK_BYTES)
        with suppress(ChildProcessError):
            while pid := os.waitpid(-1, os.WNOHANG)[0]:
                if pid in self.orders:
                    os.close(self.orders.pop(pid))
                    self.idle.discard(pid)
                    self.answer({"run": None, "keeper": pid, "error": None, "ended": True})

    def dismiss(self) -> None:
        """The supervisor is gone: keepers without a run go with us, before us."""
        for fd in self.orders.values():
            os.close(fd)
        for pid in self.idle:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)

    def give(self, line: bytes) -> None:
        """An order, to the keeper it names, or to a new one."""
        named, _, order = line.partition(b" ")
        if (pid := int(named)) in self.idle:
            self.idle.remove(pid)
            with suppress(BrokenPipeError):  # it was killed; reaped soon
                written = memoryview(order + b"\n")
                while written:
                    written = written[os.write(self.orders[pid], written) :]
                return
        self.bear(order)

    def bear(self, line: bytes) -> None:
        taken, given = os.pipe()
        try:
            pid = os.fork()
        except OSError as error:
            os.close(taken)
            os.close(given)
            run = json.loads(line)["run"]
            self.answer({"run": run, "keeper": 0, "error": records.describe(error), "ended": False})
            return
        if pid:
            os.close(taken)
            self.orders[pid] = given
            return
        code = 1
        try:
            for fd in (self.socket, self.heard, self.wake, given, *self.orders.values()):
                os.close(fd)
            self.be_keeper(line, taken)
            code = 0
        finally:
            os._exit(code)  # never back into the nursery's loop

    def be_keeper(self, line: bytes, orders: int) -> None:
        """One keeper's life, in a process just forked."""
        pid = os.getpid()
        started = processes.start_time(pid)
        os.setsid()
        self.become_subreaper()
        keeper = Keeper(self.signals)
        claim = {"pid": pid, "started": started, "boot": self.boot}
        buffer = line + b"\n"
        while buffer:
            *lines, buffer = buffer.split(b"\n")
            for order in lines:
                self.keep(keeper, json.loads(order), claim)
            buffer += os.read(orders, streams.CHUNK_BYTES)
            while buffer and b"\n" not in buffer:
                more = os.read(orders, streams.CHUNK_BYTES)
                if not more:
                    return
                buffer += more

    def keep(self, keeper: Keeper, order: Order, claim: dict[str, Any]) -> None:
        """One run: claim it, report the start, keep it, report the end."""
        told = {"run": order["run"], "keeper": claim["pid"], "started": claim["started"]}

        def tell(error: dict[str, Any] | None, ended: bool) -> None:
            with suppress(BrokenPipeError):  # the nursery is gone; claim and record say the same
                os.write(
                    self.tell, json.dumps({**told, "error": error, "ended": ended}).encode() + b"\n"
                )

        try:
            keeper.begin(order, claim)
        except Exception as error:  # noqa: BLE001 - reported to the supervisor; nothing was started
            tell(records.describe(error), True)
            return
        keeper.keep(lambda: tell(None, False))
        tell(None, True)


if __name__ == "__main__":
    Nursery(int(sys.argv[1])).serve()
