"""`segue hooks`: installed, looked at, removed; in words and for programs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from kit.hooks import payload
from kit.shell import Shell
from segue.dialects.claude_hooks import EVENTS

OWN = '{\n  "model": "opus"\n}\n'


@pytest.fixture
def settings(alone: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings file of this folder; the program of the hooks can be found."""
    program = alone.parent / "bin" / "segue"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr("sys.argv", [str(program)])
    return alone / ".claude" / "settings.json"


def test_the_hooks_are_installed_once(segue: Shell, settings: Path) -> None:
    """Each event with its command; a second time nothing is to be done."""
    said = segue("hooks", "install")
    assert said.code == 0
    first, *lines, last = said.out.splitlines()
    assert first == f"Installed the hooks in {settings}:"
    assert [line.split()[0] for line in lines] == list(EVENTS)
    assert "Restart any running Claude Code" in last
    before = settings.read_bytes()
    assert segue("hooks", "install").out == f"The hooks are already installed: {settings}\n"
    assert settings.read_bytes() == before


def test_a_program_reads_whether_something_changed(segue: Shell, settings: Path) -> None:
    told = segue("hooks", "install", "--json").json
    assert (told["path"], told["installed"], told["changed"]) == (str(settings), True, True)
    assert segue("hooks", "install", "--json").json["changed"] is False


def test_status_says_what_is_missing_and_how_to_fix_it(segue: Shell, settings: Path) -> None:
    """Exit code 1 until the hooks work."""
    said = segue("hooks", "status")
    assert said.code == 1
    *lines, last = said.out.splitlines()
    assert [line.split()[:2] for line in lines] == [["✘", event] for event in EVENTS]
    assert all(line.endswith("never ran  not installed") for line in lines)
    assert last == "To fix it: segue hooks install"
    assert segue("hooks", "install").code == 0
    said = segue("hooks", "status")
    assert (said.code, said.out.count("✔"), "To fix it" in said.out) == (0, len(EVENTS), False)


def test_a_program_that_went_away_is_named(segue: Shell, settings: Path) -> None:
    """It is installed, and does not work."""
    segue("hooks", "install")
    Path(sys.argv[0]).unlink()
    said = segue("hooks", "status")
    assert said.code == 1
    assert said.out.count("its program is missing: ") == len(EVENTS)
    told = segue("hooks", "status", "--json")
    assert told.code == 1
    assert (told.json["installed"], {one["found"] for one in told.json["hooks"]}) == (True, {False})


def test_when_a_hook_was_last_heard_of_is_shown(
    segue: Shell, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For programs as a time in UTC."""
    segue("hooks", "install")
    event = "PreCompact"
    monkeypatch.setattr("segue.cli.hook._read", json.dumps(payload(event)).encode)
    assert all(one["last_fired"] is None for one in hooks(segue))
    assert segue("hook", event).code == 0
    (fired,) = [one for one in hooks(segue) if one["last_fired"]]
    assert (fired["event"], fired["last_fired"][-1]) == (event, "Z")
    (line,) = [one for one in segue("hooks", "status").out.splitlines() if f" {event} " in one]
    assert "  last " in line


def hooks(segue: Shell) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = segue("hooks", "status", "--json").json["hooks"]
    return found


def test_what_else_is_in_the_file_stays_when_the_hooks_go(segue: Shell, settings: Path) -> None:
    settings.parent.mkdir()
    settings.write_text(OWN)
    segue("hooks", "install")
    assert json.loads(settings.read_text())["model"] == "opus"
    assert segue("hooks", "remove").out == f"Removed the hooks from {settings}.\n"
    assert settings.read_text() == OWN
    assert segue("hooks", "remove").out == f"{settings} contains no Segue hooks.\n"
    assert segue("hooks", "remove", "--json").json == {"path": str(settings), "removed": False}


def test_a_folder_may_be_named(segue: Shell, settings: Path, alone: Path) -> None:
    """Else it is the project around here, also from a folder in it."""
    (alone / "app").mkdir()
    told = segue("hooks", "install", "app", "--json").json
    assert told["path"] == str(alone / "app" / ".claude" / "settings.json")
    assert segue.refused("hooks", "install", "nowhere")["code"] == "usage"


def test_settings_that_cannot_be_read_are_not_touched(segue: Shell, settings: Path) -> None:
    settings.parent.mkdir()
    settings.write_text('{\n  "model": \n}\n')
    error = segue.refused("hooks", "install")
    assert (error["code"], error["file"], error["line"]) == ("bad_settings", str(settings), 3)
    assert error["hint"] == "fix it; Segue changed nothing"


def test_a_verb_that_is_close_is_suggested(segue: Shell) -> None:
    said = segue("hooks", "instal")
    assert said.code == 2
    assert "did you mean `segue hooks install`?" in said.err
