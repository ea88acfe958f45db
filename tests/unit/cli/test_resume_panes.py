"""`segue resume` for watched panes."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.shell import Shell
from kit.standing import found, stub_command


@pytest.fixture
def work(alone: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    memory = alone / ".segue"
    monkeypatch.setattr("segue.cli.resume.find", lambda path: [found(memory, "panes")])
    return memory


def test_the_choices_are_those_of_panes(segue: Shell, work: Path) -> None:
    said = segue("resume")
    assert said.code == 3
    assert said.out.splitlines()[3:7] == [
        "  1. continue the work - segue watch",
        "  2. wake them now - press w in segue watch for each one",
        "  3. show the state",
        "  4. reset - leave them alone: press p in segue watch",
    ]


def test_the_watcher_is_started(segue: Shell, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a program with JSON."""
    called = stub_command(monkeypatch, "watch")
    assert stub_command(monkeypatch, "serve") == []
    assert segue("resume", "--continue").code == 7
    assert segue("resume", "--continue", "--json").code == 7
    assert called == [(work.parent, False), (work.parent, True)]


@pytest.mark.parametrize("choice", ["--restart", "--reset"])
def test_nothing_is_done_to_all_panes_at_once(segue: Shell, work: Path, choice: str) -> None:
    """What is named is for panes, not for tasks of the server."""
    error = segue.refused("resume", choice)
    assert error["code"] == "usage"
    assert error["message"] == "do this for each pane separately"
    assert error["hint"] == "segue wake PANE · segue watch"
