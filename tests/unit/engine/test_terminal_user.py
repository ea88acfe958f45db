"""Who is at the terminal, as the journal names them."""

from __future__ import annotations

import getpass
import os

import pytest

from segue.engine.terminal_user import at_terminal


def nobody() -> str:
    raise KeyError("getpwuid(): uid not found: 4711")


def test_the_journal_gets_the_user_and_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first stream that is a terminal says which one."""
    monkeypatch.setattr(getpass, "getuser", lambda: "kim")
    monkeypatch.setattr(os, "ttyname", {0: "/dev/pts/7"}.__getitem__)
    assert (at_terminal().name, at_terminal().via) == ("kim (pts/7)", "terminal")


def test_without_a_terminal_the_user_alone_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe has no name; a user without one is a number."""

    def no_terminal(_stream: int) -> str:
        raise OSError(25, "Inappropriate ioctl for device")

    monkeypatch.setattr(os, "ttyname", no_terminal)
    monkeypatch.setattr(getpass, "getuser", lambda: "kim")
    assert at_terminal().name == "kim"
    monkeypatch.setattr(getpass, "getuser", nobody)
    assert at_terminal().name == str(os.getuid())
