"""`segue detect --jsonl`: many screens, answered line by line in the order they came.

A line is answered as soon as it is there. Where lines come faster than one processor can answer
them, all processors do: a few pieces are under way at a time, so nothing is held back for long.
"""

from __future__ import annotations

import gc
import os
import select
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.pool import AsyncResult, Pool

LINE_BYTES_MAX = 16 * 1024 * 1024
READ_BYTES = 1024 * 1024
PIECE_LINES = 48  # answered by one processor in one go
WORKERS_MAX = 8
GARBAGE = 100_000  # objects until they are looked through

Answer = Callable[[bytes | None], bytes]  # None: a line that was too long


def lines_of(source: IO[bytes]) -> Iterator[list[bytes | None]]:
    """The lines that are there, as many as come in one go; never waits for more than one."""
    rest, is_too_long = b"", False
    while data := _read(source):
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


def _read(source: IO[bytes]) -> bytes:
    """Some bytes: what is there, else what comes next; none at the end."""
    descriptor = _descriptor(source)
    return source.read(READ_BYTES) if descriptor is None else os.read(descriptor, READ_BYTES)


def _descriptor(source: IO[bytes]) -> int | None:
    try:
        return source.fileno()
    except OSError:
        return None


def answers(source: IO[bytes], answer: Answer, workers: int | None = None) -> Iterator[bytes]:
    """One answer for each line that is not blank."""
    gc.freeze()  # what was loaded stays; what a line needs is mostly gone with it
    gc.set_threshold(GARBAGE)
    most = min(workers or len(os.sched_getaffinity(0)), WORKERS_MAX)
    under_way: deque[AsyncResult[list[bytes]]] = deque()
    pool: Pool | None = None
    with ExitStack() as stack:
        for found in lines_of(source):
            lines = [line for line in found if line is None or line.strip()]
            if most > 1 and len(lines) > PIECE_LINES and pool is None:
                pool = stack.enter_context(_pool(most, answer))
            if pool is None or (len(lines) <= PIECE_LINES and not under_way):
                yield from map(answer, lines)
                continue
            for at in range(0, len(lines), PIECE_LINES):
                under_way.append(pool.apply_async(_answered, (lines[at : at + PIECE_LINES],)))
            while under_way and (len(under_way) > 2 * most or not _has_more(source)):
                yield from under_way.popleft().get()
        while under_way:
            yield from under_way.popleft().get()


def _has_more(source: IO[bytes]) -> bool:
    """Whether there is something to read: else what is under way is waited for."""
    descriptor = _descriptor(source)
    return descriptor is None or bool(select.select([descriptor], [], [], 0)[0])


# In the other processors. They are forked: the answering function comes along as it is.

_answer: Answer | None = None


def _pool(workers: int, answer: Answer) -> Pool:
    from multiprocessing import get_context  # noqa: PLC0415 - for many lines only

    return get_context("fork").Pool(workers, _begin, (answer,))


def _begin(answer: Answer) -> None:
    global _answer  # noqa: PLW0603 - one function for the life of the process
    _answer = answer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends them


def _answered(lines: Sequence[bytes | None]) -> list[bytes]:
    assert _answer is not None
    return [_answer(line) for line in lines]
