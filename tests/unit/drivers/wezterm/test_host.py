"""WezTerm's panes, by a program that stands in for it and is as strict about its arguments."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from kit.waiting import until_async
from segue.drivers.panes import (
    HostBack,
    HostGone,
    HostGoneError,
    Pane,
    PaneAppeared,
    PaneChanged,
    PaneError,
    PaneEvent,
    PaneGone,
    PaneGoneError,
    PaneSilentError,
)
from segue.drivers.wezterm import host
from segue.drivers.wezterm.cli import Listed
from segue.drivers.wezterm.host import WeztermPanes

WAIT_S = 60.0

# Takes what the real one takes: options of `cli` before the command, its own after it.
STAND_IN = r"""#!{python} -SE
import json, os, sys, time
here = os.path.dirname(os.path.abspath(__file__))
def state():
    with open(os.path.join(here, "state.json")) as file:
        return json.load(file)
def refuse(text, code=2):
    sys.stderr.write(text + "\n")
    sys.exit(code)
argv = sys.argv[1:]
with open(os.path.join(here, "calls.jsonl"), "a") as file:
    file.write(json.dumps([time.monotonic(), argv]) + "\n")
now = state()
if now["hangs"]:
    time.sleep(60)
if argv[:1] != ["cli"]:
    refuse("error: unrecognized subcommand")
argv = argv[1:]
if argv[:1] == ["--no-auto-start"] and not now["old"]:
    argv = argv[1:]
elif now["starts"]:
    refuse("ERROR: a server would have been started", 70)
if not argv or argv[0].startswith("-"):
    refuse("error: unexpected argument '%s' found" % (argv or [""])[0])
if not now["runs"]:
    refuse("12:00:01.5 ERROR wezterm > failed to connect to Socket(\"/x\"): refused; terminating", 1)
command, argv = argv[0], argv[1:]
options = {{"list": {{"--format": 1}}, "get-text": {{"--pane-id": 1, "--start-line": 1}},
           "send-text": {{"--pane-id": 1, "--no-paste": 0}}}}.get(command)
if options is None:
    refuse("error: unrecognized subcommand '%s'" % command)
given, words = {{}}, []
while argv:
    word = argv.pop(0)
    if word in options:
        given[word] = argv.pop(0) if options[word] else True
    elif word.startswith("-"):
        refuse("error: unexpected argument '%s' found" % word)
    else:
        words.append(word)
if command == "list":
    assert given == {{"--format": "json"}}, given
    print(json.dumps([{{key: value for key, value in pane.items() if key != "text"}}
                      for pane in now["panes"]]))
    sys.exit()
panes = {{str(pane["pane_id"]): pane for pane in now["panes"]}}
if given["--pane-id"] not in panes:
    refuse("12:00:01.5 ERROR wezterm > no such pane; terminating", 1)
pane = panes[given["--pane-id"]]
if command == "get-text":
    rows = pane["text"].split("\n")
    start = int(given.get("--start-line", 0)) - pane["size"]["rows"]
    print("\n".join(rows[start:] if -start < len(rows) else rows))
elif command == "send-text":
    assert given.get("--no-paste"), "a paste"
    text = words[0] if words else sys.stdin.read()
    with open(os.path.join(here, "typed-%s" % given["--pane-id"]), "a", newline="") as file:
        file.write(text)
"""


class StandIn:
    """The program, and what it is to say."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = folder / "wezterm"
        self.program.write_text(STAND_IN.format(python=sys.executable))
        self.program.chmod(0o755)
        self.says: dict[str, Any] = {
            "runs": True,
            "hangs": False,
            "old": False,
            "starts": True,
            "panes": [],
        }
        self.say()

    def say(self, **what: object) -> None:
        self.says |= what
        file = self.folder / "state.new"
        file.write_text(json.dumps(self.says))
        file.rename(self.folder / "state.json")

    def pane(self, number: int, text: str, **more: object) -> dict[str, Any]:
        return {
            "window_id": 0,
            "tab_id": 0,
            "pane_id": number,
            "workspace": "default",
            "size": {"rows": 4, "cols": 30, "pixel_width": 0, "pixel_height": 0, "dpi": 0},
            "title": f"pane {number}",
            "cwd": "file:///home/user",
            "cursor_x": 2,
            "cursor_y": 1,
            "tty_name": None,
            "text": text,
            **more,
        }

    def show(self, *panes: dict[str, Any]) -> None:
        self.say(panes=list(panes))

    def typed(self, number: int) -> str:
        file = self.folder / f"typed-{number}"
        with file.open(newline="") as open_file:
            return open_file.read()

    def calls(self, command: str) -> list[tuple[float, list[str]]]:
        lines = (self.folder / "calls.jsonl").read_text().splitlines()
        calls = [json.loads(line) for line in lines]
        return [(at, argv) for at, argv in calls if command in argv]


class Seen:
    def __init__(self, panes: WeztermPanes) -> None:
        self.panes = panes
        self.events: list[PaneEvent] = []

    async def gather(self) -> None:
        async for event in self.panes.events():
            self.events.append(event)

    until = staticmethod(until_async)


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """The program; the clock of those who ask it runs ten times as fast."""
    for name in ("BUSY_S", "QUIET_S", "QUIET_S_MAX", "RETRY_S", "RETRY_S_MAX"):
        monkeypatch.setattr(host, name, getattr(host, name) / 10)
    return StandIn(tmp_path)


def play(stand_in: StandIn, scene: Callable[[Seen], Awaitable[None]]) -> list[PaneEvent]:
    async def main() -> list[PaneEvent]:
        program = str(stand_in.program)
        async with WeztermPanes(program=program, environ=os.environ) as panes:
            seen = Seen(panes)
            gathering = asyncio.create_task(seen.gather())
            await asyncio.sleep(0)
            await scene(seen)
        await gathering
        return seen.events

    return asyncio.run(main())


def test_panes_are_listed_with_what_is_told_of_them(stand_in: StandIn) -> None:
    """Their ids say whose they are; sizes and titles come along."""
    stand_in.show(stand_in.pane(0, "a"), stand_in.pane(7, "b", title=" 제목 "))

    async def scene(seen: Seen) -> None:
        first, second = await seen.panes.list()
        assert (first.id, second.id) == ("wezterm:0", "wezterm:7")
        assert (second.host, second.title, second.rows, second.columns) == (
            "wezterm",
            "제목",
            4,
            30,
        )
        assert second.pid is None
        await seen.until(lambda: len(seen.events) >= 2)
        assert {event.pane.id for event in seen.events if isinstance(event, PaneAppeared)} == {
            "wezterm:0",
            "wezterm:7",
        }

    play(stand_in, scene)


def test_the_root_of_a_pane_is_found_by_its_terminal(stand_in: StandIn) -> None:
    """WezTerm tells the terminal, and the kernel who was the first on it."""
    master, slave = os.openpty()
    tty = os.ttyname(slave)
    pid = os.fork()
    if pid == 0:  # pragma: no cover - another process
        os.setsid()
        os.close(os.open(tty, os.O_RDWR))  # the first terminal that is opened becomes its own
        time.sleep(60)
        os._exit(0)
    stand_in.show(stand_in.pane(1, "a", tty_name=tty))

    async def scene(seen: Seen) -> None:
        async with asyncio.timeout(WAIT_S):
            while (await seen.panes.list())[0].pid != pid:
                await asyncio.sleep(0.01)

    try:
        play(stand_in, scene)
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        os.close(master)
        os.close(slave)


def test_a_screen_has_text_cursor_and_history(stand_in: StandIn) -> None:
    """As many rows as the pane has, blanks at their ends gone; rows above it where asked for."""
    stand_in.show(stand_in.pane(1, "zero\none\ntwo  \n한글\n\nfive"))

    async def scene(seen: Seen) -> None:
        screen = await seen.panes.screen("wezterm:1")
        assert screen.lines == ("two", "한글", "", "five")
        assert (screen.cursor, screen.rows, screen.columns) == ((1, 2), 4, 30)
        assert (screen.title, screen.history) == ("pane 1", 0)
        screen = await seen.panes.screen("wezterm:1", history_lines=1)
        assert screen.lines == ("one", "two", "한글", "", "five")
        assert (screen.cursor, screen.history) == ((2, 2), 1)
        screen = await seen.panes.screen("wezterm:1", history_lines=99)
        assert (screen.lines[0], screen.history) == ("zero", 2)

    play(stand_in, scene)


def test_a_screen_with_fewer_rows_than_the_pane_is_filled(stand_in: StandIn) -> None:
    """Rows that are not told are empty."""
    stand_in.show(stand_in.pane(1, "only"))

    async def scene(seen: Seen) -> None:
        assert (await seen.panes.screen("wezterm:1")).lines == ("only", "", "", "")

    play(stand_in, scene)


def test_text_arrives_as_it_is(stand_in: StandIn) -> None:
    """Without paste marks and without Enter, also what looks like an option; keys come alone."""
    stand_in.show(stand_in.pane(3, "a"))
    texts = ["계속", "Enter", "-x --no-paste", "$HOME `id` 'q' \"", "two\nlines", " blanks "]

    async def scene(seen: Seen) -> None:
        for text in texts:
            await seen.panes.send_text("wezterm:3", text)
        await seen.panes.send_text("wezterm:3", "")
        await seen.panes.send_key("wezterm:3", "Enter")
        await seen.panes.send_key("wezterm:3", "Down")

    play(stand_in, scene)
    assert stand_in.typed(3) == "".join(texts) + "\r\x1b[B"
    assert len(stand_in.calls("send-text")) == len(texts) + 2


def test_changes_are_told(stand_in: StandIn) -> None:
    """Text, title and cursor; a pane that stays as it is, is silent after its first look."""
    same = stand_in.pane(2, "same")
    stand_in.show(stand_in.pane(1, "a"), same)

    async def scene(seen: Seen) -> None:
        def changes() -> int:
            return seen.events.count(PaneChanged("wezterm:1"))

        await seen.until(lambda: changes() == 1 and len(seen.events) == 4)
        for n, other in enumerate(
            (
                stand_in.pane(1, "b"),
                stand_in.pane(1, "b", title="◐ busy"),
                stand_in.pane(1, "b", title="◐ busy", cursor_x=5),
            ),
            2,
        ):
            stand_in.show(other, same)
            await seen.until(lambda n=n: changes() == n)
        assert seen.events.count(PaneChanged("wezterm:2")) == 1

    play(stand_in, scene)


class Told:
    """Instead of the command line: one pane that shows what it is told to."""

    def __init__(self) -> None:
        self.shown = "a"
        self.is_gone = False

    async def panes(self) -> dict[str, Listed]:
        if self.is_gone:
            raise HostGoneError("not running")
        pane = Pane("wezterm:1", "wezterm", "", rows=4, columns=30)
        return {"wezterm:1": Listed(pane, 1, (0, 0))}

    async def text(self, _number: int, _above: int) -> str:
        return self.shown


def waits_of(
    told: Told, count: int, monkeypatch: pytest.MonkeyPatch, change_after: int = 0
) -> list[float]:
    """How long it waits between looks, by a clock that only goes on while it does."""
    waits: list[float] = []
    yielded = asyncio.sleep

    async def main() -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        monkeypatch.setattr(loop, "time", lambda: now)

        async def sleep(wait_s: float) -> None:
            nonlocal now
            now += wait_s
            waits.append(round(wait_s, 2))
            if len(waits) == change_after:
                told.shown = "b"
            await yielded(0)

        monkeypatch.setattr(asyncio, "sleep", sleep)
        panes = WeztermPanes(environ={})
        panes._cli = told  # type: ignore[assignment]
        async with panes:
            while len(waits) < count:
                await yielded(0)

    asyncio.run(main())
    return waits[:count]


def test_it_is_asked_often_after_a_change_and_rarely_in_silence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Half a second after a change, then two seconds, more and more, ten at most."""
    waits = waits_of(Told(), 11, monkeypatch, change_after=8)
    assert waits == [0.5, 2, 3, 4.5, 6.75, 10, 10, 10, 0.5, 2, 3]


def test_a_quiet_pane_is_looked_at_when_its_cursor_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list that a busy neighbour needs tells of it long before it is due."""

    class Two(Told):
        def __init__(self) -> None:
            super().__init__()
            self.looks = 0
            self.read_at: list[int] = []

        async def panes(self) -> dict[str, Listed]:
            self.looks += 1
            quiet = Listed(Pane("wezterm:1", "wezterm", "", 4, 30), 1, (0, self.looks // 40))
            busy = Listed(Pane("wezterm:2", "wezterm", "", 4, 30), 2, (0, 0))
            return {"wezterm:1": quiet, "wezterm:2": busy}

        async def text(self, number: int, _above: int) -> str:
            if number == 1:
                self.read_at.append(self.looks)
                return "quiet"
            return f"busy {self.looks}"

    told = Two()
    assert waits_of(told, 45, monkeypatch)[5:] == [0.5] * 40
    assert 40 in told.read_at
    assert len(told.read_at) < 15


def test_one_that_is_gone_is_asked_more_and_more_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two seconds after it was missed, a minute at most."""
    told = Told()
    told.is_gone = True
    assert waits_of(told, 7, monkeypatch) == [2, 4, 8, 16, 32, 60, 60]


def test_panes_come_and_go(stand_in: StandIn) -> None:
    """One that appears and one that goes are told; the one that stays is not."""
    stand_in.show(stand_in.pane(1, "a"))

    async def scene(seen: Seen) -> None:
        stand_in.show(stand_in.pane(1, "a"), stand_in.pane(2, "b"))
        await seen.until(lambda: PaneChanged("wezterm:2") in seen.events)
        stand_in.show(stand_in.pane(1, "a"))
        await seen.until(lambda: PaneGone("wezterm:2") in seen.events)
        assert PaneGone("wezterm:1") not in seen.events

    play(stand_in, scene)


def test_a_pane_that_is_gone_is_an_error_of_its_own(stand_in: StandIn) -> None:
    """Also if it goes between the look and the act."""
    stand_in.show(stand_in.pane(1, "a"))

    async def scene(seen: Seen) -> None:
        for pane in ("wezterm:9", "%1", "nonsense"):
            for act in (seen.panes.screen(pane), seen.panes.send_text(pane, "x")):
                with pytest.raises(PaneGoneError):
                    await act
        listed = (await seen.panes._cli.panes())["wezterm:1"]
        stand_in.show()
        with pytest.raises(PaneGoneError):
            await seen.panes._do("wezterm:1", seen.panes._cli.send(listed.number, "x"))

    play(stand_in, scene)


def test_wezterm_goes_and_comes_back(stand_in: StandIn) -> None:
    """Its going is told once with its own words, and its panes appear anew."""
    stand_in.show(stand_in.pane(1, "a"))

    async def scene(seen: Seen) -> None:
        await seen.until(lambda: len(seen.events) == 2)
        stand_in.say(runs=False)
        await seen.until(lambda: isinstance(seen.events[-1], HostGone))
        with pytest.raises(HostGoneError, match="failed to connect"):
            await seen.panes.list()
        stand_in.say(runs=True)
        await seen.until(lambda: isinstance(seen.events[-1], PaneChanged))

    kinds = [type(event) for event in play(stand_in, scene)]
    assert kinds == [
        PaneAppeared,
        PaneChanged,
        HostGone,
        HostBack,
        PaneAppeared,
        PaneChanged,
    ]


def test_asking_starts_no_server(stand_in: StandIn) -> None:
    """WezTerm would start one that has no panes: it is told not to, also when it is not there."""
    stand_in.say(runs=False)

    async def scene(seen: Seen) -> None:
        await seen.until(lambda: len(stand_in.calls("list")) >= 2)

    play(stand_in, scene)
    assert all("--no-auto-start" in argv for _at, argv in stand_in.calls("list"))


def test_an_older_wezterm_does_not_know_that_option(stand_in: StandIn) -> None:
    """Then it is asked without; once that is known, always."""
    stand_in.say(old=True, starts=False)
    stand_in.show(stand_in.pane(1, "a"))

    async def scene(seen: Seen) -> None:
        assert [pane.id for pane in await seen.panes.list()] == ["wezterm:1"]
        assert (await seen.panes.screen("wezterm:1")).lines[0] == "a"

    play(stand_in, scene)
    assert sum("--no-auto-start" in argv for _at, argv in stand_in.calls("cli")) == 1


def test_a_wezterm_that_hangs_is_not_a_pane_that_stays_the_same(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No answer is an error in time; nothing is told to have changed, or to be gone."""
    stand_in.show(stand_in.pane(1, "a"))
    once = wezterm_once_within(monkeypatch, 0.5)

    async def scene(seen: Seen) -> None:
        await seen.until(lambda: len(seen.events) == 2)
        stand_in.say(hangs=True)
        for act in (seen.panes.screen("wezterm:1"), seen.panes.send_text("wezterm:1", "x")):
            async with asyncio.timeout(WAIT_S / 2):
                with pytest.raises(PaneSilentError):
                    await act
        stand_in.say(hangs=False)
        stand_in.show(stand_in.pane(1, "b"))
        await seen.until(lambda: len(seen.events) == 3)

    events = play(stand_in, scene)
    assert once
    assert events[1:] == [PaneChanged("wezterm:1")] * 2


def wezterm_once_within(monkeypatch: pytest.MonkeyPatch, within_s: float) -> bool:
    from segue.drivers import program_output

    asked = program_output.run

    async def run(*args: Any, **how: Any) -> program_output.ProgramOutput:
        return await asked(*args, **(how | {"within_s": within_s}))

    monkeypatch.setattr(program_output, "run", run)
    return True


@pytest.mark.parametrize("panes", ["nonsense", {"a": 1}, [{"pane_id": None}], [{"pane_id": "x"}]])
def test_an_answer_that_makes_no_sense_is_an_error(stand_in: StandIn, panes: object) -> None:
    """Whatever it says, it is said in words, and watching goes on."""
    stand_in.program.write_text(
        f"#!/bin/sh\ncat <<'END'\n{panes if isinstance(panes, str) else json.dumps(panes)}\nEND\n"
    )

    async def scene(seen: Seen) -> None:
        with pytest.raises(PaneError, match="invalid reply"):
            await seen.panes.list()

    play(stand_in, scene)


def test_wezterm_is_not_installed(tmp_path: Path) -> None:
    """That is a host that is gone, with words."""

    async def main() -> None:
        program = str(tmp_path / "wezterm")
        async with WeztermPanes(program=program, environ=os.environ) as panes:
            event = await anext(panes.events())
            assert isinstance(event, HostGone)
            assert "not installed" in event.reason

    asyncio.run(main())
