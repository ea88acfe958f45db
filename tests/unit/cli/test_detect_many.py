"""Many lines: each answered once, in order, however they come."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from typing import IO

import pytest

from segue.cli import detect_many
from segue.cli.detect_many import PIECE_LINES, Answer, answers, lines_of
from segue.drivers import processes
from segue.errors import Bug


def shouted(line: bytes | None) -> bytes:
    return (b"TOO LONG" if line is None else line.upper()) + b"@%d\n" % os.getpid()


def shouted_by(source: IO[bytes], workers: int, answer: Answer = shouted) -> list[list[bytes]]:
    """Each answer, and the process that gave it."""
    got = b"".join(answers(source, answer, workers))
    return [line.split(b"@") for line in got.splitlines()]


def test_lines_are_whole_whatever_the_pieces_they_come_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the last one, without an end."""
    text = b"".join(b"line %d\n" % n for n in range(50)) + b"last"
    for size in (1, 3, 7, 1000):
        monkeypatch.setattr(detect_many, "READ_BYTES", size)
        found = [line for lines in lines_of(io.BytesIO(text)) for line in lines]
        assert found == text.split(b"\n")


def test_a_line_that_is_too_long_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not kept in memory, and the next line is read as if nothing had been."""
    monkeypatch.setattr(detect_many, "LINE_BYTES_MAX", 10)
    for size in (4, 1000):
        monkeypatch.setattr(detect_many, "READ_BYTES", size)
        text = b"a\n" + b"x" * 95 + b"\nb\n" + b"y" * 40
        found = [line for lines in lines_of(io.BytesIO(text)) for line in lines]
        assert found == [b"a", None, b"b", None]


HERE = b"%d" % os.getpid()


@pytest.mark.parametrize("workers", [1, 3])
def test_answers_are_in_order(workers: int) -> None:
    """With one processor or several; blank lines are not answered."""
    text = b"\n".join(b"n%d" % n if n % 7 else b"  " for n in range(1000))
    got = shouted_by(io.BytesIO(text), workers)
    assert [answer for answer, _pid in got] == [b"N%d" % n for n in range(1000) if n % 7]
    others = {pid for _answer, pid in got} - {HERE}
    assert bool(others) == (workers > 1)
    assert len(others) <= workers


def test_few_lines_are_answered_where_they_are_read() -> None:
    """No process is started for them; the first ones of many are answered there, too."""
    text = b"\n".join(b"x" for _ in range(PIECE_LINES))
    assert {pid for _answer, pid in shouted_by(io.BytesIO(text), 4)} == {HERE}
    many = [pid for _answer, pid in shouted_by(io.BytesIO(b"x\n" * 3 * PIECE_LINES), 4)]
    assert many.count(HERE) == PIECE_LINES


def test_a_line_that_is_too_long_is_answered_by_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that was too long, in its place."""
    monkeypatch.setattr(detect_many, "LINE_BYTES_MAX", 10)
    text = b"a\n" * PIECE_LINES + b"b\n" + b"x" * 11 + b"\nc\n"
    got = shouted_by(io.BytesIO(text), 2)[PIECE_LINES:]
    assert [answer for answer, _pid in got] == [b"B", b"TOO LONG", b"C"]
    assert HERE not in {pid for _answer, pid in got}


def test_a_source_that_is_full_again_and_again_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds few lines at a time, as a pipe does, but more of them than one can answer."""
    monkeypatch.setattr(detect_many, "READ_BYTES", 4 * PIECE_LINES)
    lines = [b"line %d" % n for n in range(200)]
    got = shouted_by(io.BytesIO(b"\n".join(lines)), 2)
    assert [answer for answer, _pid in got] == [line.upper() for line in lines]
    assert {pid for _answer, pid in got} - {HERE}


def test_lines_that_come_after_the_answer_are_answered_where_they_are_read() -> None:
    """Whoever waits for each answer before the next line keeps one process busy, not more."""
    ours, theirs = os.pipe()
    pids = set()
    with open(theirs, "wb", buffering=0) as feeder, open(ours, "rb") as source:
        feeder.write(b"first\n")
        for number, answered in enumerate(answers(source, shouted, 2)):
            pids.add(answered.strip().split(b"@")[1])
            if number < 3 * PIECE_LINES:
                feeder.write(b"next\n")
            else:
                feeder.close()
    assert pids == {HERE}


# What goes wrong


@pytest.fixture(autouse=True)
def _others() -> None:
    """Processes that other tests have left to this one are not ours."""
    OTHERS.clear()
    OTHERS.update(processes.descendants(os.getpid()))


OTHERS: set[int] = set()


def has_children() -> bool:
    return bool(set(processes.descendants(os.getpid())) - OTHERS)


MANY = b"".join(b"%d\n" % n for n in range(20 * PIECE_LINES))


def test_a_process_that_dies_is_no_silence() -> None:
    """It is told, and the others are ended."""

    def dies(line: bytes | None) -> bytes:
        if line == b"500":
            os.kill(os.getpid(), signal.SIGKILL)
        return b"answer\n"

    with pytest.raises(Bug, match="ended"):
        list(answers(io.BytesIO(MANY), dies, 2))
    assert not has_children()


def test_an_error_in_a_process_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    """With what went wrong there."""

    def fails(line: bytes | None) -> bytes:
        if line == b"500":
            raise ValueError("five hundred")
        return b"answer\n"

    with pytest.raises(Bug, match="ended"):
        list(answers(io.BytesIO(MANY), fails, 2))
    assert "five hundred" in capfd.readouterr().err
    assert not has_children()


def test_whoever_stops_listening_leaves_no_process_behind() -> None:
    """As when the reader of the answers is gone."""
    got = answers(io.BytesIO(MANY), shouted, 2)
    for _n in range(PIECE_LINES + 1):
        next(got)
    assert has_children()
    assert isinstance(got, Generator)
    got.close()
    assert not has_children()


FEEDER = """
import sys
for _round in range(2):
    sys.stdout.write("x\\n" * int(sys.argv[1]))
    sys.stdout.flush()
    assert sys.stdin.readline() == "answered\\n"
"""


def test_nothing_is_held_back_while_more_is_awaited() -> None:
    """Everything that was fed is answered before the next line comes, with processes, too."""
    count = 5 * PIECE_LINES
    command = [sys.executable, "-c", FEEDER, str(count)]
    number = 0
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as feeder:
        assert feeder.stdin is not None
        assert feeder.stdout is not None
        for answered in answers(feeder.stdout, shouted, 2):
            number += answered.count(b"\n")
            if number % count == 0:
                feeder.stdin.write(b"answered\n")
                feeder.stdin.flush()
    assert number == 2 * count
    assert feeder.returncode == 0
