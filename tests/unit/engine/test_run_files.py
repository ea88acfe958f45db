"""The files of a run, and what they say of when and what an agent printed."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from segue.engine.run_files import LOG_BYTES_READ, RunFiles


@pytest.fixture
def files(tmp_path: Path) -> RunFiles:
    return RunFiles(tmp_path, tmp_path / "evidence", tmp_path / "runs")


def test_the_last_words_came_when_the_newest_of_both_logs_was_written(files: RunFiles) -> None:
    """Never in the future; now where there is no log."""
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert files.said_at("run-1", now) == now
    for path, hour in ((files.log("run-1"), 9), (files.err("run-1"), 10)):
        path.write_text("x")
        at = now.replace(hour=hour).timestamp()
        os.utime(path, (at, at))
    assert files.said_at("run-1", now) == now.replace(hour=10)
    assert files.said_at("run-1", now.replace(hour=8)) == now.replace(hour=8)


@pytest.mark.parametrize(
    ("data", "bytes_max", "text"),
    [
        (b"one\ntwo\nthree\n", 100, "one\ntwo\nthree\n"),
        (b"one\ntwo\nthree\n", 8, "three\n"),
        (b"x" * 20, 8, "x" * 8),
        (b"\xff\xfe\n", 100, "��\n"),
    ],
)
def test_the_tail_of_an_output_begins_with_a_whole_line(
    files: RunFiles, data: bytes, bytes_max: int, text: str
) -> None:
    """Half a line could say the opposite."""
    files.log("run-1").write_bytes(data)
    assert files.tail("run-1", bytes_max) == text
    assert files.tail("run-2", bytes_max) == ""


def test_of_a_long_log_both_ends_are_read(files: RunFiles) -> None:
    """A conversation is named at the beginning, what was used at the end."""
    files.log("run-1").write_bytes(b"first\n" + b"x" * (3 * LOG_BYTES_READ) + b"last\n")
    first, gap, last = files.both_ends("run-1")
    assert (first[:6], gap, last[-5:]) == (b"first\n", b"\n", b"last\n")
    assert files.both_ends("run-2") == []
