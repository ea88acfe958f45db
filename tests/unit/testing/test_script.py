"""The scripted agent: a real process that plays its scenario."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from segue.dialects.events import Asked, Event, LimitHit, Said, StepDone, Used
from segue.dialects.script import Script
from segue.testing.script import STOPPED_AT_LIMIT

KEPT = ("PATH", "HOME", "PYTHONPATH")


class Stage:
    """A project with a scenario, in which the agent is started again and again."""

    def __init__(self, root: Path, scenario: str) -> None:
        self.root = root
        self.path = root / "night.scenario"
        self.path.write_text(scenario)
        (root / ".segue" / "runs").mkdir(parents=True)

    def command(self) -> list[str]:
        return [sys.executable, "-m", "segue.testing.script", str(self.path)]

    def environ(self, **more: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        facts = {"SEGUE_TASK": "T-1", "SEGUE_ATTEMPT": "1", "SEGUE_CONVERSATION": "talk"}
        return {**kept, **facts, "SEGUE_PROJECT": str(self.root), **more}

    def play(self, **more: str) -> tuple[int, list[Event]]:
        done = subprocess.run(
            self.command(),
            cwd=self.root,
            env=self.environ(**more),
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        assert done.stderr == b""
        dialect = Script()
        return done.returncode, [*dialect.feed(done.stdout), *dialect.close()]


def test_it_does_what_the_lines_say(tmp_path: Path) -> None:
    """It speaks, writes, reports steps and usage, and ends with 0."""
    stage = Stage(
        tmp_path,
        "say 안녕, it's me\nwait 1ms\nwrite src/app.txt some text\nappend log.txt a\n"
        "append log.txt b\nstep 2\nusage 1200 80 0.02\nusage 1 2\nsay\n",
    )
    code, events = stage.play()
    assert code == 0
    assert events == [Said("안녕, it's me"), StepDone(2), Used(1200, 80, 0.02), Used(1, 2, None)]
    assert (tmp_path / "src" / "app.txt").read_text() == "some text\n"
    assert (tmp_path / "log.txt").read_text() == "a\nb\n"
    assert list((tmp_path / ".segue" / "runs").iterdir()) == []


def test_after_a_limit_it_goes_on_with_the_next_line(tmp_path: Path) -> None:
    """Each resumption of the conversation plays from where it stopped, and nothing twice."""
    stage = Stage(
        tmp_path,
        "append log.txt 1\nlimit session_limit 2s\nappend log.txt 2\nlimit overloaded 1s\n"
        "append log.txt 3\n",
    )
    code, events = stage.play()
    assert code == STOPPED_AT_LIMIT
    assert events == [LimitHit("session_limit", None, 2.0, "session_limit")]
    code, events = stage.play(SEGUE_RESUME="1")
    assert (code, events) == (STOPPED_AT_LIMIT, [LimitHit("overloaded", None, 1.0, "overloaded")])
    assert stage.play(SEGUE_RESUME="1") == (0, [])
    assert (tmp_path / "log.txt").read_text() == "1\n2\n3\n"
    assert list((tmp_path / ".segue" / "runs").iterdir()) == []


def test_after_a_question_it_goes_on_with_the_next_line(tmp_path: Path) -> None:
    """It asks, ends well, and plays on once it is answered."""
    stage = Stage(tmp_path, 'ask "Which one?" A "B c" default=A\nsay thanks\n')
    assert stage.play() == (0, [Asked("Which one?", ("A", "B c"), "A")])
    assert stage.play(SEGUE_RESUME="1") == (0, [Said("thanks")])


def test_a_run_that_is_not_resumed_begins_at_the_beginning(tmp_path: Path) -> None:
    """A place that was kept counts only in a resumed run of the same conversation."""
    stage = Stage(tmp_path, "say begin\nlimit session_limit 1s\nsay end\n")
    for _round in range(2):
        assert stage.play()[1][0] == Said("begin")
    other = stage.play(SEGUE_RESUME="1", SEGUE_CONVERSATION="another")
    assert other[1][0] == Said("begin")
    assert stage.play(SEGUE_RESUME="1") == (0, [Said("end")])


def test_parts_are_chosen_by_task_and_attempt(tmp_path: Path) -> None:
    """SEGUE_TASK and SEGUE_ATTEMPT say which lines are played."""
    stage = Stage(tmp_path, "say all\n[T-1]\nsay one\n[T-1 2]\nsay again\n")
    assert stage.play()[1] == [Said("one")]
    assert stage.play(SEGUE_ATTEMPT="2")[1] == [Said("again")]
    assert stage.play(SEGUE_TASK="T-9")[1] == [Said("all")]


def test_it_can_fail_and_crash(tmp_path: Path) -> None:
    """A failure speaks and exits with 1; a crash is a death by SIGKILL; nothing follows them."""
    stage = Stage(tmp_path, "[T-1]\nfail the tests are red\nsay no\n[T-2]\ncrash\nsay no\n")
    assert stage.play() == (1, [Said("the tests are red")])
    assert stage.play(SEGUE_TASK="T-2") == (-signal.SIGKILL, [])


def test_it_hangs_until_it_is_ended(tmp_path: Path) -> None:
    """It never ends by itself, and SIGTERM ends it."""
    stage = Stage(tmp_path, "say here\nhang\n")
    process = subprocess.Popen(
        stage.command(), env=stage.environ(), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"here\n"
    assert process.poll() is None
    process.terminate()
    process.communicate()
    assert process.returncode == -signal.SIGTERM


def test_a_wrong_scenario_is_told_and_nothing_is_played(tmp_path: Path) -> None:
    """Every wrong line with its place on standard error, exit 2."""
    stage = Stage(tmp_path, "write made.txt x\nsya x\nwait soon\n")
    done = subprocess.run(
        stage.command(), cwd=tmp_path, env=stage.environ(), capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"night.scenario:2: " in done.stderr
    assert b"night.scenario:3: " in done.stderr
    assert not (tmp_path / "made.txt").exists()


@pytest.mark.parametrize("act", ["limit session_limit 1s", "ask Why?"])
def test_it_can_be_tried_alone(tmp_path: Path, act: str) -> None:
    """By hand, in a folder without Segue's memory, it plays limits and questions as well."""
    path = tmp_path / "night.scenario"
    path.write_text(f"say hello\n{act}\n")
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-m", "segue.testing.script", str(path)],
        cwd=tmp_path,
        env=kept,
        capture_output=True,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    assert b"@segue" in done.stdout
