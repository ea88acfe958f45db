"""`segue detect --jsonl`: many screens, answered in the order they came.

A line is answered as soon as it is there. Where lines come faster than one processor can answer
them (a piece of them is answered, and the next ones were always there before the last answer was
given), all processors do: forked processes get a piece of the lines each, and the next one when
they have answered. Whoever has nothing to do waits for a piece and reads it whole, so no two ever
wait for each other's pipe. The first lines are always answered here: what is compiled meanwhile,
the processes then have.
"""

from __future__ import annotations

import gc
import os
import select
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import IO, NamedTuple

from segue.errors import Bug

LINE_BYTES_MAX = 16 * 1024 * 1024
READ_BYTES = 1024 * 1024
PIECE_LINES = 48  # answered by one processor in one go
WORKERS_MAX = 8
PIECES_AHEAD_MAX = 4  # of each process, answered before an earlier one is
GARBAGE = 100_000  # objects until they are looked through
SIZE_BYTES = 8

Answer = Callable[[bytes | None], bytes]  # None: a line that was too long
Lines = Sequence[bytes | None]


def lines_of(source: IO[bytes]) -> Iterator[list[bytes | None]]:
    """The lines that are there, as many as come in one go; never waits for more than one."""
    rest, is_too_long = b"", False
    for data in _chunks(source):
        whole, newline, last = data.rpartition(b"\n")
        if not newline:
            rest, found = rest + last, []
        else:
            found = (rest + whole).split(b"\n")
            rest = last
        lines: list[bytes | None] = [
            line if len(line) <= LINE_BYTES_MAX else None for line in found
        ]
        if is_too_long and lines:  # the end of it
            lines[0], is_too_long = None, False
        if len(rest) > LINE_BYTES_MAX:
            rest, is_too_long = b"", True
        if lines:
            yield lines
    if is_too_long or rest:
        yield [None if is_too_long else rest]


def _chunks(source: IO[bytes]) -> Iterator[bytes]:
    """What is there, else what comes next. A pipe holds little: what comes at once is joined."""
    descriptor = _descriptor(source)
    if descriptor is None:
        while data := source.read(READ_BYTES):
            yield data
        return
    while data := os.read(descriptor, READ_BYTES):
        parts, size = [data], len(data)
        while data and size < READ_BYTES and _has_more(descriptor):
            data = os.read(descriptor, READ_BYTES)
            parts.append(data)
            size += len(data)
        yield b"".join(parts)
        if not data:  # a terminal tells its end once
            return


def _descriptor(source: IO[bytes]) -> int | None:
    try:
        return source.fileno()
    except OSError:
        return None


def _has_more(descriptor: int | None) -> bool:
    """Whether there is something to read."""
    return descriptor is None or bool(select.select([descriptor], [], [], 0)[0])


def answers(source: IO[bytes], answer: Answer, workers: int | None = None) -> Iterator[bytes]:
    """An answer for each line that is not blank; those that are there together may come joined."""
    gc.freeze()  # what was loaded stays; what a line needs is mostly gone with it
    gc.set_threshold(GARBAGE)
    most = min(workers or len(os.sched_getaffinity(0)), WORKERS_MAX)
    descriptor, behind = _descriptor(source), 0
    for found in (chunks := lines_of(source)):
        lines = _written(found)
        here = lines[:PIECE_LINES] if most > 1 else lines
        yield from map(answer, here[:-1])
        last = [answer(line) for line in here[-1:]]
        behind = behind + len(lines) if _has_more(descriptor) or len(here) < len(lines) else 0
        yield from last
        if most > 1 and behind > PIECE_LINES:
            yield from _shared(lines[len(here) :], chunks, descriptor, answer, most)
            return


def _written(lines: Lines) -> Lines:
    return [line for line in lines if line is None or line.strip()]


def _shared(
    lines: Lines,
    chunks: Iterator[list[bytes | None]],
    descriptor: int | None,
    answer: Answer,
    most: int,
) -> Iterator[bytes]:
    """The answers to these lines and to all that come, by so many processes."""
    crew = WorkerPool(answer, most)
    waiting = deque(_pieces(lines))
    given = told = 0
    answered: dict[int, bytes] = {}
    is_open = True
    try:
        while True:
            while waiting and crew.idle and given - told < PIECES_AHEAD_MAX * most:
                crew.give(given, waiting.popleft())
                given += 1
            if is_open and len(waiting) < most and (not crew.busy or _has_more(descriptor)):
                more = next(chunks, None)
                is_open = more is not None
                waiting.extend(_pieces(_written(more or ())))
            elif crew.busy:
                answered.update(crew.taken(descriptor if is_open and not waiting else None))
                while told in answered:
                    yield answered.pop(told)
                    told += 1
            elif not waiting:
                return
    finally:
        crew.end()


def _pieces(lines: Lines) -> Iterator[bytes]:
    """Lines for one process in one go; an empty one stands for one that was too long."""
    for at in range(0, len(lines), PIECE_LINES):
        yield b"\n".join([line or b"" for line in lines[at : at + PIECE_LINES]])


class Worker(NamedTuple):
    """A process that answers, the pipe to it and the one from it."""

    pid: int
    to: int
    back: int


class WorkerPool:
    """Processes that answer, each one piece at a time. They end when no more can come."""

    def __init__(self, answer: Answer, size: int) -> None:
        self._all: list[Worker] = []
        for _ in range(size):
            self._all.append(self._forked(answer))
        self.idle = [*self._all]
        self.busy: dict[int, tuple[Worker, int]] = {}  # by the pipe from it

    def _forked(self, answer: Answer) -> Worker:
        (theirs, to), (back, answers_to) = os.pipe(), os.pipe()
        pid = os.fork()
        if pid == 0:
            for worker in self._all:
                os.close(worker.to)
                os.close(worker.back)
            os.close(to)
            os.close(back)
            _work(answer, theirs, answers_to)
        os.close(theirs)
        os.close(answers_to)
        return Worker(pid, to, back)

    def give(self, number: int, piece: bytes) -> None:
        """Give this piece to an idle worker."""
        worker = self.idle.pop()
        try:
            _write(worker.to, piece)
        except BrokenPipeError as error:
            raise Bug(f"process {worker.pid} ended before its work") from error
        self.busy[worker.back] = worker, number

    def taken(self, more: int | None) -> Iterator[tuple[int, bytes]]:
        """Wait for answers, or until there is more to read: each answered piece's number."""
        awaited = [*self.busy] if more is None else [*self.busy, more]
        for back in select.select(awaited, [], [])[0]:
            if back == more:
                continue
            worker, number = self.busy.pop(back)
            answered = _read(back)
            if answered is None:
                raise Bug(f"process {worker.pid} ended at its work")
            self.idle.append(worker)
            yield number, answered

    def end(self) -> None:
        """Nobody is left behind, whatever happened."""
        for worker in self._all:
            os.close(worker.to)
            os.close(worker.back)
            os.kill(worker.pid, signal.SIGKILL)  # it holds nothing that could be lost
            os.waitpid(worker.pid, 0)


def _work(answer: Answer, theirs: int, back: int) -> None:
    """The life of a process: a piece in, its answers out. Nothing of the parent's is cleaned up."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
        while (piece := _read(theirs)) is not None:
            _write(back, b"".join([answer(line or None) for line in piece.split(b"\n")]))
    except BrokenPipeError:  # the parent is gone
        pass
    except BaseException:  # noqa: BLE001 - it must not continue as if it were the parent
        import traceback  # noqa: PLC0415 - for this only

        traceback.print_exc()
    finally:
        os._exit(0)


def _write(descriptor: int, data: bytes) -> None:
    left = memoryview(len(data).to_bytes(SIZE_BYTES) + data)
    while left:
        left = left[os.write(descriptor, left) :]


def _read(descriptor: int) -> bytes | None:
    """What was written in one go; None at the end."""
    size = _exactly(descriptor, SIZE_BYTES)
    return None if size is None else _exactly(descriptor, int.from_bytes(size))


def _exactly(descriptor: int, size: int) -> bytes | None:
    parts: list[bytes] = []
    while size:
        part = os.read(descriptor, min(size, READ_BYTES))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
