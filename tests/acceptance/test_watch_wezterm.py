"""`segue watch` on WezTerm's panes, by its command line; a stand-in takes its place."""

from __future__ import annotations

import json
import os
import pty
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from kit import TESTS, python_module
from kit.box import Box
from kit.command import Event
from kit.waiting import until
from kit.watch import (
    ENTER,
    HINTS,
    QUICK,
    RESUME,
    Watch,
    claude_stopped,
    codex_stopped,
    instant,
    menu_view,
    soon,
)

pytestmark = pytest.mark.moments

SLOW_S = 12.0  # nothing is pushed there: a quiet pane is looked at every ten seconds at least


class Wezterm:
    """A stand-in `wezterm` on the PATH, and what was asked of it."""

    def __init__(self, box: Box) -> None:
        self.box = box
        self.folder = box.tmp / "wezterm"
        programs = box.tmp / "programs"
        for folder in (self.folder, programs):
            folder.mkdir()
        script = programs / "wezterm"
        words = shlex.join([*python_module("kit.wezterm")[0], str(self.folder)])
        path = shlex.quote(str(TESTS))
        script.write_text(f'#!/bin/sh\nPYTHONPATH={path} exec {words} "$@"\n')
        script.chmod(0o755)
        self.run(True)
        box.extra_env = {
            "PATH": f"{programs}:{os.environ['PATH']}", "TZ": "UTC", "SEGUE_LANG": "en",
        }  # fmt: skip
        lines = [f"{name} = {json.dumps(value)}" for name, value in QUICK.items()]
        box.config("[recovery]\n" + "\n".join(lines) + "\n")
        self._ptys: list[tuple[subprocess.Popen[bytes], int]] = []

    def run(self, is_running: bool) -> None:
        if is_running:
            (self.folder / "running").touch()
        else:
            (self.folder / "running").unlink()

    def pane(self, number: int, brand: str = "claude", **view: Any) -> str:
        """A pane with an agent in it, a process of that name on a terminal of its own."""
        tty = None if view.pop("is_remote", False) else self._agent(brand)
        kept = {"brand": brand, "hint": HINTS[brand], "tty": tty, **view}
        fresh = self.folder / f"{number}.new"
        fresh.write_text(json.dumps(kept))
        fresh.replace(self.folder / f"{number}.pane")
        return f"wezterm:{number}"

    def _agent(self, brand: str) -> str:
        program = self.box.tmp / "real" / brand
        program.parent.mkdir(exist_ok=True)
        program.write_text("import time\nwhile True: time.sleep(60)\n")
        ours, theirs = pty.openpty()
        name = os.ttyname(theirs)
        process = subprocess.Popen(
            ["setsid", "--ctty", sys.executable, str(program)],
            stdin=theirs, stdout=theirs, stderr=theirs, env=self.box.env(),
        )  # fmt: skip
        os.close(theirs)
        self._ptys.append((process, ours))
        return name

    def show(self, number: int, **view: Any) -> None:
        """Another view, as the agent itself would draw it."""
        path = self.folder / f"{number}.pane"
        fresh = self.folder / f"{number}.new"
        fresh.write_text(json.dumps({**json.loads(path.read_text()), **view}))
        fresh.replace(path)

    def close(self, number: int) -> None:
        (self.folder / f"{number}.pane").unlink()

    def log(self, number: int, event: str) -> list[Event]:
        path = self.folder / f"{number}.log"
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        return [told for told in map(json.loads, lines) if told["event"] == event]

    def bytes(self, number: int) -> list[str]:
        return [told["text"] for told in self.log(number, "bytes")]

    @property
    def calls(self) -> list[list[str]]:
        path = self.folder / "calls"
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        return [json.loads(line)["argv"] for line in lines]

    def watch(self, *args: str) -> Watch:
        return Watch(self.box.start("watch", "--json", *args))

    def end(self) -> None:
        for going in self.box.started:
            if going.process.poll() is None:
                going.kill()
        for process, fd in self._ptys:
            process.kill()
            process.wait()
            os.close(fd)


@pytest.fixture
def wezterm(box: Box) -> Iterator[Wezterm]:
    made = Wezterm(box)
    yield made
    made.end()


def resumed_once(wezterm: Wezterm, number: int) -> None:
    assert [told["text"] for told in wezterm.log(number, "submitted")] == [RESUME]
    assert wezterm.bytes(number) == [RESUME, ENTER]


def test_a_pane_parks_and_goes_on_once(wezterm: Wezterm) -> None:
    """Found by itself, parked, waked: the text by `send-text --no-paste`, Enter as another."""
    reset = soon(4)
    pane = wezterm.pane(7, body=claude_stopped(reset))
    watch = wezterm.watch()
    paused = watch.state(pane, "paused")
    assert (paused["kind"], instant(paused["resets_at"])) == ("session_limit", reset)
    until(lambda: wezterm.log(7, "busy"), "busy")
    watch.now(pane, "busy")
    assert wezterm.log(7, "bytes")[0]["at"] >= reset
    resumed_once(wezterm, 7)
    sends = [argv for argv in wezterm.calls if "send-text" in argv]
    assert len(sends) == 2
    assert all("--no-paste" in argv for argv in sends)


def test_a_pane_without_a_terminal_is_found_by_its_screen(wezterm: Wezterm) -> None:
    """WezTerm names no process there: what the agent draws is enough, also while a menu waits."""
    entries = ["Upgrade your plan", "Stop and wait for limit to reset"]
    stopped = claude_stopped(soon(6))
    pane = wezterm.pane(7, is_remote=True, body=stopped)
    menu = wezterm.pane(8, is_remote=True, **menu_view(stopped, entries))
    watch = wezterm.watch("--account", "wezterm:8=other")
    assert watch.state(pane, "paused")["account"] == "claude"
    assert watch.state(menu, "paused")["account"] == "other"
    until(lambda: wezterm.log(7, "busy") and wezterm.log(8, "submitted"), "both go on")
    resumed_once(wezterm, 7)
    assert [told["text"] for told in wezterm.log(8, "chosen")] == [entries[1]]


def test_a_banner_that_comes_later_is_seen(wezterm: Wezterm) -> None:
    """Nothing is pushed there: a pane that was quiet is looked at soon enough."""
    pane = wezterm.pane(3, mode="busy", body=["❯ hello"])
    watch = wezterm.watch()
    watch.state(pane, "busy")
    wezterm.show(3, mode="prompt", body=claude_stopped(soon(2)))
    watch.state(pane, "paused", wait_s=SLOW_S)
    until(lambda: wezterm.log(3, "submitted"), "the text", SLOW_S)
    watch.now(pane, "busy")
    resumed_once(wezterm, 3)


def test_codex_with_the_hint_of_its_empty_line(wezterm: Wezterm) -> None:
    """The text of a pane has no colours there; the hint is no draft all the same."""
    pane = wezterm.pane(2, "codex", body=codex_stopped(3))
    watch = wezterm.watch()
    watch.state(pane, "paused")
    until(lambda: wezterm.log(2, "submitted"), "the text")
    resumed_once(wezterm, 2)


def test_a_draft_is_left_alone(wezterm: Wezterm) -> None:
    """Half typed by a person: neither sent nor cleared."""
    reset = soon(2)
    pane = wezterm.pane(2, body=claude_stopped(reset), draft="please look at")
    watch = wezterm.watch()
    watch.state(pane, "paused")
    until(lambda: time.time() > reset + 4, "the instant")
    assert wezterm.bytes(2) == []


def test_a_menu_is_answered_by_its_waiting_entry(wezterm: Wezterm) -> None:
    """Keys are sent as their bytes; the entry is found by its text."""
    entries = ["Upgrade your plan", "Stop and wait for limit to reset"]
    wezterm.pane(5, **menu_view(claude_stopped(soon(4)), entries))
    wezterm.watch()
    until(lambda: wezterm.log(5, "submitted"), "the text")
    assert [told["text"] for told in wezterm.log(5, "chosen")] == [entries[1]]
    assert [told["text"] for told in wezterm.log(5, "submitted")] == [RESUME]


def test_a_pane_that_is_closed_is_dead(wezterm: Wezterm) -> None:
    """A pane that is not listed any more is told as dead."""
    pane = wezterm.pane(4, body=claude_stopped(soon(60)))
    watch = wezterm.watch()
    watch.state(pane, "paused")
    wezterm.close(4)
    watch.state(pane, "dead", wait_s=SLOW_S)


def test_a_named_pane_alone_is_watched(wezterm: Wezterm) -> None:
    """`wezterm:N` names it."""
    reset = soon(2)
    wezterm.pane(1, body=claude_stopped(reset))
    mine = wezterm.pane(2, body=claude_stopped(reset))
    watch = wezterm.watch(mine)
    until(lambda: wezterm.log(2, "submitted"), "the text")
    watch.now(mine, "busy")
    assert wezterm.bytes(1) == []


def test_killed_during_the_wait_and_started_again(wezterm: Wezterm) -> None:
    """Sent once, there too."""
    reset = soon(3)
    pane = wezterm.pane(6, body=claude_stopped(reset))
    first = wezterm.watch()
    first.state(pane, "paused")
    first.kill()
    until(lambda: time.time() > reset + 1, "the instant")
    again = wezterm.watch()
    until(lambda: wezterm.log(6, "busy"), "busy")
    again.now(pane, "busy")
    resumed_once(wezterm, 6)


def test_killed_between_text_and_enter(wezterm: Wezterm) -> None:
    """The next watcher sends Enter alone."""
    wezterm.pane(6, body=claude_stopped(soon(3)))
    first = wezterm.watch()
    until(lambda: RESUME in wezterm.bytes(6), "the text")
    first.kill()
    assert ENTER not in wezterm.bytes(6), "the pause before Enter was too short to be hit"
    wezterm.watch()
    until(lambda: wezterm.log(6, "submitted"), "the submission")
    resumed_once(wezterm, 6)


def test_wezterm_that_is_not_running_is_waited_for(wezterm: Wezterm) -> None:
    """Said in words; when it is there, its panes are taken up."""
    wezterm.run(False)
    watch = wezterm.watch()
    until(lambda: watch.err or watch.events or watch.going.process.poll() is not None, "a word")
    if watch.going.process.poll() is not None:
        assert watch.going.process.returncode == 2
        return
    wezterm.run(True)
    pane = wezterm.pane(1, body=claude_stopped(soon(2)))
    watch.state(pane, "paused", wait_s=90)
    until(lambda: wezterm.log(1, "submitted"), "the text")


def test_quiet_panes_are_asked_for_less_and_less(wezterm: Wezterm) -> None:
    """An idle pane costs a question every few seconds, not a storm of them."""
    pane = wezterm.pane(1, body=["● Done."])
    watch = wezterm.watch()
    watch.wait(lambda: watch.of(pane), "the pane is seen")
    before = len(wezterm.calls)
    end = time.time() + 8
    until(lambda: time.time() > end, "a while")
    assert len(wezterm.calls) - before <= 16


def test_it_ends_in_order(wezterm: Wezterm) -> None:
    """A signal ends it without a word to the pane."""
    pane = wezterm.pane(1, body=claude_stopped(soon(60)))
    watch = wezterm.watch()
    watch.state(pane, "paused")
    assert watch.stop(signal.SIGTERM) in (0, 130, 143)
    assert wezterm.bytes(1) == []
