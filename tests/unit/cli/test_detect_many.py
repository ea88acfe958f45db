"""Many lines: each answered once, in order, however they come."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest

from segue.cli import detect_many
from segue.cli.detect_many import PIECE_LINES, answers, lines_of


def shouted(line: bytes | None) -> bytes:
    return b"TOO LONG" if line is None else line.upper() + b"@" + str(os.getpid()).encode()


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


@pytest.mark.parametrize("workers", [1, 3])
def test_answers_are_in_order(workers: int) -> None:
    """With one processor or several; blank lines are not answered."""
    text = b"\n".join(b"n%d" % n if n % 7 else b"  " for n in range(1000))
    got = list(answers(io.BytesIO(text), shouted, workers))
    assert [line.partition(b"@")[0] for line in got] == [b"N%d" % n for n in range(1000) if n % 7]
    pids = {line.partition(b"@")[2] for line in got}
    assert (str(os.getpid()).encode() in pids) == (workers == 1)
    assert len(pids) <= workers


def test_few_lines_are_answered_where_they_are_read() -> None:
    """No process is started for them."""
    text = b"\n".join(b"x" for _ in range(PIECE_LINES))
    assert {line.partition(b"@")[2] for line in answers(io.BytesIO(text), shouted, 4)} == {
        str(os.getpid()).encode()
    }


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
        for number, _line in enumerate(answers(feeder.stdout, shouted, 2), 1):
            if number % count == 0:
                feeder.stdin.write(b"answered\n")
                feeder.stdin.flush()
    assert number == 2 * count
    assert feeder.returncode == 0
