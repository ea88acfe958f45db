"""By hand and on a leash: keys at the table, quiet hours, bounds, and the tasks of the account."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from kit.box import Box
from kit.terminal import Terminal
from kit.waiting import until
from kit.watch import RESUME, Commands, soon

pytestmark = pytest.mark.moments


@pytest.fixture
def desk(box: Box) -> Iterator[Commands]:
    with Commands(box) as made:
        yield made


def at_a_terminal(desk: Commands) -> Terminal:
    screen = Terminal(desk.box, "watch", "--tmux-socket", str(desk.tmux.socket))
    screen.expect("paused")
    return screen


def passes(screen: Terminal, instant: float) -> None:
    """Time passes while somebody looks at the table."""
    while time.time() < instant:
        screen._read()


def test_a_pane_can_be_left_alone_and_taken_back(desk: Commands) -> None:
    """`p` and nothing is sent at the instant; `r` and it is, once; `q` ends the watching."""
    reset = soon(4)
    tui = desk.limited(reset)
    screen = at_a_terminal(desk)
    screen.type("p")
    passes(screen, reset + 3)
    tui.untouched()
    screen.type("r")
    until(lambda: screen._read() and tui.submitted, "the text")
    tui.wait("busy")
    tui.resumed_once()
    screen.type("q")
    assert screen.end().code in (0, 130)


def test_left_alone_over_a_restart(desk: Commands) -> None:
    """What a person has taken for themselves stays theirs when the watcher starts again."""
    reset = soon(4)
    tui = desk.limited(reset)
    screen = at_a_terminal(desk)
    screen.type("p")
    passes(screen, time.time() + 1)
    screen.type("q")
    screen.end()
    watch = desk.watch()
    watch.wait(lambda: watch.of(tui.pane), "the pane is seen")
    until(lambda: time.time() > reset + 2, "the instant")
    desk.witness(watch)
    tui.untouched()


def test_a_pane_can_be_waked_now(desk: Commands) -> None:
    """`w`: the text is sent long before the reset, once."""
    tui = desk.limited(soon(3600))
    screen = at_a_terminal(desk)
    screen.type("w")
    until(lambda: screen._read() and tui.submitted, "the text")
    passes(screen, time.time() + 3)
    tui.resumed_once()
    screen.type("\x03")
    screen.end()


def test_the_arrows_choose_the_pane(desk: Commands) -> None:
    """`w` is for the chosen one alone."""
    first, second = desk.limited(soon(3600)), desk.limited(soon(3600))
    screen = at_a_terminal(desk)
    screen.expect(second.pane)
    screen.type("\x1b[B")
    passes(screen, time.time() + 0.5)
    screen.type("w")
    until(lambda: screen._read() and second.submitted, "the text")
    passes(screen, time.time() + 2)
    first.untouched()
    second.resumed_once()
    screen.type("\x03")
    screen.end()


def clock(after_s: float) -> str:
    return f"{datetime.now(UTC) + timedelta(seconds=after_s):%H:%M}"


def leash(desk: Commands, line: str) -> None:
    path = desk.box.root / "segue.toml"
    desk.box.config(f"{path.read_text()}[leash]\n{line}\n")


def test_nothing_is_waked_in_quiet_hours(desk: Commands) -> None:
    """The instant comes within them: the pane stays parked."""
    leash(desk, f'quiet_hours = "{clock(-120)}-{clock(3600)}"')
    reset = soon(2)
    tui = desk.limited(reset)
    watch = desk.watch()
    watch.state(tui.pane, "paused")
    until(lambda: time.time() > reset + 4, "the instant")
    tui.untouched()
    assert watch.states(tui.pane)[-1] == "paused"


def test_nothing_is_waked_after_the_end_of_the_leash(desk: Commands) -> None:
    """`until` is reached while it waits: the pane stays parked."""
    until(lambda: 20 < time.time() % 60 < 50, "enough of this minute")
    leash(desk, f'until = "{clock(60)}"')  # the next full minute
    end = (int(time.time()) // 60 + 1) * 60
    tui = desk.limited(end + 2)
    watch = desk.watch()
    watch.state(tui.pane, "paused")
    until(lambda: time.time() > end + 6, "the instant", 120)
    tui.untouched()


def test_so_many_windows_and_no_more(desk: Commands) -> None:
    """`max_windows` used up: the next limit is for a person."""
    leash(desk, "max_windows = 1")
    tui = desk.limited(soon(2))
    watch = desk.watch()
    tui.wait("busy")
    watch.now(tui.pane, "busy")
    second = soon(2)
    more = ["● Half of it is done.", "", f"  ⎿  Claude AI usage limit reached|{second}"]
    tui.show(mode="prompt", more=more)
    watch.state(tui.pane, "blocked")
    until(lambda: time.time() > second + 3, "the instant")
    assert tui.submitted == [RESUME]


def test_tasks_of_the_account_wait_too(desk: Commands) -> None:
    """A pane's limit holds the account: `segue run` starts nothing on it meanwhile."""
    desk.box.scripted("write done yes\n", more="recheck_after = 1\n")
    text = (desk.box.root / "segue.toml").read_text()
    desk.box.config(text.replace('kind = "script"\n', 'kind = "script"\naccount = "claude"\n'))
    desk.box.plan("- [ ] T-1: a\n")
    tui = desk.limited(soon(600))
    watch = desk.watch()
    watch.state(tui.pane, "paused")
    done = desk.box.run("--no-wait")
    assert done.code == 4, done.said
    assert not (desk.box.root / "done").exists()
    tui.untouched()
