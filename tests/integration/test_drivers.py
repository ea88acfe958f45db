"""Runs with real processes: nursery, keepers, agents, and supervisors that are killed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from kit.waiting import until
from segue.dialects.events import Event, Said
from segue.drivers import launcher as launcher_module
from segue.drivers import processes
from segue.drivers.follow import Follower
from segue.drivers.inotify import FolderWatch
from segue.drivers.launcher import End, Launcher, Live, Lost, Order, Revoked, read_end, recover
from segue.drivers.records import RECORD_BYTES
from segue.engine.clock import SystemClock
from segue.engine.executors import Channel, Ended, Heard, Job
from segue.engine.executors.process import ProcessExecutor
from segue.errors import AgentError

T = TypeVar("T")
WAIT_S = 90.0


def is_running(pid: int) -> bool:
    stat = processes.read_stat(pid)
    return stat is not None and stat.is_alive


class Bench:
    """A folder for runs, and a launcher whose loop stands still between two calls."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runner = asyncio.Runner()
        self.launcher = Launcher()
        self.lives: list[Live] = []
        self.supervisors: list[subprocess.Popen[str]] = []
        self.count = 0

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        async def bounded() -> T:
            async with asyncio.timeout(WAIT_S):
                return await work

        return self.runner.run(bounded())

    def order(self, *argv: str, **more: Any) -> Order:
        self.count += 1
        run = f"test-{os.getpid()}-{self.count}"
        folder = more.pop("folder", self.folder)
        facts: dict[str, Any] = {
            "env": {"PATH": os.environ["PATH"], "SEGUE_RUN": run},
            "cwd": self.folder,
            "log": folder / f"{run}.log",
            "claim": folder / f"{run}.claim",
            "end": folder / f"{run}.end",
        }
        return Order(run=run, argv=argv, **(facts | more))

    def shell(self, script: str, **more: Any) -> Order:
        return self.order("/bin/sh", "-c", script, **more)

    def launch(self, order: Order) -> Live:
        live = self.do(self.launcher.launch(order))
        self.lives.append(live)
        return live

    def wait(self, order: Order, live: Live) -> End:
        self.do(self.launcher.ended(live))
        end = read_end(order.end)
        assert end is not None
        return end

    def run(self, order: Order) -> tuple[End, bytes]:
        end = self.wait(order, self.launch(order))
        return end, order.log.read_bytes() if order.log.is_file() else b""

    def pid_in(self, name: str) -> int:
        """The pid that an agent wrote to a file."""
        path = self.folder / name
        return int(until(lambda: path.exists() and path.read_text().strip()))

    def agent_of(self, live: Live) -> int:
        return until(lambda: processes.descendants(live.keeper))[0]

    def close(self) -> None:
        for supervisor in self.supervisors:
            kill(supervisor)
        for live in self.lives:
            self.do(self.launcher.end(live, now=True))
        self.do(self.launcher.close())
        self.runner.close()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    bench.close()


# --- how runs end by themselves ---------------------------------------------------------------


@pytest.mark.parametrize("code", [0, 3, 255])
def test_exit_code(bench: Bench, code: int) -> None:
    """The end record has the agent's exit code."""
    end, _ = bench.run(bench.shell(f"exit {code}"))
    assert (end.code, end.signal, end.by, end.error) == (code, None, "itself", None)
    assert abs(end.ended_at - time.time()) < 60


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_signal(bench: Bench, number: int) -> None:
    """An agent that dies of a signal has no exit code but the signal, and did it by itself."""
    end, _ = bench.run(bench.shell(f"kill -{int(number)} $$"))
    assert (end.code, end.signal, end.by) == (None, number, "itself")


def test_no_such_command(bench: Bench) -> None:
    """A command that is not on the agent's own PATH is told by name, not as an exit code."""
    end, _ = bench.run(bench.order("no-such-command"))
    assert end.code is None
    assert end.error is not None
    assert (end.error.strerror, end.error.path) == ("No such file or directory", "no-such-command")
    order = bench.order("true", env={"PATH": "/nowhere", "SEGUE_RUN": "r"})
    end, _ = bench.run(order)
    assert end.error is not None
    assert end.error.path == "true"


def test_what_cannot_be_started_says_which_file(bench: Bench) -> None:
    """A missing folder, a missing stdin and a file that is no program are each told by path."""
    plain = bench.folder / "plain"
    plain.write_text("words\n")
    cases: tuple[tuple[dict[str, Any], Path], ...] = (
        ({"cwd": bench.folder / "no-folder"}, bench.folder / "no-folder"),
        ({"stdin": bench.folder / "no-stdin"}, bench.folder / "no-stdin"),
        ({"argv": (str(plain),)}, plain),
    )
    for more, path in cases:
        order = bench.order(*more.pop("argv", ("true",)), **more)
        end, _ = bench.run(order)
        assert end.error is not None
        assert end.error.path == str(path)
        assert end.code is None


def test_environment_and_folder_of_an_agent(bench: Bench) -> None:
    """An agent has the ordered environment and no other, and works in the ordered folder."""
    _, log = bench.run(bench.order("env"))
    assert sorted(line.split(b"=")[0] for line in log.splitlines()) == [b"PATH", b"SEGUE_RUN"]
    _, log = bench.run(bench.order("pwd"))
    assert log.decode().strip() == str(bench.folder)


def test_signals_of_an_agent(bench: Bench) -> None:
    """Signals that the supervisor ignores or blocks are as usual for its agents."""
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
    try:
        _, log = bench.run(bench.order("grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"))
    finally:
        signal.signal(signal.SIGUSR1, before)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR2})
    internal = 1 << 31 | 1 << 32  # the C library's own two cannot be changed
    assert [int(line.split()[1], 16) & ~internal for line in log.splitlines()] == [0, 0]


def open_in(pid: int | None) -> list[str]:
    """What a process has open; it may close something while we look."""
    found = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.append(str(entry.readlink()))
    return found


def test_no_descriptor_leaks(bench: Bench) -> None:
    """Agent, keeper and nursery have no descriptor of the supervisor, not even an inheritable."""
    lock = bench.folder / "lock"
    with lock.open("w") as file:
        os.set_inheritable(file.fileno(), True)
        order = bench.order("sleep", "1000", err=bench.folder / "err")
        live = bench.launch(order)
        agent = bench.agent_of(live)
        # It opens and closes libraries while it starts; a leak would stay.
        folder = Path(f"/proc/{agent}/fd")
        until(lambda: sorted(entry.name for entry in folder.iterdir()) == ["0", "1", "2"])
        for pid in (bench.launcher.nursery, live.keeper):
            held = open_in(pid)
            assert str(lock) not in held
            assert held.count("/dev/null") >= 3
        assert not [name for name in open_in(live.keeper) if name.startswith("socket")]
        until(lambda: str(Path(f"/proc/{live.keeper}/cwd").readlink()) == "/")


# --- output and input ---------------------------------------------------------------------------


def test_much_output_in_little_memory(bench: Bench) -> None:
    """50 MB of output arrive whole while the keeper stays small."""
    order = bench.shell("head -c 50000000 /dev/zero; sleep 1000")
    live = bench.launch(order)
    until(lambda: order.log.exists() and order.log.stat().st_size == 50_000_000)
    status = Path(f"/proc/{live.keeper}/status").read_text()
    peak_kib = int(status.split("VmHWM:")[1].split()[0])
    assert peak_kib < 30_000
    bench.do(bench.launcher.end(live))
    end = read_end(order.end)
    assert end is not None
    assert (end.log_bytes, end.lost_bytes) == (50_000_000, 0)


def test_an_output_that_fills_its_pipe_gets_a_bigger_one(bench: Bench) -> None:
    """Neither the agent nor its keeper waits for the other so often; a quiet one keeps its own."""
    code = (
        "import fcntl, os, sys; size = lambda: fcntl.fcntl(1, fcntl.F_GETPIPE_SZ);"
        "was = size(); os.write(1, b'x' * 2_000_000); print(was, size(), file=open('sizes', 'w'))"
    )
    order = bench.shell(f'exec {sys.executable} -c "{code}"')
    bench.do(bench.launcher.ended(bench.launch(order)))
    before, after = map(int, (order.cwd / "sizes").read_text().split())
    assert (before, after) == (65_536, 1 << 20)
    assert order.log.stat().st_size == 2_000_000


def test_output_of_an_agent_that_ended_before_it_was_read(bench: Bench) -> None:
    """What a full pipe still holds when the agent has ended is all copied."""
    code = (
        "import fcntl, os, time; fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 1 << 20);"
        "[time.sleep(0.005) for _ in iter(lambda: os.path.exists('go'), True)];"
        "os.write(1, b'x' * 500_000)"
    )
    order = bench.order(sys.executable, "-c", code)
    live = bench.launch(order)
    agent = bench.agent_of(live)
    os.kill(live.keeper, signal.SIGSTOP)
    (bench.folder / "go").touch()
    until(lambda: not is_running(agent))
    os.kill(live.keeper, signal.SIGCONT)
    assert bench.wait(order, live).log_bytes == 500_000


def test_stderr_in_order_or_apart(bench: Bench) -> None:
    """Without `err` both outputs are one, in order; with it each has its own file."""
    script = "for i in 1 2 3; do echo o$i; echo e$i >&2; done"
    _, log = bench.run(bench.shell(script))
    assert log.split() == [b"o1", b"e1", b"o2", b"e2", b"o3", b"e3"]
    err = bench.folder / "err"
    end, log = bench.run(bench.shell(script, err=err))
    assert (log.split(), err.read_bytes().split()) == ([b"o1", b"o2", b"o3"], [b"e1", b"e2", b"e3"])
    assert end.log_bytes == len(log)


@pytest.mark.parametrize("apart", [False, True])
def test_reopened_outputs_lose_nothing(bench: Bench, apart: bool) -> None:
    """`> /dev/stdout` and `> /dev/stderr` add to the output and truncate nothing."""
    script = "echo a; echo b > /dev/stdout; echo c > /dev/stderr; echo d; echo e >&2"
    err = bench.folder / "err" if apart else None
    _, log = bench.run(bench.shell(script, err=err))
    if err:
        assert (log.split(), err.read_bytes().split()) == ([b"a", b"b", b"d"], [b"c", b"e"])
    else:
        assert log.split() == [b"a", b"b", b"c", b"d", b"e"]


def test_stdin_from_a_file_or_from_nothing(bench: Bench) -> None:
    """An agent reads its prompt and then the end of the file; without a prompt the end at once."""
    prompt = bench.folder / "prompt"
    prompt.write_bytes(b"do it\n" * 100_000)
    _, log = bench.run(bench.order("cat", stdin=prompt))
    assert log == prompt.read_bytes()
    end, log = bench.run(bench.order("cat"))
    assert (end.code, log) == (0, b"")


def test_interactive_stdin(bench: Bench) -> None:
    """An interactive agent is sent one line after the other, and never sees the end of input."""
    fifo = bench.folder / "fifo"
    order = bench.shell('while read x; do echo "got $x"; done', stdin=fifo, interactive=True)
    live = bench.launch(order)
    for word in (b"one", b"two"):
        bench.launcher.send(fifo, word + b"\n")
        until(lambda word=word: b"got " + word in order.log.read_bytes())
    bench.do(bench.launcher.end(live))
    with pytest.raises(AgentError):
        bench.launcher.send(fifo, b"three\n")
    assert not fifo.exists()


@pytest.mark.parametrize("size", [10, 3_000_000])
def test_first_bytes_and_the_end_of_input(bench: Bench, size: int) -> None:
    """An interactive agent finds its first bytes in its input, whole however long they are, then
    what is sent; and its end of file when that is asked for."""
    first, fifo = bench.folder / "first", bench.folder / "in"
    first.write_bytes(b"x" * size + b"\n")
    order = bench.shell(
        f"head -c {size + 1} | wc -c; echo listening; cat; echo over",
        stdin=fifo,
        first=first,
        interactive=True,
    )
    live = bench.launch(order)
    until(lambda: order.log.exists() and b"listening" in order.log.read_bytes())
    bench.launcher.send(fifo, b"more\n")
    until(lambda: b"more\n" in order.log.read_bytes())
    assert is_running(live.keeper)
    bench.launcher.end_input(live, fifo)
    bench.do(bench.launcher.ended(live))
    end = read_end(order.end)
    assert end and (end.code, end.by) == (0, "itself")
    assert order.log.read_text().split() == [str(size + 1), "listening", "more", "over"]
    assert sorted(path.name for path in bench.folder.glob("in*")) == []


def test_the_end_of_input_is_for_one_run_alone(bench: Bench) -> None:
    """A keeper that got another run meanwhile does not take the earlier run's end of input for it."""
    early = bench.launch(bench.shell("true", stdin=bench.folder / "in-1", interactive=True))
    bench.do(bench.launcher.ended(early))
    fifo = bench.folder / "in-2"
    order = bench.shell("cat", stdin=fifo, interactive=True)
    late = bench.launch(order)
    assert late.keeper == early.keeper
    os.kill(late.keeper, signal.SIGUSR1)
    bench.launcher.send(fifo, b"still here\n")
    until(lambda: order.log.exists() and b"still here" in order.log.read_bytes())
    bench.do(bench.launcher.end(late, now=True))


def test_output_over_the_limit_is_drained(bench: Bench) -> None:
    """Output past log_bytes_max is counted as lost and does not hold the agent up."""
    end, log = bench.run(bench.shell("head -c 1000000 /dev/zero; exit 4", log_bytes_max=1000))
    assert (end.code, len(log), end.log_bytes, end.lost_bytes) == (4, 1000, 1000, 999_000)


def test_a_long_last_line_that_no_log_could_take_is_there(bench: Bench) -> None:
    """A structured agent tells its result in one line, however long within bounds: it is behind the
    record of the end, whole; of longer ones nothing is, rather than half of one."""
    line = """printf '{{"result": "%0{}d"}}\\n' 7"""
    end, _log = bench.run(
        bench.shell("yes | head -c 9000;" + line.format(100_000), log_bytes_max=9)
    )
    told = end.lost_tail.splitlines()[-1]
    assert json.loads(told) == {"result": f"{7:0100000d}"}
    end, _log = bench.run(
        bench.shell("yes | head -c 9000;" + line.format(200_000), log_bytes_max=9)
    )
    assert end.lost_tail == b"\n"


def test_a_full_device_does_not_stop_an_agent(bench: Bench) -> None:
    """A log that takes no byte loses the output, not the agent."""
    end, _ = bench.run(bench.shell("head -c 300000 /dev/zero; exit 5", log=Path("/dev/full")))
    assert (end.code, end.log_bytes, end.lost_bytes) == (5, 0, 300_000)


def test_a_full_disk_keeps_the_exit_code(bench: Bench) -> None:
    """On a disk that fills up the agent runs to its end, and the end record is still written, with
    the last line in the room that was reserved for it."""
    disk = bench.folder / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(disk)]
    if os.geteuid() != 0 or subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("needs the right to mount")
    try:
        script = "head -c 1000000 /dev/zero; printf '\\n%050000d\\n' 7; exit 6"
        end, log = bench.run(bench.shell(script, folder=disk))
        assert end.code == 6
        assert 0 < len(log) == end.log_bytes < 256 * 1024
        assert end.lost_bytes == 1_050_002 - end.log_bytes
        assert end.lost_tail == f"\n{7:050000d}\n".encode()
        with pytest.raises(OSError, match="No space left"):
            bench.launch(bench.shell("touch started", folder=disk))
        assert not (bench.folder / "started").exists()
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


# --- terminals -------------------------------------------------------------------------------


def test_pty(bench: Bench) -> None:
    """On a pty all three descriptors are the agent's controlling terminal, of the given size."""
    script = "test -t 0 && test -t 1 && test -t 2 && stty size && echo mine > /dev/tty"
    end, log = bench.run(bench.shell(script, pty=(40, 123)))
    assert (end.code, log.split()) == (0, [b"40", b"123", b"mine"])


def test_pty_with_stderr_apart(bench: Bench) -> None:
    """With `err` only stderr leaves the terminal."""
    err = bench.folder / "err"
    end, log = bench.run(bench.shell("echo o; echo e >&2; ! test -t 2", pty=(24, 80), err=err))
    assert (end.code, log.split(), err.read_bytes()) == (0, [b"o"], b"e\n")


def test_all_output_of_a_pty_arrives(bench: Bench) -> None:
    """What an agent writes to its terminal right before it ends is not lost."""
    end, log = bench.run(bench.shell("seq 1 20000", pty=(24, 80)))
    assert log.split() == [str(i).encode() for i in range(1, 20001)]
    assert end.log_bytes == len(log)


def test_prompt_typed_into_a_pty(bench: Bench) -> None:
    """The bytes of a stdin file are typed into the terminal, however many."""
    prompt = bench.folder / "prompt"
    prompt.write_bytes(b"line\n" * 20_000 + b"last\n")
    script = 'n=0; while read x; do n=$((n+1)); test "$x" = last && break; done; echo "n=$n"'
    end, log = bench.run(bench.shell(f"stty -echo; {script}", pty=(24, 80), stdin=prompt))
    assert end.code == 0
    assert b"n=20001" in log


def test_a_keeper_sleeps_when_there_is_nothing_to_do(bench: Bench) -> None:
    """Once the prompt is typed the keeper waits without using the processor."""
    prompt = bench.folder / "prompt"
    prompt.write_bytes(b"word\n")
    order = bench.shell("read x; echo got; sleep 1000", pty=(24, 80), stdin=prompt)
    live = bench.launch(order)
    until(lambda: b"got" in order.log.read_bytes())

    def sleeps() -> bool:
        stats = [processes.read_stat(live.keeper) for _ in range(300)]
        return all(stat is not None and stat.state == "S" for stat in stats)

    until(sleeps)  # one that spins is running most of the time


def test_a_keeper_is_deaf_to_the_terminal(bench: Bench) -> None:
    """SIGINT and SIGHUP, as a terminal or a logout may send them, do not end a run."""
    order = bench.shell("while ! test -e go; do sleep 0.01; done; exit 16")
    live = bench.launch(order)
    for number in (signal.SIGINT, signal.SIGHUP):
        os.kill(live.keeper, number)
    (bench.folder / "go").touch()
    end = bench.wait(order, live)
    assert (end.code, end.by) == (16, "itself")


def test_ctrl_c_over_the_fifo(bench: Bench) -> None:
    """The byte 0x03, sent to an interactive run on a pty, interrupts the agent."""
    fifo = bench.folder / "fifo"
    script = "trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 0.02; done"
    order = bench.shell(script, pty=(24, 80), stdin=fifo, interactive=True)
    live = bench.launch(order)
    until(lambda: b"ready" in order.log.read_bytes())
    bench.launcher.send(fifo, b"\x03")
    end = bench.wait(order, live)
    assert (end.code, end.by) == (7, "itself")
    assert b"caught" in order.log.read_bytes()


# --- nothing is left behind -------------------------------------------------------------------


def test_a_daemon_with_another_environment_is_ended(bench: Bench) -> None:
    """A grandchild that forked twice, has its own session and an empty environment goes too."""
    script = """
        (setsid env -i /bin/sh -c 'echo $$ > daemon; exec sleep 1000' &)
        while ! test -s daemon; do :; done
    """
    end, _ = bench.run(bench.shell(script))
    assert not is_running(bench.pid_in("daemon"))
    assert (end.code, end.by, end.leftovers) == (0, "itself", 1)


def test_a_leftover_that_holds_the_output_does_not_hang_the_run(bench: Bench) -> None:
    """A child in the background that ignores SIGTERM and has the output open is soon killed."""
    began = time.monotonic()
    script = "(trap '' TERM; echo $$ > child; while :; do sleep 0.05; done) & exit 2"
    end, _ = bench.run(bench.shell(script))
    assert (end.code, end.by) == (2, "itself")
    assert end.leftovers >= 1
    assert time.monotonic() - began >= 1.0


def test_a_leftover_that_is_about_to_end_may_finish(bench: Bench) -> None:
    """What a `tee` in the background still has to write is not cut off."""
    end, log = bench.run(bench.shell("{ sleep 0.03; echo late; } & echo early"))
    assert (end.code, log.split()) == (0, [b"early", b"late"])


def test_end_on_request(bench: Bench) -> None:
    """A run that is asked to end gets SIGTERM and may end in its own way."""
    order = bench.shell("trap 'echo bye; exit 9' TERM; echo ready; while :; do sleep 0.02; done")
    live = bench.launch(order)
    until(lambda: b"ready" in order.log.read_bytes())
    bench.do(bench.launcher.end(live))
    end = read_end(order.end)
    assert end is not None
    assert (end.code, end.by) == (9, "keeper")
    assert b"bye" in order.log.read_bytes()


def test_who_ignores_sigterm_is_killed_after_the_grace(bench: Bench) -> None:
    """Agent and children that ignore SIGTERM live through the grace and no longer."""
    script = "trap '' TERM; sh -c 'echo $$ > child; sleep 1000' & echo ready; wait"
    order = bench.shell(script, grace_s=0.4)
    live = bench.launch(order)
    child = bench.pid_in("child")
    began = time.monotonic()
    bench.do(bench.launcher.end(live))
    assert time.monotonic() - began >= 0.4
    end = read_end(order.end)
    assert end is not None
    assert (end.signal, end.by) == (signal.SIGKILL, "keeper")
    assert not is_running(child)


def test_end_now(bench: Bench) -> None:
    """`now` does not wait for the grace, and the end record is there nevertheless."""
    order = bench.shell("trap '' TERM; echo ready; while :; do sleep 0.05; done", grace_s=1000.0)
    live = bench.launch(order)
    until(lambda: b"ready" in order.log.read_bytes())
    bench.do(bench.launcher.end(live, now=True))
    end = read_end(order.end)
    assert end is not None
    assert (end.signal, end.by) == (signal.SIGKILL, "keeper")


def test_a_late_request_does_not_end_the_next_run(bench: Bench) -> None:
    """Who asks for the end of a run that is just over, unread, does not hit the one after it."""
    live = bench.launch(bench.shell("while ! test -e over; do sleep 0.01; done"))
    assert bench.launcher._nursery is not None
    assert bench.launcher._nursery.transport is not None
    socket = bench.launcher._nursery.transport.get_extra_info("socket")
    second = bench.shell("echo ready; while ! test -e go; do sleep 0.01; done; exit 7")

    async def scene() -> Live:
        (bench.folder / "over").touch()
        until(lambda: select.select([socket], [], [], 0)[0])  # its end is told, and unread
        starting = asyncio.create_task(bench.launcher.launch(second))
        await asyncio.sleep(0)  # the order is on its way
        until(lambda: second.log.exists() and b"ready" in second.log.read_bytes())
        await bench.launcher.end(live)
        return await starting

    running = bench.do(scene())
    bench.lives.append(running)
    (bench.folder / "go").touch()
    end = bench.wait(second, running)
    assert (end.code, end.by) == (7, "itself")


def test_a_second_sigterm_means_now(bench: Bench) -> None:
    """Whoever asks a keeper twice need not wait for the grace."""
    script = "trap 'echo heard' TERM; echo ready; while :; do sleep 0.05; done"
    order = bench.shell(script, grace_s=1000.0)
    live = bench.launch(order)
    until(lambda: b"ready" in order.log.read_bytes())
    os.kill(live.keeper, signal.SIGTERM)
    until(lambda: b"heard" in order.log.read_bytes())
    os.kill(live.keeper, signal.SIGTERM)
    assert bench.wait(order, live).signal == signal.SIGKILL


def test_a_run_that_is_ended_before_its_agent_starts(bench: Bench) -> None:
    """A keeper that is asked to end between claim and start does not start the agent."""
    order = bench.shell("touch started", log=bench.folder / "log")
    os.mkfifo(order.log)  # the keeper waits in open() until somebody reads

    async def end_early() -> Live:
        task = asyncio.ensure_future(bench.launcher.launch(order))
        while not (order.claim.exists() and order.claim.read_bytes()):
            await asyncio.sleep(0.005)
        os.kill(json.loads(order.claim.read_bytes()[:RECORD_BYTES])["pid"], signal.SIGTERM)
        reader = os.open(order.log, os.O_RDONLY | os.O_NONBLOCK)
        try:
            return await task
        finally:
            os.close(reader)

    end = bench.wait(order, bench.do(end_early()))
    assert (end.code, end.signal, end.by, end.error) == (None, None, "keeper", None)
    assert not (bench.folder / "started").exists()


@pytest.mark.parametrize("with_keeper", [False, True])
def test_a_stopped_tree_is_ended(bench: Bench, with_keeper: bool) -> None:
    """A run that was stopped with SIGSTOP, its keeper too, ends when asked."""
    order = bench.shell("sh -c 'echo $$ > child; sleep 1000' & wait", grace_s=1000.0)
    live = bench.launch(order)
    child = bench.pid_in("child")
    processes.stop_tree(live.keeper, root=with_keeper)
    stat = processes.read_stat(child)
    assert stat is not None
    assert stat.state in "TD"  # D: waits for a stopped child of its own
    bench.do(bench.launcher.end(live))
    end = read_end(order.end)
    assert end is not None
    assert (end.signal, end.by) == (signal.SIGTERM, "keeper")
    assert not is_running(child)


def test_a_tree_that_keeps_forking_is_ended(bench: Bench) -> None:
    """Processes that fork faster than they are listed, deaf to SIGTERM, do not escape."""
    script = "trap '' TERM; echo ready; while :; do (setsid sleep 1000 &) ; done"
    order = bench.shell(script, grace_s=0.1)
    live = bench.launch(order)
    until(lambda: b"ready" in order.log.read_bytes())
    bench.do(bench.launcher.end(live))
    assert processes.find_by_environ("SEGUE_RUN", order.run) == []
    end = read_end(order.end)
    assert end is not None
    assert end.survivors == 0


# --- deaths ------------------------------------------------------------------------------------

SUPERVISOR = """
    import asyncio, json, os, sys
    from pathlib import Path
    from segue.drivers.launcher import Launcher, Order

    async def main():
        facts = json.loads(sys.argv[1])
        launcher = Launcher()
        if facts.pop("held"):
            first = dict(facts, run="first", argv=["true"], log="first.log", claim="first.claim",
                         end="first.end", env={})
            await launcher.launch(order(first))
            print(launcher.nursery, flush=True)
            sys.stdin.readline()
        task = asyncio.ensure_future(launcher.launch(order(facts)))
        await asyncio.sleep(0)
        if not sys.argv[2:]:
            live = await task
            print(live.keeper, flush=True)
        else:
            print("ordered", flush=True)
        await asyncio.sleep(1000)

    def order(facts):
        for name in ("cwd", "log", "claim", "end"):
            facts[name] = Path(facts[name])
        return Order(**facts)

    asyncio.run(main())
"""


def start_supervisor(bench: Bench, order: Order, *, held: bool) -> subprocess.Popen[str]:
    facts = {
        "run": order.run,
        "argv": order.argv,
        "env": dict(order.env),
        "cwd": str(order.cwd),
        "log": str(order.log),
        "claim": str(order.claim),
        "end": str(order.end),
        "held": held,
    }
    supervisor = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SUPERVISOR), json.dumps(facts)]
        + (["held"] if held else []),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=order.cwd,
    )
    bench.supervisors.append(supervisor)
    return supervisor


def kill(process: subprocess.Popen[str]) -> None:
    if process.returncode is None:
        process.kill()
        process.communicate()


def test_an_agent_outlives_its_supervisor(bench: Bench) -> None:
    """After kill -9 of the supervisor the run is adopted, read on from its offset, and its exit
    code is known."""
    script = "echo before; while ! test -e go; do sleep 0.01; done; echo after; exit 11"
    order = bench.shell(script)
    supervisor = start_supervisor(bench, order, held=False)
    assert supervisor.stdout is not None
    keeper = int(supervisor.stdout.readline())
    until(lambda: order.log.exists() and order.log.read_bytes())
    offset = order.log.stat().st_size
    kill(supervisor)

    outcome = recover(order.claim, order.end, order.run)
    assert isinstance(outcome, Live)
    assert (outcome.run, outcome.keeper) == (order.run, keeper)

    async def follow() -> bytes:
        got = bytearray()
        watch = FolderWatch()
        follower = Follower(watch, order.log, got.extend, offset)
        follower.start()
        (bench.folder / "go").touch()
        await bench.launcher.ended(outcome)
        await follower.drain()
        follower.stop()
        watch.close()
        return bytes(got)

    assert bench.do(follow()) == b"after\n"
    end = recover(order.claim, order.end, order.run)
    assert isinstance(end, End)
    assert (end.code, end.by) == (11, "itself")


def test_a_run_that_was_not_claimed_is_revoked(bench: Bench) -> None:
    """A supervisor that dies before the keeper is born: the next one revokes the run for good."""
    order = bench.shell("touch started")
    supervisor = start_supervisor(bench, order, held=True)
    assert supervisor.stdout is not None
    assert supervisor.stdin is not None
    nursery = int(supervisor.stdout.readline())
    started = processes.start_time(nursery)
    assert started is not None
    os.kill(nursery, signal.SIGSTOP)
    supervisor.stdin.write("\n")
    supervisor.stdin.flush()
    assert supervisor.stdout.readline() == "ordered\n"
    kill(supervisor)
    assert recover(order.claim, order.end, order.run) == Revoked()
    os.kill(nursery, signal.SIGCONT)
    until(lambda: not processes.is_alive(nursery, started))
    # The keeper that found the claim taken leaves nothing but the claim.
    own = f"{order.run}."
    until(
        lambda: (
            [p.name for p in bench.folder.iterdir() if p.name.startswith(own)] == [order.claim.name]
        )
    )
    assert not (bench.folder / "started").exists()
    assert recover(order.claim, order.end, order.run) == Revoked()


def test_a_run_that_was_ordered_but_not_claimed_starts_without_its_supervisor(
    bench: Bench,
) -> None:
    """The twin of the revoked run: without the revocation the held order does start."""
    order = bench.shell("touch started")
    supervisor = start_supervisor(bench, order, held=True)
    assert supervisor.stdout is not None
    assert supervisor.stdin is not None
    nursery = int(supervisor.stdout.readline())
    os.kill(nursery, signal.SIGSTOP)
    supervisor.stdin.write("\n")
    supervisor.stdin.flush()
    assert supervisor.stdout.readline() == "ordered\n"
    kill(supervisor)
    os.kill(nursery, signal.SIGCONT)
    until((bench.folder / "started").exists)
    until(lambda: read_end(order.end))


def test_a_killed_keeper_means_lost(bench: Bench) -> None:
    """When the keeper was killed, its agent and all below it are ended and the run is lost."""
    order = bench.shell("(env -i sleep 1000 & echo $! > child; wait) & echo $$ > agent; wait")
    live = bench.launch(order)
    agent, child = bench.pid_in("agent"), bench.pid_in("child")
    os.kill(live.keeper, signal.SIGKILL)
    bench.do(bench.launcher.ended(live))
    assert is_running(agent)
    assert recover(order.claim, order.end, order.run) == Lost()
    assert not is_running(agent)
    assert not is_running(child)
    assert processes.find_by_environ("SEGUE_RUN", order.run) == []


def test_end_of_a_run_whose_keeper_was_killed(bench: Bench) -> None:
    """Ending such a run ends what the keeper left behind."""
    order = bench.order("sleep", "1000")
    live = bench.launch(order)
    agent = bench.agent_of(live)
    until(lambda: processes.find_by_environ("SEGUE_RUN", order.run) == [agent])
    os.kill(live.keeper, signal.SIGKILL)
    bench.do(bench.launcher.end(live))
    assert not is_running(agent)


def test_a_recycled_pid_is_not_waited_for(bench: Bench) -> None:
    """A keeper whose pid belongs to another process by now has ended; that one is not signalled."""
    live = bench.launch(bench.order("sleep", "1000"))
    earlier = Live("earlier", live.keeper, live.started - 1)
    bench.do(bench.launcher.ended(earlier))
    bench.do(bench.launcher.end(earlier))
    assert processes.is_alive(live.keeper, live.started)


def test_a_killed_nursery_is_replaced(bench: Bench) -> None:
    """The nursery's death harms no run, and the next launch works."""
    first = bench.shell("while ! test -e go; do sleep 0.01; done; exit 12")
    live = bench.launch(first)
    nursery = bench.launcher.nursery
    assert nursery is not None
    os.kill(nursery, signal.SIGKILL)
    end, _ = bench.run(bench.shell("exit 13"))
    assert end.code == 13
    assert bench.launcher.nursery != nursery
    (bench.folder / "go").touch()
    assert bench.wait(first, live).code == 12


def test_a_nursery_that_hangs_is_replaced(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A nursery that does not answer is killed, and the run starts once, by the next one."""
    bench.run(bench.order("true"))
    assert bench.launcher.nursery is not None
    os.kill(bench.launcher.nursery, signal.SIGSTOP)
    monkeypatch.setattr(launcher_module, "ANSWER_S", 0.5)
    end, log = bench.run(bench.shell("echo once"))
    assert (end.code, log) == (0, b"once\n")


def test_a_revoked_run_cannot_be_launched(bench: Bench) -> None:
    """Who launches a run that was revoked is told, and nothing starts."""
    order = bench.shell("touch started")
    assert recover(order.claim, order.end, order.run) == Revoked()
    with pytest.raises(AgentError, match=order.run):
        bench.launch(order)
    assert not (bench.folder / "started").exists()


def test_a_run_starts_once(bench: Bench) -> None:
    """An order that is given twice gives the same keeper, and one agent."""
    order = bench.shell("echo started; sleep 1000")
    live = bench.launch(order)
    assert bench.launch(order) == live
    until(order.log.read_bytes)
    assert order.log.read_bytes() == b"started\n"


def test_many_launches_at_once(bench: Bench) -> None:
    """Launches under way at the same time each get their own answer, also with long orders."""

    async def launch_all() -> list[Live]:
        return await asyncio.gather(*(bench.launcher.launch(order) for order in orders))

    orders = [
        bench.shell(f"exit {code}", env={"PATH": "/bin:/usr/bin", "BIG": "x" * 100_000})
        for code in range(20)
    ]
    lives = bench.do(launch_all())
    assert [live.run for live in lives] == [order.run for order in orders]
    ends = [bench.wait(order, live) for order, live in zip(orders, lives, strict=True)]
    assert [end.code for end in ends] == list(range(20))
    keepers = {live.keeper for live in lives}
    assert all(processes.is_alive(live.keeper, live.started) for live in lives), "no zombies"
    more = [bench.shell("true") for _ in range(5)]
    again = [bench.do(bench.launcher.launch(order)) for order in more]
    assert {live.keeper for live in again} <= keepers, "keepers without a run are used again"
    for order, live in zip(more, again, strict=True):
        bench.wait(order, live)
    bench.do(bench.launcher.close())
    assert not any(processes.is_alive(live.keeper, live.started) for live in lives)


def test_ending_a_run_that_has_ended_spares_the_next_one(bench: Bench) -> None:
    """A keeper that has another run by now is not asked to end it."""
    first, second = bench.shell("true"), bench.shell("sleep 0.2; exit 7")
    ended = bench.do(bench.launcher.launch(first))
    bench.wait(first, ended)
    live = bench.do(bench.launcher.launch(second))
    assert live.keeper == ended.keeper
    bench.do(bench.launcher.end(ended))
    assert bench.wait(second, live).code == 7


def test_a_keeper_keeps_nothing_of_the_run_before(bench: Bench) -> None:
    """The second run of a keeper has its own output, folder, stdin and exit code; no descriptor
    of the first is left open."""
    first = bench.shell("echo one; exit 3")
    live = bench.do(bench.launcher.launch(first))
    bench.wait(first, live)
    open_before = len(list(Path(f"/proc/{live.keeper}/fd").iterdir()))
    for _ in range(3):
        order = bench.shell("echo two")
        again = bench.do(bench.launcher.launch(order))
        assert again.keeper == live.keeper
        assert bench.wait(order, again).code == 0
        assert order.log.read_bytes() == b"two\n"
    assert len(list(Path(f"/proc/{live.keeper}/fd").iterdir())) == open_before
    assert first.log.read_bytes() == b"one\n"


def test_a_cancelled_launch_does_not_harm_the_next(bench: Bench) -> None:
    """A launch that is cancelled half-way leaves the nursery usable and the run recoverable."""

    async def cancel() -> None:
        task = asyncio.ensure_future(bench.launcher.launch(order))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    bench.run(bench.order("true"))
    order = bench.order("sleep", "1000", "x" * 100_000)
    bench.do(cancel())
    end, _ = bench.run(bench.shell("exit 14"))
    assert end.code == 14
    match recover(order.claim, order.end, order.run):
        case Live() as live:
            bench.do(bench.launcher.end(live, now=True))
        case outcome:
            assert isinstance(outcome, Revoked | End)


def test_closing_leaves_runs_alone(bench: Bench) -> None:
    """When the launcher is closed the nursery goes, the run stays."""
    order = bench.shell("while ! test -e go; do sleep 0.01; done; exit 15")
    live = bench.launch(order)
    nursery = bench.launcher.nursery
    assert nursery is not None
    bench.do(bench.launcher.close())
    assert not is_running(nursery)
    assert recover(order.claim, order.end, order.run) == live
    (bench.folder / "go").touch()
    assert bench.wait(order, live).code == 15


def test_paths_keep_their_bytes(bench: Bench) -> None:
    """A folder whose name is not text is as good as any."""
    folder = Path(os.fsdecode(os.fsencode(bench.folder) + b"/\xff\xec\x97\xb0"))
    folder.mkdir()
    end, log = bench.run(bench.order("pwd", cwd=folder, folder=folder))
    assert end.code == 0
    assert log.rstrip(b"\n") == os.fsencode(folder)


# --- secrets --------------------------------------------------------------------------------------

SECRET = "sk-live-0123456789abcdef"
MASK = "••••"


def files_with(folder: Path, *texts: str) -> list[str]:
    """The names of all files below a folder that have one of these texts in them."""
    return [
        path.name
        for path in folder.rglob("*")
        if path.is_file() and any(text.encode() in path.read_bytes() for text in texts)
    ]


@pytest.mark.parametrize("kind", ["pipe", "apart", "pty"])
def test_a_secret_that_an_agent_prints_is_masked(bench: Bench, kind: str) -> None:
    """In every log, also if it is written in two halves; the counts are those of the log."""
    env = {"PATH": os.environ["PATH"], "SEGUE_RUN": "r", "KEY": SECRET}
    ways: dict[str, dict[str, Any]] = {
        "pipe": {},
        "apart": {"err": bench.folder / "err.log"},
        "pty": {"pty": (24, 80)},
    }
    script = (
        "import base64, os, sys, time; k = os.environ['KEY']\n"
        "os.write(1, b'<' + k[:9].encode()); time.sleep(0.05)\n"
        "os.write(1, k[9:].encode() + b'>\\n')\n"
        "os.write(1, base64.b64encode(k.encode()) + b'\\n')\n"
        "os.write(2, b'error ' + k.encode() + b'\\n')\n"
        "os.write(1, b'end ' + k[:5].encode())\n"
    )
    order = bench.order(sys.executable, "-c", script, env=env, masks=(SECRET,), **ways[kind])
    end, log = bench.run(order)
    assert end.code == 0
    said = [f"<{MASK}>", MASK, f"error {MASK}", "end sk-li"]
    if kind == "apart":
        said.remove(f"error {MASK}")
        assert ways[kind]["err"].read_text() == f"error {MASK}\n"
    assert log.decode().splitlines() == said
    assert (end.log_bytes, end.lost_bytes) == (len(log), 0)
    assert files_with(bench.folder, SECRET) == []


def test_no_secret_of_an_order_is_ever_in_a_file(bench: Bench) -> None:
    """While the agent runs, and after its end, after its keeper's death, and when it cannot start:
    the secrets of its environment are in no file, and not in what other users can see."""
    secret = {"PATH": os.environ["PATH"], "KEY": SECRET}
    gone = bench.order("no-such-command", env={**secret, "SEGUE_RUN": "g"}, masks=(SECRET,))
    end, _ = bench.run(gone)
    assert end.error is not None
    bad = bench.order("true", env={**secret, "SEGUE_RUN": "b", "A=": SECRET}, masks=(SECRET,))
    end, _ = bench.run(bad)
    assert end.error is not None
    order = bench.shell(
        "touch up; exec sleep 1000", env={**secret, "SEGUE_RUN": "s"}, masks=(SECRET,)
    )
    live = bench.launch(order)
    until((bench.folder / "up").exists)
    assert files_with(bench.folder, SECRET) == []
    for pid in (live.keeper, bench.launcher.nursery, bench.agent_of(live)):
        assert SECRET.encode() not in Path(f"/proc/{pid}/cmdline").read_bytes()
    assert SECRET not in repr(order)
    os.kill(live.keeper, signal.SIGKILL)
    until(lambda: recover(order.claim, order.end, "s") == Lost())
    assert files_with(bench.folder, SECRET) == []


def test_output_is_seen_while_secrets_are_masked(bench: Bench) -> None:
    """A question is in the log at once, although more could follow; a half of a secret is not."""
    order = bench.shell(f"printf 'Which? '; printf {SECRET[:6]}; sleep 1000", masks=(SECRET,))
    bench.launch(order)
    until(lambda: order.log.exists() and order.log.read_bytes() == b"Which? ")


def test_the_masks_of_one_run_are_not_those_of_the_next(bench: Bench) -> None:
    """A keeper that had secrets to mask masks none of the run that it gets then."""
    first = bench.shell(f"echo {SECRET}", masks=(SECRET,))
    live = bench.do(bench.launcher.launch(first))
    bench.wait(first, live)
    order = bench.shell(f"echo {SECRET}")
    again = bench.do(bench.launcher.launch(order))
    bench.wait(order, again)
    assert again.keeper == live.keeper
    assert (first.log.read_text(), order.log.read_text()) == (f"{MASK}\n", f"{SECRET}\n")


def test_much_masked_output_in_little_memory(bench: Bench) -> None:
    """20 MB with secrets among them: quick, whole, in a keeper that stays small."""
    line = f"{SECRET} and some more words of an ordinary line of output\n"
    script = f"import sys\nfor _ in range(300): sys.stdout.write({line!r} * 1000)\nsys.stdout.flush()\nimport time; time.sleep(1000)"
    masks = (SECRET, *(f"other-secret-{n}-qwertyuiop" for n in range(9)))
    order = bench.order(sys.executable, "-c", script, masks=masks)
    size = len(line.replace(SECRET, MASK).encode()) * 300_000
    live = bench.launch(order)
    until(lambda: order.log.exists() and order.log.stat().st_size == size)
    status = Path(f"/proc/{live.keeper}/status").read_text()
    assert int(status.split("VmHWM:")[1].split()[0]) < 30_000
    assert files_with(bench.folder, SECRET) == []


def test_masked_output_over_the_limit_is_drained(bench: Bench) -> None:
    """The limit is of the log: what masking makes longer does not go beyond it."""
    end, log = bench.run(bench.shell("printf abcdabc; echo d", masks=("abcd",), log_bytes_max=10))
    assert (log, end.log_bytes, end.lost_bytes) == (MASK.encode()[:10], 10, 3)


class Lines:
    """A dialect for tests: every line is said."""

    def __init__(self) -> None:
        self.rest = b""

    def feed(self, data: bytes) -> Iterator[Event]:
        *lines, self.rest = (self.rest + data).split(b"\n")
        yield from (Said(line.decode()) for line in lines)

    feed_err = feed

    def close(self) -> Iterator[Event]:
        yield from ()


def test_the_engine_hears_no_secret(tmp_path: Path) -> None:
    """Neither in what an agent prints nor in what it tells by tool call; what it reads is its
    owner's alone."""
    (tmp_path / "runs").mkdir()
    told = tmp_path / "runs" / "job.told"
    job = Job(
        "job",
        (
            "/bin/sh",
            "-c",
            f"stat -c %a {tmp_path}/runs/job.in; echo out $KEY; echo told $KEY > {told}",
        ),
        {"PATH": os.environ["PATH"], "SEGUE_RUN": "job", "KEY": SECRET},
        tmp_path,
        tmp_path / "job.log",
        Lines(),
        told=Channel(told, Lines()),
        stdin=b"prompt",
        masks=(SECRET,),
    )
    assert SECRET not in repr(job)

    async def play() -> list[str]:
        engine = ProcessExecutor(tmp_path / "runs", SystemClock(), Launcher())
        said: list[str] = []
        try:
            engine.begin(job)
            async with asyncio.timeout(WAIT_S):
                while True:
                    for happening in await engine.next():
                        if isinstance(happening, Heard) and isinstance(happening.event, Said):
                            said.append(happening.event.text)
                        if isinstance(happening, Ended):
                            assert happening.code == 0
                            return said
        finally:
            await engine.close()

    assert sorted(asyncio.run(play())) == ["600", f"out {MASK}", f"told {MASK}"]


def test_a_keeper_killed_in_its_clean_up_has_noted_the_end(bench: Bench) -> None:
    """The agent ended with 0 and left a child that ignores SIGTERM: the end is known before that
    child is gone, what it printed is in the log, and nothing stays."""
    script = 'trap "" TERM; echo done; (trap "" TERM; exec sleep 1000) & exit 0'
    order = bench.shell(script, grace_s=60.0)
    live = bench.launch(order)
    until(lambda: b"ended_at" in order.claim.read_bytes())
    os.kill(live.keeper, signal.SIGKILL)
    bench.do(bench.launcher.ended(live))
    found = recover(order.claim, order.end, order.run)
    assert isinstance(found, End)
    assert (found.code, found.by) == (0, "itself")
    assert order.log.read_bytes() == b"done\n"
    assert not processes.find_by_environ("SEGUE_RUN", order.run)
