"""`segue resume` for the tasks of the server: they continue when it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.shell import Shell
from kit.standing import found, standing, stub_command
from segue import i18n
from segue.cli import resume_server


@pytest.fixture
def work(alone: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Interrupted work of a server is found; its project, which is not the folder we are in."""
    root = alone / "other"
    root.mkdir()
    memory = root / ".segue"
    monkeypatch.setattr("segue.cli.resume.find", lambda path: [found(memory, "server")])
    interrupted = standing(memory, "interrupted", "server", pending=2, go_on="segue serve")
    others = standing(memory, "parked", "panes")
    monkeypatch.setattr("segue.cli.resume_server.look", lambda path: [interrupted, others])
    return root


def test_it_is_described_with_its_four_choices(segue: Shell, work: Path) -> None:
    said = segue("resume")
    assert said.code == 3
    assert said.out.splitlines()[:7] == [
        f"[1] {work / '.segue'}",
        "    stopped: it was stopped",
        "    next: go on",
        "  1. continue the work - segue serve",
        "  2. start over - for each task: segue task retry ID",
        "  3. show the state",
        "  4. reset - for each task: segue task cancel ID",
    ]


def test_the_server_is_started_in_the_project_of_the_work(
    segue: Shell, work: Path, alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its exit code is that of `segue resume`, and we are back where we were."""
    called = stub_command(monkeypatch, "serve")
    assert segue("resume", "other", "--continue").code == 7
    assert called == [(work, False)]
    assert Path.cwd() == alone


def test_a_program_gets_the_servers_json(
    segue: Shell, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = stub_command(monkeypatch, "serve")
    assert segue("resume", "--continue", "--json").code == 7
    assert [as_json for _folder, as_json in called] == [True]


def test_its_state_is_shown_and_that_of_nothing_else(segue: Shell, work: Path) -> None:
    said = segue("resume", "--status")
    assert said.code == 0
    assert said.out.splitlines()[0] == "⏸ other/.segue  interrupted  0/2"
    assert "parked" not in said.out


@pytest.mark.parametrize("choice", ["--restart", "--reset"])
def test_nothing_is_done_to_all_tasks_at_once(segue: Shell, work: Path, choice: str) -> None:
    error = segue.refused("resume", choice)
    assert (error["code"], error["message"]) == (
        "usage",
        "do this for each task separately",
    )
    assert error["hint"] == "segue task retry ID · segue task cancel ID"


def test_why_there_is_nothing_to_do_names_the_work(alone: Path) -> None:
    one = found(alone / ".segue", "server", why="everything is done")
    assert resume_server.nothing(one) == f"{alone / '.segue'}: everything is done"
    i18n.use("ko")
    assert resume_server.question() != "How should it continue?"
