"""The local engine with real processes: what is heard of a job, and what can be done to it."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest

from segue.dialects.events import Event, Garbled, Said, StepDone
from segue.drivers import processes
from segue.drivers.launcher import Launcher
from segue.engine.clock import SystemClock
from segue.engine.executors import (
    Alive,
    Channel,
    Ended,
    Finished,
    Happening,
    Heard,
    Job,
    Look,
    NeverStarted,
    Started,
)
from segue.engine.executors.job_output import SAID_MAX
from segue.engine.executors.process import ProcessExecutor
from segue.errors import AgentError

T = TypeVar("T")
WAIT_S = 90.0


class Spoken:
    """A dialect for tests: each line with the name of where it was heard."""

    def __init__(self, name: str = "out") -> None:
        self._rest = {name: b"", "err": b""}
        self._name = name

    def feed(self, data: bytes) -> Iterator[Event]:
        yield from self._lines(self._name, data)

    def feed_err(self, data: bytes) -> Iterator[Event]:
        yield from self._lines("err", data)

    def _lines(self, name: str, data: bytes) -> Iterator[Event]:
        *lines, self._rest[name] = (self._rest[name] + data).split(b"\n")
        for line in lines:
            yield Said(f"{name}: {line.decode()}")
            if line.endswith(b"000"):
                yield StepDone(int(line))

    def close(self) -> Iterator[Event]:
        for name, rest in self._rest.items():
            if rest:
                yield Said(f"{name}, cut off: {rest.decode()}")
        yield Garbled(0)  # so that the end of it can be seen


class Bench:
    """An engine and a folder; `again` is the engine of a supervisor that came after a death."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = folder / "runs"
        self.runs.mkdir()
        self.runner = asyncio.Runner()
        self.jobs: list[Job] = []
        self.heard: list[Happening] = []
        self.engine = self._engine()

    def _engine(self) -> ProcessExecutor:
        async def make() -> ProcessExecutor:
            return ProcessExecutor(self.runs, SystemClock(), Launcher(), grace_s=2.0)

        return self.do(make())

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        async def bounded() -> T:
            async with asyncio.timeout(WAIT_S):
                return await work

        return self.runner.run(bounded())

    def call(self, action: Callable[..., T], *args: Any, **more: Any) -> T:
        """Call the engine as the work does: from within its loop."""

        async def do() -> T:
            return action(*args, **more)

        return self.do(do())

    @property
    def next_id(self) -> str:
        return f"job-{os.getpid()}-{len(self.jobs) + 1}"

    def job(self, script: str, **more: Any) -> Job:
        id = self.next_id
        facts: dict[str, Any] = {
            "argv": ("/bin/sh", "-c", script),
            "env": {"PATH": os.environ["PATH"], "SEGUE_RUN": id},
            "cwd": self.folder,
            "log": self.folder / f"{id}.log",
            "dialect": Spoken(),
        }
        job = Job(id=id, **(facts | more))
        self.jobs.append(job)
        return job

    def begin(self, job: Job) -> Job:
        self.call(self.engine.begin, job)
        self.until(lambda: [h for h in self.of(job) if isinstance(h, Started | Ended)])
        return job

    def shell(self, script: str, **more: Any) -> Job:
        return self.begin(self.job(script, **more))

    def until(self, condition: Callable[[], T]) -> T:
        """Take in what happens until this is so; its value."""

        async def wait() -> T:
            while not (value := condition()):
                self.heard += await self.engine.next(0.05)
            return value

        return self.do(wait())

    def of(self, job: Job) -> list[Happening]:
        return [h for h in self.heard if getattr(h, "job", None) == job.id]

    def said(self, job: Job) -> list[str]:
        return [
            h.event.text for h in self.of(job) if isinstance(h, Heard) and isinstance(h.event, Said)
        ]

    def hears(self, job: Job, text: str) -> None:
        self.until(lambda: text in self.said(job))

    def ends(self, job: Job) -> Ended:
        self.until(lambda: any(isinstance(h, Ended) for h in self.of(job)))
        last = self.of(job)[-1]
        assert isinstance(last, Ended), "nothing is heard after the end"
        return last

    def again(self) -> ProcessExecutor:
        """The supervisor dies and another one comes; agents go on."""
        self.do(self.engine.close())
        self.heard.clear()
        self.engine = self._engine()
        return self.engine

    def keeper(self, job: Job) -> int:
        return next(h.handle["keeper"] for h in self.of(job) if isinstance(h, Started))

    def close(self) -> None:
        for job in self.jobs:
            self.do(self.engine.end(job.id, now=True))
        self.do(self.engine.close())
        self.runner.close()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.close()


def states(bench: Bench, job: Job) -> dict[int, str]:
    """Every process of a job and what it does."""
    found = {}
    for pid in processes.descendants(bench.keeper(job)):
        stat = processes.read_stat(pid)
        if stat is not None:
            found[pid] = stat.state
    return found


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


# --- what is heard ----------------------------------------------------------------------------


def test_standard_error_is_heard_apart(bench: Bench) -> None:
    """It goes to a file and a reader of its own, so that it never stands within a line of output."""
    err = bench.folder / "err.log"
    script = "printf 'half a '; echo trouble >&2; sleep 0.1; echo line; echo more >&2"
    job = bench.shell(script, err=err)
    assert bench.ends(job).code == 0
    assert job.log.read_bytes() == b"half a line\n"
    assert err.read_bytes() == b"trouble\nmore\n"
    said = bench.said(job)
    assert [line for line in said if line.startswith("out")] == ["out: half a line"]
    assert [line for line in said if line.startswith("err")] == ["err: trouble", "err: more"]


def test_without_a_place_of_its_own_standard_error_is_output(bench: Bench) -> None:
    """A program that only writes text is read as a person would read it."""
    job = bench.shell("echo one; echo two >&2; echo three")
    bench.ends(job)
    assert bench.said(job) == ["out: one", "out: two", "out: three"]


def test_errors_are_heard_while_the_job_runs(bench: Bench) -> None:
    """A complaint on standard error is told at once, not at the end."""
    job = bench.shell("echo trouble >&2; exec sleep 1000", err=bench.folder / "err.log")
    bench.hears(job, "err: trouble")
    assert not any(isinstance(h, Ended) for h in bench.of(job))


def test_what_is_told_by_tool_is_heard_while_the_job_runs(bench: Bench) -> None:
    """Its file need not be there yet when the job begins."""
    told = bench.runs / "told"
    script = f"read x; echo one >> {told}; read x; echo two >> {told}; read x"
    job = bench.shell(script, told=Channel(told, Spoken("told")), stdin=b"\n", is_interactive=True)
    bench.hears(job, "told: one")
    assert "told: two" not in bench.said(job)
    bench.call(bench.engine.send, job.id, b"\n")
    bench.hears(job, "told: two")
    bench.call(bench.engine.send, job.id, b"\n")
    assert bench.ends(job).code == 0


def test_everything_is_heard_before_the_end(bench: Bench) -> None:
    """The last bytes of all three, also of lines that were cut off; then the end, once."""
    told, err = bench.runs / "told", bench.folder / "err.log"
    script = f"printf 'a\\nb'; printf 'c\\nd' >&2; printf 'e\\nf' > {told}; exit 3"
    job = bench.shell(script, err=err, told=Channel(told, Spoken("told")))
    assert bench.ends(job).code == 3
    assert sorted(bench.said(job)) == [
        "err, cut off: d",
        "err: c",
        "out, cut off: b",
        "out: a",
        "told, cut off: f",
        "told: e",
    ]
    assert len([h for h in bench.of(job) if isinstance(h, Ended)]) == 1
    closed = [h for h in bench.of(job) if isinstance(h, Heard) and isinstance(h.event, Garbled)]
    assert len(closed) == 2, "each dialect is closed once"


def test_of_very_much_the_end_is_heard_in_order(bench: Bench) -> None:
    """None of them waits for another, no line is doubled; of many at once the last ones are told,
    and of what counts nothing is left out."""
    told, err = bench.runs / "told", bench.folder / "err.log"
    count = 20_000
    script = f"seq {count} & seq {count} >&2 & seq {count} > {told} & wait"
    job = bench.shell(script, err=err, told=Channel(told, Spoken("told")))
    assert bench.ends(job).code == 0
    for name in ("out", "err", "told"):
        found = [
            int(line.removeprefix(f"{name}: "))
            for line in bench.said(job)
            if line.startswith(f"{name}: ")
        ]
        assert found == sorted(set(found)), "in order, each once"
        assert found[-SAID_MAX:] == list(range(count - SAID_MAX + 1, count + 1))
    steps = [h for h in bench.of(job) if isinstance(h, Heard) and isinstance(h.event, StepDone)]
    assert len(steps) == 3 * count // 1_000


# --- its input --------------------------------------------------------------------------------

ECHO = 'while read -r line; do echo "got $line"; done; echo over'


def test_an_interactive_job_is_sent_lines_until_its_input_ends(bench: Bench) -> None:
    """First what it was started with, then what is sent, in order; at the end an end of file."""
    job = bench.shell(ECHO, stdin=b"first\n", is_interactive=True)
    bench.hears(job, "out: got first")
    for word in ("one", "two", "three"):
        bench.call(bench.engine.send, job.id, f"{word}\n".encode())
    bench.hears(job, "out: got three")
    assert "out: over" not in bench.said(job)
    bench.call(bench.engine.end_input, job.id)
    assert bench.ends(job).code == 0
    expected = ["out: got first", "out: got one", "out: got two", "out: got three", "out: over"]
    assert bench.said(job) == expected


def test_an_input_without_a_first_word_waits(bench: Bench) -> None:
    """Nothing to begin with is no end of file."""
    job = bench.shell(ECHO, is_interactive=True)
    bench.call(bench.engine.send, job.id, b"hello\n")
    bench.hears(job, "out: got hello")
    bench.call(bench.engine.end_input, job.id)
    assert bench.ends(job).code == 0


def test_the_end_of_the_input_comes_behind_all_that_was_sent(bench: Bench) -> None:
    """An agent that was busy reads everything first, also when the end was told twice."""
    gate = bench.folder / "go"
    wait = f"read -r x; echo $x; until [ -e {gate} ]; do sleep 0.02; done; "
    job = bench.shell(wait + ECHO, stdin=b"first\n", is_interactive=True)
    bench.hears(job, "out: first")
    bench.call(bench.engine.send, job.id, b"last\n")
    for _twice in range(2):
        bench.call(bench.engine.end_input, job.id)
    gate.touch()
    assert bench.ends(job).code == 0
    assert bench.said(job) == ["out: first", "out: got last", "out: over"]


@pytest.mark.parametrize("size_bytes", [0, 1, 65_536, 3_000_000])
def test_a_first_word_of_any_length_arrives_whole(bench: Bench, size_bytes: int) -> None:
    """A prompt can be longer than any pipe; the end told meanwhile comes behind it."""
    job = bench.shell("wc -c", stdin=b"x" * size_bytes, is_interactive=True)
    bench.call(bench.engine.end_input, job.id)
    assert bench.ends(job).code == 0
    assert bench.said(job) == [f"out: {size_bytes}"]


def test_one_shot_input_is_a_file_with_an_end(bench: Bench) -> None:
    """What is not interactive finds the end of its input by itself."""
    job = bench.shell("wc -c", stdin=b"x" * 3_000_000)
    assert bench.ends(job).code == 0
    assert bench.said(job) == ["out: 3000000"]


def test_without_any_input_there_is_none(bench: Bench) -> None:
    """A program that reads finds nothing, and does not wait."""
    job = bench.shell("wc -c")
    assert bench.ends(job).code == 0
    assert bench.said(job) == ["out: 0"]


def test_one_that_has_ended_does_not_listen(bench: Bench) -> None:
    """Nor does one that nobody knows: told as an error of the agent, in words."""
    job = bench.shell("read x", stdin=b"\n", is_interactive=True)
    bench.ends(job)
    for id in (job.id, "no-such-job"):
        with pytest.raises(AgentError):
            bench.call(bench.engine.send, id, b"x\n")
        bench.call(bench.engine.end_input, id)


def test_one_that_does_not_read_is_sent_nothing_more(bench: Bench) -> None:
    """All or nothing, and without waiting: what was taken arrives whole, the rest is refused."""
    gate = bench.folder / "go"
    wait = f"until [ -e {gate} ]; do sleep 0.02; done; "
    job = bench.shell(wait + "wc -c", is_interactive=True)
    part, taken = b"x" * 10_000, 0
    with pytest.raises(AgentError):
        for _many in range(1000):
            bench.call(bench.engine.send, job.id, part)
            taken += len(part)
    assert taken > 0
    gate.touch()
    bench.call(bench.engine.end_input, job.id)
    bench.ends(job)
    assert bench.said(job) == [f"out: {taken}"]


def test_one_whose_input_is_not_open_does_not_listen(bench: Bench) -> None:
    """A job that is not interactive has had its input: told as an error of the agent."""
    job = bench.shell("exec sleep 1000", stdin=b"all of it\n")
    with pytest.raises(AgentError):
        bench.call(bench.engine.send, job.id, b"more\n")


def test_the_end_of_one_jobs_input_is_not_anothers(bench: Bench) -> None:
    """Each is told by its own name."""
    first = bench.shell(ECHO, stdin=b"a\n", is_interactive=True)
    second = bench.shell(ECHO, stdin=b"b\n", is_interactive=True)
    bench.call(bench.engine.end_input, first.id)
    assert bench.ends(first).code == 0
    bench.call(bench.engine.send, second.id, b"still here\n")
    bench.hears(second, "out: got still here")
    assert "out: over" not in bench.said(second)


def test_a_keeper_that_was_used_before_gives_a_new_job_a_new_input(bench: Bench) -> None:
    """The end of the input of the job before it is forgotten."""
    for _round in range(3):
        job = bench.shell(ECHO, stdin=b"a\n", is_interactive=True)
        bench.hears(job, "out: got a")
        bench.call(bench.engine.send, job.id, b"b\n")
        bench.hears(job, "out: got b")
        bench.call(bench.engine.end_input, job.id)
        assert bench.ends(job).code == 0
        bench.call(bench.engine.forget, job.id)


@pytest.mark.parametrize(
    "more",
    [
        {"stdin": b"a\n", "is_interactive": True},
        pytest.param(
            {"stdin": b"a\n"},
        ),
        {},
    ],
    ids=["interactive", "one shot", "nothing"],
)
def test_nothing_of_a_job_is_left_when_it_is_forgotten(bench: Bench, more: dict[str, Any]) -> None:
    """Its end was recorded: neither its input nor what it told stays in the folder of runs."""
    told = bench.runs / f"{bench.next_id}.told"
    gate = bench.folder / "go"
    script = f"echo x > {told}; until [ -e {gate} ]; do sleep 0.02; done; cat"
    job = bench.shell(script, told=Channel(told, Spoken("told")), **more)
    bench.hears(job, "told: x")
    bench.call(bench.engine.end_input, job.id)
    gate.touch()
    bench.ends(job)
    bench.call(bench.engine.forget, job.id)
    bench.again()
    assert sorted(path.name.removeprefix(job.id) for path in bench.runs.iterdir()) == []


# --- standing still ---------------------------------------------------------------------------

# A family as agents have it: a child in a session of its own, and one whose parent is gone.
FAMILY = """
setsid sh -c 'while :; do echo x >> own-session; sleep 0.01; done' &
(sh -c 'while :; do echo x >> orphan; sleep 0.01; done' &)
while :; do echo x >> first; sleep 0.01; done
"""
TICKS = ("own-session", "orphan", "first")


def ticking(bench: Bench) -> Job:
    job = bench.shell(FAMILY)
    for name in TICKS:
        bench.until(partial(size, bench.folder / name))
    return job


def sizes(bench: Bench) -> list[int]:
    return [size(bench.folder / name) for name in TICKS]


def test_a_paused_job_stands_still_with_all_that_it_started(bench: Bench) -> None:
    """Also what is in a session of its own and what has lost its parent; then all go on."""
    job = ticking(bench)
    bench.call(bench.engine.pause, job.id)
    found = list(states(bench, job).values())
    assert found.count("T") >= 3
    # One that waits in the kernel for a child that stands still is none that works on.
    assert set(found) <= {"T", "D"}
    before = sizes(bench)
    time.sleep(0.2)  # so long any of them would have written twenty times
    assert sizes(bench) == before
    bench.call(bench.engine.go_on, job.id)
    bench.until(lambda: all(now > then for now, then in zip(sizes(bench), before, strict=True)))
    bench.until(lambda: "T" not in states(bench, job).values())


def test_the_keeper_of_a_paused_job_is_awake(bench: Bench) -> None:
    """It must see the end, and end the tree when it is asked to."""
    job = ticking(bench)
    bench.call(bench.engine.pause, job.id)
    keeper = processes.read_stat(bench.keeper(job))
    assert keeper is not None
    assert keeper.state not in "Tt"
    pids = list(states(bench, job))
    bench.call(bench.engine.end_soon, job.id)
    ended = bench.ends(job)
    assert ended.is_ours
    bench.until(
        lambda: not any(stat.is_alive for pid in pids if (stat := processes.read_stat(pid)))
    )


def test_pausing_twice_or_nothing_is_harmless(bench: Bench) -> None:
    """One that goes on twice goes on; a job that has ended, or that nobody knows, does nothing."""
    job = ticking(bench)
    for action in (bench.engine.pause, bench.engine.pause, bench.engine.go_on, bench.engine.go_on):
        bench.call(action, job.id)
    before = sizes(bench)
    bench.until(lambda: all(now > then for now, then in zip(sizes(bench), before, strict=True)))
    bench.call(bench.engine.end_soon, job.id, now=True)
    bench.ends(job)
    for id in (job.id, "no-such-job"):
        bench.call(bench.engine.pause, id)
        bench.call(bench.engine.go_on, id)


def test_other_jobs_go_on_while_one_is_paused(bench: Bench) -> None:
    """Only its own tree stands still."""
    paused = ticking(bench)
    other = bench.shell("while :; do echo x >> other; sleep 0.01; done")
    bench.call(bench.engine.pause, paused.id)
    before = size(bench.folder / "other")
    bench.until(lambda: size(bench.folder / "other") > before)
    assert "T" not in states(bench, other).values()


def test_a_paused_job_still_has_its_deadline(bench: Bench) -> None:
    """Standing still is no way to outlive it."""
    deadline = datetime.now(UTC) + timedelta(seconds=1)
    job = bench.shell("echo up; exec sleep 1000", deadline=deadline)
    bench.hears(job, "out: up")
    bench.call(bench.engine.pause, job.id)
    ended = bench.ends(job)
    assert (ended.timed_out, ended.is_ours) == (True, True)
    assert datetime.now(UTC) >= deadline


def test_a_job_that_is_paused_while_it_starts_can_be_ended(bench: Bench) -> None:
    """Its process may not be the agent yet, and its keeper may wait for just that."""
    for _many in range(10):
        job = bench.shell("exec sleep 1000")
        bench.call(bench.engine.pause, job.id)
        bench.call(bench.engine.end_soon, job.id)
        try:
            assert bench.ends(job).is_ours
        except TimeoutError:
            bench.call(bench.engine.go_on, job.id)
            raise


def test_a_paused_job_reads_what_it_was_sent_when_it_goes_on(bench: Bench) -> None:
    """Nothing that was sent meanwhile is lost."""
    job = bench.shell(ECHO, stdin=b"first\n", is_interactive=True)
    bench.hears(job, "out: got first")
    bench.call(bench.engine.pause, job.id)
    bench.call(bench.engine.send, job.id, b"meanwhile\n")
    bench.call(bench.engine.end_input, job.id)
    assert bench.said(job) == ["out: got first"]
    bench.call(bench.engine.go_on, job.id)
    assert bench.ends(job).code == 0
    assert bench.said(job)[1:] == ["out: got meanwhile", "out: over"]


# --- a look -----------------------------------------------------------------------------------


def look(bench: Bench, job: Job) -> Look | None:
    return bench.call(bench.engine.look, job.id)


def test_a_look_shows_the_programs_of_a_job(bench: Bench) -> None:
    """By name, in sessions of their own, too; those that stand still are counted."""
    job = bench.shell("setsid tail -f /dev/null & sleep 1000")
    names = ["sh", "sleep", "tail"]
    bench.until(lambda: (s := bench.engine.look(job.id)) and sorted(s.processes) == names)
    seen = look(bench, job)
    assert seen is not None
    assert (seen.stopped, seen.connections) == (0, 0)
    bench.call(bench.engine.pause, job.id)
    paused = look(bench, job)
    assert paused is not None
    assert paused.stopped == 3


def test_a_look_shows_an_open_connection(bench: Bench) -> None:
    """An agent that waits for its model has one."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; s = socket.create_connection(('127.0.0.1', {port})); print('up', flush=True); s.recv(1)"
        job = bench.begin(bench.job("", argv=(sys.executable, "-c", code)))
        bench.hears(job, "out: up")
        accepted, _address = server.accept()
        with accepted:
            seen = look(bench, job)
            assert seen is not None
            assert seen.connections == 1
        bench.ends(job)


def test_there_is_nothing_to_see_of_one_that_has_ended(bench: Bench) -> None:
    """None is not the same as a job whose processes do nothing."""
    job = bench.shell("exit 0")
    bench.ends(job)
    assert look(bench, job) is None
    assert bench.call(lambda: bench.engine.look("no-such-job")) is None


# --- a supervisor that comes after a death ----------------------------------------------------


def adopted(job: Job) -> Job:
    """The same job as a new supervisor knows it: with readers that have read nothing."""
    told = Channel(job.told.path, Spoken("told")) if job.told else None
    return Job(
        id=job.id,
        argv=job.argv,
        env=job.env,
        cwd=job.cwd,
        log=job.log,
        dialect=Spoken(),
        err=job.err,
        told=told,
        is_interactive=job.is_interactive,
    )


def test_an_adopted_job_is_heard_on_all_channels_from_its_beginning(bench: Bench) -> None:
    """What it said to the one that died is heard again, and what it says now."""
    told, err = bench.runs / "told", bench.folder / "err.log"
    script = f"echo a; echo b >&2; echo c > {told}; read x; echo d; echo e >&2; echo f >> {told}"
    job = bench.shell(script, err=err, told=Channel(told, Spoken("told")), is_interactive=True)
    for line in ("out: a", "err: b", "told: c"):
        bench.hears(job, line)
    engine = bench.again()
    again = adopted(job)
    assert isinstance(bench.call(engine.recover, again), Alive)
    for line in ("out: a", "err: b", "told: c"):
        bench.hears(job, line)
    bench.call(engine.send, job.id, b"go\n")
    assert bench.ends(job).code == 0
    assert sorted(bench.said(job)) == sorted(
        ["out: a", "err: b", "told: c", "out: d", "err: e", "told: f"]
    )
    (started,) = [h for h in bench.of(job) if isinstance(h, Started)]
    assert started.is_adopted


def test_the_input_of_an_adopted_job_can_be_ended(bench: Bench) -> None:
    """Its keeper is asked, whoever asks."""
    job = bench.shell(ECHO, stdin=b"first\n", is_interactive=True)
    bench.hears(job, "out: got first")
    engine = bench.again()
    bench.call(engine.recover, adopted(job))
    bench.hears(job, "out: got first")
    bench.call(engine.end_input, job.id)
    assert bench.ends(job).code == 0
    assert bench.said(job)[-1] == "out: over"


def test_an_adopted_job_can_be_paused_looked_at_and_ended(bench: Bench) -> None:
    """All that could be done to it before."""
    job = ticking(bench)
    engine = bench.again()
    bench.call(engine.recover, adopted(job))
    bench.until(lambda: any(isinstance(h, Started) for h in bench.of(job)))
    bench.call(engine.pause, job.id)
    seen = look(bench, job)
    assert seen is not None
    assert seen.stopped >= 3
    bench.call(engine.end_soon, job.id)
    assert bench.ends(job).is_ours


def test_a_job_that_was_left_paused_goes_on_when_it_is_adopted(bench: Bench) -> None:
    """Its supervisor was killed while everything stood still."""
    job = ticking(bench)
    bench.call(bench.engine.pause, job.id)
    engine = bench.again()
    before = sizes(bench)
    assert isinstance(bench.call(engine.recover, adopted(job)), Alive)
    bench.until(lambda: all(now > then for now, then in zip(sizes(bench), before, strict=True)))


def test_a_job_that_ended_meanwhile_is_heard_to_its_end(bench: Bench) -> None:
    """All channels, whole, then how it ended, as if it ended now."""
    told, err = bench.runs / "told", bench.folder / "err.log"
    gate = bench.folder / "go"
    script = (
        f"until [ -e {gate} ]; do sleep 0.02; done; echo a; printf b >&2; echo c > {told}; exit 7"
    )
    job = bench.shell(script, err=err, told=Channel(told, Spoken("told")))
    engine = bench.again()
    gate.touch()
    bench.until((bench.runs / f"{job.id}.end").exists)
    assert isinstance(bench.call(engine.recover, adopted(job)), Finished)
    assert bench.ends(job).code == 7
    assert sorted(bench.said(job)) == ["err, cut off: b", "out: a", "told: c"]


def test_a_job_that_was_never_begun_never_will_be(bench: Bench) -> None:
    """Whoever asks first decides; nothing of it is heard."""
    job = bench.job("echo too late", is_interactive=True)
    assert isinstance(bench.call(bench.engine.recover, job), NeverStarted)
    bench.call(bench.engine.begin, job)
    ended = bench.ends(job)
    assert ended.error
    assert bench.said(job) == []
    assert re.search(job.id, ended.error)


def test_a_job_begins_after_the_end_of_what_nobody_wants(bench: Bench) -> None:
    """What an earlier supervisor began may be at work on the same task: no overlap, even where it
    ignores the request to end."""
    pid = bench.folder / "pid"
    old = bench.shell(f"trap '' TERM; echo $$ > {pid}; echo up; while :; do sleep 0.05; done")
    bench.hears(old, "out: up")
    engine = bench.again()
    bench.call(engine.end_unknown, old.id)
    new = bench.shell(f"kill -0 $(cat {pid}) 2>&- && echo overlap; echo begun")
    bench.ends(new)
    assert bench.said(new) == ["out: begun"]
