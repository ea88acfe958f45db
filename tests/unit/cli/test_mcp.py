"""`segue mcp`: which project is served, and what a person who starts it by hand reads."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import Any

import pytest

from kit.shell import Shell


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, Any]]:
    """What would be served: the folder and the environment, for each start."""
    found: list[tuple[Path, Any]] = []
    monkeypatch.setattr(
        "segue.mcp.server.serve", lambda folder, environ: found.append((folder, environ))
    )
    return found


def test_the_project_of_this_folder_is_served(
    segue: Shell, served: list[tuple[Path, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is printed: standard output belongs to the protocol."""
    monkeypatch.setenv("SEGUE_NOTE", "from the agent")
    said = segue("mcp")
    assert (said.code, said.out, said.err) == (0, "", "")
    ((folder, environ),) = served
    assert folder == Path()
    assert environ["SEGUE_NOTE"] == "from the agent"
    assert gc.isenabled()


def test_another_project_may_be_named(
    segue: Shell, alone: Path, served: list[tuple[Path, Any]]
) -> None:
    (alone / "other").mkdir()
    assert segue("mcp", "--project", "other").code == 0
    assert [folder for folder, _environ in served] == [Path("other")]


def test_a_project_that_is_not_there_is_refused(
    segue: Shell, served: list[tuple[Path, Any]]
) -> None:
    said = segue("mcp", "--project", "nowhere")
    assert (said.code, said.out, served) == (2, "", [])
    assert "nowhere" in said.err


def test_a_person_at_a_terminal_is_told_whom_it_is_for(
    segue: Shell, served: list[tuple[Path, Any]]
) -> None:
    said = segue("mcp", is_terminal=True)
    assert said.out == ""
    assert said.err == (
        "This command is for agents; add it to yours: claude mcp add segue -- segue mcp\n"
    )
    assert "for agents" not in segue("mcp", "--lang", "ko", is_terminal=True).err


def test_without_its_library_it_says_what_to_install(
    segue: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "segue.mcp.server", None)
    said = segue("mcp")
    assert (said.code, said.out) == (2, "")
    assert "needs a library that is not installed" in said.err
    assert "pip install 'segue[mcp]'" in said.err
    gc.enable()
