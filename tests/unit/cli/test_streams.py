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
        ("segue resume <&-", "Found no interrupted work here"),
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
    """Told in words on standard error, exit 1; what is wrong with the input stays exit 2."""
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    done = segue(tmp_path, words)
    assert done.returncode == (2 if "NOTHING" in words else 1)
    assert done.stderr == "error: cannot write the output: No space left on device\n"


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_neither_stream_takes_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unbuffered: str
) -> None:
    """Then nothing can be told; the exit code says it."""
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    assert segue(tmp_path, "segue status >/dev/full 2>/dev/full").returncode == 1
    assert segue(tmp_path, "segue nonsense 2>/dev/full").returncode == 2


@pytest.mark.parametrize("option", ["", "--json"])
def test_a_run_whose_output_is_lost_goes_on(tmp_path: Path, option: str) -> None:
    """The work does not depend on the disk that its lines go to; the exit code says it: 1."""
    (tmp_path / "PLAN.md").write_text(PLAN)
    done = segue(tmp_path, f"segue run PLAN.md --agent shell {option} >/dev/full")
    assert done.returncode == 1
    assert done.stderr == "error: cannot write the output: No space left on device\n"
    assert (tmp_path / "done.txt").exists()


def test_a_reader_that_goes_away_fails_no_run(tmp_path: Path) -> None:
    """`| head` has read what it wanted."""
    (tmp_path / "PLAN.md").write_text(PLAN)
    words = "{ segue run PLAN.md --agent shell --json; echo $? > code; } | head -c 1"
    done = segue(tmp_path, words)
    assert done.stderr == ""
    assert (tmp_path / "code").read_text() == "0\n"
    assert (tmp_path / "done.txt").exists()


@pytest.mark.parametrize("encoding", ["cp949", "latin-1", "ascii", "utf-8"])
@pytest.mark.parametrize("words", ["run PLAN.md --agent shell", "status", "plan PLAN.md", ""])
def test_signs_that_cannot_be_written_end_nothing(
    tmp_path: Path, encoding: str, words: str
) -> None:
    """Whatever the encoding of standard output lacks, the work is done and told."""
    (tmp_path / "PLAN.md").write_text(PLAN.replace("**: a", "**: \u2713 한글 \u00e9"), "utf-8")
    done = segue(tmp_path, f"PYTHONIOENCODING={encoding} segue {words} >out; echo $? >code")
    assert done.stderr == ""
    assert (tmp_path / "code").read_text() == "0\n"
    assert (tmp_path / "out").read_bytes()
    if words.startswith("run"):
        assert "[x] **T-1**" in (tmp_path / "PLAN.md").read_text("utf-8")


@pytest.mark.parametrize("encoding", ["cp949", "latin-1", "ascii"])
def test_json_loses_no_sign_to_an_encoding(tmp_path: Path, encoding: str) -> None:
    """What cannot be written as it is, is escaped: a reader finds every sign."""
    title = "\u2713 한글 \u00e9 \U0001f600"
    (tmp_path / "PLAN.md").write_text(PLAN.replace("**: a", f"**: {title}"), "utf-8")
    for words in ("plan PLAN.md --json", "run PLAN.md --agent shell --json"):
        done = segue(tmp_path, f"PYTHONIOENCODING={encoding} segue {words} >out; echo $? >code")
        assert (done.stderr, (tmp_path / "code").read_text()) == ("", "0\n")
        data = (tmp_path / "out").read_bytes()
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:  # nobody means ASCII: then it is UTF-8
            text = data.decode()
        events = [json.loads(text)] if "plan" in words[:4] else map(json.loads, text.splitlines())
        found = [event.get("title") or event.get("tasks", [{}])[0].get("title") for event in events]
        assert title in found


@pytest.mark.parametrize("words", ["status", "", "resume --json", "run PLAN.md --json"])
def test_a_folder_that_is_gone_is_told_in_words(tmp_path: Path, words: str) -> None:
    """Somebody removed the folder that the shell is in: exit 2, and what to do."""
    gone = tmp_path / "gone"
    gone.mkdir()
    done = segue(tmp_path, f"cd gone && rmdir ../gone && segue {words}")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    if "run" in words:
        assert json.loads(done.stdout)["error"]["hint"]
    else:
        assert "no longer exists" in done.stdout + done.stderr


def test_help_needs_no_folder(tmp_path: Path) -> None:
    """What does not look at the folder works without it."""
    (tmp_path / "gone").mkdir()
    assert segue(tmp_path, "cd gone && rmdir ../gone && segue --version").returncode == 0
