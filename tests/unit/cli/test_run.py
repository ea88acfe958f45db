"""`segue run`: what the options ask for, how the work is conducted, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kit.shell import Shell, Typed
from segue.cli import run
from segue.cli.asker import TerminalAsker


class Reporter:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.asked = TerminalAsker(SimpleNamespace())

    def emit(self, event: str, **facts: object) -> None:
        self.events.append(event)

    def show(self, run: object) -> None:
        self.events.append("shown")

    def asker(self) -> TerminalAsker:
        return self.asked

    def pause(self) -> None:
        pass

    def go_on(self) -> None:
        pass

    def close(self) -> None:
        self.events.append("closed")


@pytest.fixture
def reporter(monkeypatch: pytest.MonkeyPatch, alone: Path) -> Reporter:
    made = Reporter()
    monkeypatch.setattr("segue.cli.reporters.choose_reporter", lambda as_json: made)
    return made


@pytest.fixture
def wanted(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The options of each run that would begin."""
    found: list[Any] = []

    async def run_plan(options: Any, environment: Any) -> Any:
        found.append(options)
        environment.emit("finished")
        return SimpleNamespace(exit=4)

    monkeypatch.setattr("segue.work.tasklist.running.run_plan", run_plan)
    return found


def test_the_options_become_what_is_wanted(
    segue: Shell, reporter: Reporter, wanted: list[Any]
) -> None:
    """The exit code is that of the run."""
    said = segue(
        "run", "a.md", "--agent", "codex", "-j", "4", "--on-failed", "skip", "--no-wait",
        "--isolate", "worktree",
    )  # fmt: skip
    assert said.code == 4
    (one,) = wanted
    assert (one.plan, one.agent, one.jobs) == (Path("a.md"), "codex", 4)
    assert (one.on_failed, one.wait, one.isolate) == ("skip", False, True)


def test_without_options_the_plan_of_this_folder_is_run(
    segue: Shell, reporter: Reporter, wanted: list[Any]
) -> None:
    segue("run")
    (one,) = wanted
    assert (one.plan, one.agent, one.jobs) == (Path("PLAN.md"), None, None)
    assert (one.on_failed, one.wait, one.isolate) == ("ask", True, False)
    assert reporter.events == ["finished", "closed"]


@pytest.mark.parametrize(
    "options", [("--jobs", "0"), ("--jobs", "many"), ("--on-failed", "hope"), ("--isolate", "vm")]
)
def test_an_option_that_cannot_be_used_starts_nothing(
    segue: Shell, wanted: list[Any], options: tuple[str, ...]
) -> None:
    error = segue.refused("run", *options)
    assert (error["code"], error["hint"]) == ("usage", "see segue run --help")
    assert wanted == []


def test_a_plan_that_is_not_there_is_told_with_its_path(segue: Shell) -> None:
    error = segue.refused("run", "nowhere.md")
    assert (error["code"], error["file"]) == ("plan_not_found", "nowhere.md")


@pytest.mark.parametrize("is_there", [True, False])
def test_questions_are_asked_only_where_a_person_is(
    reporter: Reporter, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    """Standard input and standard error both are a terminal, and this program has it."""
    monkeypatch.setattr("sys.stdin", Typed())
    monkeypatch.setattr("sys.stderr", Typed())
    monkeypatch.setattr("segue.cli.console.is_foreground", lambda: is_there)
    environment: list[Any] = []

    async def work(given: Any) -> Any:
        environment.append(given)
        return SimpleNamespace(exit=0)

    assert run.run_work(work, {"HOME": "/h"}, as_json=False) == 0
    assert (environment[0].asker is reporter.asked) == is_there
    assert environment[0].environ == {"HOME": "/h"}


def test_the_terminal_is_given_back_whatever_happens(reporter: Reporter) -> None:
    async def work(environment: object) -> Any:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        run.run_work(work, {}, as_json=True)
    assert reporter.events == ["closed"]


def test_a_command_that_ran_nothing_ends_as_a_run_does(
    alone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A person reads why; a program gets one last line, and the reason beside it."""
    from segue.work.project import Project

    plan, project = alone / "PLAN.md", Project(alone)
    assert run.not_begun(3, "Choose.", plan, project, as_json=False) == 3
    assert tuple(capsys.readouterr()) == ("Choose.\n", "")
    assert (
        run.not_begun(3, "Choose.", plan, project, as_json=True, waiting=["x"], phase="DONE") == 3
    )
    out, err = capsys.readouterr()
    last = json.loads(out)
    assert err == "Choose.\n"
    assert (last["event"], last["exit"], last["why"]) == ("finished", 3, "Choose.")
    assert (last["waiting"], last["completed"], last["phase"]) == (["x"], [], "DONE")
    assert last["usage"] == {"input_tokens": 0, "output_tokens": 0, "cost_usd": None}
