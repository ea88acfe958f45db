"""What a log could not take: its end is kept, to be read behind the log."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from segue.drivers.records import TAIL_BYTES_MAX
from segue.drivers.streams import TAIL_BYTES, Output

ROOM = 1 << 20


@pytest.fixture
def output(tmp_path: Path) -> Iterator[Output]:
    source, other = os.pipe()
    made = Output(source, str(tmp_path / "log"), ROOM)
    yield made
    for fd in (source, other, made.log):
        os.close(fd)


@contextmanager
def full(size: int) -> Iterator[None]:
    """Files of this process cannot grow beyond this size."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, ignored)


def test_nothing_is_lost_while_there_is_room(output: Output) -> None:
    """Then there is nothing to be read behind the log."""
    output.keep(b"all of it\n")
    assert (output.lost_bytes, output.lost_tail()) == (0, b"")


def test_what_follows_the_log_goes_on_where_it_ends(output: Output, tmp_path: Path) -> None:
    """In the midst of a line, too."""
    with full(7):
        output.keep(b"one\n=== PHASE 1 ")
        output.keep(b"COMPLETE ===\n")
    whole = (tmp_path / "log").read_bytes() + output.lost_tail()
    assert whole == b"one\n=== PHASE 1 COMPLETE ===\n"
    assert (output.kept_bytes, output.lost_bytes) == (7, len(whole) - 7)


def test_of_much_only_whole_lines_are_kept(output: Output) -> None:
    """The last ones, so many as the record has room for."""
    with full(0):
        output.keep(b"x" * 9_000 + b"\n[ERROR]\n[/ERROR]\n")
    assert output.lost_tail() == b"\n[ERROR]\n[/ERROR]\n"
    assert len(output.lost_tail()) <= TAIL_BYTES


def test_a_long_line_is_kept_where_there_is_room_for_it(output: Output) -> None:
    """More than the record itself takes, and never more than is reserved behind it."""
    with full(0):
        output.keep(b"x" * 9_000 + b"\n" + b"y" * 9_000 + b"\n")
        assert output.lost_tail() == b"\n"
        assert output.lost_tail(TAIL_BYTES_MAX).splitlines()[-1] == b"y" * 9_000
        for _chunk in range(10):
            output.keep(b"z" * 60_000)
    assert len(output.lost_tail(TAIL_BYTES_MAX)) <= TAIL_BYTES_MAX


def test_what_was_kept_in_between_does_not_join_lines(output: Output) -> None:
    """A line that was cut off by the loss is no line any more."""
    with full(0):
        output.keep(b"a lost half")
    output.keep(b" of a line\n")
    with full(0):
        output.keep(b"=== PHASE 1 COMPLETE ===\n")
    assert output.lost_tail() == b"\n=== PHASE 1 COMPLETE ===\n"


def test_a_log_that_has_its_whole_size_is_full_as_well(tmp_path: Path) -> None:
    """The bound of a log must not swallow a report."""
    source, other = os.pipe()
    output = Output(source, str(tmp_path / "log"), 4)
    output.keep(b"one\ntwo\n")
    assert output.lost_tail() == b"two\n"
    for fd in (source, other, output.log):
        os.close(fd)
