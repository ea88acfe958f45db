"""Plans that run on their own: started, refused while they run, stopped."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from segue.mcp import background
from segue.mcp.tools import Refused
from segue.store.lock import Holder
from segue.work.project import Project

STARTED = '{"event": "started"}\n'


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "PLAN.md"
    path.write_text("- [ ] T-1: a\n")
    return path


def held(patch: pytest.MonkeyPatch, *holders: Holder | None) -> None:
    """Who holds the plan's lock, look by look."""
    left = list(holders)
    patch.setattr("segue.mcp.background.lock.holder", lambda path: left.pop(0))


@pytest.fixture
def starts(
    plan: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[str, list[str], dict[str, Any]]]:
    """Start the plan; `said` is what the run prints. The answer, the command and how it is run."""

    def start(said: str, *options: str, code: int = 0, pid: int = os.getpid()) -> Any:
        called: list[Any] = []

        def run(command: list[str], **how: Any) -> Any:
            called.append((command, how))
            Path(command[5]).write_text(said)
            return SimpleNamespace(returncode=code, stdout=f"{pid}\n".encode())

        monkeypatch.setattr(subprocess, "run", run)
        told = background.start(plan, Project(plan.parent), options, {"HOME": "/h"})
        ((command, how),) = called
        return told, command, how

    return start


def test_a_run_is_started_so_that_it_outlives_this_server(
    starts: Callable[..., Any], plan: Path
) -> None:
    """In a session of its own, in the project, with the options; its events go to a file."""
    told, command, how = starts(STARTED, "--jobs=2")
    assert told.startswith(f"Started PLAN.md, process {os.getpid()}. Its events: .segue/logs/")
    assert command[6:] == [
        sys.executable, "-P", "-m", "segue", "run", str(plan), "--json", "--jobs=2",
    ]  # fmt: skip
    assert (how["start_new_session"], how["cwd"], how["env"]) == (True, plan.parent, {"HOME": "/h"})
    assert how["stdin"] == subprocess.DEVNULL


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ('{"error": {"message": "no agent", "hint": "choose one"}}\n', "no agent (choose one)"),
        ('{"error": {"message": "no agent", "hint": null}}\n', "no agent"),
        ("Traceback: it broke\n", "Traceback: it broke"),
        ("[1]\n", "[1]"),
    ],
)
def test_a_run_that_does_not_begin_says_why(
    starts: Callable[..., Any], said: str, why: str
) -> None:
    with pytest.raises(Refused) as caught:
        starts(said)
    assert str(caught.value) == f"Not started: {why}"


def test_a_run_that_dies_without_a_word_is_not_waited_for(
    starts: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether anybody has taken note of its end or not."""

    def no_wait(_seconds: float) -> None:
        raise AssertionError("it is dead")

    monkeypatch.setattr("segue.mcp.background.time.sleep", no_wait)
    gone = subprocess.Popen(["true"])
    os.waitid(os.P_PID, gone.pid, os.WEXITED | os.WNOWAIT)
    with pytest.raises(Refused, match="no output"):
        starts("", pid=gone.pid)
    gone.wait()
    with pytest.raises(Refused, match="no output"):
        starts("", pid=gone.pid)


def test_a_run_that_says_nothing_in_time_is_told(
    starts: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "STARTED_WITHIN_S", 0.0)
    with pytest.raises(Refused, match="no output"):
        starts("half a li")


def test_a_folder_that_cannot_be_written_is_named(starts: Callable[..., Any], plan: Path) -> None:
    with pytest.raises(Refused, match=r"is .*/\.segue/logs writable"):
        starts("", code=1)


def test_one_plan_is_run_by_one_process(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = Project(plan.parent)
    held(monkeypatch, None)
    background.check_free(plan, project)
    held(monkeypatch, Holder(4711, "2026-03-01", "segue run"))
    with pytest.raises(Refused) as caught:
        background.check_free(plan, project)
    assert str(caught.value) == (
        "Already running: process 4711 has been running PLAN.md since 2026-03-01. Started nothing."
    )


def test_a_run_is_asked_to_stop_and_waited_for(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process = subprocess.Popen(["sleep", "60"])
    try:
        holder = Holder(process.pid, "", "")
        held(monkeypatch, holder, holder)
        told = background.stop(plan, Project(plan.parent))
        assert told == "Stopped PLAN.md. Its progress is saved; run_plan resumes it."
        assert process.wait() == -2
    finally:
        process.kill()


def test_a_run_that_takes_its_time_is_said_to_be_stopping(
    plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its agents are being ended."""
    monkeypatch.setattr(background, "STOPPED_WITHIN_S", 0.0)
    process = subprocess.Popen(["sh", "-c", "trap '' INT; echo; exec sleep 60"], stdout=-1)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        holder = Holder(process.pid, "", "")
        held(monkeypatch, holder, holder)
        assert "PLAN.md is stopping" in background.stop(plan, Project(plan.parent))
        assert process.poll() is None
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("pids", "why"),
    [
        ((None,), "PLAN.md is not running."),
        ((0,), "Cannot reach process"),
        ((os.getpid(), None), "The run of PLAN.md has just ended."),
        ((os.getpid(), 1), "The run of PLAN.md has just ended."),
    ],
)
def test_nothing_is_sent_to_a_process_that_is_not_the_runs(
    plan: Path, monkeypatch: pytest.MonkeyPatch, pids: tuple[int | None, ...], why: str
) -> None:
    """Its number may be another's by now."""
    sent: list[int] = []
    monkeypatch.setattr("signal.pidfd_send_signal", lambda fd, number: sent.append(number))
    held(monkeypatch, *(pid if pid is None else Holder(pid, "", "") for pid in pids))
    with pytest.raises(Refused, match=why):
        background.stop(plan, Project(plan.parent))
    assert sent == []
