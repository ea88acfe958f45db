"""How `segue watch` shows what happens: a live table, plain lines, JSON for programs."""

from __future__ import annotations

import json

import pytest

from kit.shell import Typed
from segue.cli import console
from segue.cli.watch_screens import JsonScreen, LineScreen, Screen, choose_screen
from segue.cli.watch_table import TableScreen

EVENT = {"event": "parked", "pane": "%1", "text": "한글 \x9b2J"}


def screen(
    patch: pytest.MonkeyPatch, *, is_live: bool = True, is_foreground: bool = True
) -> Screen:
    """What is chosen for a person."""
    patch.setattr(console, "is_live", lambda: is_live)
    patch.setattr(console, "is_foreground", lambda: is_foreground)
    return choose_screen(as_json=False)


def test_a_program_gets_one_event_on_each_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a terminal as well; log lines go to standard error."""
    monkeypatch.setattr(console, "is_live", lambda: True)
    chosen = choose_screen(as_json=True)
    assert isinstance(chosen, JsonScreen)
    chosen.emit(EVENT)
    chosen.log("a line")
    out, err = capsys.readouterr()
    assert json.loads(out) == EVENT
    assert out.count("\n") == 1
    assert "\x9b" not in out, "what acts on a terminal is escaped"
    assert err == "a line\n"


def test_a_pipe_gets_lines_on_standard_error_and_no_events(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Standard output stays empty: nothing is a result before it ends."""
    chosen = screen(monkeypatch, is_live=False)
    assert type(chosen) is LineScreen
    chosen.emit(EVENT)
    chosen.log("%1 is parked\x1b[2J")
    assert tuple(capsys.readouterr()) == ("", "%1 is parked\n")


def test_a_person_at_a_terminal_gets_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where keys can be read and the program has the terminal."""
    monkeypatch.setattr("segue.cli.watch_table.TableScreen.__init__", lambda self: None)
    monkeypatch.setattr("sys.stdin", Typed())
    assert isinstance(screen(monkeypatch), TableScreen)
    assert type(screen(monkeypatch, is_foreground=False)) is LineScreen
    monkeypatch.undo()
    monkeypatch.setattr("sys.stdin", open_pipe := Typed())
    monkeypatch.setattr(open_pipe, "isatty", lambda: False)
    assert type(screen(monkeypatch)) is LineScreen
