"""A person at the terminal picks one of several."""

from __future__ import annotations

import io
import os
import select
import signal
import sys
from collections.abc import Iterator

import click
import pytest

from segue import i18n
from segue.cli.choosing import choose

ASKED = "Which one? [1]: "


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Standard input is a terminal; the descriptor at which a person types."""
    person, program = os.openpty()
    with open(program, encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        yield person
    os.close(person)


def said(patch: pytest.MonkeyPatch, text: str) -> None:
    patch.setattr(sys, "stdin", io.StringIO(text))


@pytest.mark.parametrize(("typed", "number"), [("2\n", 2), ("\n", 1), (" 3 \n", 3), ("1", 1)])
def test_a_number_is_taken_and_enter_alone_is_the_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], typed: str, number: int
) -> None:
    said(monkeypatch, typed)
    assert choose("Which one?", 3) == number
    assert capsys.readouterr().out == ASKED


@pytest.mark.parametrize("wrong", ["0", "4", "-1", "two", "1.5", "²"])
def test_anything_else_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], wrong: str
) -> None:
    """With the numbers that can be chosen."""
    said(monkeypatch, f"{wrong}\n3\n")
    assert choose("Which one?", 3) == 3
    assert capsys.readouterr().out == f"{ASKED}Enter a number from 1 to 3.\n{ASKED}"


def test_the_end_of_input_chooses_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The shell's prompt begins on a line of its own."""
    said(monkeypatch, "")
    with pytest.raises(click.Abort):
        choose("Which one?", 3)
    assert capsys.readouterr().out == f"{ASKED}\n"


def test_what_is_typed_at_a_terminal_is_read(terminal: int) -> None:
    """And nothing is left behind: signals are handled as before."""
    before = signal.getsignal(signal.SIGINT)
    os.write(terminal, b"7\n2\n")
    assert choose("Which one?", 3) == 2
    assert signal.getsignal(signal.SIGINT) is before
    assert signal.set_wakeup_fd(-1) == -1


@pytest.mark.usefixtures("terminal")
def test_ctrl_c_chooses_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where it comes just before the wait, and where it was ignored until then."""

    def interrupted(*_streams: list[object]) -> object:
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("nobody heard of Ctrl-C")

    monkeypatch.setattr(select, "select", interrupted)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with pytest.raises(click.Abort):
            choose("Which one?", 3)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().out == f"{ASKED}\n"


def test_it_is_asked_again_in_korean(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said(monkeypatch, "9\n1\n")
    i18n.use("ko")
    try:
        choose("어느 것?", 2)
    finally:
        i18n.use("en")
    told = capsys.readouterr().out
    assert "2" in told
    assert "please" not in told
