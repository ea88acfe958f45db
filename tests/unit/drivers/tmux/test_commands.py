"""What tmux is asked about panes, and what its answers mean."""

from __future__ import annotations

import pytest

from segue.drivers.panes import PaneError, PaneGoneError
from segue.drivers.tmux.commands import is_typed, panes_of, screen_of
from segue.drivers.tmux.control_mode import Reply

FACTS = "10 3 2 1 5 0 0 0\ta title"


def screen_replies(*lines: str, facts: str = FACTS) -> list[Reply]:
    rows = Reply(tuple(lines), is_error=False)
    return [Reply((facts,), is_error=False), rows, rows]


def test_an_answer_that_does_not_fit_is_refused() -> None:
    """Fewer or more rows than the pane has, or facts that are none: not a screen."""
    assert screen_of(screen_replies("a", "b", "c"), "%1", 0).lines == ("a", "b", "c")
    assert screen_of(screen_replies(*"abcde"), "%1", 2).history == 2
    for replies in (
        screen_replies("a", "b"),
        screen_replies("a", "b", "c", "d"),
        screen_replies("a", "b", "c", facts="nonsense"),
        screen_replies("a", "b", "c", facts="10 3 2 1"),
        screen_replies("a", "b", "c")[:2],
        [*screen_replies("a", "b", "c"), Reply((), is_error=False)],
        [],
    ):
        with pytest.raises(PaneError, match="invalid reply"):
            screen_of(replies, "%1", 0)
    with pytest.raises(PaneGoneError):
        screen_of(screen_replies("a", "b", "c", facts="10 3 2 1 5 0 0 1\tx"), "%1", 0)


def test_a_line_that_a_strange_name_has_torn_is_passed_over() -> None:
    """A program may be called anything; its pane's neighbours are listed all the same."""
    lines = (
        "%1 77 80 24 0 $0\t/dev/pts/1\ttitle\tstrange\tname",
        "torn",
        "%2 78 80 24 1 $0\t/dev/pts/2\tdead\tsh",
        "%3 79 80 24 0 $1\t/dev/pts/3\t\tsh",
    )
    found = panes_of([Reply(lines, is_error=False)], "/s")
    assert [(pane.id, pane.command, session) for pane, session in found.values()] == [
        ("%1", "strange\tname", "$0"),
        ("%3", "sh", "$1"),
    ]


def test_typed_is_only_what_tmux_says_it_typed() -> None:
    """No word of it is not a yes."""
    assert is_typed([Reply((), is_error=False), Reply(("sent",), is_error=False)], "%1")
    assert not is_typed([Reply((), is_error=False)], "%1")
    with pytest.raises(PaneGoneError):
        is_typed([Reply(("refused 1",), is_error=False)], "%1")
    with pytest.raises(PaneError):
        is_typed([Reply(("refused 0",), is_error=False)], "%1")
    with pytest.raises(PaneGoneError):
        is_typed([Reply(("can't find pane: %1",), is_error=True)], "%1")
