"""Standard streams that are closed, or take nothing: cron and daemons start programs like that."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

PLAN = "- [ ] **T-1**: a\n  - run: echo there > done.txt\n"


def segue(folder: Path, words: str) -> subprocess.CompletedProcess[str]:
    """A line of shell, where `segue` is the command."""
    (folder / "home").mkdir(exist_ok=True)
    line = words.replace("segue", f"{shlex.quote(sys.executable)} -m segue", 1)
    return subprocess.run(
        ["sh", "-c", line],
        cwd=folder,
        env={**os.environ, "HOME": str(folder / "home"), "LANG": "C.UTF-8", "SEGUE_LANG": "en"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "words",
    [
        "segue run PLAN.md --agent shell --json <&-",
        "segue run PLAN.md --agent shell >&-",
        "segue run PLAN.md --agent shell <&- >&- 2>&-",
    ],
)
def test_a_plan_runs_without_standard_streams(tmp_path: Path, words: str) -> None:
    """Whichever of them is closed, the work is done, and nothing falls over."""
    (tmp_path / "PLAN.md").write_text(PLAN)
    done = segue(tmp_path, words)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert (tmp_path / "done.txt").read_text() == "there\n"
    assert "[x] **T-1**" in (tmp_path / "PLAN.md").read_text()
    if "--json" in words:
        assert json.loads(done.stdout.splitlines()[-1])["exit"] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("segue detect - --json <&-", '"paused": false'),
        ("segue detect --jsonl <&-", ""),
        ("segue status >&-", ""),
        ("segue --version >&-", ""),
        ("segue resume <&-", "There is no interrupted work here"),
        ("segue nonsense 2>&-", ""),
    ],
)
def test_commands_do_without_a_stream(tmp_path: Path, words: str, said: str) -> None:
    """A closed stream is an empty one, or leads nowhere."""
    done = segue(tmp_path, words)
    assert done.returncode == (2 if "nonsense" in words else 0), done.stderr
    assert done.stderr == ""
    assert said in done.stdout


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "words",
    [
        "segue --version >/dev/full",
        "segue status --json >/dev/full",
        'echo \'{"text": "a"}\' | segue detect --jsonl >/dev/full',
        "segue run NOTHING.md --json >/dev/full",
    ],
)
def test_output_that_cannot_be_written_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, unbuffered: str
) -> None:
    """Told in words on standard error, exit 1."""
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    done = segue(tmp_path, words)
    assert done.returncode == 1
    assert done.stderr == "error: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_neither_stream_takes_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unbuffered: str
) -> None:
    """Then nothing can be told; the exit code says it."""
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    assert segue(tmp_path, "segue status >/dev/full 2>/dev/full").returncode == 1
    assert segue(tmp_path, "segue nonsense 2>/dev/full").returncode == 1


@pytest.mark.parametrize("option", ["", "--json"])
def test_a_run_whose_output_is_lost_goes_on(tmp_path: Path, option: str) -> None:
    """The work does not depend on the disk that its lines go to; the exit code says it: 1."""
    (tmp_path / "PLAN.md").write_text(PLAN)
    done = segue(tmp_path, f"segue run PLAN.md --agent shell {option} >/dev/full")
    assert done.returncode == 1
    assert done.stderr == "error: the output cannot be written: No space left on device\n"
    assert (tmp_path / "done.txt").exists()


def test_a_reader_that_goes_away_fails_no_run(tmp_path: Path) -> None:
    """`| head` has read what it wanted."""
    (tmp_path / "PLAN.md").write_text(PLAN)
    words = "{ segue run PLAN.md --agent shell --json; echo $? > code; } | head -c 1"
    done = segue(tmp_path, words)
    assert done.stderr == ""
    assert (tmp_path / "code").read_text() == "0\n"
    assert (tmp_path / "done.txt").exists()
