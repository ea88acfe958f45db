"""The sessions of a tmux server."""

from __future__ import annotations

import pytest

from segue.drivers.tmux.sessions import TmuxSession, sessions_of, version_of


@pytest.mark.parametrize(
    ("destroy", "leave", "expected"),
    [
        ("", "", False),
        ("0", "off", False),
        ("1", "0", True),
        ("keep-last", "0", True),
        ("0", "on", True),
    ],
)
def test_a_session_may_end_with_its_last_user(destroy: str, leave: str, expected: bool) -> None:
    """By an option of its own, or by the server's."""
    sessions, _used = sessions_of([f"S $1 1700000000 {destroy} {leave} 3.4 12:34"])
    assert sessions == [TmuxSession("$1", 1700000000, expected, "3.4", "12:34")]


def test_who_only_listens_uses_nothing() -> None:
    """A client in control mode that takes no part in the size is a program's."""
    lines = [
        "C $1 attached,control-mode,ignore-size",
        "C $2 attached,focused,UTF-8",
        "C $3 attached,control-mode",
        "C $4 ignore-size",
    ]
    assert sessions_of(lines) == ([], {"$2", "$3", "$4"})


def test_a_session_that_was_never_used_is_as_old_as_can_be() -> None:
    """tmux tells no time of it."""
    assert sessions_of(["S $1  0 0 3.4 12:34"])[0][0].used_at == 0


def test_other_lines_are_passed_over() -> None:
    """Of another version, or of nobody."""
    assert sessions_of(["", "X $1", "S $1", "no server running"]) == ([], set())


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("3.3a", (3, 3)),
        ("next-3.7", (3, 7)),
        ("3.4-rc", (3, 4)),
        ("tmux 2.9", (2, 9)),
        ("master", (0, 0)),
    ],
)
def test_a_version_is_its_numbers(text: str, version: tuple[int, int]) -> None:
    """However it is decorated."""
    assert version_of(text) == version
