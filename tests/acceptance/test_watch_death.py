"""Deaths: of the watcher, of a pane, of tmux. Whatever dies, a text is sent once."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator

import pytest

from kit.box import Box
from kit.waiting import until
from kit.watch import (
    ENTER,
    LATE_S,
    RESUME,
    Commands,
    Tui,
    claude_says,
    claude_stopped,
    instant,
    menu_view,
    soon,
)

pytestmark = pytest.mark.moments

WAIT = "Stop and wait for limit to reset"


@pytest.fixture
def desk(box: Box) -> Iterator[Commands]:
    with Commands(box) as made:
        yield made


def test_killed_during_the_wait_and_started_after_the_instant(desk: Commands) -> None:
    """kill -9, the instant passes, another watcher: it is sent at once, and once."""
    reset = soon(3)
    tui = desk.limited(reset)
    first = desk.watch()
    first.state(tui.pane, "paused")
    first.kill()
    until(lambda: time.time() > reset + 1, "the instant")
    tui.untouched()
    began = time.time()
    again = desk.watch()
    tui.wait("busy", wait_s=90)
    assert tui.first_sent_at() < began + LATE_S
    again.now(tui.pane, "busy")
    tui.resumed_once()


def test_killed_during_the_wait_and_started_before_the_instant(desk: Commands) -> None:
    """The next watcher waits on for the same instant."""
    reset = soon(5)
    tui = desk.limited(reset)
    first = desk.watch()
    first.state(tui.pane, "paused")
    first.kill()
    again = desk.watch()
    again.state(tui.pane, "paused")
    tui.wait("busy")
    assert tui.first_sent_at() >= reset
    tui.resumed_once()


def test_a_relative_time_does_not_begin_anew(desk: Commands) -> None:
    """“try again in 8 seconds” counts from when it was shown, not from the next watcher's start."""
    tui = desk.tui("codex", body=["› write the parser", "• Reading."])
    first = desk.watch()
    first.wait(lambda: first.of(tui.pane), "the pane is seen")
    message = "You've hit your usage limit. Upgrade to Pro or try again in 8 seconds."
    tui.show(body=["› write the parser", "", f"■ {message}"])
    resets_at = first.state(tui.pane, "paused")["resets_at"]
    first.kill()
    again = desk.watch()
    assert again.state(tui.pane, "paused")["resets_at"] == resets_at
    tui.wait("busy")
    assert tui.first_sent_at() >= instant(resets_at)
    tui.resumed_once()


def text_is_there(tui: Tui) -> bool:
    return RESUME in "".join(tui.bytes)


def test_killed_between_text_and_enter(desk: Commands) -> None:
    """The text stands in the input line: the next watcher sends Enter alone."""
    tui = desk.limited(soon(2))
    first = desk.watch()
    until(lambda: text_is_there(tui), "the text")
    first.kill()
    assert tui.submitted == [], "the pause before Enter is too short to be hit: nothing was tested"
    again = desk.watch()
    tui.wait("busy", wait_s=90)
    again.now(tui.pane, "busy")
    tui.resumed_once()


def test_killed_after_enter_while_the_agent_is_slow(desk: Commands) -> None:
    """Submitted, not yet seen to work: the next watcher looks again before it sends again."""
    desk.recovery(recheck_after=3)
    tui = desk.limited(soon(2), reactions=[{"mode": "busy", "delay_s": 2}])
    first = desk.watch()
    until(lambda: tui.submitted, "the submission")
    first.kill()
    again = desk.watch()
    tui.wait("busy", wait_s=90)
    again.now(tui.pane, "busy")
    tui.resumed_once()


@pytest.mark.parametrize("number", range(15))
def test_killed_around_the_sending(desk: Commands, number: int) -> None:
    """At any moment around the instant: after the next watcher it was sent once, whole."""
    reset = soon(2)
    tui = desk.limited(reset)
    first = desk.watch()
    first.state(tui.pane, "paused")
    at = reset + random.Random(number).uniform(-0.1, 1.2)
    until(lambda: time.time() > at, "the moment")
    first.kill()
    again = desk.watch()
    tui.wait("busy", wait_s=90)
    again.now(tui.pane, "busy")
    tui.resumed_once()


@pytest.mark.parametrize("number", range(5))
def test_killed_around_the_answer_to_a_menu(desk: Commands, number: int) -> None:
    """At any moment: the waiting entry alone is taken, and the text is sent once."""
    reset = soon(3)
    tui = desk.tui(**menu_view(claude_stopped(reset), ["Upgrade your plan", WAIT, "Add funds"]))
    first = desk.watch()
    first.state(tui.pane, "paused")
    at = reset + random.Random(number).uniform(0.0, 2.0)
    until(lambda: time.time() > at, "the moment")
    first.kill()
    again = desk.watch()
    tui.wait("busy", wait_s=90)
    again.now(tui.pane, "busy")
    assert tui.chosen == [WAIT]
    assert tui.submitted == [RESUME]


@pytest.mark.parametrize("after_s", [0.0, 1.0, 3.0])
def test_killed_after_a_compaction_was_asked_for(desk: Commands, after_s: float) -> None:
    """The remedy is under way or over when the next watcher comes: each text once, in order."""
    desk.recovery(context_limit_wait=1)
    compacted = ["❯ /compact", "  ⎿  Compacted (ctrl+o to see full summary)"]
    tui = desk.tui(
        body=claude_says("Context limit reached · /compact or /clear to continue"),
        reactions=[{"mode": "busy", "busy_s": 2, "body": compacted}, {"mode": "busy", "busy_s": 0}],
    )
    first = desk.watch()
    until(lambda: tui.submitted, "the remedy")
    at = time.time() + after_s
    until(lambda: time.time() > at, "the moment")
    first.kill()
    desk.watch()
    tui.wait("submitted", 2, wait_s=90)
    assert tui.submitted == ["/compact", RESUME]


def passes(moment: float) -> None:
    until(lambda: time.time() > moment, "the moment")


def test_killed_again_and_again(desk: Commands) -> None:
    """Ten watchers in a row, each dead after a moment: one text in the end."""
    reset = soon(3)
    tui = desk.limited(reset)
    chance = random.Random(7)
    for _round in range(10):
        watch = desk.watch()
        stop = time.time() + chance.uniform(0.3, 1.5)
        passes(stop)
        watch.kill()
    last = desk.watch()
    tui.wait("busy", wait_s=90)
    last.now(tui.pane, "busy")
    tui.resumed_once()


def test_two_watchers_send_once(desk: Commands) -> None:
    """Both started, one sends; the other says who holds the pane or is silent about it."""
    tui = desk.limited(soon(4))
    watches = [desk.watch(), desk.watch()]
    tui.wait("busy")
    until(
        lambda: any("busy" in watch.states(tui.pane) for watch in watches),
        "busy again",
    )
    tui.resumed_once()


def test_two_watchers_of_two_folders_send_once(desk: Commands) -> None:
    """The lock is the pane's, not the project's: a watcher of another folder keeps off, too."""
    other = desk.box.tmp / "elsewhere"
    other.mkdir()
    (other / "segue.toml").write_text("[recovery]\nwake_margin_s = 0\nrecheck_after = 1\n")
    tui = desk.limited(soon(4))
    desk.watch()
    root, desk.box.root = desk.box.root, other
    desk.watch()
    desk.box.root = root
    tui.wait("busy")
    until(lambda: time.time() > tui.first_sent_at() + 3, "the other one's look")
    tui.resumed_once()


def test_the_second_watcher_takes_over_from_a_dead_one(desk: Commands) -> None:
    """Two watch; the one that holds the pane is killed during the wait; the other sends."""
    reset = soon(6)
    tui = desk.limited(reset)
    first = desk.watch()
    first.state(tui.pane, "paused")
    second = desk.watch()
    until(lambda: len(desk.tmux.clients) >= 2, "both are there")
    first.kill()
    tui.wait("busy", wait_s=90)
    second.wait(lambda: "busy" in second.states(tui.pane), "busy again")
    tui.resumed_once()


def test_a_pane_killed_while_waiting_is_dead(desk: Commands) -> None:
    """Told as dead; the others are waked."""
    reset = soon(4)
    gone, stays = desk.limited(reset), desk.limited(reset)
    watch = desk.watch()
    watch.state(gone.pane, "paused")
    watch.state(stays.pane, "paused")
    desk.tmux("kill-pane", "-t", gone.pane)
    watch.state(gone.pane, "dead")
    stays.wait("busy")
    stays.resumed_once()


def test_a_pane_that_stays_after_its_program_is_not_typed_to(desk: Commands) -> None:
    """`remain-on-exit`: the banner still stands there, the agent does not."""
    reset = soon(4)
    tui = desk.limited(reset)
    desk.tmux("set-option", "-g", "remain-on-exit", "on")
    watch = desk.watch()
    watch.state(tui.pane, "paused")
    os.kill(tui.pid, signal.SIGKILL)
    watch.wait(lambda: watch.states(tui.pane)[-1] in ("dead", "done"), "that it ended")
    until(lambda: time.time() > reset + 2, "the instant")
    desk.witness(watch)
    assert "▶️ Worker 0" not in watch.err


def test_an_agent_that_ends_in_its_shell_is_not_typed_to(desk: Commands) -> None:
    """The agent ended, the shell behind it is there: the text would be a command. It is not sent."""
    reset = soon(4)
    folder, command = desk.play("claude", body=claude_stopped(reset))
    kept = desk.box.tmp / "typed"
    line = " ".join(f"'{word}'" for word in command)
    pane = desk.room("sh", "-c", f"{line}; stty sane; exec cat > {kept}")
    tui = Tui(pane, folder, desk.tmux)
    tui.wait("ready")
    watch = desk.watch()
    watch.state(pane, "paused")
    os.kill(tui.pid, signal.SIGKILL)
    until(kept.exists, "the shell's turn")
    until(lambda: time.time() > reset + 2, "the instant")
    desk.witness(watch)
    assert kept.read_bytes() == b""
    tui.untouched()


def test_a_pane_that_appears_later_is_watched(desk: Commands) -> None:
    """Started beside a running watcher, in a new window or by a split: waked like the others."""
    first = desk.tui(mode="busy", body=["❯ hello"])
    watch = desk.watch()
    watch.state(first.pane, "busy")
    late = desk.limited(soon(3))
    folder, command = desk.play("claude", body=claude_stopped(soon(3)))
    pane = desk.tmux("split-window", "-d", "-t", late.pane, "-P", "-F", "#{pane_id}", *command)
    split = Tui(pane, folder, desk.tmux)
    for tui in (late, split):
        watch.state(tui.pane, "paused")
        tui.wait("busy", wait_s=90)
        tui.resumed_once()


def test_an_agent_started_in_a_shell_later_is_found(desk: Commands) -> None:
    """A pane with a shell becomes an agent's pane when one is started in it."""
    pane = desk.room("sh")
    watch = desk.watch()
    until(lambda: any("control-mode" in flags for flags in desk.tmux.clients), "the watcher")
    folder, command = desk.play("claude", body=claude_stopped(soon(4)))
    desk.tmux("send-keys", "-t", pane, " ".join(f"'{word}'" for word in command), "Enter")
    tui = Tui(pane, folder, desk.tmux)
    tui.wait("ready")
    watch.state(pane, "paused")
    tui.wait("busy")
    tui.resumed_once()


def test_tmux_killed_and_started_anew(desk: Commands) -> None:
    """The panes are told as dead; the watcher stays and takes up what is there afterwards."""
    tui = desk.limited(soon(60))
    watch = desk.watch()
    watch.state(tui.pane, "paused")
    desk.tmux("kill-server")
    watch.state(tui.pane, "dead")
    assert watch.going.process.poll() is None
    began = len(watch.events)
    new = desk.limited(soon(4))
    watch.wait(
        lambda: [e for e in watch.events[began:] if e.get("pane") == new.pane
                 and e.get("state") == "paused"], "the new pane's park", 60,
    )  # fmt: skip
    new.wait("busy", wait_s=90)
    new.resumed_once()


def test_a_server_that_comes_later_is_waited_for_or_refused_in_words(desk: Commands) -> None:
    """No tmux yet: either a clear message and exit 2, or it waits, says so, and finds it later."""
    watch = desk.watch()
    until(lambda: watch.going.process.poll() is not None or watch.err or watch.events, "a word")
    if watch.going.process.poll() is not None:
        assert watch.going.process.returncode == 2
        assert "tmux" in watch.told
        return
    assert "tmux" in watch.told.lower()
    tui = desk.limited(soon(5))
    watch.state(tui.pane, "paused", wait_s=90)
    tui.wait("busy")
    tui.resumed_once()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_in_order(desk: Commands, number: signal.Signals) -> None:
    """A signal ends it soon, with nothing left behind: no client, no process, no key, park kept."""
    reset = soon(5)
    tui = desk.limited(reset)
    before = set(desk.box.left_behind())
    watch = desk.watch()
    watch.state(tui.pane, "paused")
    began = time.time()
    code = watch.stop(number)
    assert time.time() < began + 30
    assert code in ((0, 130) if number == signal.SIGINT else (0, 143, 130)), code
    until(lambda: desk.tmux.clients == [], "no client is left")
    assert set(desk.box.left_behind()) <= before
    tui.untouched()
    desk.watch()
    tui.wait("busy")
    assert tui.first_sent_at() >= reset
    tui.resumed_once()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", ["bytes", "submitted", "busy"])
def test_ended_in_the_middle_of_a_sending(
    desk: Commands, moment: str, number: signal.Signals
) -> None:
    """A signal between text, Enter and the look after them: in order, and once in the end."""
    tui = desk.limited(soon(2))
    watch = desk.watch()
    tui.wait(moment)
    assert watch.stop(number) in (0, 130, 143)
    until(lambda: desk.tmux.clients == [], "no client is left")
    again = desk.watch()
    tui.wait("busy")
    again.now(tui.pane, "busy")
    tui.resumed_once()


def test_no_sessions_of_its_own_stay_behind(desk: Commands) -> None:
    """Neither while it watches nor after kill -9 does a person find strange sessions in tmux."""
    tui = desk.limited(soon(60))
    names = desk.tmux("list-sessions", "-F", "#{session_name}")
    watch = desk.watch()
    watch.state(tui.pane, "paused")
    watch.kill()
    until(lambda: desk.tmux.clients == [], "no client is left")
    assert desk.tmux("list-sessions", "-F", "#{session_name}") == names


def test_stopped_and_continued_past_the_instant(desk: Commands) -> None:
    """As a machine that slept: the watcher wakes the pane at once when it goes on, and once."""
    reset = soon(3)
    tui = desk.limited(reset)
    watch = desk.watch()
    watch.state(tui.pane, "paused")
    watch.going.send(signal.SIGSTOP)
    until(lambda: time.time() > reset + 2, "the instant")
    tui.untouched()
    watch.going.send(signal.SIGCONT)
    began = time.time()
    tui.wait("busy", wait_s=90)
    assert tui.first_sent_at() < began + LATE_S
    tui.resumed_once()
    assert tui.bytes[-1] == ENTER
